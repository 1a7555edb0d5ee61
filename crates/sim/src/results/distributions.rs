//! Distributions of times in a run.

use serde::{Deserialize, Serialize};

/// Returns the shares of the samples in [`Distributions`], smallest first: value `i` is the smallest time that share
/// `i` of them does not exceed; for 0 the smallest, for 1 the largest.
pub fn shares() -> Vec<f64> {
    let tail = [0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999, 1.0];
    (0..100_u32).map(|percent| f64::from(percent) / 100.0).chain(tail).collect()
}

/// Distribution of times: one time for each of the [`shares`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distributions {
    /// One entry per flow, in the scenario's order.
    pub flows: Vec<FlowDistribution>,
    /// One entry per queue of a node, in the scenario's order.
    pub nodes: Vec<NodeDistribution>,
}

/// Distributions of a flow. Empty where nothing was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowDistribution {
    /// The flow's name.
    pub name: String,
    /// One-way delays.
    pub delay_s: Vec<f64>,
    /// TCP and `ping`: round-trip times.
    pub rtt_s: Vec<f64>,
    /// TCP's transfers: times from their beginnings to their ends.
    pub completion_s: Vec<f64>,
}

/// Distributions of a queue. Empty where nothing was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeDistribution {
    /// The node's name; if it has several queues, followed by the queue's name: `n0 be`.
    pub name: String,
    /// Times in the queue.
    pub sojourn_s: Vec<f64>,
    /// Times in the queue and in the MAC.
    pub nodal_delay_s: Vec<f64>,
}
