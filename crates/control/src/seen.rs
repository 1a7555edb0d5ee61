//! Measurements that a host hands to a controller.

use crate::{Count, Interval, Links};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Energy, Rate};

/// Measurements of one interval. A quantity that the host does not measure is zero or `None`. [`Needs`](crate::Needs)
/// ensures that a controller runs only on a host that measures what the controller requires.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// Measurements of the port's queue.
    pub queue: Interval,
    /// Measurements of the node's radio and MAC. `None` without a radio, or if the radio cannot be read.
    pub radio: Option<Radio>,
    /// Newest note of each neighbour.
    pub heard: &'a [Heard],
}

/// Measurements of a queue alone, without radio and notes.
impl From<Interval> for Seen<'_> {
    fn from(queue: Interval) -> Self {
        Self { queue, radio: None, heard: &[] }
    }
}

/// Measurements of a node's radio and MAC in one interval. They count the packets of all the node's queues; every
/// port's controller gets them for its own interval. Notes to neighbours count in the channel time, and their senders
/// as stations heard, but notes do not count as packets or data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Radio {
    /// Time in which other nodes kept the medium busy, by physical carrier sense: energy above the threshold, or a
    /// frame that is being decoded. Time that is only reserved (NAV) does not count. In a reservation, frames count
    /// when they are sensed and the gaps between them are idle, as in the channel busy time of a wireless card.
    pub busy: Duration,
    /// Time in which the node's own frames of any kind were on the air. `busy`, `sending` and the idle time of the
    /// medium add up to the interval.
    pub sending: Duration,
    /// Number of other stations from which a frame that names its sender (not ACK, CTS) was received intact.
    pub contenders: u32,
    /// PHY rate of the data frames sent, weighted by their bytes; zero if none was sent. Retransmissions count. This
    /// rate, `frames` and `mpdus` exclude broadcasts, because their rate does not depend on a link.
    pub phy_rate: Rate,
    /// Number of data frames sent: aggregates or single MPDUs.
    pub frames: u64,
    /// Number of MPDUs in these frames.
    pub mpdus: u64,
    /// Size limit of an aggregate: the smaller of the limit in bytes and of the limit in time at the rate of the last
    /// data frame. A limited TXOP of the port's category limits the time. Without A-MPDUs: the longest MPDU.
    pub aggregate_max: Bytes,
    /// Largest number of MPDUs in an aggregate, at most the 64 that a block acknowledgement confirms. 1 without
    /// A-MPDUs, and 0 if the host knows no limit.
    pub aggregate_mpdus_max: u8,
    /// Number of packets whose MAC delay exceeded [`Needs::late_after`](crate::Needs::late_after). The delay lasts from
    /// the hand-over to the MAC to the ACK or last failure. Each packet of an aggregate counts from its own hand-over.
    pub late: u64,
    /// Real-time traffic within range (recognised by its DSCP), in network-layer bytes. The node's own packets count
    /// once, when the MAC is done with them. Overheard packets count each time that they are received intact, whoever
    /// their receiver is.
    pub real_time: Bytes,
    /// The part of `real_time` that belongs to recently admitted flows, see [`Gate::is_new`](crate::Gate::is_new). Zero
    /// if packets do not carry that mark.
    pub real_time_new: Bytes,
    /// Largest hop count, this hop included, of data packets that were sent by radio and delivered; zero without any.
    pub hops: u8,
    /// Service at the low transmission level and at the high one. A recording leaves out a level without packets.
    #[serde(skip_serializing_if = "units::is_default")]
    pub levels: [Served; 2],
}

/// Service of a node at one transmission level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Served {
    /// Number of packets that the MAC delivered or gave up.
    pub packets: u64,
    /// Time that these packets spent with the MAC.
    pub time: Duration,
    /// Energy drawn in that time above the consumption of a node with nothing to send.
    pub energy: Energy,
}

/// The newest note of a neighbour, with its age.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// Sender: a number that identifies the neighbour for the whole run.
    pub from: u32,
    /// Time since the note was received.
    pub age: Duration,
    /// Measurements that the neighbour made of itself.
    pub note: Note,
}

/// Measurements that a node broadcasts to its neighbours: only measured quantities, in one format for all schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// Size of the sender's collision domain: the number of stations that it hears, plus itself.
    pub domain: u16,
    /// Largest hop count of the sender's packets: [`Radio::hops`].
    pub hops: u8,
    /// Rate at which the sender's queue drains.
    pub rate: Rate,
    /// Packets and bytes that wait in the sender's queues.
    pub backlog: Count,
    /// Links of the sender's collision domain, its own first. Empty if the sender's scheme does not report links.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub links: Links,
}
