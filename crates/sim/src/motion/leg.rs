//! A straight leg at constant speed.

use units::{Duration, Instant, Length};

/// A place, in metres; `z` is the height above the plane on which nodes stand that have none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
}

impl Place {
    /// In metres.
    #[inline]
    pub(crate) fn distance(self, other: Self) -> f64 {
        let (dx, dy, dz) = (self.x - other.x, self.y - other.y, self.z - other.z);
        libm::sqrt(dx * dx + dy * dy + dz * dz)
    }

    /// The place `share` of the way to `other`.
    pub(crate) fn towards(self, other: Self, share: f64) -> Self {
        let between = |from: f64, to: f64| from + (to - from) * share;
        Self { x: between(self.x, other.x), y: between(self.y, other.y), z: between(self.z, other.z) }
    }
}

impl From<[Length; 2]> for Place {
    fn from([x, y]: [Length; 2]) -> Self {
        Self { x: x.as_metres(), y: y.as_metres(), z: 0.0 }
    }
}

/// What a node does from `start` to `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    from: Place,
    /// Where the node is at `end`.
    pub(super) to: Place,
    start: Instant,
    /// [`Instant::NEVER`] for a leg without end.
    pub(super) end: Instant,
    /// Metres a nanosecond.
    velocity: Place,
}

impl Leg {
    /// Stays at `place`.
    pub(super) fn standing(place: Place, start: Instant, end: Instant) -> Self {
        Self { from: place, to: place, start, end, velocity: Place::default() }
    }

    /// From `from` to `to` at `speed` metres a second. At speed zero, or over no distance, the leg is over at once.
    pub(super) fn moving(from: Place, to: Place, speed: f64, start: Instant) -> Self {
        let distance = from.distance(to);
        if distance <= 0.0 || speed <= 0.0 {
            return Self::standing(from, start, start);
        }
        let per_metre = speed / 1e9 / distance;
        let along = |from: f64, to: f64| (to - from) * per_metre;
        let velocity = Place { x: along(from.x, to.x), y: along(from.y, to.y), z: along(from.z, to.z) };
        Self { from, to, start, end: start + Duration::from_secs_f64(distance / speed), velocity }
    }

    /// The same leg, broken off at `end` if it takes longer.
    pub(super) fn until(self, end: Instant) -> Self {
        if end < self.end { Self { to: self.place(end), end, ..self } } else { self }
    }

    /// Where the node is; after the end, where it was then.
    #[inline]
    pub(super) fn place(&self, now: Instant) -> Place {
        if now >= self.end {
            return self.to;
        }
        let nanos = now.since(self.start).as_nanos() as f64;
        let at = |from: f64, velocity: f64| from + velocity * nanos;
        let Self { from, velocity, .. } = self;
        Place { x: at(from.x, velocity.x), y: at(from.y, velocity.y), z: at(from.z, velocity.z) }
    }
}
