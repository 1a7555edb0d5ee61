//! Movement by commands: from a time on, go to a place at a speed, or be at a place.

use super::leg::{Leg, Place};
use units::Instant;

/// What a node is told. It obeys at once, even when it has not yet arrived where the command before has sent it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Command {
    pub(crate) time: Instant,
    pub(crate) order: Order,
}

/// What a command says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    /// Go to a place, at a height if one is given, at a speed in metres a second; speed zero stops the node where it is.
    Go { x: f64, y: f64, z: Option<f64>, speed: f64 },
    /// Be at these coordinates from now on, and stay there; the others remain as they are.
    Set { x: Option<f64>, y: Option<f64>, z: Option<f64> },
}

impl Order {
    /// Where a node that was at `place` is sent.
    pub(super) fn destination(self, place: Place) -> Place {
        let (x, y, z) = match self {
            Self::Go { x, y, z, .. } => (Some(x), Some(y), z),
            Self::Set { x, y, z } => (x, y, z),
        };
        Place { x: x.unwrap_or(place.x), y: y.unwrap_or(place.y), z: z.unwrap_or(place.z) }
    }
}

/// Commands in order of time; of several journeys that begin at the same time the last counts.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    commands: Vec<Command>,
    next: usize,
}

impl Script {
    pub(super) fn new(commands: Vec<Command>) -> Self {
        Self { commands, next: 0 }
    }

    /// What a node at `place` does from `now` on.
    pub(super) fn next(&mut self, mut place: Place, now: Instant) -> Leg {
        let mut journey = None;
        while let Some(&Command { order, .. }) = self.commands.get(self.next).filter(|command| command.time <= now) {
            self.next += 1;
            journey = match order {
                Order::Go { speed, .. } => Some((order, speed)),
                Order::Set { .. } => {
                    place = order.destination(place);
                    None
                }
            };
        }
        let following = self.commands.get(self.next).map_or(Instant::NEVER, |command| command.time);
        match journey {
            Some((order, speed)) => Leg::moving(place, order.destination(place), speed, now).until(following),
            None => Leg::standing(place, now, following),
        }
    }
}
