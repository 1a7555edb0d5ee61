//! Service classes, and the code points that carry them (RFC 2474).

use serde::{Deserialize, Serialize};

/// A service class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Packets that must arrive soon or not at all. DSCP 46, expedited forwarding (RFC 3246).
    RealTime,
    /// All other traffic. DSCP 0.
    #[default]
    BestEffort,
}

impl Class {
    /// Is it the default?
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn is_best_effort(&self) -> bool {
        *self == Self::BestEffort
    }
}

/// The differentiated services code point of an IP packet: six bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dscp(u8);

impl Dscp {
    /// Expedited forwarding (RFC 3246): real-time traffic.
    const EF: u8 = 46;

    /// The number in the header, below 64.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The service class that it stands for.
    #[inline]
    pub(crate) const fn class(self) -> Class {
        if self.0 == Self::EF { Class::RealTime } else { Class::BestEffort }
    }
}

impl From<Class> for Dscp {
    fn from(class: Class) -> Self {
        match class {
            Class::BestEffort => Self(0),
            Class::RealTime => Self(Self::EF),
        }
    }
}
