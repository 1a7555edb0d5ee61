//! A scheduler's estimates for a packet, in the mode in which it would be sent now.

use super::hardware::AGGREGATE;
use crate::config::HardwareQueue;
use crate::mac::{Conventions, Costs, Station};
use crate::net::{Waiting, msdu_bytes};
use queue::turns::Turn;
use units::{Bytes, Duration};

/// Inputs of estimates for a station: the mode in which frames would be sent to it now.
#[derive(Clone, Copy)]
pub(crate) struct Outlook<'a> {
    pub(crate) station: &'a Station,
    pub(crate) rules: &'a Conventions,
}

impl Outlook<'_> {
    /// Returns the estimated airtime of a packet. If frames are aggregated, it is the packet's share of an aggregate.
    pub(super) fn airtime(self, packet: &Waiting) -> Duration {
        let Self { station, rules } = self;
        let mode = station.rates.mode_to(packet.to, &rules.timing);
        let mpdu = rules.mpdu(msdu_bytes(packet.length));
        if station.rates.aggregates(packet.to, rules) { mode.share(mpdu) } else { rules.timing.duration(mode, mpdu) }
    }

    /// Returns a turn of a station: its longest aggregate of packets of this length, or one frame without aggregation.
    pub(super) fn turn(self, to: u32, category: u8, packet: Bytes) -> Turn {
        let Self { station, rules } = self;
        if !station.rates.aggregates(to, rules) {
            return Turn { airtime: Duration::ZERO, packets: 1 };
        }
        let msdu = msdu_bytes(packet);
        let airtime = station.rates.mode_to(to, &rules.timing).share(rules.mpdu(msdu));
        let room = station.room_of_frame(to, category, msdu, rules);
        let airtime = airtime * (room - 1) + Duration::from_nanos(1);
        Turn { airtime, packets: station.packets_of_frame(to, msdu, rules) }
    }

    /// Returns how much of a hardware queue's depth a packet takes.
    pub(super) fn load(self, packet: &Waiting, category: u8, depth: HardwareQueue) -> u32 {
        match depth {
            HardwareQueue::Off => 0,
            HardwareQueue::Packets(_) => 1,
            HardwareQueue::Airtime(_) => u32::try_from(self.airtime(packet).as_nanos()).unwrap_or(u32::MAX),
            HardwareQueue::Aggregates(_) => {
                self.station.share_of_frame(packet.to, category, msdu_bytes(packet.length), AGGREGATE, self.rules)
            }
        }
    }

    /// Returns the expected throughput towards a station in bit/s; zero if it is unknown.
    pub(super) fn throughput(self, to: u32, costs: &Costs) -> f64 {
        let mpdus = self.station.rates.agreement(to, self.rules).frames;
        self.station.rates.expected_throughput(to, costs, mpdus.into())
    }
}
