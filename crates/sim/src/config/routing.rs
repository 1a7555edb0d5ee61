//! The `[routing]` table.

use serde::{Deserialize, Serialize};

/// How packets find their way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Routing {
    /// The protocol.
    pub protocol: Protocol,
    /// Paths given by hand; all others are the shortest by hops over links within the receive range.
    pub route: Vec<Route>,
}

/// A routing protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Routes fixed before the run; no routing packets.
    #[default]
    Static,
}

/// A path given by hand.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The node where the path starts.
    pub from: String,
    /// The node where it ends.
    pub to: String,
    /// The nodes between, in order. Empty: straight.
    #[serde(default)]
    pub via: Vec<String>,
}
