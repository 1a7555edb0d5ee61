//! Queues that someone decides upon, and a decision that someone outside the simulation has to make.

use control::{Interval, Limit};
use units::Duration;

/// An interval of a queue is over, and someone outside decides what holds from now on; see
/// [`steer`](crate::World::steer).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// The node, by its place in the scenario.
    pub node: u32,
    /// The queue: its place among those of the node.
    pub queue: u32,
    /// Measurements of the queue.
    pub seen: Interval,
}

/// A queue with a controller that decides at intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Governed {
    /// The name of its node.
    pub node: String,
    /// The queue: its place among those of the node.
    pub queue: u32,
    /// Limit before the first decision.
    pub limit: Limit,
    /// The delay that its controller aims at; none of one that aims at none.
    pub target: Option<Duration>,
}
