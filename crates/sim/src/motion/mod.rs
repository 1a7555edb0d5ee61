//! Position of every node at every moment: the layer below the radio, which only queries positions.
//!
//! A node goes in straight legs at constant speed. Its position is computed on query, from the leg that it is on; between
//! questions nothing happens and nothing is stored. Coordinates are doubles made with `+ - * /` and the square root alone,
//! which IEEE 754 rounds exactly, so that they are the same on every machine.

mod leg;
mod random_waypoint;
mod setdest;

pub(crate) use leg::{Command, Position, Script};
pub(crate) use random_waypoint::{RandomWaypoint, Start};
pub(crate) use setdest::Movement;
pub use setdest::{Fault, Movements, read};

use leg::Leg;
use units::Instant;

/// How a node goes on when a leg is over.
#[derive(Clone, Debug)]
enum Guide {
    Script(Script),
    Random(Box<RandomWaypoint>),
}

/// How one node moves.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    leg: Leg,
    guide: Guide,
    top_speed: f64,
    corners: Corners,
}

impl Walk {
    /// Stays at `position`.
    #[cfg(test)]
    pub(crate) fn still(position: Position) -> Self {
        Self::scripted(position, Vec::new())
    }

    /// Starts at `position` and obeys `commands`, which come in order of time.
    pub(crate) fn scripted(position: Position, commands: Vec<Command>) -> Self {
        let top_speed = commands.iter().map(|command| command.speed).fold(0.0, f64::max);
        let corners = commands.iter().map(|command| command.to);
        let corners = corners.fold(Corners::of(position), Corners::with);
        let mut script = Script::new(commands);
        Self { leg: script.next(position, Instant::ZERO), guide: Guide::Script(script), top_speed, corners }
    }

    /// Moves by random waypoint.
    pub(crate) fn random(mut walk: RandomWaypoint, start: Start) -> Self {
        let leg = walk.first(start);
        let corners = Corners::of(Position::default()).with(walk.area());
        Self { leg, top_speed: walk.top_speed(), guide: Guide::Random(Box::new(walk)), corners }
    }
}

/// The rectangle that some positions lie in.
#[derive(Clone, Copy, Debug)]
struct Corners {
    least: Position,
    most: Position,
}

impl Corners {
    fn of(position: Position) -> Self {
        Self { least: position, most: position }
    }

    fn with(self, position: Position) -> Self {
        let Self { least, most } = self;
        Self {
            least: Position { x: least.x.min(position.x), y: least.y.min(position.y) },
            most: Position { x: most.x.max(position.x), y: most.y.max(position.y) },
        }
    }
}

/// How all nodes move.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    legs: Vec<Leg>,
    guides: Vec<Guide>,
    top_speed: f64,
    extent: f64,
}

impl Motion {
    /// The motion of nodes that each go their way.
    pub(crate) fn new(walks: Vec<Walk>) -> Self {
        let top_speed = walks.iter().map(|walk| walk.top_speed).fold(0.0, f64::max);
        let corners = walks.iter().map(|walk| walk.corners);
        let whole = corners.reduce(|sum, corners| sum.with(corners.least).with(corners.most));
        let extent = whole.map_or(0.0, |corners| corners.least.distance(corners.most));
        let (legs, guides) = walks.into_iter().map(|walk| (walk.leg, walk.guide)).unzip();
        Self { legs, guides, top_speed, extent }
    }

    /// How many nodes there are.
    pub(crate) fn nodes(&self) -> usize {
        self.legs.len()
    }

    /// No node is ever faster, in metres a second; zero where all stand still for the whole run.
    pub(crate) fn top_speed(&self) -> f64 {
        self.top_speed
    }

    /// No two nodes are ever farther apart, in metres.
    pub(crate) fn extent(&self) -> f64 {
        self.extent
    }

    /// Where `node` is. Time must not run back from one question about a node to the next.
    #[inline]
    pub(crate) fn position(&mut self, node: u32, now: Instant) -> Position {
        let leg = &mut self.legs[node as usize];
        while now >= leg.end && leg.end < Instant::NEVER {
            let guide = &mut self.guides[node as usize];
            *leg = match guide {
                Guide::Script(script) => script.next(leg.to, leg.end),
                Guide::Random(walk) => walk.next(leg.to, leg.end),
            };
        }
        leg.position(now)
    }
}

#[cfg(test)]
mod tests;
