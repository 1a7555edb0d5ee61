//! A decision that someone outside the simulation has to make.

use control::Interval;

/// An interval of a queue is over, and someone outside decides what holds from now on; see
/// [`steer`](crate::World::steer).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// The node, by its place in the scenario.
    pub node: u32,
    /// The queue: its place among those of the node.
    pub queue: u32,
    /// What it measured.
    pub seen: Interval,
}
