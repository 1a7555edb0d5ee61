//! Sources: when the packets of a flow are made, and how long they are. Knows no packet, queue or network.

mod draws;
mod emission;
mod on_off;
mod pcap;
mod ping;
mod replay;
mod source;
mod steady;
mod transfers;
mod web;

pub(crate) use draws::{Lengths, Pareto, Times};
pub(crate) use emission::Emission;
pub(crate) use on_off::OnOff;
pub(crate) use pcap::Pcap;
pub(crate) use ping::Ping;
pub(crate) use replay::Replay;
pub(crate) use source::Source;
pub(crate) use steady::{RateSchedule, Segment, Steady, uniform};
pub(crate) use transfers::{Recurrence, Transfers, Volume};
pub(crate) use web::Web;
