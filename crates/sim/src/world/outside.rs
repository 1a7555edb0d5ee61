//! Real packets: a program outside injects them at one node and takes them out at another.

use super::flows::passage::Kept;
use super::flows::{Flow, Role, Supply};
use super::real::{Arrival, Datagram, Way};
use super::routing::Routing;
use super::state::World;
use crate::config::Dscp;
use crate::engine::{FlowId, NodeId};
use crate::net::{Load, MTU, Packet, serial};
use queue::Ecn;
use units::Bytes;

/// CE in the ECN field (RFC 3168, section 5).
const CONGESTION_EXPERIENCED: u8 = 0b11;

impl World {
    /// Largest length of a real packet on the network layer.
    pub const MTU: Bytes = MTU;

    /// The flows of real packets: from each real node to every other, in the scenario's order.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        let outside = self.flows.numbers().filter(|&flow| self.flows[flow].role == Role::Outside);
        outside.map(|flow| Way { flow, from: self.flows[flow].from.into(), to: self.flows[flow].to })
    }

    /// Injects a real packet now. False if its node is off the air: then nothing has happened.
    ///
    /// # Panics
    /// If the packet is longer than [`MTU`](Self::MTU), or the way is not one of this network.
    pub fn inject(&mut self, way: Way, datagram: Datagram) -> bool {
        let Datagram { bytes, length, tos, key } = datagram;
        assert!(length <= MTU, "a packet of {length} is longer than the MTU of {MTU}");
        let dscp = Dscp::new(tos >> 2);
        let ecn = match tos & CONGESTION_EXPERIENCED {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        };
        let category = self.rules.index(dscp.category());
        let Flow { from, record, supply: Supply::Outside(passage), .. } = &mut self.flows[way.flow] else {
            panic!("the way belongs to another network")
        };
        let from = *from;
        if self.nodes[from].absent {
            return false;
        }
        record.sent += 1;
        record.offered += length;
        passage.under_way.insert(serial(record.ledger.made), Kept { bytes, tos, category, key });
        self.launch(way.flow, Packet { dscp, ecn, ..Packet::new(Load::Flow(way.flow), self.now, length) });
        self.serve(from);
        true
    }

    /// Takes the first real packet that has arrived and was not taken yet; [`run_to`](Self::run_to) pauses for it.
    pub fn take_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    /// Hands out a real packet that has arrived at its destination, and pauses the run.
    pub(crate) fn hand_out(&mut self, node: NodeId, index: FlowId, packet: &Packet) {
        let (now, delay) = (self.now, self.now.since(packet.created));
        // An access point is a bridge.
        let routers = match &self.routing {
            Routing::Static(routes) => {
                let passed = routes.hops(index).iter().skip(1).filter(|&&(at, _)| !self.nodes[at.into()].access_point);
                u8::try_from(passed.count()).unwrap_or(u8::MAX)
            }
            Routing::Found(_) => packet.travelled(),
        };
        let Flow { record, supply, from, to, .. } = &mut self.flows[index];
        record.bytes += packet.length;
        if packet.created >= self.warmup {
            record.receive(delay, None, packet);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(index, delay, 1);
            recorder.got(index, packet.length);
        }
        if let Supply::Outside(passage) = supply
            && let Some(kept) = passage.under_way.remove(&packet.serial)
        {
            let way = Way { flow: index, from: (*from).into(), to: *to };
            let mark = if packet.ecn == Ecn::Ce { CONGESTION_EXPERIENCED } else { 0 };
            let (bytes, tos) = (kept.bytes, kept.tos | mark);
            if self.watch.is_some() {
                passage.keep(packet, &bytes);
            }
            self.arrivals.push_back(Arrival { way, sent: packet.created, at: now, bytes, tos, routers });
            self.until = now;
        }
        self.accounts(node).delivered(packet);
    }
}
