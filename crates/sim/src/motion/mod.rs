//! Position of every node at every time. This layer lies below the radio, which only queries positions.
//!
//! A node moves in straight legs at constant speed. Its position is computed from its present leg on query; between
//! queries nothing is computed or stored. Coordinates are doubles, computed only with `+ - * /` and the square root.
//! IEEE 754 rounds these operations exactly, so that coordinates are the same on every machine.

mod fcd;
mod form;
mod leg;
mod movements;
mod random_waypoint;
mod setdest;

pub use form::{Form, read};
pub(crate) use leg::{Command, Order, Position, Script};
pub use movements::{Fault, Movements};
pub(crate) use movements::{Movement, Presence};
pub(crate) use random_waypoint::RandomWaypoint;

use crate::config::WalkStart;
use leg::Leg;
use units::Instant;

/// What a node does after a leg.
#[derive(Clone, Debug)]
enum Guide {
    Script(Script),
    Random(Box<RandomWaypoint>),
}

/// Movement of one node.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    leg: Leg,
    guide: Guide,
    /// Upper bound of the node's speed, in m/s; zero if it never moves.
    top_speed: f64,
    corners: Corners,
    presence: Presence,
    /// Times at which the node jumps to another position.
    jumps: Vec<Instant>,
}

impl Walk {
    /// Makes the movement of a node that stays at `position`.
    #[cfg(test)]
    pub(crate) fn still(position: Position) -> Self {
        Self::scripted(position, Vec::new())
    }

    /// Makes the movement of a node that starts at `position` and follows `commands`, which are in order of time.
    pub(crate) fn scripted(position: Position, commands: Vec<Command>) -> Self {
        let (mut corners, mut top_speed, mut jumps) = (Corners::of(position), 0.0_f64, Vec::new());
        for &Command { time, order } in &commands {
            // A coordinate that is not given lies between the corners anyway.
            corners = corners.with(order.destination(corners.least)).with(order.destination(corners.most));
            match order {
                Order::Go { speed, .. } => top_speed = top_speed.max(speed),
                Order::Set { .. } => jumps.push(time),
            }
        }
        let mut script = Script { commands, next: 0 };
        let leg = script.next(position, Instant::ZERO);
        Self { leg, guide: Guide::Script(script), top_speed, corners, presence: Presence::default(), jumps }
    }

    /// Returns this movement for a node that is on the air only at certain times.
    pub(crate) fn with_presence(self, presence: Presence) -> Self {
        Self { presence, ..self }
    }

    pub(crate) fn random(mut walk: RandomWaypoint, start: WalkStart) -> Self {
        let leg = walk.first(start);
        let corners = Corners::of(Position::default()).with(walk.area);
        let (top_speed, guide) = (walk.fastest, Guide::Random(Box::new(walk)));
        Self { leg, guide, top_speed, corners, presence: Presence::default(), jumps: Vec::new() }
    }
}

/// The box around a set of positions.
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
            least: Position { x: least.x.min(position.x), y: least.y.min(position.y), z: least.z.min(position.z) },
            most: Position { x: most.x.max(position.x), y: most.y.max(position.y), z: most.z.max(position.z) },
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Motion {
    legs: Vec<Leg>,
    guides: Vec<Guide>,
    /// When each node is present; empty if all nodes are on the air all the time.
    presence: Vec<Presence>,
    /// Times at which a node appears, disappears or jumps, in order.
    pub(crate) changes: Vec<Instant>,
    pub(crate) top_speed: f64,
    corners: Option<Corners>,
}

impl Motion {
    /// Makes the motion of nodes with these movements.
    pub(crate) fn new(walks: Vec<Walk>) -> Self {
        let top_speed = walks.iter().map(|walk| walk.top_speed).fold(0.0, f64::max);
        let corners = walks.iter().map(|walk| walk.corners);
        let corners = corners.reduce(|sum, corners| sum.with(corners.least).with(corners.most));
        let jumps = walks.iter().flat_map(|walk| &walk.jumps).copied();
        let mut changes: Vec<Instant> = jumps.chain(walks.iter().flat_map(|walk| walk.presence.changes())).collect();
        changes.sort_unstable();
        changes.dedup();
        let comes_and_goes = walks.iter().any(|walk| walk.presence != Presence::default());
        let mut motion =
            Self { legs: Vec::new(), guides: Vec::new(), presence: Vec::new(), changes, top_speed, corners };
        for walk in walks {
            motion.legs.push(walk.leg);
            motion.guides.push(walk.guide);
            motion.presence.extend(comes_and_goes.then_some(walk.presence));
        }
        motion
    }

    /// Returns this motion with some nodes on the air only at certain times.
    pub(crate) fn with_presence(mut self, told: impl Iterator<Item = (u32, Presence)>) -> Self {
        self.presence.resize(self.nodes(), Presence::default());
        for (node, presence) in told {
            self.changes.extend(presence.changes());
            self.presence[node as usize] = presence;
        }
        self.changes.sort_unstable();
        self.changes.dedup();
        self
    }

    pub(crate) fn nodes(&self) -> usize {
        self.legs.len()
    }

    /// Returns an upper bound of the distance between any two nodes, in metres.
    pub(crate) fn extent(&self) -> f64 {
        self.corners.map_or(0.0, |corners| corners.least.distance(corners.most))
    }

    /// Returns the lowest and the highest height of any node at any time, in metres.
    pub(crate) fn heights(&self) -> (f64, f64) {
        self.corners.map_or((0.0, 0.0), |corners| (corners.least.z, corners.most.z))
    }

    /// Returns when a node is on the air.
    pub(crate) fn presence(&self, node: u32) -> Option<&Presence> {
        self.presence.get(node as usize)
    }

    pub(crate) fn is_present(&self, node: u32, now: Instant) -> bool {
        self.presence.get(node as usize).is_none_or(|presence| presence.at(now))
    }

    /// Returns the position of `node`. `now` must not be earlier than in the previous call for the same node.
    #[inline]
    pub(crate) fn position(&mut self, node: u32, now: Instant) -> Position {
        let leg = &self.legs[node as usize];
        if now >= leg.end && leg.end < Instant::NEVER {
            self.go_on(node, now);
        }
        self.legs[node as usize].position(now)
    }

    /// Advances `node` to its present leg.
    #[inline(never)]
    fn go_on(&mut self, node: u32, now: Instant) {
        let (leg, guide) = (&mut self.legs[node as usize], &mut self.guides[node as usize]);
        while now >= leg.end && leg.end < Instant::NEVER {
            *leg = match guide {
                Guide::Script(script) => script.next(leg.to, leg.end),
                Guide::Random(walk) => walk.next(leg.to, leg.end),
            };
        }
    }
}

#[cfg(test)]
mod tests;
