//! A source of any kind.

use super::{OnOff, Pcap, Ping, Steady, Web};
use std::ops::Range;
use units::{Bytes, Instant};

/// Makes packets, one after another, in order of time.
#[derive(Debug)]
pub(crate) enum Source {
    Steady(Steady),
    OnOff(OnOff),
    Web(Web),
    Replay(Replay),
    Ping(Ping),
}

impl Source {
    /// The next packet; `None` when there is none left.
    pub(crate) fn next(&self) -> Option<Emission> {
        match self {
            Self::Steady(steady) => steady.next(),
            Self::OnOff(on_off) => on_off.next(),
            Self::Web(web) => web.next(),
            Self::Replay(replay) => replay.next(),
            Self::Ping(ping) => ping.next(),
        }
    }

    /// The payload of its first packet, or where lengths are random, of the longest; `None` when there is none left.
    pub(crate) fn usual(&self) -> Option<Bytes> {
        let payload = self.next()?.payload;
        Some(if let Self::Steady(steady) = self { steady.longest() } else { payload })
    }

    /// Moves on to the packet after it.
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

/// A packet that a source makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Emission {
    pub(crate) at: Instant,
    pub(crate) payload: Bytes,
}

/// Makes the packets of a recording again.
#[derive(Debug)]
pub(crate) struct Replay {
    recording: Pcap,
    active: Range<Instant>,
    made: usize,
}

impl Replay {
    /// The first packet comes at the start of the time in which it is `active`, the others as long after it as they were
    /// recorded.
    pub(crate) fn new(recording: Pcap, active: Range<Instant>) -> Self {
        Self { recording, active, made: 0 }
    }

    pub(crate) fn next(&self) -> Option<Emission> {
        let packet = self.recording.packets().get(self.made)?;
        let at = self.active.start + packet.after;
        (at < self.active.end).then_some(Emission { at, payload: packet.payload })
    }

    pub(crate) fn advance(&mut self) {
        self.made += 1;
    }
}
