//! Access categories.

use serde::{Deserialize, Serialize};

/// An access category of EDCA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The highest.
    Voice,
    /// The second.
    Video,
    /// The third.
    #[default]
    BestEffort,
    /// The lowest.
    Background,
}
