//! Events on the air and fates of packets, reported as they happen: for captures, event traces and tests. Nothing of it
//! is kept unless [`World::watch`](crate::World::watch) asks for it.

pub use crate::net::LossCause;
pub use queue::Ecn;

use crate::config::{Category, Dscp};
use crate::radio::Mode;
use control::{Heard, Interval, Note, Orders, Radio};
use units::{Bytes, Duration, Frequency, Instant, Power};

/// Something that happened at a node.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEvent {
    /// Time at which it happened; of a frame, when its first bit was at the node.
    pub at: Instant,
    /// The node, by its place in the scenario.
    pub node: u32,
    /// Event at the node.
    pub what: TraceEventKind,
}

/// Kind of event.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceEventKind {
    /// The node began to send a frame. Told when the frame is over.
    Sends(Frame),
    /// A frame came in, whole or in part, with this power.
    Hears(Frame, Power),
    /// A frame came in spoilt: nothing of it could be used.
    Spoilt(Frame, Power),
    /// A packet joined a queue.
    Queued(Packet),
    /// A packet was discarded.
    Dropped(Packet, LossCause),
    /// The MAC got a packet's acknowledgement, or sent a broadcast.
    Acknowledged(Packet),
    /// A queue marked a packet (ECN), told when it leaves.
    Marked(Packet),
    /// A step in the admission of a flow.
    Admission {
        /// The flow, by its place in the roster.
        flow: u32,
        /// Kind of event.
        step: AdmissionStep,
    },
    /// A packet reached its destination's application after this time.
    Delivered(Packet, Duration),
    /// A controller looked at an interval of a queue and set its limit.
    Limit(Box<Decision>),
    /// The node sends a note to its neighbours, or has heard one.
    Note {
        /// The node that tells it.
        from: u32,
        /// Contents.
        note: Box<Note>,
    },
}

/// A step in the admission of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionStep {
    /// Its source sent a probe.
    Probe,
    /// It was admitted.
    Admit,
    /// It was refused before it had been admitted.
    Refuse,
    /// Its source was asked to regulate.
    Regulate,
    /// Admitted before, it was refused.
    Stop,
}

/// A controller's measurements and orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The queue: its place among those of the node, see [`RosterNode::queues`].
    pub queue: u32,
    /// Measurements of the queue.
    pub seen: Interval,
    /// What the node's radio saw, where the controller looks at that.
    pub radio: Option<Radio>,
    /// The notes of the node's neighbours, where the controller looks at them.
    pub heard: Vec<Heard>,
    /// Orders given.
    pub orders: Orders,
}

/// A frame as it was on the air.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Purpose.
    pub kind: Kind,
    /// The node that sent it.
    pub from: u32,
    /// The node that it is for; `None` for all.
    pub to: Option<u32>,
    /// The duration field: how long the medium stays reserved after it.
    pub reserves: Duration,
    /// Airtime.
    pub length: Duration,
    /// Mode of transmission.
    pub mode: Mode,
    /// What a data frame carries; more than one for an aggregate (A-MPDU).
    pub mpdus: Vec<Mpdu>,
}

/// Purpose of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
    /// Request for a block acknowledgement from this sequence number on.
    BlockAckReq {
        /// The starting sequence number.
        start: u16,
    },
    /// Block acknowledgement.
    BlockAck {
        /// The starting sequence number.
        start: u16,
        /// Bit `i` is set where `start + i` was received.
        bitmap: u64,
    },
    /// T-MAC's request to several stations, the receiver included, for their grants.
    Request {
        /// Number of stations asked.
        asked: u8,
    },
    /// T-MAC's grant.
    Grant,
    /// Data.
    Data,
}

/// A data frame's MPDU.
#[derive(Clone, Debug, PartialEq)]
pub struct Mpdu {
    /// Its sequence number, 12 bits.
    pub sequence: u16,
    /// The Retry bit: it has been sent before.
    pub retry: bool,
    /// Its access category; `None` for a frame without QoS.
    pub category: Option<Category>,
    /// Its length, MAC header and check sum included.
    pub length: Bytes,
    /// It came in intact. True of what is sent.
    pub intact: bool,
    /// The packets in it; more than one for an A-MSDU.
    pub packets: Vec<Packet>,
}

/// A packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Its number among its flow's packets, from 0 in order of making.
    pub id: u64,
    /// Whose it is.
    pub of: Owner,
    /// Length at the network layer.
    pub length: Bytes,
    /// Its code point.
    pub dscp: Dscp,
    /// Its ECN field.
    pub ecn: Ecn,
    /// The TCP segment that it carries, if it does.
    pub segment: Option<Box<Segment>>,
}

/// A TCP segment. Sequence numbers count from the SYN's, which is 0, and do not wrap.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The connection's number among those of its flow, from 0.
    pub connection: u32,
    /// Sequence number.
    pub sequence: u64,
    /// Payload.
    pub payload: Bytes,
    /// The most payload of the connection's segments (MSS).
    pub most: Bytes,
    /// Acknowledgement number; only a connection's first SYN has none.
    pub ack: Option<u64>,
    /// Bytes that may come beyond `ack`.
    pub window: u64,
    /// Blocks received beyond `ack`: first number, and the one after the last.
    pub sacks: Vec<(u64, u64)>,
    /// In a SYN: selective acknowledgements are understood.
    pub sack_permitted: bool,
    /// Timestamps: when it was sent, and the stamp that it answers.
    pub stamp: Option<(Instant, Option<Instant>)>,
    /// Reports of losses (BQM): in a SYN, that they are understood; else what the receiver makes of what is missing.
    pub report: Option<Report>,
    /// The flags of the header, as they stand there: see the constants.
    pub flags: u8,
}

/// The option for reports of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// In a SYN: reports are understood.
    Permitted,
    /// No queue took the packets that are missing.
    Wireless,
    /// Queues did, up to this discard priority.
    Congestion {
        /// From 0 to 3.
        reached: u8,
    },
}

/// The flags of a TCP header (RFC 9293, 3.1; RFC 3168, 6.1).
impl Segment {
    /// The sender's data end here.
    pub const FIN: u8 = 0x01;
    /// A connection opens.
    pub const SYN: u8 = 0x02;
    /// There is an acknowledgement number.
    pub const ACK: u8 = 0x10;
    /// A packet came marked; in a SYN: marks are understood.
    pub const ECE: u8 = 0x40;
    /// The window has been reduced; in a SYN: marks are understood.
    pub const CWR: u8 = 0x80;
}

/// Whose a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A flow's, by its place in the roster.
    Flow(u32),
    /// The routing protocol's.
    Routing,
    /// A note to neighbours, of no flow.
    Note,
}

/// Nodes and flows, in the order of the results.
#[derive(Clone, Debug, PartialEq)]
pub struct Roster {
    /// The nodes.
    pub nodes: Vec<RosterNode>,
    /// The flows, in the order of the results; then those that go the other way: acknowledgements, replies.
    pub flows: Vec<RosterFlow>,
    /// The carrier frequency.
    pub frequency: Frequency,
}

/// A node that takes part.
#[derive(Clone, Debug, PartialEq)]
pub struct RosterNode {
    /// Its name.
    pub name: String,
    /// Is it an access point?
    pub access_point: bool,
    /// Its queues, as its results name them.
    pub queues: Vec<String>,
}

/// A flow that takes part.
#[derive(Clone, Debug, PartialEq)]
pub struct RosterFlow {
    /// Its name.
    pub name: String,
    /// The node where it begins.
    pub from: u32,
    /// The node where it ends; `None` for a broadcast.
    pub to: Option<u32>,
    /// What its packets are.
    pub protocol: Protocol,
}

/// What the packets of a flow are. Of flows that go the other way, with the flow that they answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// UDP.
    Udp,
    /// ICMP echo requests.
    EchoRequest,
    /// ICMP echo replies.
    EchoReply(u32),
    /// TCP from the end that has data.
    Tcp,
    /// TCP from the other end.
    TcpBack(u32),
}
