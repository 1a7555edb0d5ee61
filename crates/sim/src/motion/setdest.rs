//! Reads how nodes move from a file in the format of ns-2's `setdest`.
//!
//! Of Tcl, in which ns-2 reads such files, only these lines are known: a node's start, `$node_(3) set X_ 150.0` (and `Y_`,
//! `Z_`); a command, `$ns_ at 2.5 "$node_(3) setdest 90.0 44.5 1.4"`, which sends a node from second 2.5 on to (90, 44.5)
//! at 1.4 m/s; comments from `#` on; and lines about `$god_`, ns-2's table of hops, which are passed over.

use super::{Command, Position};
use std::fmt;
use units::{Duration, Instant};

/// No coordinate is farther from zero, in metres.
const FARTHEST: f64 = 1e9;

/// How the nodes move, by their numbers in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Movements {
    pub(crate) nodes: Vec<Option<Movement>>,
}

/// How a node moves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Movement {
    pub(crate) start: Position,
    pub(crate) commands: Vec<Command>,
}

/// What is wrong with a movement file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What was expected.
    pub message: String,
    /// The line.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

/// Reads the movements of nodes numbered from 0 to `nodes` - 1.
///
/// # Errors
/// The first line that is not as it should be.
pub fn read(bytes: &[u8], nodes: usize) -> Result<Movements, Fault> {
    let mut reader = Reader { drafts: vec![Draft::default(); nodes] };
    let mut lines = 0;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        lines = index + 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        reader.line(lines, &text).map_err(|Wrong { at, message }| fault(lines, &text, at, message))?;
    }
    let nodes = reader.drafts.into_iter().enumerate();
    let nodes = nodes.map(|(number, draft)| draft.finish(number));
    let nodes = nodes.collect::<Result<_, _>>().map_err(|(line, message)| {
        let text = bytes.split(|&byte| byte == b'\n').nth(line - 1).unwrap_or_default();
        fault(line, &String::from_utf8_lossy(text), 0, message)
    })?;
    debug_assert!(lines > 0, "even nothing splits into one line");
    Ok(Movements { nodes })
}

fn fault(line: usize, text: &str, at: usize, message: String) -> Fault {
    Fault { line, column: text[..at].chars().count() + 1, message, text: text.trim_end().to_owned() }
}

/// What has been read of a node.
#[derive(Clone, Debug, Default)]
struct Draft {
    x: Option<f64>,
    y: Option<f64>,
    commands: Vec<Command>,
    /// The first line that speaks of it.
    line: usize,
}

impl Draft {
    fn finish(self, number: usize) -> Result<Option<Movement>, (usize, String)> {
        match (self.x, self.y) {
            (Some(x), Some(y)) => Ok(Some(Movement { start: Position { x, y }, commands: self.commands })),
            (None, None) if self.commands.is_empty() => Ok(None),
            (x, _) => {
                let axis = if x.is_none() { "X_" } else { "Y_" };
                let message = format!("node {number} has no start: `$node_({number}) set {axis} ...` is missing");
                Err((self.line, message))
            }
        }
    }
}

/// What is wrong at a byte of a line.
struct Wrong {
    at: usize,
    message: String,
}

struct Reader {
    drafts: Vec<Draft>,
}

impl Reader {
    fn line(&mut self, number: usize, text: &str) -> Result<(), Wrong> {
        let mut words = Words { text, at: 0 };
        words.skip_blanks();
        if words.starts_with("$node_") {
            let node = self.node(&mut words, number)?;
            words.word("set")?;
            let (axis, at) = words.next();
            let (value, value_at) = words.number("a number of metres")?;
            let draft = &mut self.drafts[node];
            match axis {
                "X_" => draft.x = Some(coordinate(value, value_at)?),
                "Y_" => draft.y = Some(coordinate(value, value_at)?),
                "Z_" if value.abs() > 0.0 => return Err(wrong(value_at, "nodes are on a plane: `Z_` must be 0")),
                "Z_" => {}
                _ => return Err(expected(at, "`X_`, `Y_` or `Z_`", axis)),
            }
        } else if words.starts_with("$ns_") {
            self.command(&mut words, number)?;
        } else if words.starts_with("$god_") {
            return Ok(());
        } else if !words.at_end() {
            return Err(expected(words.at, "`$node_(...)`, `$ns_ at ...` or a comment (`#`)", words.rest()));
        }
        words.end()
    }

    /// `$ns_ at 2.5 "$node_(3) setdest 90.0 44.5 1.4"`
    fn command(&mut self, words: &mut Words, number: usize) -> Result<(), Wrong> {
        words.word("$ns_")?;
        words.word("at")?;
        let (seconds, at) = words.number("a time in seconds")?;
        if seconds < 0.0 {
            return Err(wrong(at, "a time is zero or more"));
        }
        let time = Instant::ZERO + Duration::from_secs_f64(seconds);
        words.skip_blanks();
        let open = words.at;
        words.symbol('"')?;
        words.skip_blanks();
        let Some(length) = words.rest().find('"') else {
            return Err(wrong(open, "the quotation mark is never closed: is the file cut short?"));
        };
        if words.starts_with("$god_") {
            words.at += length;
            return words.symbol('"');
        }
        let node = self.node(words, number)?;
        words.word("setdest")?;
        let (x, x_at) = words.number("x in metres")?;
        let (y, y_at) = words.number("y in metres")?;
        let to = Position { x: coordinate(x, x_at)?, y: coordinate(y, y_at)? };
        let (speed, speed_at) = words.number("a speed in metres a second")?;
        if speed < 0.0 {
            return Err(wrong(speed_at, "a speed is zero or more"));
        }
        let commands = &mut self.drafts[node].commands;
        if let Some(before) = commands.last()
            && time < before.time
        {
            let before = before.time.as_secs_f64();
            return Err(wrong(
                at,
                &format!("the commands of node {node} are not in order: one before is at {before} s"),
            ));
        }
        commands.push(Command { time, to, speed });
        words.symbol('"')
    }

    /// `$node_(3)`
    fn node(&mut self, words: &mut Words, line: usize) -> Result<usize, Wrong> {
        words.skip_blanks();
        let start = words.at;
        if !words.take("$node_(") {
            return Err(expected(start, "`$node_(...)`", words.rest()));
        }
        let digits_at = words.at;
        let length = words.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(words.rest().len());
        let digits = &words.rest()[..length];
        words.at += length;
        if length == 0 || !words.take(")") {
            return Err(expected(digits_at, "a node's number and `)`", &words.text[digits_at..]));
        }
        let node = digits.parse().ok().filter(|&node| node < self.drafts.len());
        let Some(node) = node else {
            let last = self.drafts.len().saturating_sub(1);
            let message = format!("there is no node {digits}: the scenario's are numbered from 0 to {last}");
            return Err(wrong(digits_at, &message));
        };
        let draft: &mut Draft = &mut self.drafts[node];
        if draft.line == 0 {
            draft.line = line;
        }
        Ok(node)
    }
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

fn coordinate(metres: f64, at: usize) -> Result<f64, Wrong> {
    if metres.abs() <= FARTHEST { Ok(metres) } else { Err(wrong(at, "no position is farther away than 1000000 km")) }
}

/// A line, and how far it has been read, in bytes.
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

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Nothing follows, or a comment.
    fn at_end(&self) -> bool {
        self.rest().trim_start().is_empty() || self.rest().trim_start().starts_with('#')
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// What stands before the next blank, quotation mark or semicolon, and where.
    fn next(&mut self) -> (&'l str, usize) {
        self.skip_blanks();
        let start = self.at;
        let length =
            self.rest().find(|c: char| c.is_whitespace() || matches!(c, '"' | ';')).unwrap_or(self.rest().len());
        self.at += length;
        (&self.text[start..self.at], start)
    }

    fn word(&mut self, word: &str) -> Result<(), Wrong> {
        let (found, at) = self.next();
        if found == word { Ok(()) } else { Err(expected(at, &format!("`{word}`"), found)) }
    }

    fn symbol(&mut self, symbol: char) -> Result<(), Wrong> {
        self.skip_blanks();
        let what = format!("`{symbol}`");
        if self.take(&symbol.to_string()) { Ok(()) } else { Err(expected(self.at, &what, self.rest())) }
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
