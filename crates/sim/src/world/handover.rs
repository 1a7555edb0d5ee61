//! What a node's egress and its MAC have to do with each other: packets are handed over, their end is told, and others
//! take the room that they leave.

use super::routing::Accounts;
use super::trace::{self, Witness};
use super::{Event, Node, World};
use crate::egress::{Completion, Outlook, Taken};
use crate::mac::Msdu;
use crate::net::{Load, Transit, Waiting, msdu_bytes, network_bytes};
use crate::trace::What;
use queue::Ecn;
use units::Bytes;

impl World {
    /// There may be room at a port of `node`, because a packet of `left` has left it or its limit has moved. If
    /// `left` is a saturated flow that begins here, its next packet follows; before it come, in turn, those that have
    /// none waiting because the port discarded them.
    pub(super) fn refill(&mut self, node: u32, port: usize, left: Option<u32>) {
        let saturated = &self.nodes[node as usize].saturated[port];
        let flows = saturated.len();
        let turn = saturated.iter().position(|&(flow, _)| Some(flow) == left);
        for step in 1..=flows {
            let Node { saturated, egress, .. } = &self.nodes[node as usize];
            let (index, payload) = saturated[port][(turn.unwrap_or(0) + step) % flows];
            let due = Some(index) == left || self.flows[index as usize].waiting == 0;
            if due && egress.ports()[port].has_room(network_bytes(payload)) {
                self.make_packet(index, payload);
            }
        }
    }

    /// A packet has left a port of `node`: another of its flow may follow.
    pub(super) fn left(&mut self, node: u32, port: usize, waiting: &Waiting) {
        if waiting.ecn == Ecn::Ce {
            self.packets.get_mut(waiting.packet).ecn = waiting.ecn;
        }
        let packet = self.packets.get(waiting.packet);
        let flow = match packet.load {
            Load::Flow(flow) => Some(flow),
            Load::Routing { .. } => None,
        };
        if let Some(flow) = flow {
            self.flows[flow as usize].waiting -= u32::from(packet.is_fresh());
        }
        self.refill(node, port, flow);
    }

    /// Where the station is free and a packet waits, hands it over; then sees to the station's deadline.
    #[inline]
    pub(super) fn serve(&mut self, node: u32) {
        for category in self.nodes[node as usize].egress.pullable() {
            self.pull(node, category);
        }
        let Node { station, egress, .. } = &self.nodes[node as usize];
        let free = station.free(&self.rules) & egress.filled();
        if free != 0 {
            self.hand_over_all(node, free);
        }
        self.arm(node);
    }

    /// Packets of a category move on towards the MAC, as far as they may.
    #[inline(never)]
    fn pull(&mut self, node: u32, category: u8) {
        loop {
            let Self { nodes, rules, packets, connections, flows, routing, watch, now, .. } = self;
            let mut accounts =
                Accounts { packets, connections, flows, routing, witness: Witness { watch, now: *now, node } };
            let Node { egress, station, .. } = &mut nodes[node as usize];
            let outlook = Outlook { station, rules };
            let Some((port, waiting)) = egress.pull(*now, category, outlook, &mut accounts.dropping()) else { return };
            self.left(node, port, &waiting);
        }
    }

    /// Hands the next packets of these categories to the station.
    #[inline(never)]
    fn hand_over_all(&mut self, node: u32, mut free: u8) {
        while free != 0 {
            self.hand_over(node, u8::try_from(free.trailing_zeros()).expect("a byte has eight bits"));
            free &= free - 1;
        }
    }

    /// Hands the next packet of a category to the station, if one waits.
    fn hand_over(&mut self, node: u32, category: u8) {
        let now = self.now;
        let (egress, mut accounts) = self.egress_and_accounts(node);
        let Some(taken) = egress.take_next(now, category, &mut accounts.dropping()) else { return };
        let msdu = self.taken(&taken);
        self.nodes[node as usize].station.offer(now, (taken.packet.to, category), msdu, &self.rules);
        if let Some(port) = taken.left {
            self.left(node, port, &taken.packet);
        }
    }

    /// The MAC takes a packet.
    pub(super) fn taken(&mut self, taken: &Taken) -> Msdu {
        let &Taken { packet: Waiting { packet, length, .. }, waited, expected, .. } = taken;
        self.packets.get_mut(packet).transit = Transit { waited, taken: self.now, expected, ..Transit::NONE };
        Msdu { packet, length: msdu_bytes(length) }
    }

    /// Receiver and frame length of the packet of a category that would be handed over next.
    pub(super) fn ahead(&mut self, node: u32, category: u8) -> Option<(u32, Bytes)> {
        let now = self.now;
        let (egress, mut accounts) = self.egress_and_accounts(node);
        let Waiting { to, length, .. } = egress.peek_next(now, category, &mut accounts.dropping())?;
        Some((to, self.rules.mpdu(msdu_bytes(length))))
    }

    /// A packet that left a port is done with.
    pub(super) fn complete(&mut self, node: u32, port: usize, packet: &Completion) {
        let Node { egress, ports_before, .. } = &mut self.nodes[node as usize];
        egress.completed(self.now, port, packet);
        if let Some(recorder) = &mut self.recorder {
            recorder.completed(*ports_before + port, packet.waited, packet.service);
        }
    }

    /// A controller decides.
    pub(super) fn control(&mut self, node: u32, index: u32) {
        let port = index as usize;
        let Self { nodes, packets, connections, flows, routing, watch, now, .. } = self;
        let controlled = nodes[node as usize].egress.port_mut(port);
        let (seen, orders) = controlled.decide(*now);
        let mut witness = Witness { watch, now: *now, node };
        witness.saw(|| What::Limit { queue: index, seen: Box::new(seen), limit: orders.limit });
        let mut accounts = Accounts { packets, connections, flows, routing, witness };
        controlled.obey(*now, &orders, &mut accounts.dropping());
        let next = self.now + trace::told_every(controlled);
        self.events.push(next, Event::Control { node, port: index });
        self.refill(node, port, None);
        self.serve(node);
    }
}
