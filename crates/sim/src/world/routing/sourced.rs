//! Networks that route by DSR: source routes of packets, and the effects of DSR's messages on queues and accounts.

use super::Routing;
use crate::config::Dscp;
use crate::engine::{Arena, Beside, Handle, List, NodeId};
use crate::mac::BROADCAST;
use crate::net::dsr::{Action, Broken, Content, Context, Dsr, Failed, Header, Message, Output, Settings};
use crate::net::{Load, LossCause, Packet, Transit, ip_bytes};
use crate::record::Ledger;
use crate::trace::{DsrMessage, DsrOptions};
use crate::world::flows::Flow;
use crate::world::state::{Event, World};
use units::{Duration, Instant};

/// A network that routes by DSR.
pub(crate) struct Sourced {
    pub(crate) given: Settings,
    pub(crate) nodes: List<NodeId, Dsr>,
    /// By node: when the earliest pending `Route` event fires; later ones are stale.
    armed: List<NodeId, Instant>,
    pub(crate) messages: Arena<Message>,
    /// Source routes of data packets.
    headers: Beside<Header>,
    /// Source route of the packet that a node takes now.
    arriving: Header,
    out: Output,
    /// Counts of messages.
    pub(crate) ledger: Ledger,
    /// Number of packets that wait for their delay to end.
    pub(crate) delayed: u64,
    /// Scratch space for packets whose link broke.
    purged: Vec<Handle>,
    /// Index of the access category of messages.
    pub(crate) category: u8,
}

impl Sourced {
    pub(crate) fn new(given: Settings, nodes: Vec<Dsr>, category: u8) -> Self {
        Self {
            given,
            armed: vec![Instant::NEVER; nodes.len()].into(),
            nodes: nodes.into(),
            messages: Arena::default(),
            headers: Beside::default(),
            arriving: Header::NONE,
            out: Output::default(),
            ledger: Ledger::default(),
            delayed: 0,
            purged: Vec::new(),
            category,
        }
    }

    /// Source route of a data packet.
    pub(crate) fn header(&self, packet: Handle) -> Header {
        self.headers.get(packet).unwrap_or(Header::NONE)
    }

    /// The DSR Options header of a packet, for traces; none of a broadcast flow's.
    pub(crate) fn picture(&self, handle: Handle, packet: &Packet) -> Option<Box<DsrOptions>> {
        let (header, message) = match packet.load {
            Load::Flow(_) => (self.header(handle), None),
            Load::Routing { message, .. } => {
                let Message { header, content } = self.messages.get(message);
                (header, Some(content))
            }
            Load::Note(_) | Load::Null { .. } => return None,
        };
        let ends = |Broken { from, to }| (from, to);
        let message = message.map(|content| match content {
            Content::Request { id, target, hops_left, broken } => {
                DsrMessage::Request { id, target, hops_left, broken: broken.map(ends) }
            }
            Content::Reply { route } => DsrMessage::Reply { route: route.nodes().to_vec() },
            Content::Error { broken } => DsrMessage::Error { broken: ends(broken) },
        });
        let Header { route, at, salvaged } = header;
        let route = route.nodes().to_vec();
        (message.is_some() || route.len() > 1).then(|| Box::new(DsrOptions { route, at, salvaged, message }))
    }

    /// Takes the source route off a data packet that has arrived.
    pub(crate) fn open(&mut self, handle: Handle, packet: &mut Packet) {
        self.arriving = self.header(handle);
        packet.length = packet.length - self.arriving.length();
    }

    /// Gives a copy of a packet the same source route.
    pub(crate) fn copy(&mut self, from: Handle, to: Handle) {
        let header = self.header(from);
        self.headers.set(to, header);
    }

    /// Calls a node's state machine.
    fn tell<R>(&mut self, node: NodeId, now: Instant, act: impl FnOnce(&mut Dsr, &mut Context) -> R) -> R {
        let Self { given, nodes, out, .. } = self;
        act(&mut nodes[node], &mut Context { now, given, out })
    }
}

impl World {
    /// Routes a data packet at its origin, or at a node on its way.
    pub(super) fn route_by_source(&mut self, node: NodeId, passes: bool, packet: &Packet) {
        let Load::Flow(flow) = packet.load else { return };
        let destination = self.flows[flow].to;
        if packet.ttl == 0 {
            return self.accounts(node).lose(packet, LossCause::Ttl);
        }
        let Routing::Dsr(mesh) = &mut self.routing else { return };
        let header = passes.then_some(mesh.arriving);
        let header = header.map(|header| self.tell_dsr(node, |dsr, cx| dsr.forward(header, cx)));
        let handle = self.packets.insert(*packet);
        self.connections.packet_made(packet.segment);
        match header {
            Some(Some(header)) => self.send_along(node, handle, header, Duration::ZERO),
            Some(None) => self.accounts(node).discard(handle, LossCause::NoRoute),
            None => self.tell_dsr(node, |dsr, cx| dsr.originate(handle, destination, cx)),
        }
    }

    /// Calls a node's state machine and carries out its actions. Does nothing with other protocols.
    fn tell_dsr<R: Default>(&mut self, node: NodeId, act: impl FnOnce(&mut Dsr, &mut Context) -> R) -> R {
        let now = self.now;
        let Routing::Dsr(mesh) = &mut self.routing else { return R::default() };
        let result = mesh.tell(node, now, act);
        let mut actions = std::mem::take(&mut mesh.out.actions);
        let mut unreachable = false;
        for action in actions.drain(..) {
            match action {
                Action::Send { message, after } => self.post(node, message, after),
                Action::Forward { packet, header, after } => self.send_along(node, packet, header, after),
                Action::Discard { packet, why } => {
                    self.accounts(node).discard(packet, why);
                    unreachable |= why == LossCause::NoRoute;
                }
            }
        }
        if let Routing::Dsr(mesh) = &mut self.routing {
            mesh.out.actions = actions;
        }
        self.arm_dsr(node);
        if unreachable {
            self.refill_all(node);
        }
        result
    }

    /// Sends a data packet along a source route.
    fn send_along(&mut self, node: NodeId, handle: Handle, header: Header, after: Duration) {
        let Routing::Dsr(mesh) = &mut self.routing else { return };
        mesh.headers.set(handle, header);
        let packet = self.packets.get_mut(handle);
        packet.length += header.length();
        packet.transit = Transit::NONE;
        self.send_after(node, handle, header.next().unwrap_or(BROADCAST), after);
    }

    /// Sends a message as a packet.
    fn post(&mut self, node: NodeId, message: Message, after: Duration) {
        let Routing::Dsr(mesh) = &mut self.routing else { return };
        let length = ip_bytes(message.length(&mesh.given));
        let counts = &mut mesh.nodes[node].counts;
        counts.packets += 1;
        counts.bytes += length.count();
        mesh.ledger.made += 1;
        let to_all = matches!(message.content, Content::Request { .. });
        let to = if to_all { BROADCAST } else { message.header.next().unwrap_or(BROADCAST) };
        let load = Load::Routing { message: mesh.messages.insert(message), to_all };
        let packet = Packet { ttl: 1, dscp: Dscp::ROUTING, ..Packet::new(load, self.now, length) };
        let handle = self.packets.insert(packet);
        self.send_after(node, handle, to, after);
    }

    fn send_after(&mut self, node: NodeId, packet: Handle, to: u32, after: Duration) {
        if after.is_zero() {
            return self.enqueue(node, packet, to);
        }
        if let Routing::Dsr(mesh) = &mut self.routing {
            mesh.delayed += 1;
        }
        self.events.push(self.now + after, Event::Message { node, packet });
    }

    /// Handles the end of a packet's delay: where it goes.
    pub(super) fn delayed_to(&mut self, packet: Handle) -> u32 {
        let Routing::Dsr(mesh) = &mut self.routing else { return BROADCAST };
        mesh.delayed -= 1;
        let header = match self.packets.get(packet).load {
            Load::Routing { to_all: true, .. } => return BROADCAST,
            Load::Routing { message, .. } => mesh.messages.get(message).header,
            _ => mesh.header(packet),
        };
        header.next().unwrap_or(BROADCAST)
    }

    /// Handles a `Route` event of a node.
    pub(super) fn dsr_deadline(&mut self, node: NodeId) {
        let Routing::Dsr(mesh) = &mut self.routing else { return };
        if mesh.armed[node] != self.now {
            return;
        }
        mesh.armed[node] = Instant::NEVER;
        if mesh.nodes[node].deadline > self.now {
            return self.arm_dsr(node);
        }
        self.tell_dsr(node, Dsr::timer);
        self.serve(node);
    }

    /// Ensures an event at the node's deadline.
    fn arm_dsr(&mut self, node: NodeId) {
        let Routing::Dsr(mesh) = &mut self.routing else { return };
        let (deadline, armed) = (mesh.nodes[node].deadline, &mut mesh.armed[node]);
        if deadline < *armed {
            *armed = deadline;
            self.events.push(deadline, Event::Route { node });
        }
    }

    /// Takes a message.
    pub(super) fn take_sourced(&mut self, node: NodeId, handle: Handle, to_all: bool) {
        let Load::Routing { message, .. } = self.packets.get(handle).load else { return };
        let Routing::Dsr(mesh) = &mut self.routing else { return };
        let message = mesh.messages.get(message);
        if !to_all {
            mesh.ledger.finished += 1;
        }
        self.tell_dsr(node, |dsr, cx| dsr.receive(message, cx));
    }

    /// Lets a node overhear the packets of a frame for another one.
    pub(crate) fn overhear(&mut self, node: NodeId, first: Handle) {
        let mut next = Some(first);
        while let Some(handle) = next {
            let packet = self.packets.get(handle);
            next = packet.transit.next;
            let Routing::Dsr(mesh) = &mut self.routing else { return };
            match packet.load {
                Load::Flow(_) => {
                    let header = mesh.header(handle);
                    self.tell_dsr(node, |dsr, cx| dsr.overhear_data(&header, cx));
                }
                Load::Routing { message, .. } => {
                    let message = mesh.messages.get(message);
                    self.tell_dsr(node, |dsr, cx| dsr.overhear_message(&message, cx));
                }
                Load::Note(_) | Load::Null { .. } => {}
            }
        }
    }

    /// Handles a packet that the MAC of a node has given up. True if the node keeps it.
    pub(super) fn sourced_failed(&mut self, node: NodeId, handle: Handle, to: u32) {
        let packet = self.packets.get(handle);
        let Routing::Dsr(mesh) = &mut self.routing else { return };
        let purges = mesh.given.purge_on_failure;
        let broken = mesh.nodes[node].link_failed(to);
        let kept = match packet.load {
            Load::Routing { message, .. } => {
                let message = mesh.messages.get(message);
                self.tell_dsr(node, |dsr, cx| dsr.message_failed(&message, broken, cx));
                false
            }
            Load::Note(_) | Load::Null { .. } => unreachable!("signals end elsewhere"),
            Load::Flow(flow) => {
                let header = mesh.header(handle);
                if let Some(route) = self.recorder.as_mut().and_then(|recorder| recorder.route(flow)) {
                    route.fail(self.now);
                }
                let fresh = u32::from(packet.is_fresh());
                self.flows[flow].waiting += fresh;
                // One that has arrived all the same is not sent again.
                let kept = self.send_otherwise(node, handle, !packet.transit.accepted);
                if !kept {
                    self.flows[flow].waiting -= fresh;
                }
                self.tell_dsr(node, |dsr, cx| dsr.tell_of(broken, &header, cx));
                kept
            }
        };
        if !kept {
            self.drop_packet(node, handle);
        }
        if purges {
            self.purge_sourced(node, to);
        }
    }

    /// Offers a node a data packet that it could not send. True if it keeps it.
    fn send_otherwise(&mut self, node: NodeId, handle: Handle, missing: bool) -> bool {
        let Load::Flow(flow) = self.packets.get(handle).load else { return false };
        let Routing::Dsr(mesh) = &mut self.routing else { return false };
        let header = mesh.header(handle);
        let Flow { from, to: destination, .. } = self.flows[flow];
        if missing {
            let packet = self.packets.get_mut(handle);
            packet.length = packet.length - header.length();
        }
        let failed = Failed { packet: missing.then_some(handle), header, destination, own: from == node };
        self.tell_dsr(node, |dsr, cx| dsr.packet_failed(&failed, cx))
    }

    /// Removes packets that wait for the other end of a broken link.
    fn purge_sourced(&mut self, node: NodeId, to: u32) {
        let Routing::Dsr(mesh) = &mut self.routing else { return };
        let mut purged = std::mem::take(&mut mesh.purged);
        let egress = &mut self.nodes[node].egress;
        egress.discard_where(self.now, &mut |waiting| waiting.to == to, &mut |gone| purged.push(gone.packet));
        for handle in purged.drain(..) {
            match self.packets.get(handle).load {
                Load::Routing { message, .. } => {
                    let Routing::Dsr(mesh) = &mut self.routing else { return };
                    let message = mesh.messages.get(message);
                    self.tell_dsr(node, |dsr, cx| dsr.salvage_message(&message, to, cx));
                }
                _ if self.send_otherwise(node, handle, true) => continue,
                _ => {}
            }
            self.accounts(node).discard(handle, LossCause::Link);
        }
        if let Routing::Dsr(mesh) = &mut self.routing {
            mesh.purged = purged;
        }
        self.refill_all(node);
    }
}
