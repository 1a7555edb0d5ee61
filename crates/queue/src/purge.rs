//! What a lower limit does to packets that wait.

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
