//! Purge order: the packets discarded when a lower limit no longer fits the backlog.

use serde::{Deserialize, Serialize};

/// Which packets go when the limit is lowered below what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Purge {
    /// Those that waited longest.
    Head,
    /// Those that came last.
    Tail,
    /// None: the lower limit meets only packets that come. What waits may be above it until it has drained.
    None,
}
