//! Counts and records to update when a packet is delivered or lost.

use super::flows::connections::Connections;
use super::flows::{Flow, Supply};
use super::routing::Routing;
use super::witness::Witness;
use crate::engine::{Arena, FlowId, Handle, List};
use crate::net::{Load, LossCause, Packet, Waiting};
use crate::record::Overflows;
use crate::trace::TraceEventKind;
use queue::Ecn;

/// The state that the end of a packet changes.
pub(crate) struct Accounts<'a> {
    pub(crate) packets: &'a mut Arena<Packet>,
    pub(crate) connections: &'a mut Connections,
    pub(crate) flows: &'a mut List<FlowId, Flow>,
    pub(crate) routing: &'a mut Routing,
    pub(crate) overflows: &'a mut Option<Box<Overflows>>,
    pub(crate) witness: Witness<'a>,
}

impl Accounts<'_> {
    /// Discards a packet that waits for a queue or a route.
    pub(crate) fn discard(&mut self, handle: Handle, why: LossCause) {
        let packet = self.packets.remove(handle);
        if let Load::Flow(flow) = packet.load {
            self.flows[flow].waiting -= u32::from(packet.is_fresh());
        }
        self.lose(&packet, why);
        self.release(&packet);
    }

    /// Returns a function that discards the packets that a port drops.
    #[inline]
    pub(crate) fn dropping(&mut self) -> impl FnMut(Waiting) {
        |dropped| {
            if self.overflows.is_some() {
                self.overflow(dropped.packet);
            }
            self.discard(dropped.packet, LossCause::Queue);
        }
    }

    /// Records a flow's packet for which a queue has no room as part of an overflow.
    fn overflow(&mut self, handle: Handle) {
        let Packet { load, segment, .. } = self.packets.get(handle);
        let (Some(overflows), Load::Flow(flow)) = (self.overflows.as_mut(), load) else { return };
        if self.flows[flow].role.is_described() {
            let window = segment.map(|segment| self.connections.window(segment));
            overflows.hit(self.witness.node, self.witness.now, flow, window);
        }
    }

    pub(crate) fn lose(&mut self, packet: &Packet, why: LossCause) {
        self.witness.saw(|| TraceEventKind::Dropped(self.connections.picture(packet), why));
        match (packet.load, &mut *self.routing) {
            (Load::Flow(flow), _) => {
                let bare = packet.segment.is_some_and(|segment| !self.connections.has_data(segment));
                let Flow { record, supply, .. } = &mut self.flows[flow];
                if let Supply::Outside(passage) = supply {
                    passage.forget(packet);
                }
                record.lose(why, bare);
                let losses = record.transport.as_mut().and_then(|transport| transport.losses.as_mut());
                if let (Some(losses), Some(segment)) = (losses, packet.segment) {
                    let (connection, start) = self.connections.origin(segment);
                    losses.lose(connection, start, why);
                }
            }
            (Load::Routing { .. }, Routing::Found(found)) => found.plane.ledger.lost += 1,
            (Load::Routing { .. }, Routing::Static(_)) => unreachable!("fixed routes need no messages"),
            (Load::Note(_) | Load::Null { .. }, _) => unreachable!("signals have accounts of their own"),
        }
    }

    /// Traces a packet that has left a port, if the port marked it.
    #[inline(never)]
    pub(crate) fn mark(&mut self, handle: Handle) {
        let packet = self.packets.get_mut(handle);
        if packet.ecn != Ecn::Ce {
            packet.ecn = Ecn::Ce;
            self.witness.saw(|| TraceEventKind::Marked(self.connections.picture(&self.packets.get(handle))));
        }
    }

    /// Traces a packet that has reached its destination.
    pub(crate) fn delivered(&mut self, packet: &Packet) {
        let delay = self.witness.now.since(packet.created);
        self.witness.saw(|| TraceEventKind::Delivered(self.connections.picture(packet), delay));
    }

    /// Ends the sender's copy of a packet. The receiver lacks this packet or has a copy of its own.
    pub(crate) fn drop_sent(&mut self, handle: Handle) {
        let packet = self.packets.remove(handle);
        if !packet.transit.accepted {
            self.lose_sent(&packet);
        }
        self.release(&packet);
    }

    /// Counts a packet as lost, because the station has given it up.
    #[cold]
    fn lose_sent(&mut self, packet: &Packet) {
        self.lose(packet, LossCause::Retries);
    }

    /// Ends a broadcast packet that has passed all listeners.
    pub(crate) fn finish_broadcast(&mut self, handle: Handle) {
        let packet = self.packets.remove(handle);
        match (packet.load, &mut *self.routing) {
            (Load::Flow(flow), _) => {
                self.flows[flow].record.ledger.finished += 1;
                if let Supply::Outside(passage) = &mut self.flows[flow].supply {
                    passage.forget(&packet);
                }
            }
            (Load::Routing { .. }, Routing::Found(found)) => found.plane.ledger.finished += 1,
            (Load::Routing { .. }, Routing::Static(_)) => unreachable!("fixed routes need no messages"),
            (Load::Note(_) | Load::Null { .. }, _) => unreachable!("signals have accounts of their own"),
        }
        self.release(&packet);
    }

    /// Frees a packet and its message. Frees its segment, too, if no other packet carries it.
    pub(crate) fn release(&mut self, packet: &Packet) {
        self.connections.left(packet, self.witness.node, self.flows);
        self.connections.packet_gone(packet.segment);
        if let (Load::Routing { message, .. }, Some(found)) = (packet.load, self.routing.found()) {
            found.release(message);
        }
    }
}
