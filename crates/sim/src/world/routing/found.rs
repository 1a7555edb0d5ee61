//! Routes that a protocol discovers: what it does with packets, its pending events, and the counts of its messages.

use super::aodv::Mesh;
use super::plane::{Desk, Plane};
use super::sourced::Sourced;
use crate::config;
use crate::engine::{Arena, Handle, NodeId};
use crate::mac::BROADCAST;
use crate::net::aodv::{Aodv, Ends};
use crate::net::dsr::{Broken, Dsr, Failed, Header};
use crate::net::{Load, LossCause, Packet};
use crate::results;
use units::{Duration, Instant};

/// A broken link, and the source route of the packet that was to go over it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct News {
    broken: Broken,
    header: Header,
}

enum Protocol {
    Aodv(Mesh),
    Dsr(Sourced),
}

/// A protocol that discovers routes.
pub(crate) struct Found {
    protocol: Protocol,
    pub(crate) plane: Plane,
}

impl Found {
    pub(super) fn aodv(given: &config::Aodv, mesh: Mesh, category: u8) -> Self {
        let plane = Plane::new(mesh.nodes.len(), given.purge_on_failure, category, given.routing_priority);
        Self { protocol: Protocol::Aodv(mesh), plane }
    }

    pub(super) fn dsr(mesh: Sourced, category: u8) -> Self {
        let given = &mesh.given;
        let plane = Plane::new(mesh.nodes.len(), given.purge_on_failure, category, given.routing_priority);
        Self { protocol: Protocol::Dsr(mesh), plane }
    }

    /// Returns the results of a node's protocol.
    pub(crate) fn counts(&self, node: NodeId) -> &results::Routing {
        match &self.protocol {
            Protocol::Aodv(mesh) => &mesh.nodes[node].counts,
            Protocol::Dsr(mesh) => &mesh.nodes[node].counts,
        }
    }

    pub(crate) fn restart_counts(&mut self) {
        match &mut self.protocol {
            Protocol::Aodv(mesh) => mesh.nodes.iter_mut().for_each(|node| node.counts = results::Routing::default()),
            Protocol::Dsr(mesh) => mesh.nodes.iter_mut().for_each(|node| node.counts = results::Routing::default()),
        }
    }

    /// Returns the number of packets that wait for a route or for the end of their delay.
    pub(crate) fn waiting(&self) -> u64 {
        let held: usize = match &self.protocol {
            Protocol::Aodv(mesh) => mesh.nodes.iter().map(Aodv::held).sum(),
            Protocol::Dsr(mesh) => mesh.nodes.iter().map(Dsr::held).sum(),
        };
        self.plane.delayed + held as u64
    }

    pub(super) fn sourced(&self) -> Option<&Sourced> {
        if let Protocol::Dsr(mesh) = &self.protocol { Some(mesh) } else { None }
    }

    /// True if packets carry their routes.
    pub(crate) fn is_sourced(&self) -> bool {
        self.sourced().is_some()
    }

    /// Records that a node has heard a data packet of a neighbour.
    pub(crate) fn hear_neighbour(&mut self, node: NodeId, from: u32, now: Instant) {
        if let Protocol::Aodv(mesh) = &mut self.protocol {
            mesh.tell(node, now, |aodv, cx| aodv.heard(from, cx));
        }
    }

    /// Removes the source route, if any, from an arrived data packet of a flow `to` a node or to all.
    pub(crate) fn open(&mut self, handle: Handle, packet: &mut Packet, to: u32) {
        if let Protocol::Dsr(mesh) = &mut self.protocol
            && to != BROADCAST
        {
            mesh.open(handle, packet);
        }
    }

    /// Gives a copy of a packet the same source route.
    pub(crate) fn copy(&mut self, from: Handle, to: Handle) {
        if let Protocol::Dsr(mesh) = &mut self.protocol {
            mesh.copy(from, to);
        }
    }

    /// Returns the next hop of a data packet at a node, if it is known.
    pub(crate) fn route(&mut self, node: NodeId, ends: &Ends, now: Instant) -> Option<u32> {
        match &mut self.protocol {
            Protocol::Aodv(mesh) => mesh.route(node, ends, now),
            Protocol::Dsr(_) => None,
        }
    }

    /// Sends a data packet that was [opened](Self::open) along its source route, once it is [handed over](Self::seek).
    pub(crate) fn forward(&mut self, desk: &mut Desk) {
        if let Protocol::Dsr(mesh) = &mut self.protocol {
            let header = mesh.arriving;
            mesh.onward = mesh.call(desk, &mut self.plane, |dsr, cx| dsr.forward(header, cx));
        }
    }

    /// Handles a data packet that has no next hop yet.
    pub(crate) fn seek(&mut self, packet: Handle, ends: &Ends, desk: &mut Desk) {
        let Self { protocol, plane } = self;
        match protocol {
            Protocol::Aodv(mesh) => mesh.call(desk, plane, |aodv, cx| aodv.unroutable(packet, ends, cx)),
            Protocol::Dsr(mesh) if ends.previous.is_some() => match mesh.onward.take() {
                Some(header) => plane.send(packet, mesh.put_on(packet, header, desk.packets), Duration::ZERO),
                None => plane.discard(packet, LossCause::NoRoute, false),
            },
            Protocol::Dsr(mesh) => mesh.call(desk, plane, |dsr, cx| dsr.originate(packet, ends.destination, cx)),
        }
    }

    pub(crate) fn receive(&mut self, from: u32, (message, to_all): (Handle, bool), desk: &mut Desk) {
        let Self { protocol, plane } = self;
        plane.ledger.finished += u64::from(!to_all);
        match protocol {
            Protocol::Aodv(mesh) => {
                let message = mesh.message(message);
                mesh.call(desk, plane, |aodv, cx| aodv.receive(message, from, cx));
            }
            Protocol::Dsr(mesh) => {
                let message = mesh.message(message);
                mesh.call(desk, plane, |dsr, cx| dsr.receive(message, cx));
            }
        }
    }

    /// Lets a node overhear a packet for another node.
    pub(crate) fn overhear(&mut self, packet: Handle, desk: &mut Desk) {
        let Self { protocol: Protocol::Dsr(mesh), plane } = self else { return };
        match desk.packets.get(packet).load {
            Load::Flow(_) => {
                let header = mesh.header(packet);
                mesh.call(desk, plane, |dsr, cx| dsr.overhear_data(&header, cx));
            }
            Load::Routing { message, .. } => {
                let message = mesh.message(message);
                mesh.call(desk, plane, |dsr, cx| dsr.overhear_message(&message, cx));
            }
            Load::Note(_) | Load::Null { .. } => {}
        }
    }

    /// Returns the destination of a packet after its delay.
    pub(crate) fn delay_ends(&mut self, handle: Handle, packets: &Arena<Packet>) -> u32 {
        debug_assert!(self.plane.delayed > 0, "what goes on was delayed");
        self.plane.delayed -= 1;
        match (&self.protocol, packets.get(handle).load) {
            (Protocol::Aodv(_), _) | (Protocol::Dsr(_), Load::Routing { to_all: true, .. }) => BROADCAST,
            (Protocol::Dsr(mesh), Load::Routing { message, .. }) => mesh.next(handle, Some(message)),
            (Protocol::Dsr(mesh), _) => mesh.next(handle, None),
        }
    }

    /// Handles a `Route` event of a node. True if the node's deadline had come.
    pub(crate) fn due(&mut self, desk: &mut Desk) -> bool {
        if self.plane.armed[desk.node] != desk.now {
            return false;
        }
        self.plane.armed[desk.node] = Instant::NEVER;
        let is_due = self.deadline(desk.node) <= desk.now;
        let Self { protocol, plane } = self;
        match protocol {
            _ if !is_due => {}
            Protocol::Aodv(mesh) => mesh.call(desk, plane, Aodv::timer),
            Protocol::Dsr(mesh) => mesh.call(desk, plane, Dsr::timer),
        }
        is_due
    }

    fn deadline(&self, node: NodeId) -> Instant {
        match &self.protocol {
            Protocol::Aodv(mesh) => mesh.nodes[node].deadline,
            Protocol::Dsr(mesh) => mesh.nodes[node].deadline,
        }
    }

    /// Returns the node's deadline, unless a pending event is as early. The caller then schedules an event.
    pub(crate) fn newly_due(&mut self, node: NodeId) -> Option<Instant> {
        let deadline = self.deadline(node);
        let armed = &mut self.plane.armed[node];
        (deadline < *armed).then(|| {
            *armed = deadline;
            deadline
        })
    }

    /// Handles a packet for this neighbour that the MAC has given up. Returns what was learnt about the link.
    pub(crate) fn link_fails(&mut self, node: NodeId, packet: Handle, to: u32) -> Option<News> {
        match &mut self.protocol {
            Protocol::Aodv(_) => None,
            Protocol::Dsr(mesh) => Some(News { broken: mesh.nodes[node].link_failed(to), header: mesh.header(packet) }),
        }
    }

    /// Handles the loss of a routing message. True if the packets that wait for the neighbour are to be removed.
    pub(crate) fn message_failed(&mut self, message: Handle, to: u32, news: Option<News>, desk: &mut Desk) -> bool {
        let Self { protocol, plane } = self;
        let is_broken = match (protocol, news) {
            (Protocol::Aodv(mesh), _) => {
                let message = mesh.message(message);
                mesh.call(desk, plane, |aodv, cx| aodv.message_failed(&message, to, cx))
            }
            (Protocol::Dsr(mesh), Some(News { broken, .. })) => {
                let message = mesh.message(message);
                mesh.call(desk, plane, |dsr, cx| dsr.message_failed(&message, broken, cx));
                true
            }
            (Protocol::Dsr(_), None) => true,
        };
        plane.purges && is_broken
    }

    /// True if the packets that wait for a neighbour are to be removed when a data packet fails.
    pub(crate) fn purges_for_data(&self) -> bool {
        let breaks = match &self.protocol {
            Protocol::Aodv(mesh) => mesh.packet_failures,
            Protocol::Dsr(_) => true,
        };
        self.plane.purges && breaks
    }

    /// Offers a node a data packet that it could not send to this neighbour. If it is not `missing`, the neighbour has
    /// received it nevertheless. True if the node keeps the packet.
    pub(crate) fn packet_failed(
        &mut self,
        (packet, to, missing): (Handle, u32, bool),
        ends: &Ends,
        desk: &mut Desk,
    ) -> bool {
        let Self { protocol, plane } = self;
        let wanted = missing.then_some(packet);
        match protocol {
            Protocol::Aodv(mesh) => mesh.call(desk, plane, |aodv, cx| aodv.packet_failed(wanted, to, ends, cx)),
            Protocol::Dsr(mesh) => {
                let (header, destination) = (mesh.header(packet), ends.destination);
                if missing {
                    mesh.take_off(packet, desk.packets);
                }
                let failed = Failed { packet: wanted, header, destination, own: ends.origin == u32::from(desk.node) };
                mesh.call(desk, plane, |dsr, cx| dsr.packet_failed(&failed, cx))
            }
        }
    }

    /// Tells the sender of a packet that a link of its route has broken.
    pub(crate) fn tell_of(&mut self, news: Option<News>, desk: &mut Desk) {
        if let (Protocol::Dsr(mesh), Some(News { broken, header })) = (&mut self.protocol, news) {
            mesh.call(desk, &mut self.plane, |dsr, cx| dsr.tell_of(broken, &header, cx));
        }
    }

    /// Handles a routing message that waited for a neighbour whose link broke: it may take another route.
    pub(crate) fn salvage(&mut self, message: Handle, to: u32, desk: &mut Desk) {
        if let Protocol::Dsr(mesh) = &mut self.protocol {
            let message = mesh.message(message);
            mesh.call(desk, &mut self.plane, |dsr, cx| dsr.salvage_message(&message, to, cx));
        }
    }

    /// Frees a message whose packet has been freed.
    pub(crate) fn release(&mut self, message: Handle) {
        match &mut self.protocol {
            Protocol::Aodv(mesh) => mesh.release(message),
            Protocol::Dsr(mesh) => mesh.release(message),
        }
    }
}
