//! Content of a movement file of any form: the movements of each node.

use super::{Command, Position};
use std::fmt;
use units::Instant;

/// Largest absolute coordinate, in metres.
const FARTHEST: f64 = 1e9;
pub(super) const TOO_FAR: &str = "no position is farther away than 1000000 km";

/// Movements of a file's nodes and the nodes' names in the file, in order of their numbers or of first appearance.
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

/// An error in a movement file, with its position.
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

/// True if a coordinate is within the bounds that a file may use.
pub(super) fn is_near(metres: f64) -> bool {
    metres.abs() <= FARTHEST
}

/// Times at which a node is present; at other times it neither sends nor hears anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Presence {
    /// True if the node is not on the air at the start.
    comes_later: bool,
    /// Times at which the node appears or disappears, alternately, in order.
    turns: Vec<Instant>,
}

impl Presence {
    /// Makes the presence of a node that is not on the air until it appears.
    pub(crate) fn later() -> Self {
        Self { comes_later: true, turns: Vec::new() }
    }

    /// Adds a time at which the node appears or disappears. It is not before the time that was added last.
    pub(crate) fn turn(&mut self, time: Instant, comes: bool) {
        if self.turns.is_empty() && !self.comes_later && comes {
            self.comes_later = true;
        }
        if comes == self.at(time) {
            return;
        }
        // If a node appears and disappears at the same time, the two cancel out.
        if self.turns.last() == Some(&time) {
            self.turns.pop();
        } else {
            self.turns.push(time);
        }
    }

    /// Returns the times at which the node appears or disappears.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Instant> {
        self.turns.iter().copied()
    }

    /// True if the node is on the air at `now`.
    pub(crate) fn at(&self, now: Instant) -> bool {
        let turned = self.turns.partition_point(|&turn| turn <= now);
        turned.is_multiple_of(2) != self.comes_later
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn a_node_is_there_from_where_it_comes_until_it_goes() {
        let second = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let told = |turns: &[(u64, bool)]| {
            let mut presence = Presence::default();
            for &(time, comes) in turns {
                presence.turn(second(time), comes);
            }
            [0, 1, 2, 3, 4, 5].map(|time| u8::from(presence.at(second(time))))
        };
        assert_eq!(told(&[]), [1; 6]);
        assert_eq!(told(&[(2, true)]), [0, 0, 1, 1, 1, 1]);
        assert_eq!(told(&[(2, false)]), [1, 1, 0, 0, 0, 0]);
        assert_eq!(told(&[(0, true), (2, false)]), [1, 1, 0, 0, 0, 0]);
        assert_eq!(told(&[(1, true), (2, true), (3, false), (3, false), (5, true)]), [0, 1, 1, 0, 0, 1]);
        assert_eq!(told(&[(1, true), (3, false), (3, true)]), [0, 1, 1, 1, 1, 1]);
    }
}
