//! A straight leg at constant speed.

use units::{Duration, Instant, Length};

/// A position on the plane, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Position {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Position {
    /// In metres.
    #[inline]
    pub(crate) fn distance(self, other: Self) -> f64 {
        let (dx, dy) = (self.x - other.x, self.y - other.y);
        libm::sqrt(dx * dx + dy * dy)
    }

    /// The position `share` of the way to `other`.
    pub(crate) fn towards(self, other: Self, share: f64) -> Self {
        Self { x: self.x + (other.x - self.x) * share, y: self.y + (other.y - self.y) * share }
    }
}

impl From<[Length; 2]> for Position {
    fn from([x, y]: [Length; 2]) -> Self {
        Self { x: x.as_metres(), y: y.as_metres() }
    }
}

/// What a node does from `start` to `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    from: Position,
    /// Where the node is at `end`.
    pub(super) to: Position,
    start: Instant,
    /// [`Instant::NEVER`] for a leg without end.
    pub(super) end: Instant,
    /// Metres a nanosecond.
    velocity: Position,
}

impl Leg {
    /// Stays at `position`.
    pub(super) fn standing(position: Position, start: Instant, end: Instant) -> Self {
        Self { from: position, to: position, start, end, velocity: Position::default() }
    }

    /// From `from` to `to` at `speed` metres a second. At speed zero, or over no distance, the leg is over at once.
    pub(super) fn moving(from: Position, to: Position, speed: f64, start: Instant) -> Self {
        let distance = from.distance(to);
        if distance <= 0.0 || speed <= 0.0 {
            return Self::standing(from, start, start);
        }
        let per_metre = speed / 1e9 / distance;
        let velocity = Position { x: (to.x - from.x) * per_metre, y: (to.y - from.y) * per_metre };
        Self { from, to, start, end: start + Duration::from_secs_f64(distance / speed), velocity }
    }

    /// The same leg, broken off at `end` if it takes longer.
    pub(super) fn until(self, end: Instant) -> Self {
        if end < self.end { Self { to: self.position(end), end, ..self } } else { self }
    }

    /// Where the node is; after the end, where it was then.
    #[inline]
    pub(super) fn position(&self, now: Instant) -> Position {
        if now >= self.end {
            return self.to;
        }
        let nanos = now.since(self.start).as_nanos() as f64;
        Position { x: self.from.x + self.velocity.x * nanos, y: self.from.y + self.velocity.y * nanos }
    }
}

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
