//! Movement by commands: from a time on, go to a position at a speed.

use super::leg::{Leg, Position};
use units::Instant;

/// What a node is told. It obeys at once, even when it has not yet arrived where the command before has sent it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Command {
    pub(crate) time: Instant,
    pub(crate) to: Position,
    /// Metres a second; zero stops the node where it is.
    pub(crate) speed: f64,
}

/// Commands in order of time; of several at the same time the last counts.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    commands: Vec<Command>,
    next: usize,
}

impl Script {
    pub(super) fn new(commands: Vec<Command>) -> Self {
        Self { commands, next: 0 }
    }

    /// What a node at `position` does from `now` on.
    pub(super) fn next(&mut self, position: Position, now: Instant) -> Leg {
        let due = |command: &Command| command.time <= now;
        while self.commands.get(self.next + 1).is_some_and(due) {
            self.next += 1;
        }
        match self.commands.get(self.next) {
            Some(command) if due(command) => {
                self.next += 1;
                let following = self.commands.get(self.next).map_or(Instant::NEVER, |command| command.time);
                Leg::moving(position, command.to, command.speed, now).until(following)
            }
            Some(command) => Leg::standing(position, now, command.time),
            None => Leg::standing(position, now, Instant::NEVER),
        }
    }
}
