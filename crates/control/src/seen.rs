//! What a host hands to a controller.

use crate::{Count, Interval, Links};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Energy, Rate};

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

/// What a node's radio and MAC saw in the interval, whichever queue packets came from: the controllers of all its ports are
/// told the same, each of its own interval. Notes to neighbours count in the channel time, and their senders among the stations
/// heard, but not as packets or data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Radio {
    /// How long others kept the medium busy, by physical carrier sense: energy above the threshold, or a frame that is being
    /// decoded. Time that is only reserved (NAV) does not count. The frames that fill it are sensed when they come, what lies
    /// between them is idle to a radio, and cards count their channel's busy time so.
    pub busy: Duration,
    /// How long the node's own frames of any kind were on the air. With `busy` and the time that the medium was idle here,
    /// all of the interval.
    pub sending: Duration,
    /// Other stations of which a frame came in intact that names its sender, as all do but ACK and CTS.
    pub contenders: u32,
    /// PHY rate of the data frames sent, weighted by their bytes. Zero without any. Broadcasts are left out here and in the
    /// two that follow: they go at a rate that says nothing of a link. Repetitions count.
    pub phy_rate: Rate,
    /// Data frames sent: aggregates, or MPDUs alone.
    pub frames: u64,
    /// MPDUs in these frames: one each, or several in an aggregate.
    pub mpdus: u64,
    /// The largest aggregate that a frame may be, by its limits in bytes and, at the rate of the last data frame, in time: that
    /// of the port's category where a TXOP is limited. Without A-MPDUs the longest MPDU.
    pub aggregate_max: Bytes,
    /// The most MPDUs that an aggregate may have, at most the 64 that a block acknowledgement confirms. One without A-MPDUs; zero
    /// where a host knows no limit.
    pub aggregate_mpdus_max: u8,
    /// Packets whose MAC delay was longer than [`Needs::late_after`](crate::Needs::late_after), from the hand-over to the MAC
    /// until the ACK or the last failure. Each packet of an aggregate counts from its own hand-over.
    pub late: u64,
    /// Real-time traffic within range, in network-layer bytes: packets whose DSCP says so. Own ones count once, when the MAC is
    /// done with them, overheard ones each time that they come in intact, for whomever, as in a capture.
    pub real_time: Bytes,
    /// Of that, what belongs to flows that were admitted a short time ago, see [`Gate::is_new`](crate::Gate::is_new). Zero where
    /// packets do not show it.
    pub real_time_new: Bytes,
    /// The most hops that a packet of data had come which left by radio and arrived, this one included. Zero without any.
    pub hops: u8,
    /// What was served at the low transmission level, and at the high one.
    #[serde(skip_serializing_if = "Served::is_none_of")]
    pub levels: [Served; 2],
}

/// What a node served at one transmission level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Served {
    /// Packets that the MAC was done with, whatever became of them.
    pub packets: u64,
    /// For how long it had had them.
    pub time: Duration,
    /// What the node drew in that time above what it draws with nothing to send.
    pub energy: Energy,
}

impl Served {
    /// Was nothing served at either level? A recording then leaves them out.
    fn is_none_of(levels: &[Self; 2]) -> bool {
        *levels == [Self::default(); 2]
    }
}

/// The newest note of a neighbour, and its age.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// Who sent it: a number that stays the neighbour's.
    pub from: u32,
    /// Time since it came in.
    pub age: Duration,
    /// What the neighbour measured of itself.
    pub note: Note,
}

/// What a node tells its neighbours: measured quantities, so that one format serves every scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// Stations that it hears, and itself: the size of its collision domain.
    pub domain: u16,
    /// The most hops that its packets have come: [`Radio::hops`].
    pub hops: u8,
    /// The rate at which its queue drains.
    pub rate: Rate,
    /// Packets that wait in its queues, and their bytes.
    pub backlog: Count,
    /// The links of its collision domain, where its scheme tells of them: its own first.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub links: Links,
}
