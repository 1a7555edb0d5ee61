//! Random waypoint: move to a uniform position at a uniform speed, pause, repeat.
//!
//! If nodes start at uniform positions, a run changes for a long time. Slow legs last longer, so the mean speed falls;
//! paths cross the centre, so nodes concentrate there. The stationary start draws the first leg from the limiting
//! distribution: W. Navidi and T. Camp, "Stationary distributions for the random waypoint mobility model", IEEE
//! Transactions on Mobile Computing 3(1), 2004.

use super::leg::{Leg, Position};
use crate::config::WalkStart;
use crate::engine::Stream;
use units::{Duration, Instant};

/// The movement of one node, with its own random numbers.
#[derive(Clone, Debug)]
pub(crate) struct RandomWaypoint {
    /// The corner opposite (0, 0).
    pub(super) area: Position,
    /// Lowest speed in m/s, above zero.
    slowest: f64,
    /// Highest speed in m/s.
    pub(super) fastest: f64,
    pause: Duration,
    random: Stream,
    /// True while the present leg is a pause.
    pausing: bool,
}

impl RandomWaypoint {
    /// Makes a movement on the rectangle from (0, 0) to `area`, at speeds from `slowest`, above zero, to `fastest`.
    pub(crate) fn new(area: Position, slowest: f64, fastest: f64, pause: Duration, random: Stream) -> Self {
        Self { area, slowest, fastest, pause, random, pausing: false }
    }

    pub(super) fn first(&mut self, start: WalkStart) -> Leg {
        match start {
            WalkStart::Uniform => {
                let from = self.waypoint();
                self.travel(from, Instant::ZERO)
            }
            WalkStart::Stationary if self.random.unit() < self.pausing_share() => {
                // The rest of a constant pause, observed at a random time, is uniform.
                self.pausing = true;
                let rest = Duration::from_secs_f64(self.pause.as_secs_f64() * self.random.unit());
                Leg::standing(self.waypoint(), Instant::ZERO, Instant::ZERO + rest)
            }
            WalkStart::Stationary => {
                let (from, to) = self.crossed_path();
                let position = from.towards(to, self.random.unit());
                let Self { slowest, fastest, .. } = *self;
                // The density is proportional to 1 / v, because slow legs last longer.
                let speed = slowest * libm::pow(fastest / slowest, self.random.unit());
                Leg::moving(position, to, speed, Instant::ZERO)
            }
        }
    }

    /// Returns the next leg, or the pause, after the leg that led to `position`.
    pub(super) fn next(&mut self, position: Position, now: Instant) -> Leg {
        self.pausing = !self.pausing && !self.pause.is_zero();
        if self.pausing { Leg::standing(position, now, now + self.pause) } else { self.travel(position, now) }
    }

    fn travel(&mut self, from: Position, now: Instant) -> Leg {
        let to = self.waypoint();
        let Self { slowest, fastest, .. } = *self;
        Leg::moving(from, to, slowest + (fastest - slowest) * self.random.unit(), now)
    }

    fn waypoint(&mut self) -> Position {
        Position { x: self.area.x * self.random.unit(), y: self.area.y * self.random.unit(), z: 0.0 }
    }

    /// Draws the ends of a node's leg at a random time: their density is proportional to their distance.
    fn crossed_path(&mut self) -> (Position, Position) {
        let longest = Position::default().distance(self.area);
        loop {
            let (from, to) = (self.waypoint(), self.waypoint());
            if longest * self.random.unit() < from.distance(to) {
                return (from, to);
            }
        }
    }

    /// Returns the share of time in which a node pauses.
    fn pausing_share(&self) -> f64 {
        let pause = self.pause.as_secs_f64();
        let Self { slowest, fastest, .. } = *self;
        // The mean of 1 / v if the speed v is uniform.
        let slowness =
            if fastest > slowest { libm::log(fastest / slowest) / (fastest - slowest) } else { 1.0 / slowest };
        pause / (pause + mean_leg(self.area) * slowness)
    }
}

/// Returns the mean distance of two uniform positions in a rectangle (B. Ghosh, "Random distances within a rectangle
/// and between two rectangles", Bulletin of the Calcutta Mathematical Society 43, 1951).
fn mean_leg(area: Position) -> f64 {
    let (a, b) = (area.x, area.y);
    // The formula subtracts large numbers if the rectangle is almost a line.
    if a.max(b) > 1e4 * a.min(b) {
        return a.max(b) / 3.0;
    }
    let diagonal = Position::default().distance(area);
    let (a2, b2) = (a * a, b * b);
    let straight = a * a2 / b2 + b * b2 / a2 + diagonal * (3.0 - a2 / b2 - b2 / a2);
    let curved = b2 / a * libm::acosh(diagonal / b) + a2 / b * libm::acosh(diagonal / a);
    straight / 15.0 + curved / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_places_in_a_unit_square_are_0_521_apart_on_average() {
        // (2 + sqrt 2 + 5 ln(1 + sqrt 2)) / 15.
        let square = mean_leg(Position { x: 1.0, y: 1.0, z: 0.0 });
        assert!((square - 0.521_405_433).abs() < 1e-9, "{square}");
        assert!((mean_leg(Position { x: 300.0, y: 300.0, z: 0.0 }) - 300.0 * square).abs() < 1e-9);
        // A thin strip is a line, where the mean is a third of the length.
        let strip = mean_leg(Position { x: 1000.0, y: 1.0, z: 0.0 });
        assert!((strip / 1000.0 - 1.0 / 3.0).abs() < 1e-4, "{strip}");
    }
}
