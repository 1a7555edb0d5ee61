//! Tells what happens at the nodes that are watched.

use super::state::{Event, Flow, Node, Watch, World, port_name, told_every};
use crate::engine::{Handle, NodeId};
use crate::mac::{BROADCAST, Frame, Kind};
use crate::radio::{Heard, Signal};
use crate::trace::{self, Mpdu, Roster, RosterFlow, RosterNode, TraceEvent, TraceEventKind};
use units::{Duration, Instant, Power};

impl World {
    /// Tells all that happens at `nodes` (by their place in the scenario) from now on; see
    /// [`take_events`](Self::take_events). What is not taken grows with time.
    pub fn watch(&mut self, nodes: &[u32]) {
        let mut watch = Watch { nodes: vec![false; self.nodes.len()].into(), ..Watch::default() };
        for node in self.nodes.numbers().filter(|&node| nodes.contains(&node.into())) {
            watch.nodes[node] = true;
        }
        self.watch = Some(Box::new(watch));
    }

    /// Tells of the intervals of queues without a controller too ([`TraceEventKind::Limit`], once a second) at the nodes that are
    /// watched.
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
            access_point: node.access_point,
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

    /// Who hears a frame that a node (by its place in the scenario) begins to send now, decoded or not: the nearest first, each
    /// with the time that the frame takes to it.
    pub fn listeners(&self, node: u32) -> impl Iterator<Item = (u32, Duration)> {
        self.medium.who_hears(node)
    }

    /// A node begins to send.
    #[inline]
    pub(super) fn note_sent(&mut self, node: NodeId, frame: &Frame) {
        if self.watch.as_ref().is_some_and(|watch| watch.watches(node)) {
            let what = TraceEventKind::Sends(self.picture(frame, u64::MAX));
            self.report(self.now, node, what);
        }
    }

    /// A frame has passed a listener.
    #[inline]
    pub(super) fn note_heard(&mut self, node: NodeId, of: Handle, heard: &Heard) {
        if self.watch.as_ref().is_some_and(|watch| watch.watches(node)) {
            self.picture_heard(node, of, heard);
        }
    }

    fn picture_heard(&mut self, node: NodeId, of: Handle, heard: &Heard) {
        let frame = self.medium.frame(of);
        let picture = self.picture(&frame, if let Signal::Good(intact) = heard.what { intact } else { 0 });
        let power = Power::watts(heard.power as f64 * 1e-18);
        let what = match heard.what {
            Signal::Good(..) => TraceEventKind::Hears(picture, power),
            Signal::Bad { header_read: true } => TraceEventKind::Spoilt(picture, power),
            Signal::Bad { header_read: false } | Signal::Noise | Signal::Nothing => return,
        };
        let length = self.rules.timing.duration(frame.mode, frame.psdu(self.rules.key));
        let start = Instant::ZERO + (self.now.since(Instant::ZERO) - length);
        self.report(start, node, what);
    }

    fn report(&mut self, at: Instant, node: NodeId, what: TraceEventKind) {
        if let Some(watch) = &mut self.watch {
            watch.events.push(TraceEvent { at, node: node.into(), what });
        }
    }

    /// `intact`: a bit for each MPDU.
    fn picture(&self, frame: &Frame, intact: u64) -> trace::Frame {
        let (kind, mpdus) = match frame.kind {
            Kind::Rts => (trace::Kind::Rts, Vec::new()),
            Kind::Cts => (trace::Kind::Cts, Vec::new()),
            Kind::Ack => (trace::Kind::Ack, Vec::new()),
            Kind::Request { asked, .. } => (trace::Kind::Request { asked }, Vec::new()),
            Kind::Grant => (trace::Kind::Grant, Vec::new()),
            Kind::BlockAckReq { start } => (trace::Kind::BlockAckReq { start }, Vec::new()),
            Kind::BlockAck { start, arrived } => (trace::Kind::BlockAck { start, bitmap: arrived }, Vec::new()),
            Kind::Data { .. } | Kind::Aggregate { .. } => (trace::Kind::Data, self.picture_mpdus(frame, intact)),
        };
        trace::Frame {
            kind,
            from: frame.from,
            to: (frame.to != BROADCAST).then_some(frame.to),
            reserves: frame.reserves,
            length: self.rules.timing.duration(frame.mode, frame.psdu(self.rules.key)),
            mode: frame.mode,
            mpdus,
        }
    }

    /// The data frames in a frame. Their sender holds them as long as the frame is in the air; only a broadcast has left
    /// it when the last bit has.
    fn picture_mpdus(&self, frame: &Frame, intact: u64) -> Vec<Mpdu> {
        let category = self.rules.category(frame.category);
        let packets = |first| {
            let chain = std::iter::successors(Some(first), |&packet| self.packets.get(packet).transit.next);
            chain.map(|packet| self.connections.picture(&self.packets.get(packet))).collect()
        };
        if let Kind::Data { packet, psdu: length } = frame.kind {
            let (sequence, retry, intact) = (frame.sequence, frame.retry, intact & 1 == 1);
            return vec![Mpdu { sequence, retry, category, length, intact, packets: packets(packet) }];
        }
        let mpdus = self.nodes[NodeId::from(frame.from)].station.in_flight().zip(0_u32..);
        let picture = |(mpdu, index): (&crate::mac::Mpdu, u32)| Mpdu {
            sequence: mpdu.sequence,
            retry: mpdu.retry,
            category,
            length: mpdu.psdu,
            intact: intact >> index & 1 == 1,
            packets: packets(mpdu.packet),
        };
        mpdus.map(picture).collect()
    }
}
