//! Aggregates: which packets share a frame, and in what order the receiver passes them on.

use crate::config::Class;
use crate::engine::{Handle, NodeId};
use crate::mac::{Assembly, Frame, Kind, Place, SEQUENCES, places};
use crate::net::{Load, Transit, Waiting, msdu_bytes};
use crate::world::state::{Node, World};

impl World {
    /// Packets that can share the frame that is due join it, in the order in which the queue would yield them. Returns the
    /// frame; none where nothing could join.
    pub(super) fn aggregate(&mut self, node: NodeId) -> Option<Assembly> {
        let mut assembly = self.nodes[node].station.assemble(self.now, &self.rules)?;
        let now = self.now;
        // Only frames with a category are aggregated, and these have no queues by class.
        let port = self.nodes[node].egress.port_to(assembly.to, assembly.category, Class::BestEffort);
        let mut index = 0;
        loop {
            let (Node { egress, station, .. }, rules, mut accounts) = self.node_and_accounts(node);
            let Some(Waiting { to, length, .. }) = egress.peek(now, port, index, &mut accounts.dropping()) else {
                break;
            };
            if to != assembly.to {
                if assembly.in_turn {
                    break;
                }
                index += 1;
                continue;
            }
            let Some(room) = station.room(&assembly, msdu_bytes(length), rules) else { break };
            let taken = egress.take(now, port, index, &mut accounts.dropping()).expect("it was seen there");
            let msdu = self.taken(node, &taken);
            let station = &mut self.nodes[node].station;
            if let Some(before) = station.join(&mut assembly, room, msdu, &self.rules) {
                self.packets.get_mut(before).transit.next = Some(msdu.packet);
            }
            if let Some(port) = taken.left {
                self.left(node, port, &taken.packet);
            }
        }
        Some(assembly)
    }

    /// Notes where the MPDUs of a frame that has been sent lie in it, if it is an aggregate. Its sender holds them until
    /// the response is due, which is later than the last tail: a hop's round trip fits into a slot.
    pub(super) fn lay_out(&mut self, of: Handle) {
        self.laid_out.clear();
        let frame = self.medium.frame(of);
        if matches!(frame.kind, Kind::Aggregate { .. }) {
            let mpdus = self.nodes[NodeId::from(frame.from)].station.in_flight();
            self.laid_out.extend(places(mpdus).map(|(start, length)| crate::radio::Mpdu { start, length }));
        }
    }

    /// A node has got data frames of which those are `intact` whose bits are set, under a BlockAck agreement. Mostly they are
    /// the next in a row, and nothing waits: then the window moves [once for all](crate::mac::Reorder::passes).
    pub(super) fn take_in_order(&mut self, node: NodeId, frame: &Frame, intact: u64) {
        let mut mpdus = std::mem::take(&mut self.numbered);
        let in_flight = self.nodes[NodeId::from(frame.from)].station.in_flight().zip(0_u32..);
        let intact = in_flight.filter(|(_, index)| intact >> index & 1 == 1);
        mpdus.extend(intact.map(|(mpdu, _)| (mpdu.sequence, mpdu.packet)));
        let reorder = self.nodes[node].station.reorder(frame.from, frame.category);
        let passes = in_a_row(&mpdus).is_some_and(|(first, frames)| reorder.passes(first, frames));
        for (sequence, packet) in mpdus.drain(..) {
            if passes {
                self.take(node, frame.from, packet);
            } else {
                self.take_numbered(node, frame.from, frame.category, sequence, packet);
            }
        }
        self.numbered = mpdus;
    }

    /// A data frame with this number has come in.
    fn take_numbered(&mut self, node: NodeId, from: u32, category: u8, sequence: u16, packet: Handle) {
        let reorder = self.nodes[node].station.reorder(from, category);
        reorder.arrives(sequence);
        if reorder.is_ready() {
            self.release(node, from, category);
        }
        let reorder = self.nodes[node].station.reorder(from, category);
        match reorder.place(sequence) {
            Place::Next => {
                let more = reorder.is_ready();
                self.take(node, from, packet);
                if more {
                    self.release(node, from, category);
                }
            }
            Place::Later => {
                let copy = self.keep(node, from, packet);
                self.nodes[node].station.reorder(from, category).hold(sequence, copy);
            }
            Place::Duplicate => self.nodes[node].record.duplicates += 1,
        }
    }

    /// A `BlockAckReq` has come in.
    pub(super) fn move_window(&mut self, node: NodeId, frame: &Frame) {
        let Kind::BlockAckReq { start } = frame.kind else { return };
        self.nodes[node].station.reorder(frame.from, frame.category).forget_before(start);
        self.release(node, frame.from, frame.category);
    }

    /// Copies the data packets of a frame that has to wait: the originals belong to the sender. Messages of the routing
    /// protocol need no order.
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
            self.hear_neighbour(node, from);
            self.connections.packet_made(copy.segment);
            let copy = self.packets.insert(crate::net::Packet { transit: Transit::NONE, ..copy });
            if let Some(last) = last {
                self.packets.get_mut(last).transit.next = Some(copy);
            }
            kept = kept.or(Some(copy));
            last = Some(copy);
        }
        kept
    }

    /// Passes on what need not wait any longer.
    fn release(&mut self, node: NodeId, from: u32, category: u8) {
        while let Some(first) = self.nodes[node].station.reorder(from, category).release() {
            let mut next = Some(first);
            while let Some(handle) = next {
                let packet = self.packets.remove(handle);
                next = packet.transit.next;
                if let Load::Flow(index) = packet.load {
                    self.deliver(node, from, index, &packet);
                }
                self.connections.packet_gone(packet.segment);
            }
        }
    }
}

/// The first number of some frames, in order, and how many there are, if no number between them is missing.
fn in_a_row(mpdus: &[(u16, Handle)]) -> Option<(u16, u16)> {
    let (&(first, _), &(last, _)) = (mpdus.first()?, mpdus.last()?);
    let frames = last.wrapping_sub(first) % SEQUENCES + 1;
    (mpdus.len() == usize::from(frames)).then_some((first, frames))
}
