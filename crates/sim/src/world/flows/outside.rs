//! Flows of real packets: a program outside injects them at one node and takes them out at another.
//!
//! The simulated packet is like any other. What the program sent stays beside it, in the flow, until the packet arrives
//! or is lost.

use super::ends::MOST;
use super::{Flow, Role, Supply};
use crate::config::{Class, Dscp};
use crate::engine::{FlowId, NodeId};
use crate::mac::Conventions;
use crate::net::{Load, MTU, Packet, serial};
use crate::record::{FlowRecord, Identity};
use crate::world::error::BuildError;
use crate::world::routing::Routing;
use crate::world::state::World;
use queue::Ecn;
use std::collections::BTreeMap;
use units::{Bytes, Instant};

/// Factor of the datagram's part of the key that distinguishes flows: odd, its multiples are far apart.
const KEY_STEP: u32 = 0x9e37_79b9;
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

/// Real packets of a flow that are on their way, by their numbers in the flow.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    under_way: BTreeMap<u32, Kept>,
}

/// What is kept beside a simulated packet.
#[derive(Debug)]
struct Kept {
    bytes: Box<[u8]>,
    tos: u8,
    /// Index of its access category.
    category: u8,
    key: u32,
}

impl Passage {
    /// Drops what belongs to a lost packet.
    pub(crate) fn forget(&mut self, packet: &Packet) {
        self.under_way.remove(&packet.serial);
    }
}

impl Flow {
    /// Access category of a real packet of this flow, no place at the head of a queue, and its key for queues.
    #[inline(never)]
    pub(crate) fn kept(&self, index: FlowId, packet: &Packet) -> (u8, bool, u32) {
        let kept = match &self.supply {
            Supply::Outside(passage) => passage.under_way.get(&packet.serial),
            _ => None,
        };
        let (category, key) = kept.map_or((self.category, 0), |kept| (kept.category, kept.key));
        (category, false, u32::from(index).wrapping_add(key.wrapping_mul(KEY_STEP)))
    }
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
    pub(super) fn hand_out(&mut self, node: NodeId, index: FlowId, packet: &Packet) {
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

/// Adds the flows between `real` nodes.
///
/// # Errors
/// A real node without another, or too many flows.
pub(super) fn add(
    flows: &mut Vec<Flow>,
    real: &[u32],
    names: &[String],
    rules: &Conventions,
) -> Result<(), BuildError> {
    let path = |node: u32| format!("node.{}.real", names[node as usize]);
    if let &[alone] = real {
        let message = format!("`{}` is the only real node: give another one `real = true`", names[alone as usize]);
        return Err(BuildError::new(path(alone), message));
    }
    if let Some(&first) = real.first()
        && flows.len() + real.len() * (real.len() - 1) > MOST
    {
        let message = format!("more than {MOST} flows, one from each real node to every other among them");
        return Err(BuildError::new(path(first), message));
    }
    for &from in real {
        for &to in real.iter().filter(|&&to| to != from) {
            let [sender, receiver] = [from, to].map(|node| names[node as usize].clone());
            let identity = Identity {
                name: format!("{sender}-{receiver}"),
                from: sender,
                to: receiver,
                kind: "real",
                class: Class::BestEffort,
                drawn: true,
                deadline: None,
                left_out: None,
            };
            flows.push(Flow {
                identity,
                from: from.into(),
                to,
                category: rules.index(Dscp::default().category()),
                dscp: Dscp::default(),
                ecn: Ecn::NotEct,
                admission: None,
                role: Role::Outside,
                supply: Supply::Outside(Box::default()),
                waiting: 0,
                record: FlowRecord::default(),
            });
        }
    }
    Ok(())
}
