//! The `[tcp.bqm]` table: discard priorities and what follows from their losses.

use serde::{Deserialize, Serialize};

/// Biased queue management at the ends of a connection; see `docs/tcp.md`. With this table packets carry discard priorities, in
/// their code point; with `congestion = "bqm"` the receiver also reports what it makes of losses, and the window follows that. A
/// key that is left out of a flow's table is as in `[tcp.bqm]`, there as said here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Bqm {
    /// Which packet has which priority. Default `8`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<DiscardPattern>,
    /// A packet's priority rises by one with every time that it is sent again. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raise: Option<bool>,
    /// How the receiver tells losses by congestion from others. Default `ald`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discriminator: Option<Discriminator>,
    /// `K` of the discriminator, at least 1: one packet in so many has priority 0. Default: as the pattern has it, 8 or 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u32>,
    /// What the receiver reports of losses by congestion. Default `highest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<Measure>,
    /// What the window loses at a loss that is not by congestion. Default `one-packet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wireless_loss: Option<WirelessLoss>,
    /// How long the window grows as slowly as a reaction says. Default `until-next`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// The slow start threshold after a reaction. Default `reduced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
    /// A single duplicate acknowledgement shows the loss of a packet of priority 0. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single_duplicate: Option<bool>,
}

/// Which packet has which discard priority, from 0, which goes first, to 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DiscardPattern {
    /// Of eight packets one has priority 0, one 1, two 2 and four 3.
    #[default]
    #[serde(rename = "8")]
    Eight,
    /// Of sixteen packets two have priority 0, two 1, four 2 and eight 3.
    #[serde(rename = "16")]
    Sixteen,
    /// Of sixteen packets one has priority 0, one 1, two 2 and twelve 3.
    #[serde(rename = "16-sparse")]
    SixteenSparse,
    /// All have priority 3: a sender that takes the place of others.
    #[serde(rename = "highest")]
    Highest,
}

/// How a receiver tells losses by congestion from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Discriminator {
    /// By the share of packets of priority 0 among them, and by bursts.
    #[default]
    Ald,
    /// All are by congestion.
    None,
}

/// What a receiver reports of losses by congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The highest priority among the packets that are missing (BQM).
    #[default]
    Highest,
    /// The highest that is reached from the lowest upward without a gap (Modified BQM).
    WithoutGap,
}

/// What the window loses at a loss that is not by congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WirelessLoss {
    /// One packet.
    #[default]
    OnePacket,
    /// Nothing.
    None,
}

/// How long the window grows as slowly as a reaction says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Until the next reaction to congestion.
    #[default]
    UntilNext,
    /// Until the window is as large as before the reaction.
    UntilRegained,
}

/// The slow start threshold after a reaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// The reduced window: no slow start follows.
    #[default]
    Reduced,
    /// Half of what was outstanding (RFC 5681): where the window falls lower, slow start follows.
    Half,
}

impl Bqm {
    /// With the keys of `shared` where this table has none.
    pub(super) fn over(&self, shared: &Self) -> Self {
        Self {
            pattern: self.pattern.or(shared.pattern),
            raise: self.raise.or(shared.raise),
            discriminator: self.discriminator.or(shared.discriminator),
            every: self.every.or(shared.every),
            measure: self.measure.or(shared.measure),
            wireless_loss: self.wireless_loss.or(shared.wireless_loss),
            growth: self.growth.or(shared.growth),
            threshold: self.threshold.or(shared.threshold),
            single_duplicate: self.single_duplicate.or(shared.single_duplicate),
        }
    }
}
