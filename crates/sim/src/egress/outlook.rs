//! Estimated airtime of a packet before it is sent.

use crate::mac::{Conventions, Costs, Station};
use crate::net::{Waiting, msdu_bytes};
use units::Duration;

/// Estimates for a station, at the mode with which it would send now.
#[derive(Clone, Copy)]
pub(crate) struct Outlook<'a> {
    pub(crate) station: &'a Station,
    pub(crate) rules: &'a Conventions,
}

impl Outlook<'_> {
    /// Returns the estimated airtime of a packet; where frames are aggregated, without the preamble that it will share.
    pub(super) fn airtime(self, packet: &Waiting) -> Duration {
        let Self { station, rules } = self;
        let mode = station.mode_to(packet.to, &rules.timing);
        let alone = rules.timing.duration(mode, rules.mpdu(msdu_bytes(packet.length)));
        if rules.aggregates() { alone.saturating_sub(mode.header()) } else { alone }
    }

    /// The throughput towards another station, in bit/s; zero where none is known.
    pub(super) fn throughput(self, to: u32, costs: &Costs) -> f64 {
        let mpdus = if self.rules.block_ack() { f64::from(self.rules.aggregation.frames) } else { 1.0 };
        self.station.expected_throughput(to, costs, mpdus)
    }
}
