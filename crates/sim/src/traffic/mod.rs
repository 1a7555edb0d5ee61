//! Sources: when the packets of a flow are made, and how long they are. Knows no packet, queue or network.

mod draws;
mod on_off;
mod ping;
mod recording;
mod replay;
mod steady;
mod transfers;
mod web;

pub(crate) use draws::{Lengths, Pareto, Times};
pub(crate) use on_off::OnOff;
pub(crate) use ping::Ping;
pub(crate) use recording::Recording;
pub(crate) use replay::Replay;
pub(crate) use steady::{Pace, Segment, Steady, uniform};
pub(crate) use transfers::{Recurrence, Transfers, Volume};
pub(crate) use web::Web;

use units::{Bytes, Instant};

/// A packet that a source makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Emission {
    pub(crate) at: Instant,
    pub(crate) payload: Bytes,
}

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
