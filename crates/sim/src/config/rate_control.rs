//! The `[mac.rate_control]` table: who decides about the mode of data frames.

use serde::{Deserialize, Serialize};

/// Who decides about the mode of data frames: see `docs/phy.md`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RateControl {
    /// The algorithm, for each pair of sender and receiver by itself.
    pub algorithm: RateAlgorithm,
}

/// A rate control algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RateAlgorithm {
    /// The mode of `[radio]` or `[[node]]`.
    #[default]
    Fixed,
    /// Faster after ten acknowledgements in a row, slower after two failures (Kamerman and Monteban, 1997).
    Arf,
    /// As `arf`, with a threshold that doubles when a probe fails (Lacage, Manshaei and Turletti, 2004).
    Aarf,
    /// The greatest throughput by measured success ratios; Minstrel in 802.11a, b and g.
    MinstrelHt,
}
