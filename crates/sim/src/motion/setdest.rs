//! Reader of movement files in the format of ns-2's `setdest`.
//!
//! ns-2 reads such files as Tcl. This reader accepts only the following lines; variables may have any names:
//! - a node's start, `$node_(3) set X_ 150.0` (and `Y_`, `Z_`);
//! - a journey, `$ns_ at 2.5 "$node_(3) setdest 90.0 44.5 1.4"`: from 2.5 s on, node 3 moves to (90, 44.5) at 1.4 m/s;
//! - a jump, `$ns_ at 2.5 "$node_(3) set X_ 90.0"`, after which the node stands still;
//! - a start or stop by SUMO, `$ns_ at 2.5 "$g(3) start"` and `stop`: node 3 appears or disappears;
//! - comments from `#` on.
//!
//! Some other lines move no node and are skipped: lines about `$god_` (ns-2's table of hops), labels, colours and the
//! end of the run, and Tcl's own `set VARIABLE`.

use super::movements::{TOO_FAR, is_near};
use super::{Command, Fault, Movement, Movements, Order, Position, Presence};
use std::collections::BTreeMap;
use units::{Duration, Instant, refuse_if};

/// Commands of ns-2's nodes that do not move them.
const OF_NODES: [&str; 9] =
    ["label", "color", "shape", "random-motion", "add-mark", "delete-mark", "label-color", "label-at", "reset"];
/// Commands at the end of a run, and messages to the user.
const OF_RUNS: [&str; 4] = ["stop", "finish", "halt", "puts"];

/// Reads the movements of all nodes, in order of their numbers.
pub(super) fn read(bytes: &[u8]) -> Result<Movements, Fault> {
    let mut drafts = BTreeMap::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        let fault = |Wrong { at, message }| Fault::new(index + 1, &text, at, message);
        self::line(&mut drafts, index + 1, &text).map_err(fault)?;
    }
    let nodes = drafts.into_iter().map(|(number, draft)| Ok((number.to_string(), draft.finish(number)?)));
    let nodes = nodes.collect::<Result<_, _>>().map_err(|(line, message)| {
        let text = bytes.split(|&byte| byte == b'\n').nth(line - 1).unwrap_or_default();
        Fault::new(line, &String::from_utf8_lossy(text), 0, message)
    })?;
    Ok(Movements { nodes })
}

/// Commands read so far, for each node's number.
type Drafts = BTreeMap<u64, Draft>;

/// What has been read about a node so far.
#[derive(Clone, Debug, Default)]
struct Draft {
    /// Start coordinate for each axis.
    start: [Option<f64>; 3],
    commands: Vec<Command>,
    presence: Presence,
    /// Time of the node's last start or stop.
    turned: Instant,
    /// First line about the node.
    line: usize,
}

impl Draft {
    fn finish(self, number: u64) -> Result<Movement, (usize, String)> {
        let [Some(x), Some(y), z] = self.start else {
            let axis = if self.start[0].is_none() { "X_" } else { "Y_" };
            let message = format!("node {number} has no start: `$node_({number}) set {axis} ...` is missing");
            return Err((self.line, message));
        };
        let start = Position { x, y, z: z.unwrap_or(0.0) };
        Ok(Movement { start, commands: self.commands, presence: self.presence })
    }

    /// Adds a command. `at` is the offset of its time in the file.
    fn push(&mut self, node: u64, time: Instant, order: Order, at: usize) -> Result<(), Wrong> {
        if let Some(before) = self.commands.last()
            && time < before.time
        {
            let before = before.time.as_secs_f64();
            let message = format!("the commands of node {node} are not in order: the previous one is at {before} s");
            return Err(wrong(at, &message));
        }
        self.commands.push(Command { time, order });
        Ok(())
    }
}

/// An error at a byte of a line.
struct Wrong {
    at: usize,
    message: String,
}

fn line(drafts: &mut Drafts, number: usize, text: &str) -> Result<(), Wrong> {
    const KNOWN: &str = "`$node_(...)`, `$ns_ at ...` or a comment (`#`)";
    let mut words = Words { text, at: 0 };
    if words.at_end() {
        return Ok(());
    }
    words.skip_blanks();
    let start = words.at;
    if words.starts_with("$god_") || ["set ", "append "].iter().any(|of_tcl| words.starts_with(of_tcl)) {
        return Ok(());
    }
    refuse_if!(!words.starts_with("$"), Err(expected(start, KNOWN, words.rest())));
    if words.is_indexed() {
        let node = node(&mut words)?;
        let (command, at) = words.next();
        if OF_NODES.contains(&command) {
            return Ok(());
        }
        refuse_if!(command != "set", Err(expected(at, "`set`", command)));
        let (axis, metres) = coordinate(&mut words)?;
        draft(drafts, node, number).start[axis] = Some(metres);
        return words.end();
    }
    words.next();
    match words.next() {
        ("at", _) => scheduled(drafts, number, &mut words)?,
        ("initial_node_pos", _) => return Ok(()),
        _ => return Err(expected(start, KNOWN, &words.text[start..])),
    }
    words.end()
}

/// Reads the text after `$ns_ at`: `2.5 "$node_(3) setdest 90.0 44.5 1.4"`.
fn scheduled(drafts: &mut Drafts, line: usize, words: &mut Words) -> Result<(), Wrong> {
    let (seconds, at) = words.number("a time in seconds")?;
    refuse_if!(seconds < 0.0, Err(wrong(at, "a time must be zero or more")));
    let time = Instant::ZERO + Duration::from_secs_f64(seconds);
    words.skip_blanks();
    let open = words.at;
    words.symbol('"')?;
    words.skip_blanks();
    let Some(length) = words.rest().find('"') else {
        return Err(wrong(open, "the quotation mark is never closed: is the file cut short?"));
    };
    let inner = &words.rest()[..length];
    let mut of_run = inner.split_whitespace().filter(|word| !word.starts_with('$') || word.contains('('));
    if words.starts_with("$god_") || of_run.next().is_some_and(|word| OF_RUNS.contains(&word)) {
        return words.close();
    }
    let is_activity = words.starts_with("$g(");
    let node = node(words)?;
    let (command, command_at) = words.next();
    if OF_NODES.contains(&command) {
        return words.close();
    }
    let draft = draft(drafts, node, line);
    match command {
        "start" | "stop" if is_activity => {
            refuse_if!(
                time < draft.turned,
                Err(wrong(at, &format!("the starts and stops of node {node} are not in order of time")))
            );
            draft.turned = time;
            draft.presence.turn(time, command == "start");
        }
        "set" => {
            let (axis, metres) = coordinate(words)?;
            let [x, y, z] = [0, 1, 2].map(|other| (axis == other).then_some(metres));
            draft.push(node, time, Order::Set { x, y, z }, at)?;
        }
        "setdest" => {
            let (x, x_at) = words.number("x in metres")?;
            let (y, y_at) = words.number("y in metres")?;
            let (x, y) = (near(x, x_at)?, near(y, y_at)?);
            let (speed, speed_at) = words.number("a speed in metres per second")?;
            refuse_if!(speed < 0.0, Err(wrong(speed_at, "a speed must be zero or more")));
            draft.push(node, time, Order::Go { x, y, z: None, speed }, at)?;
        }
        _ => return Err(expected(command_at, "`setdest` or `set`", command)),
    }
    words.symbol('"')
}

/// Reads `$node_(3)`, whatever the variable is called.
fn node(words: &mut Words) -> Result<u64, Wrong> {
    words.skip_blanks();
    refuse_if!(!words.is_indexed(), Err(expected(words.at, "`$node_(...)`", words.rest())));
    words.at += words.rest().find('(').map_or(0, |open| open + 1);
    let digits_at = words.at;
    let length = words.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(words.rest().len());
    let number = words.rest()[..length].parse();
    words.at += length;
    match number {
        Ok(node) if words.take(")") => Ok(node),
        _ => Err(expected(digits_at, "a node's number and `)`", &words.text[digits_at..])),
    }
}

fn draft(drafts: &mut Drafts, node: u64, line: usize) -> &mut Draft {
    drafts.entry(node).or_insert_with(|| Draft { line, ..Draft::default() })
}

/// Reads `X_ 150.0`: the axis and the number of metres.
fn coordinate(words: &mut Words) -> Result<(usize, f64), Wrong> {
    let (name, at) = words.next();
    let axis = ["X_", "Y_", "Z_"].iter().position(|axis| *axis == name);
    let axis = axis.ok_or_else(|| expected(at, "`X_`, `Y_` or `Z_`", name))?;
    let (metres, metres_at) = words.number("a number of metres")?;
    Ok((axis, near(metres, metres_at)?))
}

fn wrong(at: usize, message: &str) -> Wrong {
    Wrong { at, message: message.to_owned() }
}

fn expected(at: usize, what: &str, found: &str) -> Wrong {
    const SHOWN: usize = 40;
    let found = found.trim_end();
    let message = if found.is_empty() {
        format!("expected {what}, and the line ends: is the file cut short?")
    } else {
        let cut = if found.chars().count() > SHOWN { "..." } else { "" };
        format!("expected {what}, found `{}{cut}`", found.chars().take(SHOWN).collect::<String>())
    };
    Wrong { at, message }
}

fn near(metres: f64, at: usize) -> Result<f64, Wrong> {
    if is_near(metres) { Ok(metres) } else { Err(wrong(at, TOO_FAR)) }
}

/// A line, and the number of its bytes that have been read.
struct Words<'l> {
    text: &'l str,
    at: usize,
}

impl<'l> Words<'l> {
    fn rest(&self) -> &'l str {
        &self.text[self.at..]
    }

    fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// True if an element of a Tcl array follows, as in `$node_(3)`.
    fn is_indexed(&self) -> bool {
        let name = self.rest().strip_prefix('$').unwrap_or_default();
        let rest = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        rest.len() < name.len() && rest.starts_with('(')
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Checks that nothing but a comment follows.
    fn at_end(&self) -> bool {
        self.rest().trim_start().is_empty() || self.rest().trim_start().starts_with('#')
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// The text before the next blank, quotation mark or semicolon, and its place.
    fn next(&mut self) -> (&'l str, usize) {
        self.skip_blanks();
        let start = self.at;
        let length =
            self.rest().find(|c: char| c.is_whitespace() || matches!(c, '"' | ';')).unwrap_or(self.rest().len());
        self.at += length;
        (&self.text[start..self.at], start)
    }

    fn symbol(&mut self, symbol: char) -> Result<(), Wrong> {
        self.skip_blanks();
        let what = format!("`{symbol}`");
        if self.take(&symbol.to_string()) { Ok(()) } else { Err(expected(self.at, &what, self.rest())) }
    }

    /// Continues after the last quotation mark, because a text to print may contain quotation marks.
    fn close(&mut self) -> Result<(), Wrong> {
        self.at = self.text.rfind('"').unwrap_or(self.at);
        self.symbol('"')
    }

    fn number(&mut self, what: &str) -> Result<(f64, usize), Wrong> {
        let (word, at) = self.next();
        let value: Option<f64> = word.parse().ok().filter(|value: &f64| value.is_finite());
        value
            .map(|value| (value, at))
            .ok_or_else(|| expected(at, what, if word.is_empty() { self.rest() } else { word }))
    }

    fn end(&mut self) -> Result<(), Wrong> {
        self.skip_blanks();
        self.take(";");
        if self.at_end() { Ok(()) } else { Err(expected(self.at, "the end of the line", self.rest())) }
    }
}
