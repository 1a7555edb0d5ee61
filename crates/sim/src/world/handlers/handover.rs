//! Moves packets between queues and the MAC: hands them over, reports their completion, and refills the room that they
//! leave.

use crate::egress::{Outlook, Taken};
use crate::engine::{FlowId, Handle, NodeId, Number as _, PortId};
use crate::mac::Msdu;
use crate::net::{Load, Transit, Waiting, msdu_bytes, network_bytes};
use crate::trace::{Decision, TraceEventKind};
use crate::world::state::{Event, Node, Witness, World, told_every};
use control::{Orders, Reads};
use queue::Ecn;
use std::ops::Range;
use units::{Bytes, Duration, Instant};

impl World {
    /// There may be room at a port of `node`, because a packet of `left` has left it or its limit has moved. If
    /// `left` is a saturated flow that begins here, its next packet follows; before it come, in turn, those that have
    /// none waiting because the port discarded them.
    #[expect(clippy::inline_always, reason = "once a packet, and mostly no saturated flow begins there")]
    #[inline(always)]
    pub(super) fn refill(&mut self, node: NodeId, port: PortId, left: Option<FlowId>) {
        let saturated = &self.nodes[node].saturated[port];
        let flows = saturated.len();
        let turn = saturated.iter().position(|&(flow, _)| Some(flow) == left);
        for step in 1..=flows {
            let Node { saturated, egress, .. } = &self.nodes[node];
            let (index, payload) = saturated[port][(turn.unwrap_or(0) + step) % flows];
            let due = Some(index) == left || self.flows[index].waiting == 0;
            if due && egress.ports()[port].has_room(network_bytes(payload)) {
                self.make_packet(index, payload);
            }
        }
    }

    /// A packet has left a port of `node`: another of its flow may follow.
    pub(super) fn left(&mut self, node: NodeId, port: PortId, waiting: &Waiting) {
        if waiting.ecn == Ecn::Ce {
            self.note_mark(node, waiting.packet);
        }
        let packet = self.packets.get(waiting.packet);
        let flow = match packet.load {
            Load::Flow(flow) => Some(flow),
            Load::Routing { .. } | Load::Note(_) => None,
        };
        if let Some(flow) = flow {
            self.flows[flow].waiting -= u32::from(packet.is_fresh());
        }
        self.refill(node, port, flow);
    }

    /// A packet has left a port marked: here, or before.
    #[inline(never)]
    fn note_mark(&mut self, node: NodeId, handle: Handle) {
        let Self { packets, connections, watch, now, .. } = self;
        let packet = packets.get_mut(handle);
        if packet.ecn != Ecn::Ce {
            packet.ecn = Ecn::Ce;
            Witness { watch, now: *now, node }
                .saw(|| TraceEventKind::Marked(connections.picture(&packets.get(handle))));
        }
    }

    /// Where the station is free and a packet waits, hands it over; then sees to the station's deadline.
    #[expect(clippy::inline_always, reason = "every listener of a frame is served, and mostly there is nothing to do")]
    #[inline(always)]
    pub(crate) fn serve(&mut self, node: NodeId) {
        let Node { station, egress, .. } = &mut self.nodes[node];
        let moved = egress.pullable();
        if !moved.is_empty() || station.free(&self.rules) & egress.filled() != 0 {
            self.hand_over_all(node, moved);
        }
        self.arm(node);
    }

    /// Packets of the categories in which something `moved` go on towards the MAC, and the station is handed the next of
    /// every category that it is free to take.
    #[inline(never)]
    fn hand_over_all(&mut self, node: NodeId, moved: Range<u8>) {
        if self.nodes[node].absent {
            return;
        }
        for category in moved {
            self.pull(node, category);
        }
        let Node { station, egress, .. } = &self.nodes[node];
        let mut free = station.free(&self.rules) & egress.filled();
        while free != 0 {
            self.hand_over(node, u8::try_from(free.trailing_zeros()).expect("a byte has eight bits"));
            free &= free - 1;
        }
    }

    /// Packets of a category move on towards the MAC, as far as they may.
    fn pull(&mut self, node: NodeId, category: u8) {
        loop {
            let now = self.now;
            let (Node { egress, station, .. }, rules, mut accounts) = self.node_and_accounts(node);
            let outlook = Outlook { station, rules };
            let Some((port, waiting)) = egress.pull(now, category, outlook, &mut accounts.dropping()) else { return };
            self.left(node, port, &waiting);
        }
    }

    /// Hands the next packet of a category to the station, if one waits.
    fn hand_over(&mut self, node: NodeId, category: u8) {
        let now = self.now;
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
        let Some(taken) = egress.take_next(now, category, &mut accounts.dropping()) else {
            if let Some((port, at)) = egress.ready_at(category) {
                self.arm_port(node, port, at);
            }
            return;
        };
        let msdu = self.taken(node, &taken);
        self.choose_level(node);
        self.nodes[node].station.offer(now, taken.packet.to, category, msdu, &self.rules);
        if self.rules.turns.is_some() {
            self.take_turn(node);
        }
        if let Some(port) = taken.left {
            self.left(node, port, &taken.packet);
        }
    }

    /// The MAC of a node takes a packet.
    #[inline]
    pub(super) fn taken(&mut self, node: NodeId, taken: &Taken) -> Msdu {
        self.draw_taken(node);
        let &Taken { packet: Waiting { packet, length, .. }, waited, expected, .. } = taken;
        self.packets.get_mut(packet).transit = Transit { waited, taken: self.now, expected, ..Transit::NONE };
        Msdu { packet, length: msdu_bytes(length) }
    }

    /// Receiver and frame length of the packet of a category that would be handed over next.
    pub(super) fn ahead(&mut self, node: NodeId, category: u8) -> Option<(u32, Bytes)> {
        let now = self.now;
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
        let Waiting { to, length, .. } = egress.peek_next(now, category, &mut accounts.dropping())?;
        Some((to, self.rules.mpdu(msdu_bytes(length))))
    }

    /// Sees to it that an event comes when a port that holds its packets back may let one go.
    pub(super) fn arm_port(&mut self, node: NodeId, port: PortId, at: Instant) {
        let armed = &mut self.nodes[node].ready[port];
        if at < *armed {
            *armed = at;
            self.events.push(at, Event::Ready { node, port });
        }
    }

    /// A `Ready` event of a port has come.
    pub(crate) fn ready(&mut self, node: NodeId, port: PortId) {
        let armed = &mut self.nodes[node].ready[port];
        if *armed == self.now {
            *armed = Instant::NEVER;
            self.resume(node, port);
        }
    }

    /// A port may let packets go that it held back.
    fn resume(&mut self, node: NodeId, port: PortId) {
        let egress = &mut self.nodes[node].egress;
        if let Some(wire) = egress.wire(port) {
            self.transmit(wire);
        } else {
            egress.resume(port);
            self.serve(node);
        }
    }

    /// Completes packets that left a port after they `waited`, `service` after each was taken.
    pub(super) fn complete(
        &mut self,
        node: NodeId,
        port: PortId,
        waited: Duration,
        service: Duration,
        expected: Duration,
        packets: u32,
    ) {
        let Node { egress, ports_before, .. } = &mut self.nodes[node];
        egress.completed(self.now, port, waited, service, expected, packets);
        if let Some(recorder) = &mut self.recorder {
            recorder.completed(*ports_before + port.place(), waited, service, packets);
        }
    }

    /// A controller decides.
    pub(crate) fn control(&mut self, node: NodeId, port: PortId) {
        if let Some(seen) = self.nodes[node].egress.port_mut(port).steered(self.now) {
            self.ask_outside(node, port, seen);
            return;
        }
        let radio = self.seen_by_radio(node, port);
        let Self { nodes, events, watch, now, .. } = self;
        let Node { egress, neighbours, .. } = &mut nodes[node];
        let controlled = egress.port_mut(port);
        let heard = match neighbours {
            Some(neighbours) if controlled.needs().reads.contains(Reads::NOTES) => neighbours.heard(*now),
            Some(_) | None => &[],
        };
        let (seen, orders) = controlled.decide(*now, radio, heard);
        let queue = port.into();
        Witness { watch, now: *now, node }
            .saw(|| TraceEventKind::Limit(Box::new(Decision { queue, seen, radio, heard: heard.to_vec(), orders })));
        events.push(*now + told_every(controlled), Event::Control { node, port });
        self.carry_out_orders(node, port, &orders);
    }

    /// Orders of its controller hold at a port from now on.
    pub(super) fn carry_out_orders(&mut self, node: NodeId, port: PortId, orders: &Orders) {
        let now = self.now;
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
        egress.port_mut(port).obey(now, orders, &mut accounts.dropping());
        if egress.ports()[port].orders_access() {
            self.order_access(node, port, orders);
        }
        if let Some(energy) = &mut self.nodes[node].energy {
            energy.order(now, orders.low_up_to);
        }
        if let Some(news) = orders.note {
            self.order_note(node, &news);
        }
        self.refill(node, port, None);
        self.resume(node, port);
    }

    /// The category of a port contends as its controller orders.
    pub(crate) fn order_access(&mut self, node: NodeId, port: PortId, orders: &Orders) {
        let Node { egress, station, .. } = &mut self.nodes[node];
        let category = egress.category(port);
        station.set_access(category, self.rules.ordered(category, orders.access));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Access, Limit};
    use units::Rate;

    /// Bits of a packet of 1000 B with the headers of UDP and IP.
    const PACKET: f64 = 8_224.0;

    /// A world from its description.
    fn world(text: &str) -> World {
        World::new(&toml::from_str(text).expect("a description"), 1).expect("a network that can be built")
    }

    /// Two stations that always have a packet for the access point, which has one for each of them and for the wired
    /// server.
    fn busy() -> World {
        let flow = |name: &str, from: &str, to: &str| {
            format!(
                "[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
                 traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
            )
        };
        let network = "duration = \"20 s\"\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\nqueues = \"per-station\"\n\
                       position = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"a\"\nposition = [\"5 m\", \"0 m\"]\n\
                       [[node]]\nname = \"b\"\nposition = [\"0 m\", \"5 m\"]\n[[node]]\nname = \"server\"\nrole = \"wired\"\n\
                       [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"10 Mb/s\"\n";
        let flows = [("up", "a", "ap"), ("to-a", "ap", "a"), ("to-b", "ap", "b"), ("out", "ap", "server")];
        world(&flows.iter().fold(network.to_owned(), |text, (name, from, to)| text + &flow(name, from, to)))
    }

    fn order(world: &mut World, node: u32, port: u32, rate: Option<Rate>) {
        let orders = Orders { rate, ..Orders::from(Limit::Packets(1_000)) };
        world.carry_out_orders(node.into(), port.into(), &orders);
    }

    /// Packets of every flow that have arrived so far.
    fn arrived(world: &World) -> Vec<f64> {
        world.flows.iter().map(|flow| flow.record.received as f64).collect()
    }

    #[test]
    fn a_port_keeps_its_rate_whatever_it_is_for_and_the_others_have_what_is_left() {
        let mut free = busy();
        free.advance(Duration::from_secs(10));
        let mut held = busy();
        for (node, port, kbps) in [(0, 0, 300), (0, 2, 2_000), (1, 0, 500)] {
            order(&mut held, node, port, Some(Rate::kbps(kbps)));
        }
        held.advance(Duration::from_secs(10));
        let (free, held) = (arrived(&free), arrived(&held));
        // A burst and what is on its way: some packets more or less in 10 s.
        for (flow, rate) in [(0, 500e3), (1, 300e3), (3, 2e6)] {
            let expected = rate * 10.0 / PACKET;
            assert!((held[flow] - expected).abs() < 5.0, "{held:?} of flow {flow}, {expected} by its rate");
            assert!(free[flow] > 1.1 * expected, "{free:?} without a rate");
        }
        assert!(held[2] > 1.5 * free[2], "{held:?} beside {free:?}");
    }

    #[test]
    fn a_rate_moves_while_the_run_goes_on() {
        for (node, port, flow) in [(0, 2, 3), (1, 0, 0)] {
            let mut world = busy();
            let mut counted = vec![0.0];
            for rate in [Some(Rate::kbps(400)), Some(Rate::bps(0)), Some(Rate::kbps(200)), None] {
                order(&mut world, node, port, rate);
                world.advance(Duration::from_secs(4));
                counted.push(arrived(&world)[flow]);
            }
            let each: Vec<f64> = counted.windows(2).map(|pair| pair[1] - pair[0]).collect();
            for (count, expected) in each.iter().zip([400e3, 0.0, 200e3]) {
                assert!((count - expected * 4.0 / PACKET).abs() < 5.0, "{each:?}");
            }
            assert!(each[3] > 2.0 * each[0], "{each:?}: no longer held back");
        }
    }

    #[test]
    fn a_port_that_is_held_back_costs_one_event_a_packet() {
        let flow = "[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\n\
                    traffic = { kind = \"cbr\", rate = \"4 Mb/s\", packet = \"1000 B\" }\n";
        let network = "duration = \"10 s\"\n[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"5 m\"\n";
        let mut free = world(&format!("{network}{flow}"));
        free.advance(Duration::from_secs(10));
        let mut held = world(&format!("{network}{flow}"));
        order(&mut held, 0, 0, Some(Rate::kbps(400)));
        held.advance(Duration::from_secs(10));
        let [free_packets, held_packets] = [&free, &held].map(|world| arrived(world)[0]);
        // Of each packet that was sent: its exchange. Of those that were not: no more than that they were made.
        let exchange = (free.handled as f64 - free_packets) / free_packets;
        let expected = 5_000.0 + held_packets * (exchange + 1.0);
        assert!((held.handled as f64) < 1.01 * expected, "{} events, {expected} by these accounts", held.handled);
    }

    /// Two stations with a saturated flow each from 1 ms on, under EDCA as the table says.
    fn contending(edca: &str) -> World {
        let flow = |from: &str| {
            format!(
                "[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"n0\"\nstart = \"1 ms\"\n\
                 traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
            )
        };
        world(&format!(
            "duration = \"20 s\"\n[radio]\nstandard = \"802.11a\"\n[mac]\naccess = \"edca\"\n[mac.edca]\n{edca}\n\
             [nodes]\ncount = 3\nplacement = \"circle\"\nspacing = \"5 m\"\n{}{}",
            flow("n1"),
            flow("n2")
        ))
    }

    fn order_access(world: &mut World, node: u32, access: Option<Access>) {
        world.order_access(node.into(), 2.into(), &Orders { access, ..Orders::from(Limit::Packets(1_000)) });
    }

    const LONG: Access = Access { aifsn: 5, cw_min: 63, cw_max: 127, txop: Duration::ZERO };

    #[test]
    fn ordered_or_configured_a_category_contends_alike() {
        let mut configured = contending("best_effort = { aifsn = 5, cw_min = 63, cw_max = 127, txop_limit = \"0 s\" }");
        let mut ordered = contending("");
        let mut other = contending("");
        (1..=2).for_each(|node| order_access(&mut ordered, node, Some(LONG)));
        for world in [&mut configured, &mut ordered, &mut other] {
            world.advance(Duration::from_secs(5));
        }
        assert_eq!((configured.handled, arrived(&configured)), (ordered.handled, arrived(&ordered)));
        assert_ne!(other.handled, ordered.handled);
    }

    #[test]
    fn a_category_contends_otherwise_from_the_order_on_and_as_configured_without_one() {
        let none = "best_effort.txop_limit = \"0 s\"";
        let mut world = contending(none);
        let mut counted = vec![vec![0.0, 0.0]];
        for access in [None, Some(LONG), None] {
            order_access(&mut world, 1, access);
            world.advance(Duration::from_secs(5));
            counted.push(arrived(&world));
        }
        let share = |pair: &[Vec<f64>]| (pair[1][0] - pair[0][0]) / (pair[1][1] - pair[0][1]);
        let shares: Vec<f64> = counted.windows(2).map(share).collect();
        assert!((0.9..1.1).contains(&shares[0]) && (0.9..1.1).contains(&shares[2]), "{shares:?}");
        // 7.5 slots on average become 31.5, and they begin two slots later.
        assert!(shares[1] < 0.25, "{shares:?}");
    }
}
