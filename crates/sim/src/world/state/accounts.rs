//! The accounts of packets: what is counted where one ends.

use super::connections::Connections;
use super::flow::Flow;
use super::routing::Routing;
use super::watch::Witness;
use crate::engine::{Arena, FlowId, Handle, List};
use crate::net::{Load, LossCause, Packet, Waiting};
use crate::record::Overflows;
use crate::trace::TraceEventKind;

/// The accounts that a packet's end touches.
pub(crate) struct Accounts<'a> {
    pub(crate) packets: &'a mut Arena<Packet>,
    pub(crate) connections: &'a mut Connections,
    pub(crate) flows: &'a mut List<FlowId, Flow>,
    pub(crate) routing: &'a mut Routing,
    pub(crate) overflows: &'a mut Option<Box<Overflows>>,
    pub(crate) witness: Witness<'a>,
}

impl Accounts<'_> {
    /// A packet that waits for a queue or a route is lost.
    pub(crate) fn discard(&mut self, handle: Handle, why: LossCause) {
        let packet = self.packets.remove(handle);
        if let Load::Flow(flow) = packet.load {
            self.flows[flow].waiting -= u32::from(packet.is_fresh());
        }
        self.lose(&packet, why);
        self.release(&packet);
    }

    /// What a port drops is lost.
    #[inline]
    pub(crate) fn dropping(&mut self) -> impl FnMut(Waiting) {
        |dropped| {
            if self.overflows.is_some() {
                self.overflow(dropped.packet);
            }
            self.discard(dropped.packet, LossCause::Queue);
        }
    }

    /// A queue has no room for a packet: part of an overflow if it is a flow's.
    fn overflow(&mut self, handle: Handle) {
        let Packet { load, segment, .. } = self.packets.get(handle);
        let (Some(overflows), Load::Flow(flow)) = (self.overflows.as_mut(), load) else { return };
        if self.flows[flow].role.is_described() {
            let window = segment.map(|segment| self.connections.window(segment));
            overflows.hit(self.witness.node, self.witness.now, flow, window);
        }
    }

    /// Counts a packet as lost.
    pub(crate) fn lose(&mut self, packet: &Packet, why: LossCause) {
        self.witness.saw(|| TraceEventKind::Dropped(self.connections.picture(packet), why));
        match (packet.load, &mut *self.routing) {
            (Load::Flow(flow), _) => {
                let record = &mut self.flows[flow].record;
                record.lose(why);
                let losses = record.transport.as_mut().and_then(|transport| transport.losses.as_mut());
                if let (Some(losses), Some(segment)) = (losses, packet.segment) {
                    let (connection, start) = self.connections.origin(segment);
                    losses.lose(connection, start, why);
                }
            }
            (Load::Routing { .. }, Routing::Aodv(mesh)) => mesh.ledger.lost += 1,
            (Load::Routing { .. }, Routing::Static(_)) => unreachable!("fixed routes need no messages"),
            (Load::Note(_), _) => unreachable!("notes have accounts of their own"),
        }
    }

    /// A packet has been everywhere it was sent to.
    pub(crate) fn finish_broadcast(&mut self, handle: Handle) {
        let packet = self.packets.remove(handle);
        match (packet.load, &mut *self.routing) {
            (Load::Flow(flow), _) => self.flows[flow].record.ledger.finished += 1,
            (Load::Routing { .. }, Routing::Aodv(mesh)) => mesh.ledger.finished += 1,
            (Load::Routing { .. }, Routing::Static(_)) => unreachable!("fixed routes need no messages"),
            (Load::Note(_), _) => unreachable!("notes have accounts of their own"),
        }
        self.release(&packet);
    }

    /// The packet is no more; if it was a message, or the last with a segment, neither is that.
    #[inline]
    pub(crate) fn release(&mut self, packet: &Packet) {
        self.connections.packet_gone(packet.segment);
        if let (Load::Routing { message, .. }, Routing::Aodv(mesh)) = (packet.load, &mut *self.routing) {
            let message = mesh.messages.remove(message);
            mesh.out.lists.release(&message);
        }
    }
}
