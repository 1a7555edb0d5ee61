//! Aggregates: which packets share a frame, and in which order the receiver passes them on.

use crate::config::Class;
use crate::egress::EXCHANGE;
use crate::engine::{Arena, Bitmap, FlowId, Handle, List, NodeId, PortId};
use crate::mac::{Arrival, Assembly, Conventions, Frame, Kind, SEQUENCES, places};
use crate::net::{Load, Packet, Transit, Waiting, msdu_bytes, network_bytes, serial};
use crate::radio;
use crate::world::flows::row::Row;
use crate::world::flows::{Flow, Supply};
use crate::world::nodes::Node;
use crate::world::power_save::Cue;
use crate::world::routing::Routing;
use crate::world::state::World;
use queue::Batch as _;
use units::{Bytes, Instant};

impl Node {
    /// Handles a packet of `length` that does not fit into the frame. If only the end of the TXOP prevents it, the
    /// packet's receiver keeps the rest of its turn in the egress.
    fn cut_off(&mut self, assembly: &Assembly, length: Bytes, rules: &Conventions) {
        let rest = self.station.cut_off(assembly, length, EXCHANGE, rules);
        if rest > 0 {
            self.egress.cut_off(assembly.to, assembly.category, rest);
        }
    }

    /// If a saturated flow has a port to itself, returns it. Its packets can [fill a frame](Self::fill_frame) with the
    /// same result as if they joined one by one, if no observer follows packets. `first`: the packet that leaves next.
    fn alone(&self, port: PortId, first: &Packet, flows: &List<FlowId, Flow>, rules: &Conventions) -> Option<FlowId> {
        let Self { egress, saturated, energy, .. } = self;
        let &[(flow, payload)] = saturated[port].as_slice() else { return None };
        let Flow { waiting, record, .. } = &flows[flow];
        let alone = egress.ports[port].queue.backlog().packets == u64::from(*waiting);
        let in_a_row = first.serial == serial(record.ledger.made - u64::from(*waiting));
        let plain = energy.is_none() && rules.aggregation.amsdu.is_none();
        (alone && in_a_row && plain && egress.lets_pass(port, network_bytes(payload))).then_some(flow)
    }

    /// Fast path for a flow that has a port [to itself](Self::alone). It fills the rest of a frame, which has room for
    /// at least one packet, with packets made now. Each is made when the one before it leaves the port. The packets in
    /// the port were made now, too: none has waited, and all are equal except for their numbers. So new packets join
    /// the frame without passing the port and take the next numbers; packets in the port get the last numbers.
    fn fill_frame(
        &mut self,
        (now, port): (Instant, PortId),
        (number, flow): (FlowId, &mut Flow),
        packets: &mut Arena<Packet>,
        rules: &Conventions,
        assembly: &mut Assembly,
    ) {
        let Self { egress, station, .. } = self;
        let &mut Flow { supply: Supply::Saturated { payload, .. }, dscp, ecn, waiting, ref mut record, .. } = flow
        else {
            unreachable!("only saturated flows ask for more")
        };
        let length = network_bytes(payload);
        let serial = serial(record.ledger.made - u64::from(waiting));
        let transit = Transit { taken: now, ..Transit::default() };
        let mut next = Packet { serial, dscp, ecn, transit, ..Packet::new(Load::Flow(number), now, length) };
        let made = station.held.fill(assembly, msdu_bytes(length), rules, || {
            let packet = packets.insert(next);
            next.serial = next.serial.wrapping_add(1);
            packet
        });
        egress.pass(now, port, length, made.into());
        for last in egress.ports[port].queue.in_line() {
            let packet = packets.get_mut(last.packet);
            packet.serial = packet.serial.wrapping_add(made.into());
        }
        record.sent += u64::from(made);
        record.offered += payload * made.into();
        record.ledger.made += u64::from(made);
    }

    /// Stores the positions of the MPDUs in a frame that the node has sent, if it is an aggregate. The node holds the
    /// MPDUs until the response is due. The last tail comes earlier, because a hop's round trip is shorter than a slot.
    pub(super) fn lay_out(&self, frame: &Frame, laid_out: &mut Vec<radio::Mpdu>) {
        laid_out.clear();
        if matches!(frame.kind, Kind::Aggregate { .. } | Kind::Triggered { .. }) {
            laid_out.extend(places(self.station.held.in_flight()).map(|(start, length)| radio::Mpdu { start, length }));
        }
    }
}

impl World {
    /// Returns the frame that is due, with the packets that may join it, taken in the order of the queue.
    pub(super) fn filled_up(&mut self, node: NodeId, mut assembly: Assembly) -> Assembly {
        let now = self.now;
        // Only frames with an access category are aggregated. Their queues are not divided by service class.
        let port = self.nodes[node].egress.layout.port(assembly.to, assembly.category, Class::BestEffort);
        let (mut index, mut sends) = (0, false);
        loop {
            let (Node { egress, station, .. }, rules, mut accounts) = self.node_and_accounts(node);
            let peeked = egress.peek(now, port, assembly.to, index, &mut accounts.dropping());
            let Some(Waiting { to, length, packet, created, .. }) = peeked else { break };
            if to != assembly.to {
                if assembly.in_turn && !egress.takes_turns() {
                    break;
                }
                index += 1;
                continue;
            }
            let Some(room) = station.held.room(&assembly, msdu_bytes(length), rules) else {
                self.nodes[node].cut_off(&assembly, msdu_bytes(length), &self.rules);
                break;
            };
            sends = true;
            if created == now && self.unfollowed() {
                let Self { nodes, flows, packets, rules, .. } = self;
                if let Some(flow) = nodes[node].alone(port, packets.get_ref(packet), flows, rules) {
                    nodes[node].fill_frame((now, port), (flow, &mut flows[flow]), packets, rules, &mut assembly);
                    nodes[node].cut_off(&assembly, msdu_bytes(length), rules);
                    break;
                }
            }
            let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
            let taken =
                egress.take(now, port, assembly.to, index, &mut accounts.dropping()).expect("it was seen there");
            let msdu = self.taken(node, &taken);
            let station = &mut self.nodes[node].station;
            if let Some(before) = station.held.join(&mut assembly, room, msdu, &self.rules) {
                self.packets.get_mut(before).transit.next = Some(msdu.packet);
            }
            if let Some(port) = taken.left {
                self.left(node, port, &taken.packet);
            }
        }
        if sends && self.rules.power_save {
            self.power_save(node, |_, _| Cue::Sends);
        }
        assembly
    }

    /// True if no observer follows individual packets: no node is watched, and routes are fixed.
    fn unfollowed(&self) -> bool {
        self.watch.is_none() && matches!(self.routing, Routing::Static(_))
    }

    /// Takes those data frames under a BlockAck agreement whose bits in `intact` are set. If they are the next in order
    /// and nothing waits, as usual, the window moves [once for all](crate::mac::Reorder::passes).
    pub(crate) fn take_in_order(&mut self, node: NodeId, frame: &Frame, intact: &Bitmap) {
        let mut mpdus = std::mem::take(&mut self.numbered);
        let in_flight = self.nodes[NodeId::from(frame.from)].station.held.in_flight_to(frame.to).zip(0..);
        let intact = in_flight.filter(|&(_, index)| intact.has(index));
        mpdus.extend(intact.map(|(mpdu, _)| (mpdu.sequence, mpdu.packet)));
        let (from, category) = (frame.from, frame.category);
        for row in mpdus.chunk_by(|&(before, _), &(sequence, _)| sequence == (before + 1) % SEQUENCES) {
            let frames = u16::try_from(row.len()).expect("at most 256 frames");
            let passes = self.nodes[node].station.reorder(from, category, &self.rules).passes(row[0].0, frames);
            if passes && self.unfollowed() {
                self.take_row(node, from, row.iter().map(|&(_, packet)| packet));
                continue;
            }
            for &(sequence, packet) in row {
                if passes {
                    self.take(node, from, packet);
                } else {
                    self.take_numbered(node, from, category, sequence, packet);
                }
            }
        }
        mpdus.clear();
        self.numbered = mpdus;
    }

    /// Takes a data frame with this sequence number.
    fn take_numbered(&mut self, node: NodeId, from: u32, category: u8, sequence: u16, packet: Handle) {
        let mut reorder = self.nodes[node].station.reorder(from, category, &self.rules);
        reorder.arrives(sequence);
        if reorder.is_ready() {
            self.release(node, from, category);
            reorder = self.nodes[node].station.reorder(from, category, &self.rules);
        }
        match reorder.classify(sequence) {
            Arrival::Next => {
                let more = reorder.is_ready();
                self.take(node, from, packet);
                if more {
                    self.release(node, from, category);
                }
            }
            Arrival::Later => {
                let copy = self.keep(node, from, packet);
                self.nodes[node].station.reorder(from, category, &self.rules).hold(sequence, copy);
            }
            Arrival::Duplicate => self.nodes[node].record.mac.duplicates += 1,
        }
    }

    /// Copies the data packets of a frame that has to wait: the originals belong to the sender. Routing messages need
    /// no order and are taken at once.
    fn keep(&mut self, node: NodeId, from: u32, first: Handle) -> Option<Handle> {
        let (mut next, mut kept, mut last) = (Some(first), None, None);
        while let Some(handle) = next {
            let packet = self.packets.get_mut(handle);
            next = packet.transit.next;
            let copy = *packet;
            if !matches!(copy.load, Load::Flow(_)) {
                self.take_packet(node, from, handle);
                continue;
            }
            packet.transit.accepted = true;
            self.connections.packet_made(copy.segment);
            let copy = self.packets.insert(crate::net::Packet { transit: Transit::default(), ..copy });
            if let Some(found) = self.routing.found() {
                found.hear_neighbour(node, from, self.now);
                found.copy(handle, copy);
            }
            if let Some(last) = last {
                self.packets.get_mut(last).transit.next = Some(copy);
            }
            kept = kept.or(Some(copy));
            last = Some(copy);
        }
        kept
    }

    /// Passes on all packets that need not wait any longer.
    pub(super) fn release(&mut self, node: NodeId, from: u32, category: u8) {
        let (mut row, in_rows) = (Row::default(), self.unfollowed());
        while let Some(first) = self.nodes[node].station.reorder(from, category, &self.rules).release() {
            let mut next = Some(first);
            while let Some(handle) = next {
                let mut packet = self.packets.remove(handle);
                next = packet.transit.next;
                if let Load::Flow(index) = packet.load {
                    if let Some(found) = self.routing.found() {
                        found.open(handle, &mut packet, self.flows[index].to);
                    }
                    if !in_rows {
                        self.deliver(node, from, index, &packet);
                    } else if !row.takes(&packet) {
                        self.begin_row(&mut row, node, from, &packet);
                    }
                }
                self.connections.packet_gone(packet.segment);
            }
        }
        row.end(&mut self.flows, (self.now, self.warmup), &mut self.recorder);
    }
}
