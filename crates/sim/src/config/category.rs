//! Access categories.

use super::Class;
use serde::{Deserialize, Serialize};

/// An access category of EDCA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Highest.
    Voice,
    /// Second.
    Video,
    /// Third.
    #[default]
    BestEffort,
    /// Lowest.
    Background,
}

/// The category that a class has under EDCA (RFC 8325, 4.3: expedited forwarding goes with voice).
impl From<Class> for Category {
    fn from(class: Class) -> Self {
        match class {
            Class::RealTime => Self::Voice,
            Class::BestEffort => Self::BestEffort,
        }
    }
}
