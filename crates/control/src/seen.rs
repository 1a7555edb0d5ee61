//! What a host hands to a controller.

use crate::{Count, Interval};
use units::{Bytes, Duration, Rate};

/// What was seen in an interval. What a host does not measure is zero or absent; [`Needs`](crate::Needs) keeps controllers
/// away from hosts that lack what they look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// By the port's queue.
    pub queue: Interval,
    /// By the node's radio and MAC. None where there is no radio, or it cannot be read.
    pub radio: Option<Radio>,
    /// The newest note of each neighbour.
    pub heard: &'a [Heard],
}

/// Of a queue alone.
impl From<Interval> for Seen<'_> {
    fn from(queue: Interval) -> Self {
        Self { queue, radio: None, heard: &[] }
    }
}

/// What a node's radio and MAC saw in the interval, whichever queue packets came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Radio {
    /// How long others kept the medium busy, as sensed here.
    pub busy: Duration,
    /// How long the node's own frames were on the air.
    pub sending: Duration,
    /// Other stations heard.
    pub contenders: u32,
    /// PHY rate of the data frames sent, weighted by their bytes. Zero without any.
    pub phy_rate: Rate,
    /// Data frames sent: aggregates, or MPDUs alone.
    pub frames: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// The largest aggregate that a frame may be.
    pub aggregate_max: Bytes,
    /// Packets whose MAC delay was longer than [`Needs::late_after`](crate::Needs::late_after), from the hand-over to the MAC
    /// until the ACK or the last failure.
    pub late: u64,
    /// Real-time traffic within range, own and overheard, in network-layer bytes.
    pub real_time: Bytes,
    /// The most hops that a packet which left had come, this one included.
    pub hops: u8,
}

/// A neighbour's note.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// Who sent it: a number that stays the neighbour's.
    pub from: u32,
    /// How long ago.
    pub age: Duration,
    /// What it says.
    pub note: Note,
}

/// What a node tells its neighbours: measured quantities, so that one format serves every scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Note {
    /// Stations that it hears, and itself: the size of its collision domain.
    pub domain: u16,
    /// The most hops that its packets have come: [`Radio::hops`].
    pub hops: u8,
    /// The rate at which its queue drains.
    pub rate: Rate,
    /// What waits there.
    pub backlog: Count,
    /// Sum over its collision domain of the square roots of what a drop costs in hops.
    pub cost: f64,
}
