//! Reads how nodes move from SUMO's floating car data (`sumo --fcd-output FILE`).
//!
//! Only these XML elements are read: `<timestep time="2.00">`, and in it `<vehicle id="v0" x="5.1" y="-1.6" .../>`,
//! `<person .../>` or `<container .../>`, perhaps with a height `z`. Between two time steps a node moves in a straight
//! line at constant speed. As in SUMO's own conversion for ns-2, a node is on the air from its first time step until
//! the first one that lacks it. A node that returns is at its new position at once. Positions are in metres. Degrees,
//! which `--fcd-output.geo` writes under the same names, are refused.

use super::movements::{TOO_FAR, is_near};
use super::{Command, Fault, Movement, Movements, Order, Position, Presence};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::collections::BTreeMap;
use units::{Duration, Instant, refuse_if};

/// An error in the element that was just read.
struct Wrong(String);

const DEGREES: &str = "the positions are degrees of longitude and latitude: export them in metres, without \
    `--fcd-output.geo`";

pub(super) fn read(bytes: &[u8]) -> Result<Movements, Fault> {
    let mut xml = Reader::from_reader(bytes);
    let mut file = File::default();
    loop {
        let event = xml.read_event();
        let at = usize::try_from(xml.buffer_position()).unwrap_or(bytes.len());
        let wrong = match event {
            Ok(Event::Start(element)) => {
                file.open += 1;
                file.element(&element, at)
            }
            Ok(Event::Empty(element)) => file.element(&element, at),
            Ok(Event::End(_)) => {
                file.open = file.open.saturating_sub(1);
                continue;
            }
            Ok(Event::Comment(options)) if is_geographic(&options) => Err(Wrong(DEGREES.to_owned())),
            Ok(Event::Eof) if file.first > 0 && file.scale.is_degrees() => {
                return Err(fault(bytes, file.first - 1, DEGREES.to_owned()));
            }
            Ok(Event::Eof) => {
                return file.end().map_err(|Wrong(message)| fault(bytes, at.saturating_sub(1), message));
            }
            Ok(_) => continue,
            Err(error) => {
                let at = usize::try_from(xml.error_position()).unwrap_or(at);
                return Err(fault(bytes, at, format!("this is not XML: {error}")));
            }
        };
        // The error is in the element that ends at this byte.
        wrong.map_err(|Wrong(message)| fault(bytes, at.saturating_sub(1), message))?;
    }
}

/// Makes an error in the line that contains the byte at `at`.
fn fault(bytes: &[u8], at: usize, message: String) -> Fault {
    let before = &bytes[..at.min(bytes.len())];
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.split(|&byte| byte == b'\n').count();
    let text = bytes[start..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let column = String::from_utf8_lossy(&before[start..]).len();
    let text = String::from_utf8_lossy(text);
    let column = (0..=column.min(text.len())).rev().find(|&column| text.is_char_boundary(column));
    Fault::new(line, &text, column.unwrap_or(0), message)
}

/// What has been read of a file so far.
#[derive(Default)]
struct File {
    nodes: Vec<(String, Draft)>,
    by_name: BTreeMap<String, usize>,
    now: Instant,
    /// Number of time steps that have been read.
    steps: u64,
    /// Number of elements whose end has not been read yet.
    open: u64,
    /// Offset at which the first position in the file ends.
    first: usize,
    scale: Scale,
}

/// What the positions so far say on whether they are degrees or metres.
#[derive(Default)]
struct Scale {
    /// True if a position is outside the range of longitude and latitude.
    is_beyond: bool,
    /// True if a coordinate has fewer than three decimals: SUMO writes metres with two and degrees with six.
    is_coarse: bool,
    /// True if a node went more than a hundredth of the distance that its speed (or 1 m/s) gives; `None` if none moved.
    moves: Option<bool>,
}

impl Scale {
    fn is_degrees(&self) -> bool {
        !self.is_beyond && !self.moves.unwrap_or(self.is_coarse)
    }

    fn position(&mut self, Position { x, y, .. }: Position, written: [&str; 2]) {
        self.is_beyond |= x.abs() > 180.0 || y.abs() > 90.0;
        self.is_coarse |=
            written.iter().any(|text| text.trim().split_once('.').is_none_or(|(_, digits)| digits.len() < 3));
    }

    fn way(&mut self, metres: f64, seconds: f64, slowest: f64) {
        let moves = metres >= slowest.max(1.0) * seconds / 100.0;
        if moves || slowest >= 1.0 {
            self.moves = Some(moves || self.moves == Some(true));
        }
    }
}

/// What has been read of a node's positions.
struct Draft {
    movement: Movement,
    /// The last position, its time, and its time step.
    position: Position,
    time: Instant,
    step: u64,
    /// Speed; zero if the file gives none.
    speed: f64,
}

impl File {
    /// Handles the start of an element that ends at a byte.
    fn element(&mut self, element: &BytesStart, at: usize) -> Result<(), Wrong> {
        match element.name().as_ref() {
            "timestep" => self.step(seconds(element)?)?,
            "vehicle" | "person" | "container" => {
                self.appears(element)?;
                self.first = if self.first == 0 { at } else { self.first };
            }
            "fcd-export" => {}
            other if self.steps == 0 => {
                return Err(Wrong(format!("expected `<fcd-export>` and `<timestep>`, found `<{other}>`")));
            }
            _ => {}
        }
        Ok(())
    }

    fn step(&mut self, seconds: f64) -> Result<(), Wrong> {
        refuse_if!(seconds < 0.0, Err(Wrong("a time must be zero or more".to_owned())));
        self.leave();
        let time = Instant::ZERO + Duration::from_secs_f64(seconds);
        if self.steps > 0 && time <= self.now {
            return Err(Wrong(format!(
                "time steps are not in order: the previous step is at {} s",
                self.now.as_secs_f64()
            )));
        }
        (self.now, self.steps) = (time, self.steps + 1);
        Ok(())
    }

    /// Removes the nodes that the last time step lacked, as of the time of that step.
    fn leave(&mut self) {
        for (_, draft) in &mut self.nodes {
            if draft.step + 1 == self.steps {
                draft.movement.presence.turn(self.now, false);
            }
        }
    }

    fn appears(&mut self, element: &BytesStart) -> Result<(), Wrong> {
        refuse_if!(self.steps == 0, Err(Wrong("a vehicle must be inside a `<timestep>`".to_owned())));
        let name = attribute(element, "id")?.ok_or_else(|| Wrong("`id` is missing".to_owned()))?;
        let in_degrees = attribute(element, "x")?.is_none() && attribute(element, "lon")?.is_some();
        refuse_if!(in_degrees, Err(Wrong(DEGREES.to_owned())));
        let height = if attribute(element, "z")?.is_some() { number(element, "z")? } else { 0.0 };
        let position = Position { x: number(element, "x")?, y: number(element, "y")?, z: height };
        let speed = number(element, "speed").unwrap_or(0.0);
        refuse_if!(![position.x, position.y, position.z].into_iter().all(is_near), Err(Wrong(TOO_FAR.to_owned())));
        let written = [attribute(element, "x")?.unwrap_or_default(), attribute(element, "y")?.unwrap_or_default()];
        self.scale.position(position, written.each_ref().map(String::as_str));
        let (time, step) = (self.now, self.steps);
        let Some(&index) = self.by_name.get(&name) else {
            let mut presence = Presence::default();
            if time > Instant::ZERO {
                presence.turn(time, true);
            }
            let movement = Movement { start: position, commands: Vec::new(), presence };
            self.by_name.insert(name.clone(), self.nodes.len());
            self.nodes.push((name, Draft { movement, position, time, step, speed }));
            return Ok(());
        };
        let (_, draft) = &mut self.nodes[index];
        refuse_if!(draft.step == step, Err(Wrong(format!("`{name}` appears twice in a time step"))));
        let commands = &mut draft.movement.commands;
        let Position { x, y, z } = position;
        if draft.step + 1 == step {
            let (way, lasted) = (draft.position.distance(position), time.since(draft.time).as_secs_f64());
            self.scale.way(way, lasted, draft.speed.min(speed));
            if position != draft.position {
                let order = Order::Go { x, y, z: Some(z), speed: way / lasted };
                commands.push(Command { time: draft.time, order });
            }
        } else {
            commands.push(Command { time, order: Order::Set { x: Some(x), y: Some(y), z: Some(z) } });
            draft.movement.presence.turn(time, true);
        }
        (draft.position, draft.time, draft.step, draft.speed) = (position, time, step, speed);
        Ok(())
    }

    /// Handles the end of the file.
    fn end(mut self) -> Result<Movements, Wrong> {
        self.leave();
        refuse_if!(self.open > 0, Err(Wrong("the file ends within an element: is it cut short?".to_owned())));
        refuse_if!(self.nodes.is_empty(), Err(Wrong("the file lists no vehicle".to_owned())));
        Ok(Movements { nodes: self.nodes.into_iter().map(|(name, draft)| (name, draft.movement)).collect() })
    }
}

fn attribute(element: &BytesStart, name: &str) -> Result<Option<String>, Wrong> {
    let wrong = |error: &dyn std::fmt::Display| Wrong(format!("`{name}` cannot be read: {error}"));
    let Some(found) = element.try_get_attribute(name).map_err(|error| wrong(&error))? else { return Ok(None) };
    found.normalized_value(XmlVersion::Implicit1_0).map(|value| Some(value.into_owned())).map_err(|error| wrong(&error))
}

/// Returns the time of a time step, in s.
fn seconds(element: &BytesStart) -> Result<f64, Wrong> {
    match attribute(element, "time")? {
        Some(time) if time.contains(':') => {
            Err(Wrong(format!("`time` is `{time}`: export it in seconds, without `--human-readable-time`")))
        }
        _ => number(element, "time"),
    }
}

/// True if SUMO's options, which a comment of its files repeats, ask for degrees.
fn is_geographic(options: &str) -> bool {
    let value = options.split_once("<fcd-output.geo value=\"").and_then(|(_, rest)| rest.split('"').next());
    value.is_some_and(|value| !["false", "0", "no", "off", "f", "-"].contains(&value))
}

fn number(element: &BytesStart, name: &str) -> Result<f64, Wrong> {
    let Some(text) = attribute(element, name)? else { return Err(Wrong(format!("`{name}` is missing"))) };
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| Wrong(format!("`{name}` is not a number: `{text}`")))
}
