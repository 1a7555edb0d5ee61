//! The `[mac.rate_control]` table: who decides about the mode of data frames.

use serde::{Deserialize, Serialize};

/// Selection of the mode of data frames; see `docs/phy.md`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RateControl {
    /// Algorithm, per sender and receiver.
    pub algorithm: RateAlgorithm,
}

/// A rate control algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RateAlgorithm {
    /// Mode of `[radio]` or `[[node]]`.
    #[default]
    Fixed,
    /// Faster after ten ACKs in a row, slower after two failures (Kamerman and Monteban, 1997).
    Arf,
    /// `arf` with a threshold that doubles when a probe fails (Lacage, Manshaei and Turletti, 2004).
    Aarf,
    /// Highest throughput by measured success ratios; Minstrel in 802.11a, b and g.
    MinstrelHt,
}
