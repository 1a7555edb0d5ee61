//! Packets that a node has got: for its application, or to pass on.

use crate::engine::{FlowId, Handle, NodeId};
use crate::mac::BROADCAST;
use crate::net::{Load, Packet, Transit};
use crate::trace::TraceEventKind;
use crate::world::state::{Role, Witness, World};
use queue::Ecn;

impl World {
    /// A node has got the packets of a data frame by radio: a first one and those chained to it.
    pub(crate) fn take(&mut self, node: NodeId, from: u32, first: Handle) {
        let mut next = Some(first);
        while let Some(handle) = next {
            next = self.packets.get(handle).transit.next;
            self.take_packet(node, from, handle);
        }
    }

    /// A node has got a packet, which belongs to its sender as yet.
    #[expect(clippy::inline_always, reason = "once a packet: such calls cost every network 1 % in all")]
    #[inline(always)]
    pub(super) fn take_packet(&mut self, node: NodeId, from: u32, handle: Handle) {
        let packet = self.packets.get_mut(handle);
        packet.transit.accepted = true;
        let packet = *packet;
        let index = match packet.load {
            Load::Flow(index) => index,
            Load::Routing { .. } => return self.take_message(node, from, handle),
            Load::Note(content) => return self.take_note(node, from, content),
        };
        self.hear_neighbour(node, from);
        self.deliver(node, from, index, &packet);
    }

    /// A node has got a packet of a flow: the application's, or one to pass on.
    pub(super) fn deliver(&mut self, node: NodeId, from: u32, index: FlowId, packet: &Packet) {
        let flow = &mut self.flows[index];
        if flow.to != BROADCAST {
            if flow.to != u32::from(node) {
                if let Role::Probe { of } = flow.role {
                    self.lower_bottleneck(node, of, packet.created);
                }
                let (ttl, transit) = (packet.ttl.saturating_sub(1), Transit::NONE);
                self.route(node, Some(from), &Packet { ttl, transit, ..*packet });
                return;
            }
            flow.record.ledger.finished += 1;
        }
        if flow.role != Role::Data {
            return self.arrive(node, index, packet);
        }
        self.take_data(node, index, packet);
    }

    /// A packet has reached the application that it is for.
    #[expect(clippy::inline_always, reason = "once a packet: such calls cost every network 1 % in all")]
    #[inline(always)]
    pub(super) fn take_data(&mut self, node: NodeId, index: FlowId, packet: &Packet) {
        let flow = &mut self.flows[index];
        let payload = packet.payload();
        flow.record.bytes += payload;
        let delay = self.now.since(packet.created);
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(index, delay);
            recorder.got(index, payload);
        }
        if let Some(player) = &mut flow.record.player {
            player.receive(self.now, packet.created);
        }
        if packet.created >= self.warmup {
            flow.record.receive(delay, flow.identity.deadline, packet);
        }
        self.note_delivered(node, packet);
        if packet.ecn == Ecn::Ce {
            self.see_mark(index);
        }
    }

    /// A packet has reached its destination.
    #[inline]
    pub(super) fn note_delivered(&mut self, node: NodeId, packet: &Packet) {
        let Self { connections, watch, now, .. } = self;
        let delay = now.since(packet.created);
        Witness { watch, now: *now, node }.saw(|| TraceEventKind::Delivered(connections.picture(packet), delay));
    }
}
