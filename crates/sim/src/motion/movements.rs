//! Movement files: how nodes move, node by node.

use super::{Command, Position, Presence, fcd, setdest};
use std::fmt;

/// Largest absolute coordinate, in metres.
const FARTHEST: f64 = 1e9;
pub(super) const TOO_FAR: &str = "no position is farther away than 1000000 km";

/// The form of a movement file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tcl of ns-2's `setdest`, `BonnMotion` and SUMO.
    Setdest,
    /// Floating car data of SUMO, in XML.
    Fcd,
}

/// How the nodes of a file move, each with what it is called there: in order of their numbers, or of their first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Movements {
    pub(crate) nodes: Vec<(String, Movement)>,
}

impl Movements {
    /// How many nodes the file moves.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Does the file move no node?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// Movement of a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Movement {
    pub(crate) start: Position,
    pub(crate) commands: Vec<Command>,
    pub(crate) presence: Presence,
}

/// An error in a movement file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was expected there.
    pub message: String,
    /// Text of the line.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl Fault {
    /// At a byte of a line.
    pub(super) fn new(line: usize, text: &str, at: usize, message: String) -> Self {
        Self { line, column: text[..at].chars().count() + 1, message, text: text.trim_end().to_owned() }
    }
}

/// Reads the movements of the nodes of a file.
///
/// # Errors
/// A file of another form; the first invalid line.
pub fn read(bytes: &[u8], form: Form) -> Result<Movements, Fault> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let start = start.trim_start_matches('\u{feff}').trim_start().lines().next().unwrap_or_default();
    if let Some(told) = other_form(start, form) {
        return Err(Fault::new(1, start, 0, told.to_owned()));
    }
    match form {
        Form::Setdest => setdest::read(bytes),
        Form::Fcd => fcd::read(bytes),
    }
}

/// What a file that begins so is, if it is not of this form.
fn other_form(start: &str, form: Form) -> Option<&'static str> {
    let is_table = start.contains("vehicle_id") || start.contains("timestep_time");
    match form {
        Form::Setdest if start.starts_with('<') => Some("this is XML: the model `fcd` reads floating car data of SUMO"),
        Form::Fcd if start.starts_with(['$', '#']) => {
            Some("this is no XML: the model `setdest` reads ns-2's movements")
        }
        _ if is_table && !start.starts_with('<') => Some("this is CSV: export floating car data as XML, to `FILE.xml`"),
        _ if start.starts_with("PAR1") => Some("this is Parquet: export floating car data as XML, to `FILE.xml`"),
        Form::Fcd | Form::Setdest => None,
    }
}

/// Is a coordinate one that is read?
pub(super) fn is_near(metres: f64) -> bool {
    metres.abs() <= FARTHEST
}
