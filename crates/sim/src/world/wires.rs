//! Packets on wired links.

use super::flows::{Flow, Role};
use super::nodes::Node;
use super::routing::Routing;
use super::state::{Event, World};
use super::wired::Wire;
use crate::engine::{EventQueue, WireId};
use crate::mac::BROADCAST;
use crate::net::{Load, LossCause, Transit, Waiting};
use queue::{Batch as _, Completion};
use units::{Duration, Instant};

impl Wire {
    /// Handles the last bit of a packet at the sender. Returns the sender port's counts. `wire`: the wire's own number.
    pub(crate) fn passes_on(
        &mut self,
        wire: WireId,
        now: Instant,
        events: &mut EventQueue<Event>,
    ) -> Option<Completion> {
        let (packet, waited, service) = self.end(now)?;
        let place = events.reserve(now + self.delay);
        if self.under_way.is_empty() {
            events.push_at(place, Event::WireArrives { wire });
        }
        self.under_way.push_back((place, packet));
        Some(Completion::of_one(waited, service))
    }
}

impl World {
    /// If the link is idle, begins to send the packet that is `passing` its port, or the next packet in the port.
    pub(super) fn transmit(&mut self, wire: WireId, passing: Option<&Waiting>) {
        let now = self.now;
        let link = &self.wires[wire];
        let (from, port) = (link.from, link.port);
        if link.sending.is_some() || passing.is_none() && self.nodes[from].egress.ports[port].queue.is_idle() {
            return;
        }
        let (packet, waited) = if let Some(&packet) = passing {
            (packet, Duration::ZERO)
        } else {
            let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(from);
            let Some(taken) = egress.take_port(now, port, 0, &mut accounts.dropping()) else {
                if let Some(at) = egress.ports[port].ready_at() {
                    self.nodes[from].arm_port(from, port, at, &mut self.events);
                }
                return;
            };
            (taken.packet, taken.waited)
        };
        self.events.push(self.wires[wire].begin(now, &packet, waited), Event::WireSent { wire });
        self.left(from, port, &packet);
        self.connections.left(&self.packets.get(packet.packet), from, &self.flows);
    }

    /// Handles the last bit of a packet at the receiver. On a fixed route the packet is forwarded unchanged, as no
    /// other node has it, unless this node is its destination or reads it.
    pub(crate) fn wire_arrives(&mut self, wire: WireId) {
        let link = &mut self.wires[wire];
        let Some((_, handle)) = link.under_way.pop_front() else { return };
        if let Some(&(place, _)) = link.under_way.front() {
            self.events.push_at(place, Event::WireArrives { wire });
        }
        let (from, to, damaged) = (link.from, link.to, link.damages());
        if damaged {
            let packet = self.packets.remove(handle);
            let mut accounts = self.accounts(to);
            accounts.lose(&packet, LossCause::Damage);
            return accounts.release(&packet);
        }
        let packet = self.packets.get_mut(handle);
        if let (Load::Flow(index), Routing::Static(routes)) = (packet.load, &self.routing)
            && let Flow { to: end, role, .. } = self.flows[index]
            && end != BROADCAST
            && end != u32::from(to)
            && !matches!(role, Role::Probe { .. })
        {
            (packet.ttl, packet.transit) = (packet.ttl.saturating_sub(1), Transit::default());
            let next = self.roaming.hop(routes, (index, &self.flows[index]), to.into());
            self.enqueue(to, handle, next);
        } else {
            let packet = self.packets.remove(handle);
            if let Load::Flow(flow) = packet.load {
                self.deliver(to, from.into(), flow, &packet);
            }
            self.connections.packet_gone(packet.segment);
        }
        self.serve(to);
    }
}
