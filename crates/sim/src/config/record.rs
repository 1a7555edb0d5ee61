//! The `[record]` table.

use serde::{Deserialize, Serialize};
use units::{Duration, Length};

/// Records besides totals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Record {
    /// Spacing of time series, above zero. Only the first seed of a case records them, unless a claim needs them.
    /// Default: none.
    #[serde(deserialize_with = "units::positive")]
    pub series: Option<Duration>,
    /// Distributions of the delays of flows and queues, for charts with `x = "cdf"`.
    pub distributions: bool,
    /// Length of an overflow, for example a round-trip time: drops within this time of its first belong to it. Default:
    /// no record of overflows.
    #[serde(deserialize_with = "units::positive")]
    pub overflows: Option<Duration>,
    /// Width of the distance classes by which packet reception ratios of broadcast flows are recorded. Default: no record
    /// by distance.
    #[serde(deserialize_with = "units::positive")]
    pub reception: Option<Length>,
    /// Packets by number of hops, with a routing protocol.
    pub hops: bool,
}
