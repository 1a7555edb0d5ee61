//! The `[[flow]]` tables: what is sent, from where to where.

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Rate};

/// A flow of packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name in the results.
    pub name: String,
    /// The node that sends; `*` for a flow from every node but the receiver, named `name-node`.
    pub from: String,
    /// The node that receives; `broadcast` for all in range of the sender.
    pub to: String,
    /// What is sent.
    pub traffic: Traffic,
    /// When the flow starts.
    #[serde(default)]
    pub start: Duration,
    /// When it stops. Default: at the end.
    #[serde(default)]
    pub stop: Option<Duration>,
    /// The start is moved later by a random time below this, once a run.
    #[serde(default)]
    pub phase_jitter: Duration,
    /// Packets that take longer from source to destination are late.
    #[serde(default)]
    pub deadline: Option<Duration>,
    /// Changes of the rate while the flow runs, in order of time.
    #[serde(default)]
    pub at: Vec<Step>,
}

/// What a flow sends.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The pattern.
    pub kind: TrafficKind,
    /// Mean rate of UDP payload. Not for `saturated`.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// UDP payload of a packet, at most 2268 B: 8 B of UDP, 20 B of IP and the MAC's headers come on top.
    #[serde(deserialize_with = "units::positive")]
    pub packet: Bytes,
}

/// A pattern of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TrafficKind {
    /// Constant bit rate: packets evenly spaced.
    Cbr,
    /// Packets at independent random times (exponential gaps).
    Poisson,
    /// There is always a packet waiting.
    Saturated,
}

/// A change of a flow's rate: to `rate`, or to `scale` times the rate that the flow starts with.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When, from the start of the run; moved by the flow's `phase_jitter`, as its start is.
    pub time: Duration,
    /// The new rate.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// The new rate as a multiple of the flow's first rate.
    #[serde(default)]
    pub scale: Option<f64>,
}
