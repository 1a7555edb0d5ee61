//! The `[flow.admission]` tables: real-time flows that ask the network before they send.

use control::GateParams;
use serde::{Deserialize, Serialize};
use units::{Positive, Rate};

/// Admission of a real-time flow at its source. Before its first packet a probe travels to the destination; each node on the
/// way lowers what it says to what a controller of its queues can still admit, and the answer decides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Admission {
    /// What it asks for, with the headers of UDP and IP. Default: the rate of its traffic, for `cbr` of one rate and length and
    /// for `voice` without pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Positive<Rate>>,
    /// What becomes of it when it is refused, before its first packet or later.
    pub refused: Refused,
    /// It starts without asking, as a flow does that other nodes had admitted, long ago, before its route came by here. Asked
    /// to regulate it probes as others do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub presumed: bool,
    /// How its source waits and asks.
    pub gate: GateParams,
}

/// What becomes of a flow that is not admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Refused {
    /// It sends nothing, or no more.
    #[default]
    Stop,
    /// It sends as best effort.
    BestEffort,
}
