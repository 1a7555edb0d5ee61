//! Reports the events of watched nodes.

use super::flows::{Flow, Role};
use super::nodes::{Node, port_name};
use super::scene::Scene;
use super::state::{Event, World};
use super::witness::{Watch, told_every};
use crate::config;
use crate::engine::{Bitmap, NodeId};
use crate::mac::{BROADCAST, Frame, Kind};
use crate::radio::{Heard, Signal};
use crate::trace::{Protocol, Roster, RosterFlow, RosterNode, TraceEvent, TraceEventKind};
use units::{Duration, Instant, Power};

impl World {
    /// Traces all events at `nodes` (indices in the scenario) from now on; see [`take_events`](Self::take_events).
    /// Events that are not taken accumulate.
    pub fn watch(&mut self, nodes: &[u32]) {
        let mut watch = Watch { nodes: vec![false; self.nodes.len()].into(), ..Watch::default() };
        for node in self.nodes.numbers().filter(|&node| nodes.contains(&node.into())) {
            watch.nodes[node] = true;
        }
        self.watch = Some(Box::new(watch));
        self.overheard = true;
    }

    /// Traces all nodes from now on, but only frames that are addressed to the node: a picture needs no others.
    pub fn watch_exchanges(&mut self) {
        let all: Vec<u32> = self.nodes.numbers().map(u32::from).collect();
        self.watch(&all);
        if let Some(watch) = &mut self.watch {
            watch.addressed_only = true;
        }
    }

    /// At watched nodes, also traces intervals of queues without a controller ([`TraceEventKind::Limit`], one per
    /// second).
    pub fn watch_intervals(&mut self) {
        let Some(watch) = &self.watch else { return };
        for (node, watched) in self.nodes.numbers().zip(self.nodes.iter()) {
            let ports = watched.egress.ports.numbers().zip(&watched.egress.ports).filter(|_| watch.watches(node));
            for (port, described) in ports.filter(|(_, port)| port.interval().is_none()) {
                self.events.push(self.now + told_every(described), Event::Control { node, port });
            }
        }
    }

    /// Returns the events at the watched nodes since the last call.
    pub fn take_events(&mut self) -> Vec<TraceEvent> {
        self.watch.as_mut().map(|watch| std::mem::take(&mut watch.events)).unwrap_or_default()
    }

    /// Returns the list of nodes and flows to which events refer.
    pub fn roster(&self) -> Roster {
        let node = |node: &Node| RosterNode {
            name: node.name.clone(),
            role: match (node.access_point, node.egress.layout.radio_ports()) {
                (true, _) => config::Role::AccessPoint,
                (false, 0) => config::Role::Wired,
                (false, _) => config::Role::Station,
            },
            queues: node.egress.ports.numbers().map(|port| port_name(&self.nodes, node, port, &self.rules)).collect(),
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

    /// Returns the number of packets that wait in each node's queues now.
    pub fn backlogs(&self) -> Vec<u64> {
        let waiting = |node: &Node| node.egress.ports.iter().map(|port| port.queue.backlog().packets).sum();
        self.nodes.iter().map(waiting).collect()
    }

    /// Returns the nodes that would hear a frame, decoded or not, if a node (index in the scenario) began to send it
    /// now. The nearest node is first; each has its propagation delay.
    pub fn listeners(&self, node: u32) -> impl Iterator<Item = (u32, Duration)> {
        self.medium.who_hears(node)
    }

    /// Traces a frame that a node begins to send or has heard.
    #[inline(never)]
    pub(super) fn trace(&mut self, node: NodeId, frame: &Frame, heard: Option<&Heard>) {
        if !self.watch.as_ref().is_some_and(|watch| watch.watches(node)) {
            return;
        }
        let addressed = self.addressed(node, frame);
        let Self { nodes, rules, packets, connections, flows, routing, medium, watch, now, .. } = self;
        let scene = Scene { nodes, rules, packets, connections, flows, routing };
        let mut report = |at: Instant, what: TraceEventKind| {
            if let Some(watch) = watch {
                watch.events.push(TraceEvent { at, node: node.into(), what });
            }
        };
        let sender = &scene.nodes[NodeId::from(frame.from)].station;
        let Some(heard) = heard else {
            let mut sends =
                |to| report(*now, TraceEventKind::Sends(scene.frame(&Frame { to, ..*frame }, &Bitmap::ALL)));
            match frame.kind {
                Kind::MultiUser { .. } => {
                    sender.held.parts().for_each(|part| sends(part.to));
                }
                _ => sends(frame.to),
            }
            return;
        };
        let intact = match heard.what {
            Signal::Good { whole } => medium.intact(whole),
            _ => Bitmap::default(),
        };
        let picture = scene.frame(&addressed, &intact);
        let start = Instant::ZERO + (now.since(Instant::ZERO) - picture.length);
        let power = Power::watts(heard.power as f64 * 1e-18);
        match heard.what {
            Signal::Good { .. } | Signal::Foreign => report(start, TraceEventKind::Hears(picture, power)),
            Signal::Bad { header_read: true } => report(start, TraceEventKind::Spoilt(picture, power)),
            Signal::Bad { header_read: false } | Signal::Noise | Signal::Nothing => {}
        }
    }
}

impl From<Role> for Protocol {
    fn from(role: Role) -> Self {
        match role {
            Role::Request { .. } => Self::EchoRequest,
            Role::Reply { of } => Self::EchoReply(of.into()),
            Role::Stream { .. } => Self::Tcp,
            Role::Acknowledgement { of } => Self::TcpBack(of.into()),
            _ => Self::Udp,
        }
    }
}
