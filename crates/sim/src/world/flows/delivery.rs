//! Delivers packets that a node received: to its application, or onwards.

use super::{Flow, Role};
use crate::engine::{FlowId, Handle, NodeId};
use crate::mac::BROADCAST;
use crate::net::{Load, Packet, Transit};
use crate::trace::TraceEventKind;
use crate::world::state::World;
use crate::world::watch::Witness;
use queue::Ecn;

impl World {
    /// Takes the packets of a data frame received by radio: the first one and those chained to it.
    pub(crate) fn take(&mut self, node: NodeId, from: u32, first: Handle) {
        let mut next = Some(first);
        while let Some(handle) = next {
            next = self.packets.get(handle).transit.next;
            self.take_packet(node, from, handle);
        }
    }

    /// A node has got packets of data frames one after the other, given by the first of each frame, and no observer
    /// follows single ones.
    pub(crate) fn take_row(&mut self, node: NodeId, from: u32, firsts: impl Iterator<Item = Handle>) {
        let mut row = Row::default();
        for first in firsts {
            let mut next = Some(first);
            while let Some(handle) = next {
                let packet = self.packets.get_mut(handle);
                next = packet.transit.next;
                packet.transit.accepted = true;
                if !row.takes(packet) {
                    let packet = *packet;
                    self.begin_row(&mut row, node, from, &packet);
                }
            }
        }
        self.end_row(&mut row);
    }

    /// A packet has come that is not [like](Row::takes) those before it. It begins another row if it reaches its
    /// application here, where it is only counted.
    pub(crate) fn begin_row(&mut self, row: &mut Row, node: NodeId, from: u32, packet: &Packet) {
        self.end_row(row);
        let index = match packet.load {
            Load::Flow(index) => index,
            Load::Null { .. } => {
                self.posted.ledger.finished += 1;
                return;
            }
            _ => unreachable!("all else is broadcast, or goes where routes are found"),
        };
        let Flow { to, role, .. } = self.flows[index];
        if to == u32::from(node) && role == Role::Data && packet.ecn != Ecn::Ce {
            *row = Row { like: Some((index, *packet)), packets: 1 };
        } else {
            self.deliver(node, from, index, packet);
        }
    }

    /// Counts the packets of a row, which have reached their application.
    pub(crate) fn end_row(&mut self, row: &mut Row) {
        let Row { like, packets } = std::mem::take(row);
        if let Some((index, packet)) = like {
            self.flows[index].record.ledger.finished += u64::from(packets);
            self.count_data(index, &packet, packets);
        }
    }

    /// Handles a packet that a node received, still owned by the sender.
    #[expect(clippy::inline_always, reason = "once a packet: such calls cost every network 1 % in all")]
    #[inline(always)]
    pub(crate) fn take_packet(&mut self, node: NodeId, from: u32, handle: Handle) {
        let packet = self.packets.get_mut(handle);
        packet.transit.accepted = true;
        let mut packet = *packet;
        let index = match packet.load {
            Load::Flow(index) => index,
            Load::Routing { .. } => return self.take_message(node, from, handle),
            Load::Note(content) => return self.take_note(node, from, content),
            Load::Null { .. } => {
                self.posted.ledger.finished += 1;
                return;
            }
        };
        self.hear_neighbour(node, from);
        self.open(handle, &mut packet);
        self.deliver(node, from, index, &packet);
    }

    /// Takes a packet of a flow: delivers or forwards it.
    pub(crate) fn deliver(&mut self, node: NodeId, from: u32, index: FlowId, packet: &Packet) {
        let Flow { to, role, ref mut record, .. } = self.flows[index];
        if to != BROADCAST {
            if to != u32::from(node) {
                if let Role::Probe { of } = role {
                    self.lower_bottleneck(node, of, packet.created);
                }
                let (ttl, transit) = (packet.ttl.saturating_sub(1), Transit::NONE);
                self.route(node, Some(from), &Packet { ttl, transit, ..*packet });
                return;
            }
            record.ledger.finished += 1;
        } else if packet.created >= self.warmup {
            self.count_reception(node, from, index);
        }
        if role != Role::Data {
            return self.arrive(node, index, packet);
        }
        self.take_data(node, index, packet);
    }

    /// A node has got a packet of a broadcast flow.
    fn count_reception(&mut self, node: NodeId, from: u32, index: FlowId) {
        let Some(receptions) = &mut self.flows[index].record.receptions else { return };
        // Only by fading does a node decode what is too weak for it.
        if !self.medium.fades() || self.medium.neighbours(from).any(|near| near == u32::from(node)) {
            receptions.receive();
        }
        if let Some(distances) = &mut self.distances {
            receptions.receive_at(distances.class(from, node.into(), self.now));
        }
    }

    /// Delivers a packet to its application.
    #[expect(clippy::inline_always, reason = "once a packet: such calls cost every network 1 % in all")]
    #[inline(always)]
    pub(crate) fn take_data(&mut self, node: NodeId, index: FlowId, packet: &Packet) {
        self.count_data(index, packet, 1);
        self.trace_delivered(node, packet);
        if packet.ecn == Ecn::Ce {
            self.see_mark(index);
        }
    }

    /// Counts packets like this one that have reached their application.
    #[expect(clippy::inline_always, reason = "once a packet: such calls cost every network 1 % in all")]
    #[inline(always)]
    fn count_data(&mut self, index: FlowId, packet: &Packet, packets: u32) {
        let flow = &mut self.flows[index];
        let payload = packet.payload() * packets.into();
        flow.record.bytes += payload;
        let delay = self.now.since(packet.created);
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(index, delay, packets);
            recorder.got(index, payload);
        }
        if let Some(player) = &mut flow.record.player {
            (0..packets).for_each(|_| player.receive(self.now, packet.created));
        }
        if packet.created >= self.warmup {
            flow.record.receive_all(delay, flow.identity.deadline, packet, packets);
        }
    }

    /// Traces a packet that has reached its destination.
    #[inline]
    pub(crate) fn trace_delivered(&mut self, node: NodeId, packet: &Packet) {
        let Self { connections, watch, now, .. } = self;
        let delay = now.since(packet.created);
        Witness { watch, now: *now, node }.saw(|| TraceEventKind::Delivered(connections.picture(packet), delay));
    }
}

/// Packets of a flow that reach their application one after the other and are alike in all that counts there, so that
/// they are counted together: where no observer follows single ones.
#[derive(Default)]
pub(crate) struct Row {
    like: Option<(FlowId, Packet)>,
    packets: u32,
}

impl Row {
    /// Adds a packet to the row if it is alike; true if it is.
    #[inline]
    pub(crate) fn takes(&mut self, packet: &Packet) -> bool {
        let alike = self.like.as_ref().is_some_and(|(_, like)| packet.arrives_like(like));
        self.packets += u32::from(alike);
        alike
    }
}
