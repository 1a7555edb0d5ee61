//! The `[[wired]]` tables: links without radio.

use queue::Settings as Queue;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use units::{Duration, Rate, Share, apply, table};

/// A full-duplex link with a queue per direction. A packet with its IP header is sent at `rate`, then takes `delay`.
#[apply(table)]
pub struct Wired {
    /// The two ends; `up*` gives each node whose name begins with `up` a link.
    #[serde(deserialize_with = "ends")]
    pub between: [String; 2],
    /// Bits per second in each direction.
    #[serde(deserialize_with = "units::positive")]
    pub rate: Rate,
    /// Changes of the rate, in order of time.
    #[serde(default)]
    pub at: Vec<RateStep>,
    /// Propagation delay.
    #[serde(default)]
    pub delay: Duration,
    /// Share of packets lost in each direction, independently. Default: none.
    pub loss: Option<Share>,
    /// Queue of each direction, independent of `[queue]`.
    #[serde(default)]
    pub queue: Queue,
}

/// A change of a wired link's rate, also for the rest of the packet being sent.
#[apply(table)]
pub struct RateStep {
    /// Time from the start of the run.
    pub time: Duration,
    /// New rate.
    #[serde(deserialize_with = "units::positive")]
    pub rate: Rate,
}

/// Exactly two names: serde would pass over a third one.
fn ends<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[String; 2], D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    names.try_into().map_err(|_| D::Error::custom("expected two nodes, such as [\"server\", \"ap\"]"))
}
