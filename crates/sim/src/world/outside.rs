//! Real packets: a program outside injects them at one node and takes them out at another.

use super::flows::passage::Kept;
use super::flows::{Flow, Role, Supply};
use super::routing::Routing;
use super::state::World;
use crate::config::Dscp;
use crate::engine::{FlowId, NodeId};
use crate::net::{Load, MTU, Packet, serial};
use queue::Ecn;
use units::{Bytes, Instant};

/// CE in the ECN field (RFC 3168, section 5).
const CONGESTION_EXPERIENCED: u8 = 0b11;

/// A flow of real packets, from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    flow: FlowId,
    /// Index of the node at which its packets are injected.
    pub from: u32,
    /// Index of the node at which they come out.
    pub to: u32,
}

/// A packet of a real program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// What is carried; the simulator does not look at it.
    pub bytes: Box<[u8]>,
    /// Length on the network layer, at most [`World::MTU`].
    pub length: Bytes,
    /// DSCP and ECN field, as in the second octet of an IPv4 header. Under EDCA the code point gives the access category
    /// (RFC 8325).
    pub tos: u8,
    /// Hash of addresses, protocol and ports: by it queues tell flows of the same two nodes apart.
    pub key: u32,
}

/// A real packet that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The flow by which it came.
    pub way: Way,
    /// Time at which it was injected.
    pub sent: Instant,
    /// Time at which it arrived.
    pub at: Instant,
    /// What was injected.
    pub bytes: Box<[u8]>,
    /// DSCP and ECN field; congestion experienced if a queue marked it.
    pub tos: u8,
    /// Routers that it passed, each of which takes one off its TTL; access points are bridges.
    pub routers: u8,
}

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
        let routers = self.routers(index, packet);
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
        self.trace_delivered(node, packet);
    }

    /// Routers that an arrived packet has passed.
    fn routers(&self, flow: FlowId, packet: &Packet) -> u8 {
        let Routing::Static(routes) = &self.routing else { return packet.travelled() };
        let passed = routes.hops(flow).iter().skip(1).filter(|&&(node, _)| !self.nodes[node.into()].access_point);
        u8::try_from(passed.count()).unwrap_or(u8::MAX)
    }
}
