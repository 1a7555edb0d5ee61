//! A source of any kind of traffic.

use super::{Emission, OnOff, Pcap, Ping, Steady, Web};
use std::ops::Range;
use units::{Bytes, Instant};

/// A source of packets in order of time.
#[derive(Debug)]
pub(crate) enum Source {
    Steady(Steady),
    OnOff(OnOff),
    Web(Web),
    Replay(Replay),
    Ping(Ping),
}

impl Source {
    /// Returns the next packet; `None` if there is none.
    pub(crate) fn next(&self) -> Option<Emission> {
        match self {
            Self::Steady(steady) => steady.next(),
            Self::OnOff(on_off) => on_off.next(),
            Self::Web(web) => web.next(),
            Self::Replay(replay) => replay.next(),
            Self::Ping(ping) => ping.next(),
        }
    }

    /// Returns the payload of the first packet, or of the longest if lengths are random; `None` if no packet is left.
    pub(crate) fn usual(&self) -> Option<Bytes> {
        let payload = self.next()?.payload;
        Some(if let Self::Steady(steady) = self { steady.longest() } else { payload })
    }

    /// Moves on to the next packet.
    pub(crate) fn advance(&mut self) {
        match self {
            Self::Steady(steady) => steady.advance(),
            Self::OnOff(on_off) => on_off.advance(),
            Self::Web(web) => web.advance(),
            Self::Replay(replay) => replay.advance(),
            Self::Ping(ping) => ping.advance(),
        }
    }
}

/// Makes the packets of a recording again: the first at the start of the time in which the source is `active`, the all
/// other packets at their recorded distances.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) recording: Pcap,
    pub(crate) active: Range<Instant>,
    pub(crate) made: usize,
}

impl Replay {
    pub(crate) fn next(&self) -> Option<Emission> {
        let packet = self.recording.packets.get(self.made)?;
        let at = self.active.start + packet.after;
        (at < self.active.end).then_some(Emission { at, payload: packet.payload })
    }

    pub(crate) fn advance(&mut self) {
        self.made += 1;
    }
}
