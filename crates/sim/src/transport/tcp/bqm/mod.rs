//! The ends of a connection under biased queue management (BQM thesis, chapter 3). Section numbers are the thesis'.
//!
//! The sender assigns each packet a discard priority ([`Marks`], section 3.1), and a queue in the network drops packets
//! of priority 0 first (the discipline `biased`). From the missing packets the receiver therefore sees whether a queue
//! dropped them and how full it was (`judge.rs`, sections 3.2 to 3.4 and 3.6). The receiver reports this verdict to the
//! sender, whose window reacts (`congestion/bqm.rs`, section 3.5).

mod judge;
mod pattern;
pub(super) use pattern::Marks;
pub(crate) use pattern::PRIORITIES;

use crate::config;
use crate::config::bqm::{DiscardPattern as Pattern, Discriminator, Growth, Measure, Threshold, WirelessLoss};

/// The settings of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) pattern: Pattern,
    /// True if each retransmission raises a packet's priority by one, so that the packet is not dropped for ever.
    pub(crate) raise: bool,
    /// Way in which a receiver distinguishes losses, if at all: by equation (3.2) and the rule on bursts.
    pub(crate) discriminator: Discriminator,
    /// `K`: one packet in this number has priority 0, for the receiver. None: no packet has.
    pub(crate) every: Option<u32>,
    /// A receiver's estimate of a path's overload; without a gap: Modified BQM, section 3.6.
    pub(crate) measure: Measure,
    /// Sender's reaction to a loss without congestion: a reduction by one packet in section 3.5, none in section 6.1.
    pub(crate) wireless_loss: WirelessLoss,
    /// Time for which the window grows at the reduced speed after a reaction.
    pub(crate) growth: Growth,
    /// Slow start threshold after a reaction; `half` is RFC 5681, equation 4.
    pub(crate) threshold: Threshold,
    /// True if one duplicate acknowledgement shows the loss of a packet of priority 0 (section 3.5).
    pub(crate) single_duplicate: bool,
    /// True if all packets of priority 0 of a window are repeated once it is known to have lost several (section 3.5).
    pub(crate) lowest_at_once: bool,
}

impl From<&config::Bqm> for Settings {
    fn from(described: &config::Bqm) -> Self {
        let pattern = described.pattern.unwrap_or_default();
        Self {
            pattern,
            raise: described.raise.unwrap_or(true),
            discriminator: described.discriminator.unwrap_or_default(),
            every: described.every.or(pattern.every()),
            measure: described.measure.unwrap_or_default(),
            wireless_loss: described.wireless_loss.unwrap_or_default(),
            growth: described.growth.unwrap_or_default(),
            threshold: described.threshold.unwrap_or_default(),
            single_duplicate: described.single_duplicate.unwrap_or(false),
            lowest_at_once: described.lowest_at_once.unwrap_or(false),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::from(&config::Bqm::default())
    }
}
