//! The `[tcp.bqm]` table: discard priorities and what follows from their losses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{apply, choice};

/// Biased queue management at the ends of a connection; see `docs/tcp.md`. Packets carry discard priorities (0 to 3).
/// Keys missing in `[flow.tcp.bqm]` come from `[tcp.bqm]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bqm {
    /// Assignment of priorities to packets. Default `8`.
    pub pattern: Option<DiscardPattern>,
    /// Each retransmission raises the priority by one. Default true.
    pub raise: Option<bool>,
    /// Receiver's test for congestion losses. Default `ald`.
    pub discriminator: Option<Discriminator>,
    /// `K` of the discriminator, at least 1: one packet in `K` has priority 0. Default: the pattern's, 8 or 16.
    pub every: Option<u32>,
    /// Congestion level that the receiver reports. Default `highest`.
    pub measure: Option<Measure>,
    /// Window reduction after a loss without congestion. Default `one-packet`.
    pub wireless_loss: Option<WirelessLoss>,
    /// End of the slow growth after a reaction. Default `until-next`.
    pub growth: Option<Growth>,
    /// Slow start threshold after a reaction. Default `reduced`.
    pub threshold: Option<Threshold>,
    /// Loss of a packet of priority 0 is detected at the first duplicate acknowledgement. Default false.
    pub single_duplicate: Option<bool>,
    /// If the first partial acknowledgement shows several losses in a window, all of the window's packets of priority 0
    /// are retransmitted at once. Default false.
    pub lowest_at_once: Option<bool>,
}

/// Assignment of discard priorities to packets, from 0, which goes first, to 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DiscardPattern {
    /// Of eight packets, 1, 1, 2 and 4 have priority 0, 1, 2 and 3.
    #[default]
    #[serde(rename = "8")]
    Eight,
    /// Of 16 packets, 2, 2, 4 and 8 have priority 0, 1, 2 and 3.
    #[serde(rename = "16")]
    Sixteen,
    /// Of 16 packets, 1, 1, 2 and 12 have priority 0, 1, 2 and 3.
    #[serde(rename = "16-sparse")]
    SixteenSparse,
    /// All have priority 3: a cheating sender.
    #[serde(rename = "highest")]
    Highest,
}

/// A receiver's test for congestion losses.
#[apply(choice)]
pub enum Discriminator {
    /// Share of priority 0 among losses, and bursts of losses.
    #[default]
    Ald,
    /// All losses count as congestion losses.
    None,
}

/// Congestion level that a receiver reports.
#[apply(choice)]
pub enum Measure {
    /// Highest priority among the missing packets (BQM).
    #[default]
    Highest,
    /// Highest priority reached from 0 upward without a gap (Modified BQM).
    WithoutGap,
}

/// Window reduction after a loss without congestion.
#[apply(choice)]
pub enum WirelessLoss {
    /// By one packet.
    #[default]
    OnePacket,
    /// No reduction.
    None,
}

/// End of the slow growth after a reaction.
#[apply(choice)]
pub enum Growth {
    /// The next reaction to congestion.
    #[default]
    UntilNext,
    /// The window's return to its size before the reaction.
    UntilRegained,
}

/// Slow start threshold after a reaction.
#[apply(choice)]
pub enum Threshold {
    /// Reduced window, so that no slow start follows.
    #[default]
    Reduced,
    /// Half of the outstanding data (RFC 5681).
    Half,
}

impl Bqm {
    /// With the keys of `shared` where this table has none.
    pub(super) fn over(&self, shared: &Self) -> Self {
        over! { self, shared;
            pattern raise discriminator every measure wireless_loss growth threshold single_duplicate lowest_at_once
        }
    }
}
