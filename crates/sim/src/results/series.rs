//! Time series and distributions of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time series with one value per step; step `k` covers the time from `k * step_s` to `(k + 1) * step_s`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Length of a step.
    pub step_s: f64,
    /// One entry per flow, in the scenario's order.
    pub flows: Vec<FlowSeries>,
    /// One entry per queue of a node, in the scenario's order.
    pub nodes: Vec<NodeSeries>,
    /// Lateness of real packets; absent unless the run was an emulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<EmulationSeries>,
}

/// Lateness of real programs' packets over time: real minus simulated time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EmulationSeries {
    /// Packets of the step that were later than the bound: if there are any, the step's other values cannot be trusted.
    pub late_packets: Vec<u64>,
    /// The largest lateness of the packets of the step.
    pub lateness_max_s: Vec<f64>,
}

impl EmulationSeries {
    /// Extends the series to this step.
    pub fn reach(&mut self, step: usize) {
        let steps = self.late_packets.len().max(step.saturating_add(1));
        self.late_packets.resize(steps, 0);
        self.lateness_max_s.resize(steps, 0.0);
    }
}

/// A flow over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSeries {
    /// The flow's name.
    pub name: String,
    /// Payload received per second.
    pub goodput_bps: Vec<f64>,
    /// Mean one-way delay of the packets received in the step; absent without such packets.
    pub delay_mean_s: Vec<Option<f64>>,
    /// Largest one-way delay of the packets received in the step; absent without such packets.
    pub delay_max_s: Vec<Option<f64>>,
    /// TCP: bytes that reached the receiver per second, in order or not, each counted once; empty for other flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried_bps: Vec<f64>,
    /// TCP: the congestion windows of the open connections at the end of the step, in full segments; empty for other
    /// flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cwnd_packets: Vec<f64>,
    /// TCP: the largest of the open connections' smoothed round-trip times at the end of the step; absent if no
    /// connection has one. Empty for other flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub srtt_s: Vec<Option<f64>>,
    /// Of flows that ask for admission: 1 if the flow is admitted at the end of the step, else 0; empty for other
    /// flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub admitted: Vec<f64>,
    /// Packets lost in the step, of TCP segments with data; empty without a routing protocol, like the next key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_packets: Vec<u64>,
    /// Time since the route last changed, at the end of the step; since the start of the run if it never changed. A
    /// route changes when a node passes a packet to a new neighbour, or detects that the link is broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route_age_s: Vec<f64>,
}

/// A queue over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeSeries {
    /// The node's name; under EDCA followed by the queue's: `n0 be`.
    pub name: String,
    /// The limit at the end of the step, in the unit of the limit (packets or bytes).
    pub limit: Vec<f64>,
    /// Packets waiting at the end of the step.
    pub backlog_packets: Vec<u64>,
    /// Packets that arrived in the step.
    pub arrived_packets: Vec<u64>,
    /// Packets handed to the MAC, or to the wired link, in the step.
    pub sent_packets: Vec<u64>,
    /// Packets discarded in the step.
    pub dropped_packets: Vec<u64>,
    /// Mean time in the queue of the packets completed in the step; absent without such packets.
    pub sojourn_mean_s: Vec<Option<f64>>,
    /// Mean time in the queue and in the MAC of the packets completed in the step; absent without such packets.
    pub nodal_delay_mean_s: Vec<Option<f64>>,
    /// Largest time in the queue and in the MAC of the packets completed in the step; absent without such packets.
    pub nodal_delay_max_s: Vec<Option<f64>>,
    /// Channel busy ratio: share of the step for which the node sensed the medium busy, its own frames included. Given
    /// with the node's first queue; empty for further queues, and without a radio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busy_ratio: Vec<f64>,
    /// The rate of the port's shaper at the end of the step, absent while it has none; empty if the controller sets no
    /// rate, like the next key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_bps: Vec<Option<f64>>,
    /// Rate handed to the MAC, in network-layer bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent_bps: Vec<f64>,
    /// The rate of real-time traffic in range at the end of the step, as the controller averages it; empty without such
    /// an average.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub real_time_bps: Vec<f64>,
    /// Packets marked (ECN) in the step; empty if the controller orders no marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marked_packets: Vec<u64>,
}

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
