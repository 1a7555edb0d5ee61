//! Parameters that the thesis names, and choices that it leaves open.

use super::pattern::Pattern;
pub(crate) use crate::config::bqm::{Discriminator, Growth, Measure, Threshold, WirelessLoss};

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
