//! Events on the air and what becomes of packets, reported as they happen: for captures, event traces and tests. No
//! event is kept unless [`World::watch`](crate::World::watch) asks for it.

pub use crate::mac::Asks;
pub use crate::net::LossCause;
pub use queue::Ecn;

use crate::config::{Category, Dscp, Role};
use crate::engine::Bitmap;
use crate::radio::Mode;
use control::{Heard, Interval, Note, Orders, Radio};
use units::{Bytes, Duration, Frequency, Instant, Power};

/// An event at a node.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEvent {
    /// Time of the event. For a frame it is the time at which its first bit arrived at the node.
    pub at: Instant,
    /// Index of the node in the scenario.
    pub node: u32,
    /// What happened at the node.
    pub what: TraceEventKind,
}

/// Kind of event.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceEventKind {
    /// The node began to send a frame. The event is traced at the end of the frame.
    Sends(Frame),
    /// A frame was received, completely or in part, with this power.
    Hears(Frame, Power),
    /// A frame was received with errors; no part of it can be used.
    Spoilt(Frame, Power),
    /// A packet joined a queue.
    Queued(Packet),
    /// A packet was discarded.
    Dropped(Packet, LossCause),
    /// The MAC got a packet's acknowledgement, or sent a broadcast.
    Acknowledged(Packet),
    /// A queue marked a packet (ECN). The event is traced when the packet leaves.
    Marked(Packet),
    /// A step in the admission of a flow.
    Admission {
        /// Index of the flow in the simulator's list of flows.
        flow: u32,
        /// What happened in the admission.
        step: AdmissionStep,
    },
    /// A packet reached its destination's application, with this one-way delay.
    Delivered(Packet, Duration),
    /// A controller ran at the end of an interval and set the queue's limit.
    Limit(Box<Decision>),
    /// The node sends a note to its neighbours, or has heard one.
    Note {
        /// The node that sent the note.
        from: u32,
        /// Contents.
        note: Box<Note>,
    },
}

/// A step in the admission of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionStep {
    /// The flow's source sent a probe.
    Probe,
    /// The flow was admitted.
    Admit,
    /// The flow was refused before it had been admitted.
    Refuse,
    /// The flow's source was asked to regulate.
    Regulate,
    /// The flow was refused after it had been admitted.
    Stop,
}

/// What a controller measured and ordered.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Index of the queue among the queues of its node; see [`RosterNode::queues`].
    pub queue: u32,
    /// Measurements of the queue.
    pub seen: Interval,
    /// Measurements of the node's radio, if the controller reads them.
    pub radio: Option<Radio>,
    /// Notes of the node's neighbours, if the controller reads them.
    pub heard: Vec<Heard>,
    /// Orders that the controller gave.
    pub orders: Orders,
}

/// A frame on the air.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Purpose of the frame.
    pub kind: Kind,
    /// Address of the sender.
    pub from: u32,
    /// Address of the receiver; `None` for a broadcast.
    pub to: Option<u32>,
    /// Duration field: time for which the medium is reserved after the frame.
    pub reserves: Duration,
    /// Duration of the frame on the air.
    pub length: Duration,
    /// Mode in which the frame is sent.
    pub mode: Mode,
    /// Length including delimiters, MAC headers and checksums. For a frame to several stations it is the length of the
    /// receiver's part.
    pub psdu: Bytes,
    /// Contents of a data frame; more than one MPDU for an aggregate (A-MPDU).
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
        /// Starting sequence number.
        start: u16,
    },
    /// Block acknowledgement.
    BlockAck {
        /// Starting sequence number.
        start: u16,
        /// Bit `i` is set if `start + i` was received.
        bitmap: Bitmap,
        /// True if the bitmap has 256 bits, false if it has 64.
        long: bool,
    },
    /// T-MAC's request to several stations, the receiver included, for their grants.
    Request {
        /// Number of stations asked.
        asked: u8,
    },
    /// T-MAC's grant.
    Grant,
    /// Trigger frame.
    Trigger {
        /// Answer that the trigger asks its stations for.
        asks: Asks,
        /// Number of stations asked.
        users: u8,
    },
    /// QoS Null frame that reports the size of a queue.
    QueueSize {
        /// Access category.
        category: Option<Category>,
        /// Bytes that wait in the queue.
        bytes: Bytes,
    },
    /// Block acknowledgement for several stations.
    MultiBlockAck {
        /// Number of stations that it acknowledges.
        stations: u8,
        /// Number of stations whose frames all arrived; they are reported without a bitmap.
        whole: u8,
        /// True if the bitmaps have 256 bits, false if they have 64.
        long: bool,
    },
    /// Data.
    Data,
}

/// A data frame's MPDU.
#[derive(Clone, Debug, PartialEq)]
pub struct Mpdu {
    /// Sequence number, 12 bits.
    pub sequence: u16,
    /// Retry bit: the frame is sent again.
    pub retry: bool,
    /// Access category; `None` for a frame without QoS.
    pub category: Option<Category>,
    /// Length including MAC header and checksum.
    pub length: Bytes,
    /// True if the MPDU was received intact; always true at its sender.
    pub intact: bool,
    /// Packets in the MPDU; more than one for an A-MSDU.
    pub packets: Vec<Packet>,
}

/// A packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Number of the packet within its flow, from 0 in order of creation.
    pub id: u64,
    /// What the packet belongs to.
    pub of: Owner,
    /// Length at the network layer.
    pub length: Bytes,
    /// DSCP.
    pub dscp: Dscp,
    /// ECN field.
    pub ecn: Ecn,
    /// TCP segment, if the packet carries one.
    pub segment: Option<Box<Segment>>,
    /// DSR Options header. Only packets in frames have it.
    pub options: Option<Box<DsrOptions>>,
    /// Bytes that a real program sent as this packet, see [`Datagram::bytes`](crate::Datagram::bytes). Only in frames.
    pub real: Option<Box<[u8]>>,
}

/// DSR Options header (RFC 4728, section 6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DsrOptions {
    /// Nodes of the source route, both ends included. For a request: the nodes that it has passed.
    pub route: Vec<u32>,
    /// Index of the node that sends the packet now.
    pub at: u8,
    /// Number of nodes that have salvaged the packet with a new route.
    pub salvaged: u8,
    /// Option in a packet without data.
    pub message: Option<DsrMessage>,
}

/// Option of a DSR packet without data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DsrMessage {
    /// Route Request.
    Request {
        /// Number of the request.
        id: u32,
        /// Node to which the request seeks a route.
        target: u32,
        /// Number of hops that the request may travel beyond the nodes that hear it now.
        hops_left: u8,
        /// Ends of a broken link that the request reports.
        broken: Option<(u32, u32)>,
    },
    /// Route Reply.
    Reply {
        /// Nodes of the route, from the requesting node on.
        route: Vec<u32>,
    },
    /// Route Error.
    Error {
        /// Ends of the broken link.
        broken: (u32, u32),
    },
}

/// A TCP segment. Sequence numbers count from the SYN's, which is 0, and do not wrap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// Number of the connection within its flow, from 0.
    pub connection: u32,
    /// Sequence number.
    pub sequence: u64,
    /// Length of the payload.
    pub payload: Bytes,
    /// Largest payload of the connection's segments (MSS).
    pub most: Bytes,
    /// Acknowledgement number. Only a connection's first SYN has none.
    pub ack: Option<u64>,
    /// Window: number of bytes accepted beyond `ack`.
    pub window: u64,
    /// Blocks received beyond `ack`: number of the first octet, and number after the last one.
    pub sacks: Vec<(u64, u64)>,
    /// In a SYN: SACK permitted.
    pub sack_permitted: bool,
    /// Timestamps: time of sending, and the echoed timestamp.
    pub stamp: Option<(Instant, Option<Instant>)>,
    /// Report of losses (BQM). In a SYN: the sender understands reports. Otherwise: what the receiver says about
    /// missing packets.
    pub report: Option<Report>,
    /// Flags of the header: see the constants.
    pub flags: u8,
}

/// Option for reports of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// In a SYN: the sender understands reports.
    Permitted,
    /// No queue dropped the missing packets.
    Wireless,
    /// Queues dropped the missing packets; `reached` is the highest discard priority among them.
    Congestion {
        /// Priority from 0 to 3.
        reached: u8,
    },
}

/// The flags of a TCP header (RFC 9293, 3.1; RFC 3168, 6.1).
impl Segment {
    /// FIN.
    pub const FIN: u8 = 0x01;
    /// SYN.
    pub const SYN: u8 = 0x02;
    /// ACK.
    pub const ACK: u8 = 0x10;
    /// ECE: a marked packet has arrived. In a SYN: the sender understands marks.
    pub const ECE: u8 = 0x40;
    /// CWR: the window has been reduced. In a SYN: the sender understands marks.
    pub const CWR: u8 = 0x80;
}

/// What a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A flow; its index in the simulator's list of flows.
    Flow(u32),
    /// A message of the routing protocol, which belongs to no flow.
    Routing,
    /// A note to neighbours, which belongs to no flow.
    Note,
    /// A null frame, with which a station reports whether it sleeps from now on.
    Null {
        /// The power management bit.
        sleeps: bool,
    },
}

/// The simulator's list of nodes and flows, in the order of the results.
#[derive(Clone, Debug, PartialEq)]
pub struct Roster {
    /// The nodes.
    pub nodes: Vec<RosterNode>,
    /// Flows in the order of the results, followed by the reverse directions: acknowledgements, replies.
    pub flows: Vec<RosterFlow>,
    /// Carrier frequency.
    pub frequency: Frequency,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct RosterNode {
    /// Name of the node.
    pub name: String,
    /// Role of the node.
    pub role: Role,
    /// Names of the node's queues in the results.
    pub queues: Vec<String>,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct RosterFlow {
    /// Name of the flow.
    pub name: String,
    /// Node at which the flow begins.
    pub from: u32,
    /// Node at which the flow ends; `None` for a broadcast.
    pub to: Option<u32>,
    /// Protocol of its packets.
    pub protocol: Protocol,
}

/// Protocol of a flow's packets. In the reverse direction, it names the flow that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// UDP.
    Udp,
    /// ICMP echo requests.
    EchoRequest,
    /// ICMP echo replies.
    EchoReply(u32),
    /// TCP from the sending end.
    Tcp,
    /// TCP from the receiving end.
    TcpBack(u32),
}
