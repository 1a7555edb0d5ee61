//! A source of any kind.

use super::{Emission, OnOff, Ping, Replay, Steady, Web};
use units::Bytes;

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
