//! Measurements that a host hands to a controller.

use crate::{Count, Interval, Links};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Energy, Rate};

/// Measurements of one interval. A quantity that the host does not measure is zero or absent; [`Needs`](crate::Needs)
/// keeps controllers away from hosts that lack a required measurement.
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

/// Measurements of a node's radio and MAC in one interval, over the packets of all its queues: every port's controller
/// gets them for its own interval. Notes to neighbours count in the channel time, and their senders among the stations
/// heard, but not as packets or data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Radio {
    /// Time in which other stations kept the medium busy, by physical carrier sense: energy above the threshold, or a
    /// frame that is being decoded. Time that is only reserved (NAV) does not count as busy. Frames sent in a
    /// reservation are sensed as they come and the gaps between them are idle, as in the channel busy time of a
    /// wireless card.
    pub busy: Duration,
    /// Time in which the node's own frames of any kind were on the air. `busy`, `sending` and the idle time of the
    /// medium add up to the interval.
    pub sending: Duration,
    /// Number of other stations from which a frame that names its sender (not ACK, CTS) was received intact.
    pub contenders: u32,
    /// PHY rate of the data frames sent, weighted by their bytes; zero without any. Retransmissions count. This rate,
    /// `frames` and `mpdus` exclude broadcasts, whose rate says nothing about a link.
    pub phy_rate: Rate,
    /// Number of data frames sent: aggregates or single MPDUs.
    pub frames: u64,
    /// Number of MPDUs in these frames: one each, or several in an aggregate.
    pub mpdus: u64,
    /// Size limit of an aggregate: the smaller of the limit in bytes and the limit in time at the rate of the last data
    /// frame (the TXOP of the port's category if that is limited). Without A-MPDUs, the longest MPDU.
    pub aggregate_max: Bytes,
    /// Limit of MPDUs in an aggregate, up to the 64 that a block acknowledgement confirms. 1 without A-MPDUs; 0 if the
    /// host knows no limit.
    pub aggregate_mpdus_max: u8,
    /// Number of packets whose MAC delay exceeded [`Needs::late_after`](crate::Needs::late_after), from the hand-over
    /// to the MAC until the ACK or the last failure. Each packet of an aggregate counts from its own hand-over.
    pub late: u64,
    /// Real-time traffic within range (by DSCP), in network-layer bytes. Own packets count once, when the MAC is done
    /// with them; overheard packets count each time that they are received intact, whoever the receiver is, as in a
    /// capture.
    pub real_time: Bytes,
    /// The part of `real_time` that belongs to recently admitted flows, see [`Gate::is_new`](crate::Gate::is_new). Zero
    /// if packets do not carry that mark.
    pub real_time_new: Bytes,
    /// Largest hop count of the data packets that were sent by radio and arrived, this hop included. Zero without any.
    pub hops: u8,
    /// Service at the low transmission level and at the high one. A recording leaves out levels that served no packet.
    #[serde(skip_serializing_if = "units::is_default")]
    pub levels: [Served; 2],
}

/// Service of a node at one transmission level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Served {
    /// Number of packets that the MAC finished, delivered or given up.
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

/// Measurements that a node broadcasts to its neighbours: measured quantities only, as one format for all schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// Size of the sender's collision domain: the stations that it hears, and itself.
    pub domain: u16,
    /// Largest hop count of the sender's packets: [`Radio::hops`].
    pub hops: u8,
    /// Rate at which the sender's queue drains.
    pub rate: Rate,
    /// Packets and bytes that wait in the sender's queues.
    pub backlog: Count,
    /// Links of the sender's collision domain, its own first. Empty if the sender's scheme does not report its links.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub links: Links,
}
