//! Parameters that the thesis names, and choices that it leaves open.

use super::pattern::Pattern;

/// Content of a receiver's loss reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discriminator {
    /// By equation (3.2) and the rule on bursts.
    Ald,
    /// All as congestion.
    None,
}

/// Estimate of a path's overload by a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// By the highest priority that is missing (BQM).
    Highest,
    /// By the highest that is reached from the lowest upward without a gap (Modified BQM, section 3.6).
    WithoutGap,
}

/// Sender's reaction to a loss without congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WirelessLoss {
    /// Reduces its window by one packet (section 3.5).
    OnePacket,
    /// Keeps its window (section 6.1).
    None,
}

/// How long the window grows at the reduced speed after a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Until the next reaction.
    UntilNext,
    /// Until the window is as large as before.
    UntilRegained,
}

/// Slow start threshold after a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threshold {
    /// The window.
    Reduced,
    /// Half of what was outstanding (RFC 5681, equation 4).
    Half,
}

/// The settings of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) pattern: Pattern,
    /// True if a repetition has a priority higher by one each time, so that it is not dropped for ever.
    pub(crate) raise: bool,
    pub(crate) discriminator: Discriminator,
    /// `K`: one in this many packets has priority 0, for the receiver. None: no packet has.
    pub(crate) every: Option<u32>,
    pub(crate) measure: Measure,
    pub(crate) wireless_loss: WirelessLoss,
    pub(crate) growth: Growth,
    pub(crate) threshold: Threshold,
    /// True if one duplicate acknowledgement shows the loss of a packet of priority 0 (section 3.5).
    pub(crate) single_duplicate: bool,
    /// True if all packets of priority 0 of a window are repeated once it is known to have lost several (section 3.5).
    pub(crate) lowest_at_once: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let pattern = Pattern::Eight;
        Self {
            pattern,
            raise: true,
            discriminator: Discriminator::Ald,
            every: pattern.every(),
            measure: Measure::Highest,
            wireless_loss: WirelessLoss::OnePacket,
            growth: Growth::UntilNext,
            threshold: Threshold::Reduced,
            single_duplicate: false,
            lowest_at_once: false,
        }
    }
}
