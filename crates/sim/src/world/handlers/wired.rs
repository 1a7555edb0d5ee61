//! Sends packets over wired links.

use crate::engine::{Handle, NodeId, WireId};
use crate::mac::BROADCAST;
use crate::net::{Load, LossCause, Transit, Waiting};
use crate::world::state::{Event, Flow, Node, Role, Routing, Sending, Wire, World};
use units::Duration;

impl World {
    /// If the link is idle and a packet waits, begins to send it.
    pub(super) fn transmit(&mut self, wire: WireId) {
        let now = self.now;
        let &Wire { from, port, sending, .. } = &self.wires[wire];
        if sending.is_some() || self.nodes[from].egress.ports()[port].is_idle() {
            return;
        }
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(from);
        let Some(taken) = egress.take(now, port, 0, &mut accounts.dropping()) else {
            if let Some(at) = egress.ports()[port].ready_at() {
                self.arm_port(from, port, at);
            }
            return;
        };
        self.begin_to_send(wire, &taken.packet, taken.waited);
    }

    /// A packet that has left its port after it `waited` is put on its link, which is idle.
    pub(super) fn begin_to_send(&mut self, wire: WireId, packet: &Waiting, waited: Duration) {
        let link = &mut self.wires[wire];
        link.sending = Some(Sending { packet: packet.packet, waited, since: self.now });
        let (from, port) = (link.from, link.port);
        self.events.push(link.sent(self.now, packet.length), Event::WireSent { wire });
        self.left(from, port, packet);
    }

    /// The last bit of a packet has been sent.
    pub(crate) fn wire_sent(&mut self, wire: WireId) {
        let link = &mut self.wires[wire];
        let Some(Sending { packet, waited, .. }) = link.sending else { return };
        link.busy = link.busy_time(self.now);
        let service = self.now.since(link.sending.take().map_or(self.now, |sending| sending.since));
        let (from, port) = (link.from, link.port);
        let place = self.events.reserve(self.now + link.delay);
        if link.under_way.is_empty() {
            self.events.push_at(place, Event::WireArrives { wire });
        }
        link.under_way.push_back((place, packet));
        self.complete(from, port, waited, service, Duration::ZERO, 1);
        self.transmit(wire);
    }

    /// The last bit of a packet has arrived at the other end.
    pub(crate) fn wire_arrives(&mut self, wire: WireId) {
        let link = &mut self.wires[wire];
        let Some((_, packet)) = link.under_way.pop_front() else { return };
        if let Some(&(place, _)) = link.under_way.front() {
            self.events.push_at(place, Event::WireArrives { wire });
        }
        let (from, to, damaged) = (link.from, link.to, link.damages());
        if !damaged && self.relay(to, packet) {
            return self.serve(to);
        }
        let packet = self.packets.remove(packet);
        if damaged {
            let mut accounts = self.accounts(to);
            accounts.lose(&packet, LossCause::Damage);
            accounts.release(&packet);
            return;
        }
        if let Load::Flow(flow) = packet.load {
            self.deliver(to, from.into(), flow, &packet);
        }
        self.connections.packet_gone(packet.segment);
        self.serve(to);
    }

    /// Forwards a packet that has come by wire as it is, as no other node has it: over a fixed route, and if it is not
    /// for this node and carries nothing for it. False otherwise: then nothing has happened.
    fn relay(&mut self, node: NodeId, handle: Handle) -> bool {
        let packet = self.packets.get_mut(handle);
        let (Load::Flow(index), Routing::Static(routes)) = (packet.load, &self.routing) else { return false };
        let Flow { to, role, .. } = self.flows[index];
        if to == BROADCAST || to == u32::from(node) || matches!(role, Role::Probe { .. }) {
            return false;
        }
        (packet.ttl, packet.transit) = (packet.ttl.saturating_sub(1), Transit::NONE);
        let next = routes.next(index, node.into()).expect("a route goes on until its end");
        self.enqueue(node, handle, next);
        true
    }
}
