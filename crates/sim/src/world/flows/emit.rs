//! Emits the packets of sources and of saturated flows.

use super::{Flow, Role, Supply};
use crate::engine::{FlowId, NodeId};
use crate::net::{Load, Packet, network_bytes, serial};
use crate::traffic::Emission;
use crate::world::state::{Event, World};
use units::Bytes;

/// Packets of a saturated flow in its port: one to hand over and one behind it.
const SATURATION: u32 = 2;

impl World {
    /// Emits a packet of a source.
    pub(crate) fn emit(&mut self, flow: FlowId) {
        let Supply::Source(source) = &mut self.flows[flow].supply else { return self.begin_transfer(flow) };
        let Some(Emission { payload, .. }) = source.next() else { return };
        source.advance();
        if let Some(next) = source.next() {
            self.events.push(next.at, Event::Emit { flow });
        }
        let from = self.flows[flow].from;
        if self.nodes[from].absent || self.flows[flow].admission.is_some() && !self.ask(flow) {
            return;
        }
        self.make_packet(flow, payload);
        self.serve(from);
    }

    /// A node comes, and sends what waits there, or goes. What it has handed to its MAC before that nobody hears.
    pub(crate) fn come_or_go(&mut self, node: NodeId) {
        self.nodes[node].absent ^= true;
        self.serve(node);
    }

    /// Starts a saturated flow.
    pub(crate) fn saturate(&mut self, flow: FlowId) {
        self.fill(flow);
        self.serve(self.flows[flow].from);
    }

    /// Fills the port with the first packets of a saturated flow; from now on it refills.
    pub(crate) fn fill(&mut self, flow: FlowId) {
        let Flow { from, supply: Supply::Saturated { payload, .. }, .. } = self.flows[flow] else { return };
        let port = self.first_port(flow);
        self.nodes[from].saturated[port].push((flow, payload));
        (0..SATURATION).for_each(|_| self.make_packet(flow, payload));
    }

    /// Stops a saturated or greedy flow; queued packets are still sent.
    pub(crate) fn cease(&mut self, flow: FlowId) {
        let Flow { from, role, .. } = self.flows[flow];
        if matches!(role, Role::Stream { .. }) {
            return self.close_stream(flow);
        }
        let port = self.first_port(flow);
        self.nodes[from].saturated[port].retain(|&(other, _)| other != flow);
    }

    /// Creates and sends a packet of a flow.
    pub(crate) fn make_packet(&mut self, flow: FlowId, payload: Bytes) {
        let record = &mut self.flows[flow].record;
        record.sent += 1;
        record.offered += payload;
        let packet = Packet::new(Load::Flow(flow), self.now, network_bytes(payload));
        let Flow { ecn, dscp, .. } = self.flows[flow];
        self.launch(flow, Packet { dscp, ecn, ..packet });
    }

    /// Sends a packet of a flow from the node where it begins.
    #[inline]
    pub(crate) fn launch(&mut self, flow: FlowId, mut packet: Packet) {
        let Flow { from, waiting, record, .. } = &mut self.flows[flow];
        packet.serial = serial(record.ledger.made);
        record.ledger.made += 1;
        *waiting += 1;
        let from = *from;
        self.route(from, None, &packet);
    }
}
