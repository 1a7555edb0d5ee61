//! The `[record]` table.

use serde::{Deserialize, Serialize};
use units::Duration;

/// What to record besides totals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Record {
    /// Record time series with this spacing, above zero. Default: none. In a sweep only the first seed of each case records
    /// them, unless a claim speaks of series.
    #[serde(deserialize_with = "units::positive")]
    pub series: Option<Duration>,
    /// Record how the delays of flows and queues are distributed, for charts with `x = "cdf"`.
    pub distributions: bool,
    /// Record the overflows of every node's queues: what they drop no later than this after the first packet of an overflow is
    /// part of it. A round-trip time is a good choice. Default: none.
    #[serde(deserialize_with = "units::positive")]
    pub overflows: Option<Duration>,
    /// With a routing protocol: record how many packets came over one hop, two hops, and so on.
    pub hops: bool,
}
