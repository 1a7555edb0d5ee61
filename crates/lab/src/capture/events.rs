//! Events as JSON lines, one object per line.

use serde::Serialize;
use sim::radio::Mode;
use sim::trace::{
    AdmissionStep, Ecn, Frame, Kind, LossCause, Mpdu, Owner, Packet, Segment, TraceEvent, TraceEventKind,
};
use std::io::{self, Write};

pub(super) const EVENTS: [&str; 15] = [
    "sends", "hears", "spoilt", "queued", "mark", "dropped", "acknowledged", "delivered", "limit", "probe", "admit",
    "refuse", "regulate", "stop", "note",
];

pub(super) fn name_of(what: &TraceEventKind) -> &'static str {
    let place = match what {
        TraceEventKind::Sends(_) => 0,
        TraceEventKind::Hears(..) => 1,
        TraceEventKind::Spoilt(..) => 2,
        TraceEventKind::Queued(_) => 3,
        TraceEventKind::Marked(_) => 4,
        TraceEventKind::Dropped(..) => 5,
        TraceEventKind::Acknowledged(_) => 6,
        TraceEventKind::Delivered(..) => 7,
        TraceEventKind::Limit(_) => 8,
        TraceEventKind::Admission { step: AdmissionStep::Probe, .. } => 9,
        TraceEventKind::Admission { step: AdmissionStep::Admit, .. } => 10,
        TraceEventKind::Admission { step: AdmissionStep::Refuse, .. } => 11,
        TraceEventKind::Admission { step: AdmissionStep::Regulate, .. } => 12,
        TraceEventKind::Admission { step: AdmissionStep::Stop, .. } => 13,
        TraceEventKind::Note { .. } => 14,
    };
    EVENTS[place]
}

/// The file of a run's events, one JSON object per line.
#[derive(Debug)]
pub(super) struct Events<W> {
    to: W,
    names: Names,
}

/// The names of the nodes and the flows.
#[derive(Debug)]
struct Names {
    nodes: Vec<String>,
    /// The name of each flow, and whether it answers another flow.
    flows: Vec<(String, bool)>,
}

/// One event: a line of the file, which is a JSON object.
#[derive(Default, Serialize)]
struct Line<'e> {
    t_ns: u64,
    node: &'e str,
    event: &'static str,
    #[serde(flatten)]
    frame: Option<FrameLine<'e>>,
    #[serde(flatten)]
    packet: Option<PacketLine<'e>>,
    #[serde(flatten)]
    note: Option<NoteLine<'e>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_dbm: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
    /// Flow that an event concerns as a whole; events of individual packets have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<&'e str>,
}

#[derive(Serialize)]
struct FrameLine<'e> {
    frame: &'static str,
    from: &'e str,
    to: &'e str,
    length_ns: u64,
    duration_ns: u64,
    rate_bps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcs: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mpdus: Vec<MpduLine<'e>>,
}

#[derive(Serialize)]
struct MpduLine<'e> {
    sequence: u16,
    retry: bool,
    bytes: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    spoilt: bool,
    packets: Vec<PacketLine<'e>>,
}

#[derive(Serialize)]
struct PacketLine<'e> {
    packet: u64,
    flow: &'e str,
    bytes: u64,
    /// True for a packet of the reverse direction.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    back: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    marked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp: Option<SegmentLine>,
}

#[derive(Serialize)]
struct NoteLine<'e> {
    from: &'e str,
    domain: u16,
    hops: u8,
    rate_bps: u64,
    backlog_packets: u64,
    backlog_bytes: u64,
    /// Number of links that the note reports.
    links: usize,
}

#[derive(Serialize)]
struct SegmentLine {
    connection: u32,
    flags: String,
    start: u64,
    payload: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ack: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sacks: Vec<(u64, u64)>,
}

impl<W: Write> Events<W> {
    /// Creates an event file for a network with these nodes and flows, both in the simulator's order. The value with
    /// each flow says whether it answers another flow.
    pub(super) fn new(to: W, nodes: Vec<String>, flows: Vec<(String, bool)>) -> Self {
        Self { to, names: Names { nodes, flows } }
    }

    /// Writes an event if the filter accepts it. Errors: the event cannot be written.
    pub(super) fn add(&mut self, event: &TraceEvent) -> io::Result<()> {
        serde_json::to_writer(&mut self.to, &self.names.line(event))?;
        self.to.write_all(b"\n")
    }

    /// Writes out the buffer. Errors: it cannot be written.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Names {
    fn line(&self, event: &TraceEvent) -> Line<'_> {
        let mut line = Line {
            t_ns: event.at.as_nanos(),
            node: self.node(Some(event.node)),
            event: name_of(&event.what),
            ..Line::default()
        };
        match &event.what {
            TraceEventKind::Sends(frame) => line.frame = Some(self.frame(frame)),
            TraceEventKind::Hears(frame, power) | TraceEventKind::Spoilt(frame, power) => {
                (line.frame, line.power_dbm) = (Some(self.frame(frame)), Some(power.as_dbm()));
            }
            TraceEventKind::Queued(packet) | TraceEventKind::Acknowledged(packet) | TraceEventKind::Marked(packet) => {
                line.packet = Some(self.packet(packet));
            }
            TraceEventKind::Dropped(packet, cause) => {
                let cause = match cause {
                    LossCause::Queue => "queue",
                    LossCause::Retries => "retries",
                    LossCause::NoRoute => "no-route",
                    LossCause::Buffer => "buffer",
                    LossCause::Link => "link",
                    LossCause::Ttl => "ttl",
                    LossCause::Damage => "damage",
                };
                (line.packet, line.cause) = (Some(self.packet(packet)), Some(cause));
            }
            TraceEventKind::Delivered(packet, delay) => {
                (line.packet, line.delay_ns) = (Some(self.packet(packet)), Some(delay.as_nanos()));
            }
            TraceEventKind::Limit(decision) => line.limit = Some(decision.orders.limit.count() as f64),
            TraceEventKind::Admission { flow, .. } => line.flow = Some(self.flow(*flow).0),
            TraceEventKind::Note { from, note } => {
                line.note = Some(NoteLine {
                    from: self.node(Some(*from)),
                    domain: note.domain,
                    hops: note.hops,
                    rate_bps: note.rate.as_bps(),
                    backlog_packets: note.backlog.packets,
                    backlog_bytes: note.backlog.bytes.count(),
                    links: note.links.len(),
                });
            }
        }
        line
    }

    fn node(&self, node: Option<u32>) -> &str {
        node.and_then(|node| self.nodes.get(node as usize)).map_or("*", String::as_str)
    }

    fn frame(&self, frame: &Frame) -> FrameLine<'_> {
        FrameLine {
            frame: match frame.kind {
                Kind::Rts => "rts",
                Kind::Cts => "cts",
                Kind::Ack => "ack",
                Kind::BlockAckReq { .. } => "block-ack-req",
                Kind::BlockAck { .. } => "block-ack",
                Kind::Trigger { .. } => "trigger",
                Kind::QueueSize { .. } => "queue-size",
                Kind::MultiBlockAck { .. } => "multi-block-ack",
                Kind::Request { .. } => "request",
                Kind::Grant => "grant",
                Kind::Data => "data",
            },
            from: self.node(Some(frame.from)),
            to: self.node(frame.to),
            length_ns: frame.length.as_nanos(),
            duration_ns: frame.reserves.as_nanos(),
            rate_bps: frame.mode.rate().as_bps(),
            mcs: match frame.mode {
                Mode::Mimo(mimo) => Some(mimo.mcs()),
                Mode::Dsss { .. } | Mode::Ofdm(_) | Mode::Nominal { .. } => None,
            },
            mpdus: frame.mpdus.iter().map(|mpdu| self.mpdu(mpdu)).collect(),
        }
    }

    fn mpdu(&self, mpdu: &Mpdu) -> MpduLine<'_> {
        MpduLine {
            sequence: mpdu.sequence,
            retry: mpdu.retry,
            bytes: mpdu.length.count(),
            spoilt: !mpdu.intact,
            packets: mpdu.packets.iter().map(|packet| self.packet(packet)).collect(),
        }
    }

    /// Returns the name of a flow, and whether it answers another flow.
    fn flow(&self, flow: u32) -> (&str, bool) {
        self.flows.get(flow as usize).map_or(("*", false), |(name, back)| (name, *back))
    }

    fn packet(&self, packet: &Packet) -> PacketLine<'_> {
        let (flow, back) = match packet.of {
            Owner::Flow(flow) => self.flow(flow),
            Owner::Routing => ("routing", false),
            Owner::Note => ("note", false),
            Owner::Null { .. } => ("null", false),
        };
        let (bytes, marked) = (packet.length.count(), packet.ecn == Ecn::Ce);
        PacketLine { packet: packet.id, flow, bytes, back, marked, tcp: packet.segment.as_deref().map(segment) }
    }
}

fn segment(segment: &Segment) -> SegmentLine {
    const NAMES: [(u8, &str); 5] = [
        (Segment::SYN, "syn"),
        (Segment::FIN, "fin"),
        (Segment::ACK, "ack"),
        (Segment::ECE, "ece"),
        (Segment::CWR, "cwr"),
    ];
    let set: Vec<&str> = NAMES.iter().filter(|(flag, _)| segment.flags & flag != 0).map(|(_, name)| *name).collect();
    SegmentLine {
        connection: segment.connection,
        flags: set.join(" "),
        start: segment.sequence,
        payload: segment.payload.count(),
        ack: segment.ack,
        sacks: segment.sacks.clone(),
    }
}
