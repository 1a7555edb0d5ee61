//! Sources: times and lengths of a flow's packets. This module knows no queue or network.

mod draws;
mod on_off;
mod pcap;
mod ping;
mod source;
mod steady;
mod transfers;
mod web;

pub(crate) use draws::{Lengths, Pareto, Times};
pub(crate) use on_off::OnOff;
pub(crate) use pcap::Pcap;
pub(crate) use ping::Ping;
pub(crate) use source::{Replay, Source};
pub(crate) use steady::{RateSchedule, Segment, Steady, uniform};
pub(crate) use transfers::{Recurrence, Transfers, Volume};
pub(crate) use web::Web;

use units::{Bytes, Instant};

/// A packet emitted by a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Emission {
    pub(crate) at: Instant,
    pub(crate) payload: Bytes,
}
