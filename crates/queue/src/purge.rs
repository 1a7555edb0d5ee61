//! Purge order: the packets discarded when a lower limit no longer fits the backlog.

use serde::{Deserialize, Serialize};

/// Packets to drop when the limit falls below the backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Purge {
    /// The oldest.
    Head,
    /// The newest.
    Tail,
    /// None: the backlog drains to the lower limit.
    None,
}
