//! A straight leg at constant speed.

use units::{Duration, Instant, Length};

/// A position in metres. `z` is the height above the plane in which nodes without a height lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Position {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
}

impl Position {
    /// Returns the distance in metres.
    pub(crate) fn distance(self, other: Self) -> f64 {
        let (dx, dy, dz) = (self.x - other.x, self.y - other.y, self.z - other.z);
        libm::sqrt(dx * dx + dy * dy + dz * dz)
    }

    /// Returns the position at `share` (0 to 1) of the way to `other`.
    pub(crate) fn towards(self, other: Self, share: f64) -> Self {
        let between = |from: f64, to: f64| from + (to - from) * share;
        Self { x: between(self.x, other.x), y: between(self.y, other.y), z: between(self.z, other.z) }
    }
}

impl From<[Length; 2]> for Position {
    fn from([x, y]: [Length; 2]) -> Self {
        Self { x: x.as_metres(), y: y.as_metres(), z: 0.0 }
    }
}

/// Straight movement of a node from `start` to `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    from: Position,
    /// Position at `end`.
    pub(super) to: Position,
    start: Instant,
    /// Time at which the leg ends; [`Instant::NEVER`] for a leg without end.
    pub(super) end: Instant,
    /// Velocity in metres per nanosecond.
    velocity: Position,
}

impl Leg {
    /// Makes a leg that stays at `position`.
    pub(super) fn standing(position: Position, start: Instant, end: Instant) -> Self {
        Self { from: position, to: position, start, end, velocity: Position::default() }
    }

    /// Makes a leg from `from` to `to` at `speed`, in m/s. If speed or distance is zero, the leg ends at once.
    pub(super) fn moving(from: Position, to: Position, speed: f64, start: Instant) -> Self {
        let distance = from.distance(to);
        if distance <= 0.0 || speed <= 0.0 {
            return Self::standing(from, start, start);
        }
        let per_metre = speed / 1e9 / distance;
        let along = |from: f64, to: f64| (to - from) * per_metre;
        let velocity = Position { x: along(from.x, to.x), y: along(from.y, to.y), z: along(from.z, to.z) };
        Self { from, to, start, end: start + Duration::from_secs_f64(distance / speed), velocity }
    }

    /// Returns this leg, cut off at `end` if it takes longer.
    pub(super) fn until(self, end: Instant) -> Self {
        if end < self.end { Self { to: self.position(end), end, ..self } } else { self }
    }

    /// Returns the position at `now`; after the end, the last position.
    #[inline]
    pub(super) fn position(&self, now: Instant) -> Position {
        if now >= self.end {
            return self.to;
        }
        let nanos = now.since(self.start).as_nanos() as f64;
        let at = |from: f64, velocity: f64| from + velocity * nanos;
        let Self { from, velocity, .. } = self;
        Position { x: at(from.x, velocity.x), y: at(from.y, velocity.y), z: at(from.z, velocity.z) }
    }
}

/// A command to a node. It takes effect at once, even if the node has not finished the previous one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Command {
    pub(crate) time: Instant,
    pub(crate) order: Order,
}

/// What a command says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    /// Go to a position, with a height if one is given, at a speed in m/s. Speed zero stops the node where it is.
    Go { x: f64, y: f64, z: Option<f64>, speed: f64 },
    /// Jump to these coordinates and stay there. Coordinates that are not given stay as they are.
    Set { x: Option<f64>, y: Option<f64>, z: Option<f64> },
}

impl Order {
    /// Returns the destination of a node that was at `position`.
    pub(super) fn destination(self, position: Position) -> Position {
        let (x, y, z) = match self {
            Self::Go { x, y, z, .. } => (Some(x), Some(y), z),
            Self::Set { x, y, z } => (x, y, z),
        };
        Position { x: x.unwrap_or(position.x), y: y.unwrap_or(position.y), z: z.unwrap_or(position.z) }
    }
}

/// Commands in order of time. If several journeys begin at the same time, the last one applies.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(super) commands: Vec<Command>,
    pub(super) next: usize,
}

impl Script {
    /// Returns the leg of a node at `position` from `now` on.
    pub(super) fn next(&mut self, mut position: Position, now: Instant) -> Leg {
        let mut journey = None;
        while let Some(&Command { order, .. }) = self.commands.get(self.next).filter(|command| command.time <= now) {
            self.next += 1;
            journey = match order {
                Order::Go { speed, .. } => Some((order, speed)),
                Order::Set { .. } => {
                    position = order.destination(position);
                    None
                }
            };
        }
        let following = self.commands.get(self.next).map_or(Instant::NEVER, |command| command.time);
        match journey {
            Some((order, speed)) => Leg::moving(position, order.destination(position), speed, now).until(following),
            None => Leg::standing(position, now, following),
        }
    }
}
