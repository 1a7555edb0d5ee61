//! Content of a movement file in any form: the movements of each node.

use super::{Command, Position, Presence};
use std::fmt;

/// Largest absolute coordinate, in metres.
const FARTHEST: f64 = 1e9;
pub(super) const TOO_FAR: &str = "no position is farther away than 1000000 km";

/// Movements of a file's nodes with their names in the file, in order of their numbers or of their first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Movements {
    pub(crate) nodes: Vec<(String, Movement)>,
}

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
    /// Message: the expected content.
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
    /// Makes an error at a byte of a line.
    pub(super) fn new(line: usize, text: &str, at: usize, message: String) -> Self {
        Self { line, column: text[..at].chars().count() + 1, message, text: text.trim_end().to_owned() }
    }
}

/// True if a coordinate is within the bounds that are accepted.
pub(super) fn is_near(metres: f64) -> bool {
    metres.abs() <= FARTHEST
}
