//! What goes over wired links.

use crate::engine::WireId;
use crate::net::{Load, LossCause, Waiting};
use crate::world::state::{Event, Node, Sending, Wire, World};
use units::Duration;

impl World {
    /// If the link is idle and a packet waits, begins to send it.
    pub(super) fn transmit(&mut self, wire: WireId) {
        let now = self.now;
        let &Wire { from, port, sending, .. } = &self.wires[wire];
        if sending.is_some() {
            return;
        }
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(from);
        let Some(taken) = egress.take(now, port, 0, &mut accounts.dropping()) else {
            if let Some(at) = egress.ports()[port].ready_at() {
                self.arm_port(from, port, at);
            }
            return;
        };
        let Waiting { packet, length, .. } = taken.packet;
        self.wires[wire].sending = Some(Sending { packet, waited: taken.waited, since: now });
        self.events.push(self.wires[wire].sent(now, length), Event::WireSent { wire });
        self.left(from, port, &taken.packet);
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
}
