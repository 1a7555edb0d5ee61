//! The `[flow.admission]` tables: real-time flows that ask the network before they send.

use control::GateParams;
use serde::{Deserialize, Serialize};
use units::{Positive, Rate};

/// Admission of a real-time flow at its source. A probe travels to the destination before the first packet; each node
/// on the way lowers its rate to what the node's controller can admit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Admission {
    /// Rate asked for, with UDP and IP headers. Default: that of the traffic, for `cbr` of fixed rate and length and
    /// `voice` without pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Positive<Rate>>,
    /// Treatment after a refusal, before or after the first packet.
    pub refused: Refused,
    /// Flow admitted elsewhere before its route came here: it starts without a probe, and probes when told to regulate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub presumed: bool,
    /// Parameters of the source.
    pub gate: GateParams,
}

/// Treatment of a flow that is not admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Refused {
    /// Sends nothing more.
    #[default]
    Stop,
    /// Sends as best effort.
    BestEffort,
}
