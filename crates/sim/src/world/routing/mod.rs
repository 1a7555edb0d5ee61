//! Next hops of packets, by fixed routes, AODV or DSR, and the effects of AODV's messages on queues and accounts.

pub(crate) mod build;
mod sourced;

use super::flows::{Flow, Role};
use super::state::{Accounts, Event, World};
use super::watch::Witness;
use crate::config::{Dscp, RoutingPriority};
use crate::engine::{Arena, FlowId, Handle, List, NodeId, PortId};
use crate::mac::BROADCAST;
use crate::net::aodv::{Action, Aodv, Context, Ends, Message, Output, Settings};
use crate::net::{Load, LossCause, Packet, Routes, Waiting, network_bytes};
use crate::record::Ledger;
use crate::results;
use crate::trace::{DsrOptions, TraceEventKind};
use sourced::Sourced;
use units::{Duration, Instant};

/// Routing of packets.
pub(crate) enum Routing {
    Static(Routes),
    Aodv(Box<Mesh>),
    Dsr(Box<Sourced>),
}

impl Routing {
    /// Counts of messages.
    pub(crate) fn ledger(&mut self) -> &mut Ledger {
        match self {
            Self::Static(_) => unreachable!("fixed routes need no messages"),
            Self::Aodv(mesh) => &mut mesh.ledger,
            Self::Dsr(mesh) => &mut mesh.ledger,
        }
    }

    /// What the protocol of a node did; none with fixed routes.
    pub(crate) fn counts(&self, node: NodeId) -> Option<&results::Routing> {
        match self {
            Self::Static(_) => None,
            Self::Aodv(mesh) => Some(&mesh.nodes[node].counts),
            Self::Dsr(mesh) => Some(&mesh.nodes[node].counts),
        }
    }

    /// Restarts the counts of all nodes.
    pub(crate) fn restart_counts(&mut self) {
        match self {
            Self::Static(_) => {}
            Self::Aodv(mesh) => mesh.nodes.iter_mut().for_each(|node| node.counts = results::Routing::default()),
            Self::Dsr(mesh) => mesh.nodes.iter_mut().for_each(|node| node.counts = results::Routing::default()),
        }
    }

    /// The DSR Options header of a packet, for traces.
    pub(crate) fn picture(&self, handle: Handle, packet: &Packet) -> Option<Box<DsrOptions>> {
        match self {
            Self::Dsr(mesh) => mesh.picture(handle, packet),
            Self::Static(_) | Self::Aodv(_) => None,
        }
    }

    /// True if nodes hear frames for others.
    #[inline]
    pub(crate) fn overhears(&self) -> bool {
        matches!(self, Self::Dsr(_))
    }
}

/// A network that routes by AODV.
pub(crate) struct Mesh {
    pub(crate) settings: Settings,
    pub(crate) nodes: List<NodeId, Aodv>,
    /// By node: when the earliest pending `Route` event fires; later ones are stale.
    pub(crate) armed: List<NodeId, Instant>,
    pub(crate) messages: Arena<Message>,
    pub(crate) out: Output,
    /// Counts of messages.
    pub(crate) ledger: Ledger,
    /// Number of broadcasts that wait for their random delay to end.
    pub(crate) delayed: u64,
    pub(crate) purge_on_failure: bool,
    /// Data packets that the MAC gives up break a link.
    pub(crate) packet_failures: bool,
    /// Scratch space for packets whose link broke.
    pub(crate) purged: Vec<Handle>,
    pub(crate) priority: RoutingPriority,
    /// Index of the access category of messages.
    pub(crate) category: u8,
}

impl Mesh {
    pub(crate) fn new(described: &crate::config::Aodv, settings: Settings, nodes: Vec<Aodv>, category: u8) -> Self {
        Self {
            settings,
            armed: vec![Instant::NEVER; nodes.len()].into(),
            nodes: nodes.into(),
            messages: Arena::default(),
            out: Output::default(),
            ledger: Ledger::default(),
            delayed: 0,
            purge_on_failure: described.purge_on_failure,
            packet_failures: described.packet_failures,
            purged: Vec::new(),
            priority: described.routing_priority,
            category,
        }
    }

    /// Calls a node's state machine.
    pub(crate) fn tell<R>(&mut self, node: NodeId, now: Instant, act: impl FnOnce(&mut Aodv, &mut Context) -> R) -> R {
        let Self { settings, nodes, out, .. } = self;
        act(&mut nodes[node], &mut Context { now, settings, out })
    }
}

impl World {
    /// Routes a data packet at a node, its origin unless it came from `previous`: it joins a port or waits for a route.
    #[expect(clippy::inline_always, reason = "once a packet: such calls cost every network 1 % in all")]
    #[inline(always)]
    pub(crate) fn route(&mut self, node: NodeId, previous: Option<u32>, packet: &Packet) {
        let Load::Flow(index) = packet.load else { unreachable!("messages go one hop") };
        let flow = &self.flows[index];
        let next = match &mut self.routing {
            _ if flow.to == BROADCAST => Some(BROADCAST),
            Routing::Dsr(_) => return self.route_by_source(node, previous.is_some(), packet),
            Routing::Static(routes) => Some(routes.next(index, node.into()).expect("a route goes on until its end")),
            Routing::Aodv(_) if packet.ttl == 0 => {
                self.accounts(node).lose(packet, LossCause::Ttl);
                return;
            }
            Routing::Aodv(mesh) => {
                let ends =
                    Ends { origin: flow.from.into(), destination: flow.to, previous, travelled: packet.travelled() };
                mesh.nodes[node].route(&ends, self.now, &mesh.settings)
            }
        };
        let handle = self.packets.insert(*packet);
        self.connections.packet_made(packet.segment);
        match next {
            Some(to) => self.enqueue(node, handle, to),
            None => self.seek_route(node, previous, handle),
        }
    }

    fn seek_route(&mut self, node: NodeId, previous: Option<u32>, handle: Handle) {
        let packet = self.packets.get(handle);
        let Load::Flow(flow) = packet.load else { return };
        let Flow { from, to: destination, .. } = self.flows[flow];
        let ends = Ends { origin: from.into(), destination, previous, travelled: packet.travelled() };
        self.tell(node, |aodv, cx| aodv.unroutable(handle, &ends, cx));
    }

    /// Calls a node's state machine and carries out its actions. Does nothing with fixed routes.
    fn tell<R: Default>(&mut self, node: NodeId, act: impl FnOnce(&mut Aodv, &mut Context) -> R) -> R {
        let Routing::Aodv(mesh) = &mut self.routing else { return R::default() };
        let result = mesh.tell(node, self.now, act);
        self.carry_out(node);
        result
    }

    /// Carries out the actions of a node.
    fn carry_out(&mut self, node: NodeId) {
        let Routing::Aodv(mesh) = &mut self.routing else { return };
        let mut actions = std::mem::take(&mut mesh.out.actions);
        let mut unreachable = false;
        for action in actions.drain(..) {
            match action {
                Action::Send { message, to, after } => self.send_message(node, message, to, after),
                Action::Forward { packet, to } => self.enqueue(node, packet, to),
                Action::Discard { packet, why } => {
                    self.accounts(node).discard(packet, why);
                    unreachable |= why == LossCause::NoRoute;
                }
            }
        }
        if let Routing::Aodv(mesh) = &mut self.routing {
            mesh.out.actions = actions;
        }
        self.arm_routing(node);
        if unreachable {
            self.refill_all(node);
        }
    }

    /// Sends a message as a packet.
    fn send_message(&mut self, node: NodeId, message: Message, to: u32, after: Duration) {
        let Routing::Aodv(mesh) = &mut self.routing else { return };
        let length = network_bytes(message.length(&mesh.out.lists));
        let counts = &mut mesh.nodes[node].counts;
        counts.packets += 1;
        counts.bytes += length.count();
        mesh.ledger.made += 1;
        let load = Load::Routing { message: mesh.messages.insert(message), to_all: to == BROADCAST };
        let handle = self.packets.insert(Packet { ttl: 1, dscp: Dscp::ROUTING, ..Packet::new(load, self.now, length) });
        if after.is_zero() {
            self.enqueue(node, handle, to);
        } else {
            mesh.delayed += 1;
            self.events.push(self.now + after, Event::Message { node, packet: handle });
        }
    }

    /// Handles the end of a broadcast's random delay.
    pub(crate) fn delay_ends(&mut self, node: NodeId, packet: Handle) {
        let to = match &mut self.routing {
            Routing::Dsr(_) => self.delayed_to(packet),
            Routing::Aodv(mesh) => {
                mesh.delayed -= 1;
                BROADCAST
            }
            Routing::Static(_) => unreachable!("fixed routes need no messages"),
        };
        self.enqueue(node, packet, to);
        self.serve(node);
    }

    /// Enqueues a packet in a port of a node.
    #[inline]
    pub(crate) fn enqueue(&mut self, node: NodeId, handle: Handle, to: u32) {
        let Self { nodes, packets, connections, flows, routing, wires, recorder, overflows, watch, now, .. } = self;
        let packet = packets.get_mut(handle);
        let (category, first, flow) = match (packet.load, &*routing) {
            (Load::Flow(flow), _) => {
                if let Some(route) = recorder.as_mut().and_then(|recorder| recorder.route(flow)) {
                    route.pass(node, to, *now);
                }
                match flows[flow].role {
                    Role::Outside => flows[flow].kept(flow, packet),
                    _ => (flows[flow].category, false, connections.flow_key(flow, packet)),
                }
            }
            (_, Routing::Aodv(mesh)) => (mesh.category, mesh.priority == RoutingPriority::HeadOfQueue, u32::MAX),
            (_, Routing::Dsr(mesh)) => {
                (mesh.category, mesh.given.routing_priority == RoutingPriority::HeadOfQueue, u32::MAX)
            }
            (_, Routing::Static(_)) => unreachable!("fixed routes need no messages"),
        };
        let &mut Packet { length, dscp, ecn, created, .. } = packet;
        let waiting = Waiting { packet: handle, to, length, flow, dscp, ecn, created };
        let mut witness = Witness { watch, now: *now, node };
        witness.saw(|| TraceEventKind::Queued(connections.picture(packet)));
        let egress = &mut nodes[node].egress;
        let (port, wire) = egress.way_to(to, category, dscp.class());
        if let Some(wire) = wire
            && wires[wire].sending.is_none()
            && egress.pass_idle(*now, port, &waiting)
        {
            return self.begin_to_send(wire, &waiting, Duration::ZERO);
        }
        let mut accounts = Accounts { packets, connections, flows, routing, overflows, witness };
        let category = wire.is_none().then_some(category);
        if !egress.has_sleepers() || !egress.keeps_arriving(category, &waiting, &mut accounts.dropping()) {
            egress.offer(*now, port, category, waiting, first, &mut accounts.dropping());
        }
        if egress.has_moved() {
            self.pull_all(node);
        }
        if let Some(wire) = wire {
            self.transmit(wire);
        }
    }

    /// The port of a flow at the node where it begins.
    pub(crate) fn first_port(&self, flow: FlowId) -> PortId {
        let Flow { from, to, category, dscp, .. } = self.flows[flow];
        let next = match &self.routing {
            Routing::Static(routes) if to != BROADCAST => {
                routes.next(flow, from.into()).expect("a route leaves its start")
            }
            // Then there is one port per category, whoever is next.
            _ => BROADCAST,
        };
        self.nodes[from].egress.port_to(next, category, dscp.class())
    }

    /// Handles a `Route` event of a node.
    pub(crate) fn routing_deadline(&mut self, node: NodeId) {
        let Routing::Aodv(mesh) = &mut self.routing else { return self.dsr_deadline(node) };
        if mesh.armed[node] != self.now {
            return;
        }
        mesh.armed[node] = Instant::NEVER;
        if mesh.nodes[node].deadline > self.now {
            self.arm_routing(node);
        } else {
            self.tell(node, Aodv::timer);
            self.serve(node);
        }
    }

    /// Ensures an event at the node's deadline.
    pub(crate) fn arm_routing(&mut self, node: NodeId) {
        let Routing::Aodv(mesh) = &mut self.routing else { return };
        let (deadline, armed) = (mesh.nodes[node].deadline, &mut mesh.armed[node]);
        if deadline < *armed {
            *armed = deadline;
            self.events.push(deadline, Event::Route { node });
        }
    }

    /// Takes a message.
    pub(crate) fn take_message(&mut self, node: NodeId, from: u32, handle: Handle) {
        let Load::Routing { message, to_all } = self.packets.get(handle).load else { return };
        let Routing::Aodv(mesh) = &mut self.routing else { return self.take_sourced(node, handle, to_all) };
        let message = mesh.messages.get(message);
        if !to_all {
            mesh.ledger.finished += 1;
        }
        self.tell(node, |aodv, cx| aodv.receive(message, from, cx));
    }

    /// Records that a node has heard a data packet of a neighbour.
    pub(crate) fn hear_neighbour(&mut self, node: NodeId, from: u32) {
        if let Routing::Aodv(mesh) = &mut self.routing {
            mesh.tell(node, self.now, |aodv, cx| aodv.heard(from, cx));
        }
    }

    /// Takes the source route off a data packet that has arrived, if it has one.
    #[inline]
    pub(crate) fn open(&mut self, handle: Handle, packet: &mut Packet) {
        if let Routing::Dsr(mesh) = &mut self.routing
            && !matches!(packet.load, Load::Flow(flow) if self.flows[flow].to == BROADCAST)
        {
            mesh.open(handle, packet);
        }
    }

    /// Handles a packet that the MAC of a node has given up: to the routing protocol the link is broken.
    pub(crate) fn link_failed(&mut self, node: NodeId, handle: Handle, to: u32) {
        let packet = self.packets.get(handle);
        let mesh = match &mut self.routing {
            Routing::Static(_) => return self.drop_packet(node, handle),
            Routing::Dsr(_) => return self.sourced_failed(node, handle, to),
            Routing::Aodv(mesh) => mesh,
        };
        let mut purge = mesh.purge_on_failure;
        let kept = match packet.load {
            Load::Routing { message, .. } => {
                let message = mesh.messages.get(message);
                purge &= self.tell(node, |aodv, cx| aodv.message_failed(&message, to, cx));
                false
            }
            Load::Note(_) | Load::Null { .. } => unreachable!("signals end elsewhere"),
            // One that has arrived all the same is not sent again.
            Load::Flow(_) => {
                purge &= mesh.packet_failures;
                self.packet_failed(node, handle, to, !packet.transit.accepted)
            }
        };
        if !kept {
            self.drop_packet(node, handle);
        }
        if purge {
            self.purge(node, to);
        }
    }

    /// Handles a data packet that could not be sent. True if the node keeps it, to send it by another route.
    fn packet_failed(&mut self, node: NodeId, packet: Handle, to: u32, missing: bool) -> bool {
        let failed = self.packets.get(packet);
        let Load::Flow(flow) = failed.load else { return false };
        if let Some(route) = self.recorder.as_mut().and_then(|recorder| recorder.route(flow)) {
            route.fail(self.now);
        }
        let Flow { from, to: destination, .. } = self.flows[flow];
        let ends = Ends { origin: from.into(), destination, previous: None, travelled: failed.travelled() };
        let wanted = missing.then_some(packet);
        self.tell(node, |aodv, cx| aodv.packet_failed(wanted, to, &ends, cx))
    }

    /// Removes packets that wait for the other end of a broken link.
    fn purge(&mut self, node: NodeId, to: u32) {
        let Routing::Aodv(mesh) = &mut self.routing else { return };
        let mut purged = std::mem::take(&mut mesh.purged);
        let egress = &mut self.nodes[node].egress;
        egress.discard_where(self.now, &mut |waiting| waiting.to == to, &mut |gone| purged.push(gone.packet));
        for packet in purged.drain(..) {
            if !self.packet_failed(node, packet, to, true) {
                self.accounts(node).discard(packet, LossCause::Link);
            }
        }
        if let Routing::Aodv(mesh) = &mut self.routing {
            mesh.purged = purged;
        }
        self.refill_all(node);
    }

    /// Refills every port of a node.
    fn refill_all(&mut self, node: NodeId) {
        self.nodes[node].saturated.numbers().for_each(|port| self.refill(node, port, None));
    }

    /// Ends the sender's copy of a packet that the receiver does not have, or has twice.
    pub(crate) fn drop_packet(&mut self, node: NodeId, handle: Handle) {
        if !self.packets.get(handle).transit.accepted {
            self.lose_sent(node, handle);
        }
        let packet = self.packets.remove(handle);
        self.accounts(node).release(&packet);
    }

    /// Counts a packet that the station has given up as lost.
    #[cold]
    fn lose_sent(&mut self, node: NodeId, handle: Handle) {
        let packet = self.packets.get(handle);
        self.accounts(node).lose(&packet, LossCause::Retries);
    }
}
