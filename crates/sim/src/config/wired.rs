//! The `[[wired]]` tables: links beside the radio.

use queue::Settings as Queue;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use units::{Duration, Rate, Share};

/// A full-duplex link between two nodes: each direction has its own queue. A packet is sent whole, takes its length with
/// the IP header at `rate`, and arrives `delay` later.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Wired {
    /// The names of its two ends. `up*` at one of them stands for all nodes whose names begin so: a link from each.
    #[serde(deserialize_with = "ends")]
    pub between: [String; 2],
    /// Bits that it carries in a second, in each direction.
    #[serde(deserialize_with = "units::positive")]
    pub rate: Rate,
    /// Changes of the rate while the network runs, in order of time.
    #[serde(default)]
    pub at: Vec<RateStep>,
    /// Time from the last bit sent to the last bit received.
    #[serde(default)]
    pub delay: Duration,
    /// Share of the packets, of either direction, that are damaged on their way, each by itself, and do not arrive: what a
    /// link by radio does. Default: none.
    pub loss: Option<Share>,
    /// The queue of each direction. It does not take over the keys of the network's `[queue]`.
    #[serde(default)]
    pub queue: Queue,
}

/// A change of a wired link's rate. What is left of a packet that is being sent goes at the new rate.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// When, from the start of the run.
    pub time: Duration,
    /// The new rate.
    #[serde(deserialize_with = "units::positive")]
    pub rate: Rate,
}

/// Exactly two names: serde would pass over a third one.
fn ends<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[String; 2], D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    names.try_into().map_err(|_| D::Error::custom("expected two nodes, as [\"server\", \"ap\"]"))
}
