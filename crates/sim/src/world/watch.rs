//! Reports the events of watched nodes, and names ports in results, traces and time series.

use super::flows::{Flow, Role};
use super::nodes::{Node, port_name};
use super::state::{Event, World};
use crate::config;
use crate::egress::Port;
use crate::engine::{Bitmap, Handle, List, NodeId};
use crate::mac::{BROADCAST, Frame, Kind, Scoreboard};
use crate::net::{Load, Packet};
use crate::radio::{Heard, Mode, Signal};
use crate::trace::{
    self, Mpdu, Owner, Protocol, Report, Roster, RosterFlow, RosterNode, Segment, TraceEvent, TraceEventKind,
};
use crate::transport::tcp;
use units::{Bytes, Duration, Instant, Power};

/// Length of the intervals reported for a port without a controller.
const UNCONTROLLED: Duration = Duration::from_secs(1);

/// Time between two traced intervals of a port.
pub(crate) fn told_every(port: &Port) -> Duration {
    port.interval().unwrap_or(UNCONTROLLED)
}

/// The watched nodes, and their events since the last call of [`take_events`](crate::World::take_events).
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) nodes: List<NodeId, bool>,
    /// True if frames at a node for which they are not are left out.
    addressed_only: bool,
    pub(crate) events: Vec<TraceEvent>,
}

impl Watch {
    pub(crate) fn watches(&self, node: NodeId) -> bool {
        self.nodes[node]
    }
}

/// Traces events at a node at one moment.
pub(crate) struct Witness<'a> {
    pub(crate) watch: &'a mut Option<Box<Watch>>,
    pub(crate) now: Instant,
    pub(crate) node: NodeId,
}

impl Witness<'_> {
    /// Traces an event if the node is watched.
    #[inline]
    pub(crate) fn saw(&mut self, what: impl FnOnce() -> TraceEventKind) {
        if let Some(watch) = self.watch
            && watch.watches(self.node)
        {
            watch.events.push(TraceEvent { at: self.now, node: self.node.into(), what: what() });
        }
    }
}

impl World {
    /// Traces all events at `nodes` (by index in the scenario) from now on; see [`take_events`](Self::take_events).
    /// Events that are not taken accumulate.
    pub fn watch(&mut self, nodes: &[u32]) {
        let mut watch = Watch { nodes: vec![false; self.nodes.len()].into(), ..Watch::default() };
        for node in self.nodes.numbers().filter(|&node| nodes.contains(&node.into())) {
            watch.nodes[node] = true;
        }
        self.watch = Some(Box::new(watch));
        self.overheard = true;
    }

    /// Traces all nodes from now on, but of the frames that a node hears only those for itself: what a picture of the
    /// network needs.
    pub fn watch_exchanges(&mut self) {
        let all: Vec<u32> = self.nodes.numbers().map(u32::from).collect();
        self.watch(&all);
        if let Some(watch) = &mut self.watch {
            watch.addressed_only = true;
        }
    }

    /// Traces the intervals of queues without a controller too ([`TraceEventKind::Limit`], once per second) at watched
    /// nodes.
    pub fn watch_intervals(&mut self) {
        let Some(watch) = &self.watch else { return };
        for (node, watched) in self.nodes.numbers().zip(self.nodes.iter()) {
            let ports = watched.egress.ports().numbers().zip(watched.egress.ports()).filter(|_| watch.watches(node));
            for (port, described) in ports.filter(|(_, port)| port.interval().is_none()) {
                self.events.push(self.now + told_every(described), Event::Control { node, port });
            }
        }
    }

    /// Returns the events since the last call at the watched nodes.
    pub fn take_events(&mut self) -> Vec<TraceEvent> {
        self.watch.as_mut().map(|watch| std::mem::take(&mut watch.events)).unwrap_or_default()
    }

    /// Returns the nodes and flows.
    pub fn roster(&self) -> Roster {
        let node = |node: &Node| RosterNode {
            name: node.name.clone(),
            role: match (node.access_point, node.egress.layout().radio_ports()) {
                (true, _) => config::Role::AccessPoint,
                (false, 0) => config::Role::Wired,
                (false, _) => config::Role::Station,
            },
            queues: node.egress.ports().numbers().map(|port| port_name(&self.nodes, node, port, &self.rules)).collect(),
        };
        let flow = |flow: &Flow| RosterFlow {
            name: flow.identity.name.clone(),
            from: flow.from.into(),
            to: (flow.to != BROADCAST).then_some(flow.to),
            protocol: flow.role.into(),
        };
        Roster {
            nodes: self.nodes.iter().map(node).collect(),
            flows: self.flows.iter().map(flow).collect(),
            frequency: self.frequency,
        }
    }

    /// Packets that wait in the queues of each node, now.
    pub fn backlogs(&self) -> Vec<u64> {
        let waiting = |node: &Node| node.egress.ports().iter().map(|port| port.queue().backlog().packets).sum();
        self.nodes.iter().map(waiting).collect()
    }

    /// Nodes that hear a frame if a node (by index in the scenario) begins to send it now, decoded or not, nearest
    /// first, with the propagation delay.
    pub fn listeners(&self, node: u32) -> impl Iterator<Item = (u32, Duration)> {
        self.medium.who_hears(node)
    }

    /// Traces a frame that a node begins to send.
    #[inline]
    pub(super) fn trace_sent(&mut self, node: NodeId, frame: &Frame) {
        if self.watch.as_ref().is_some_and(|watch| watch.watches(node)) {
            if let Kind::MultiUser { .. } = frame.kind {
                let parts: Vec<u32> = self.nodes[node]
                    .station
                    .downlink
                    .iter()
                    .flat_map(|downlink| downlink.parts())
                    .map(|part| part.to)
                    .collect();
                for to in parts {
                    let what = TraceEventKind::Sends(self.picture(&Frame { to, ..*frame }, &Bitmap::ALL));
                    self.report(self.now, node, what);
                }
                return;
            }
            let what = TraceEventKind::Sends(self.picture(frame, &Bitmap::ALL));
            self.report(self.now, node, what);
        }
    }

    /// Traces a frame at a listener.
    #[expect(clippy::inline_always, reason = "once a listener")]
    #[inline(always)]
    pub(super) fn trace_heard(&mut self, node: NodeId, of: Handle, heard: &Heard) {
        let for_it = || self.medium.frame(of).to == u32::from(node);
        if self.watch.as_ref().is_some_and(|watch| watch.watches(node) && (!watch.addressed_only || for_it())) {
            self.picture_heard(node, of, heard);
        }
    }

    #[inline(never)]
    fn picture_heard(&mut self, node: NodeId, of: Handle, heard: &Heard) {
        let frame = self.medium.frame(of);
        let intact = if let Signal::Good { whole } = heard.what { self.intact(whole) } else { Bitmap::default() };
        let frame = self.addressed(node, &frame);
        let picture = self.picture(&frame, &intact);
        let length = picture.length;
        let power = Power::watts(heard.power as f64 * 1e-18);
        let what = match heard.what {
            Signal::Good { .. } | Signal::Foreign => TraceEventKind::Hears(picture, power),
            Signal::Bad { header_read: true } => TraceEventKind::Spoilt(picture, power),
            Signal::Bad { header_read: false } | Signal::Noise | Signal::Nothing => return,
        };
        let start = Instant::ZERO + (self.now.since(Instant::ZERO) - length);
        self.report(start, node, what);
    }

    fn report(&mut self, at: Instant, node: NodeId, what: TraceEventKind) {
        if let Some(watch) = &mut self.watch {
            watch.events.push(TraceEvent { at, node: node.into(), what });
        }
    }

    /// `intact`: a bit for each MPDU.
    fn picture(&self, frame: &Frame, intact: &Bitmap) -> trace::Frame {
        let (kind, mpdus) = match frame.kind {
            Kind::Rts => (trace::Kind::Rts, Vec::new()),
            Kind::Cts | Kind::SharedCts => (trace::Kind::Cts, Vec::new()),
            Kind::Ack => (trace::Kind::Ack, Vec::new()),
            Kind::Request { asked, .. } => (trace::Kind::Request { asked }, Vec::new()),
            Kind::Grant => (trace::Kind::Grant, Vec::new()),
            Kind::BlockAckReq { start } => (trace::Kind::BlockAckReq { start }, Vec::new()),
            Kind::BlockAck { long } => {
                let station = &self.nodes[NodeId::from(frame.from)].station;
                let Scoreboard { start, arrived } = station.held.scoreboard(frame.to, frame.category);
                (trace::Kind::BlockAck { start, bitmap: arrived, long }, Vec::new())
            }
            Kind::Trigger { asks, users, .. } => (trace::Kind::Trigger { asks, users }, Vec::new()),
            Kind::MultiBlockAck { stations, long } => (trace::Kind::MultiBlockAck { stations, long }, Vec::new()),
            Kind::Triggered { frames: 0, .. } => {
                let bytes = self.queued(frame.from.into(), frame.to, frame.category);
                let category = self.rules.category(frame.category);
                (trace::Kind::QueueSize { category, bytes }, Vec::new())
            }
            Kind::Data { .. } | Kind::Aggregate { .. } | Kind::MultiUser { .. } | Kind::Triggered { .. } => {
                (trace::Kind::Data, self.picture_mpdus(frame, intact))
            }
        };
        let (mode, psdu, length) = self.on_the_air(frame);
        trace::Frame {
            kind,
            from: frame.from,
            to: (frame.to != BROADCAST).then_some(frame.to),
            reserves: frame.reserves,
            length,
            mode,
            psdu,
            mpdus,
        }
    }

    /// Mode, length and duration of a frame, or of a station's part of it.
    fn on_the_air(&self, frame: &Frame) -> (Mode, Bytes, Duration) {
        let station = &self.nodes[NodeId::from(frame.from)].station;
        let (mode, psdu) = (frame.mode, frame.psdu(self.rules.key));
        match frame.kind {
            Kind::MultiUser { .. } => {
                let (mode, psdu) =
                    station.downlink.as_ref().and_then(|downlink| downlink.part(frame.to)).unwrap_or((mode, psdu));
                (
                    mode,
                    psdu,
                    station.downlink.as_ref().map_or(Duration::ZERO, |downlink| downlink.duration(&self.rules)),
                )
            }
            Kind::Triggered { .. } => {
                let lasts = station
                    .uplink
                    .as_ref()
                    .and_then(|uplink| uplink.asked())
                    .map_or(Duration::ZERO, |round| round.lasts);
                (mode, psdu, lasts)
            }
            _ => (mode, psdu, self.rules.timing.duration(mode, psdu)),
        }
    }

    /// The data frames in a frame. Their sender holds them as long as the frame is in the air; only a broadcast has
    /// left it at its last bit.
    fn picture_mpdus(&self, frame: &Frame, intact: &Bitmap) -> Vec<Mpdu> {
        let category = self.rules.category(frame.category);
        let packets = |first| {
            let chain = std::iter::successors(Some(first), |&packet| self.packets.get(packet).transit.next);
            let picture = |handle| {
                let packet = self.packets.get(handle);
                let options = self.routing.picture(handle, &packet);
                let real = if let Load::Flow(flow) = packet.load { self.flows[flow].bytes(&packet) } else { None };
                trace::Packet { options, real, ..self.connections.picture(&packet) }
            };
            chain.map(picture).collect()
        };
        if let Kind::Data { packet, psdu } = frame.kind {
            let single = self.rules.agreement(frame.from, frame.to).single;
            let length = if frame.to == BROADCAST { psdu } else { psdu - single };
            let (sequence, retry, intact) = (frame.sequence, frame.retry, intact.has(0));
            return vec![Mpdu { sequence, retry, category, length, intact, packets: packets(packet) }];
        }
        let mpdus = self.nodes[NodeId::from(frame.from)].station.in_flight_to(frame.to).zip(0..);
        let picture = |(mpdu, index): (&crate::mac::Mpdu, usize)| Mpdu {
            sequence: mpdu.sequence,
            retry: mpdu.retry,
            category,
            length: mpdu.psdu,
            intact: intact.has(index),
            packets: packets(mpdu.packet),
        };
        mpdus.map(picture).collect()
    }
}

impl Packet {
    /// The packet for traces, with the segment that it carries.
    pub(super) fn picture(&self, segment: Option<Box<trace::Segment>>) -> trace::Packet {
        let of = match self.load {
            Load::Flow(flow) => Owner::Flow(flow.into()),
            Load::Routing { .. } => Owner::Routing,
            Load::Note(_) => Owner::Note,
            Load::Null { sleeps } => Owner::Null { sleeps },
        };
        let Self { length, dscp, ecn, serial, .. } = *self;
        trace::Packet { id: u64::from(serial), of, length, dscp, ecn, segment, options: None, real: None }
    }
}

impl From<Role> for Protocol {
    fn from(role: Role) -> Self {
        match role {
            Role::Data | Role::Outside | Role::Probe { .. } | Role::Answer { .. } | Role::Regulation { .. } => {
                Self::Udp
            }
            Role::Request { .. } => Self::EchoRequest,
            Role::Reply { of } => Self::EchoReply(of.into()),
            Role::Stream { .. } => Self::Tcp,
            Role::Acknowledgement { of } => Self::TcpBack(of.into()),
        }
    }
}

impl From<tcp::Report> for Report {
    fn from(report: tcp::Report) -> Self {
        match report {
            tcp::Report::Wireless => Self::Wireless,
            tcp::Report::Congestion { reached } => Self::Congestion { reached },
        }
    }
}

impl Segment {
    /// A segment of the `connection`-th connection of its flow, which has segments of at most `most`, for traces.
    pub(super) fn new(segment: &tcp::Segment, connection: u32, most: Bytes) -> Self {
        let flags = [
            (segment.fin, Self::FIN),
            (segment.syn, Self::SYN),
            (segment.ack.is_some(), Self::ACK),
            (segment.ece, Self::ECE),
            (segment.cwr, Self::CWR),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).fold(0, |flags, (_, flag)| flags | flag);
        Self {
            connection,
            sequence: segment.start,
            payload: Bytes::new(segment.length.into()),
            most,
            ack: segment.ack,
            window: segment.window,
            sacks: segment.sacks.blocks().iter().map(|block| (block.start, block.end)).collect(),
            sack_permitted: segment.sack_permitted,
            stamp: segment.stamp.map(|stamp| (stamp, segment.echo)),
            report: segment.report.map(Report::from).or(segment.reports.then_some(Report::Permitted)),
            flags,
        }
    }
}
