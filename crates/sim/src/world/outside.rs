//! Real packets: an outside program injects them at one node and takes them at another.

use super::flows::passage::Kept;
use super::flows::{Flow, Role, Supply};
use super::nodes::Node;
use super::real::{Arrival, Datagram, Series, Status, Way};
use super::routing::Routing;
use super::state::World;
use crate::config::Dscp;
use crate::engine::{FlowId, Handle, NodeId};
use crate::mac::BROADCAST;
use crate::net::{Load, MTU, Packet, Transit, serial};
use queue::Ecn;
use std::sync::{Arc, Mutex};
use units::{Bytes, Duration};

/// CE in the ECN field (RFC 3168, section 5).
const CONGESTION_EXPERIENCED: u8 = 0b11;

impl World {
    /// Largest length of a real packet on the network layer.
    pub const MTU: Bytes = MTU;
    /// Largest length of a driver's frame, encryption included, but not MAC and LLC headers and checksum.
    pub const FRAME: Bytes = Bytes::new(2_304);
    /// Destination of packets to all nodes.
    pub const ALL: u32 = BROADCAST;

    /// Returns the flows of real packets, in the scenario's order: from each real node to every other one, and to all.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        let outside = self.flows.numbers().filter(|&flow| matches!(self.flows[flow].role, Role::Outside | Role::ToAll));
        outside.map(|flow| Way { flow, from: self.flows[flow].from.into(), to: self.flows[flow].to })
    }

    /// Returns the interface for outside programs and drivers.
    pub fn outside(&mut self) -> Outside<'_> {
        Outside { world: self }
    }

    /// Hands a real packet that has arrived at its destination to the outside program, and pauses the run.
    pub(crate) fn hand_out(&mut self, node: NodeId, previous: u32, index: FlowId, packet: &Packet) {
        let (now, delay) = (self.now, self.now.since(packet.created));
        // Access points are bridges, not routers.
        let routers = match &self.routing {
            Routing::Static(routes) => {
                let passed = routes.hops(index).iter().skip(1).filter(|&&(at, _)| !self.nodes[at.into()].access_point);
                u8::try_from(passed.count()).unwrap_or(u8::MAX)
            }
            Routing::Found(_) => packet.travelled(),
        };
        let (home, is_to_all) = (self.roaming.home(node.into()), self.flows[index].role == Role::ToAll);
        let is_up = self.nodes[previous.into()].own_access_point == Some(node.into());
        let is_hop = is_to_all && (is_up || self.nodes[node].egress.is_wired_to(previous));
        let Flow { supply: Supply::Outside(passage), record, to, .. } = &mut self.flows[index] else { return };
        let kept = passage.reaches(packet, *to == BROADCAST && !is_hop);
        if let Some(Kept { bytes, .. }) = kept.as_ref().filter(|_| self.watch.is_some()) {
            passage.keep(packet, bytes);
        }
        record.ledger.finished += u64::from(is_hop);
        if let Some(kept) = kept.as_ref().filter(|_| is_to_all)
            && !self.outside().takes(node, (previous, is_hop), kept, packet)
        {
            return;
        }
        let Flow { record, from, .. } = &mut self.flows[index];
        record.bytes += packet.length;
        if packet.created >= self.warmup {
            record.receive(delay, None, packet);
        }
        if let Some(recorder) = self.recorder.as_mut().filter(|_| !is_to_all) {
            recorder.arrived(index, delay, 1);
            recorder.got(index, packet.length);
        }
        if let Some(Kept { bytes, tos, .. }) = kept {
            let way = Way { flow: index, from: (*from).into(), to: home };
            let mark = if packet.ecn == Ecn::Ce { CONGESTION_EXPERIENCED } else { 0 };
            self.arrivals.push_back(Arrival { way, sent: packet.created, at: now, bytes, tos: tos | mark, routers });
            self.until = now;
        }
        self.accounts(node).delivered(packet);
    }
}

/// Interface of a network for outside programs and drivers.
pub struct Outside<'w> {
    world: &'w mut World,
}

impl Outside<'_> {
    /// Injects a real packet now. False if the node is off the air; nothing is then injected.
    ///
    /// # Panics
    /// If the packet is longer than [`World::MTU`], or this network does not have the flow `way`.
    pub fn inject(&mut self, way: Way, datagram: Datagram) -> bool {
        let length = datagram.length;
        assert!(length <= MTU, "a packet of {length} is longer than the MTU of {MTU}");
        self.launch(way, datagram, Series::default()).is_some()
    }

    /// Hands a frame of a driver to its node's MAC now. Returns the frame's number, which its
    /// [status](Self::take_status) will carry; `None` if the node is off the air.
    ///
    /// # Panics
    /// If the frame is longer than [`World::FRAME`], its node has no driver, or this network lacks the flow `way`.
    pub fn submit(&mut self, way: Way, frame: Datagram, series: Series) -> Option<u32> {
        assert!(frame.length <= World::FRAME, "a frame of {} is longer than {}", frame.length, World::FRAME);
        assert!(self.world.nodes[way.from.into()].egress.driver.is_some(), "its queues are elsewhere");
        self.launch(way, frame, series)
    }

    fn launch(&mut self, way: Way, datagram: Datagram, series: Series) -> Option<u32> {
        let Datagram { bytes, length, tos, key } = datagram;
        let dscp = Dscp::new(tos >> 2);
        let ecn = match tos & CONGESTION_EXPERIENCED {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        };
        let category = self.world.rules.index(dscp.category());
        let Flow { from, record, role, supply: Supply::Outside(passage), .. } = &mut self.world.flows[way.flow] else {
            panic!("the way belongs to another network")
        };
        let (from, waits) = (self.world.roaming.place(*from), self.world.roaming.has(*from));
        if self.world.nodes[from].absent && !waits {
            return None;
        }
        record.sent += 1;
        record.offered += length;
        let (number, is_to_all) = (serial(record.ledger.made), *role == Role::ToAll);
        let holders = Arc::new(Mutex::new(is_to_all.then_some(way.from).into_iter().collect()));
        let kept = Kept { bytes, tos, category, key, series, holders };
        let packet = Packet { dscp, ecn, ..Packet::new(Load::Flow(way.flow), self.world.now, length) };
        if is_to_all {
            self.spread(from, None, &kept, &packet);
        } else {
            passage.under_way.insert(number, kept);
            self.world.launch(way.flow, packet);
        }
        self.world.serve(from);
        Some(number)
    }

    /// Handles a broadcast packet that came by radio, or over a hop to this node alone, and passes it on. True if it is
    /// for programs at this node. A station takes broadcasts of its access point; access points take none.
    fn takes(&mut self, node: NodeId, (previous, is_hop): (u32, bool), kept: &Kept, packet: &Packet) -> bool {
        let Node { own_access_point, access_point, .. } = self.world.nodes[node];
        let home = self.world.roaming.home(node.into());
        let is_near = is_hop || !access_point && own_access_point.is_none_or(|own| own == previous);
        if !is_near || !kept.holders.lock().is_ok_and(|mut holders| holders.insert(home)) {
            return false;
        }
        if access_point {
            let (ttl, transit) = (packet.ttl.saturating_sub(1), Transit::default());
            self.spread(node, Some(previous), kept, &Packet { ttl, transit, transmissions: 0, ..*packet });
        }
        self.world.flows.iter().any(|flow| flow.role == Role::ToAll && u32::from(flow.from) == home)
    }

    /// Forwards copies of a packet for all nodes: over a node's wires, and by radio from a station to its access point.
    fn spread(&mut self, node: NodeId, previous: Option<u32>, kept: &Kept, packet: &Packet) {
        let Load::Flow(flow) = packet.load else { return };
        let Node { own_access_point, egress, .. } = &self.world.nodes[node];
        let radio = (egress.layout.radio_ports() > 0).then(|| own_access_point.unwrap_or(BROADCAST));
        let wires = egress.layout.wires.iter().map(|&(to, _)| to).filter(|&to| Some(to) != previous);
        for to in wires.chain(radio).collect::<Vec<_>>() {
            let Flow { record, waiting, supply: Supply::Outside(passage), .. } = &mut self.world.flows[flow] else {
                return;
            };
            let packet = Packet { serial: serial(record.ledger.made), ..*packet };
            record.ledger.made += 1;
            *waiting += u32::from(packet.is_fresh());
            passage.under_way.insert(packet.serial, kept.clone());
            let handle = self.world.packets.insert(packet);
            self.world.enqueue(node, handle, to);
        }
    }

    /// Takes the first outcome of a driver's frame that was not taken yet.
    pub fn take_status(&mut self) -> Option<Status> {
        self.world.statuses.pop_front()
    }

    /// Takes the airtime, since the last call, of the frames that a driver's node has sent to another node or, if
    /// `received`, got from it. Every attempt counts.
    pub fn take_airtime(&mut self, node: u32, other: u32, received: bool) -> Duration {
        let driver = self.world.nodes[node.into()].egress.driver.as_mut();
        driver.map_or(Duration::ZERO, |driver| driver.take_airtime(other, received))
    }

    /// Takes the first real packet that has arrived and was not taken yet. [`World::run_to`] pauses for such packets.
    pub fn take_arrival(&mut self) -> Option<Arrival> {
        self.world.arrivals.pop_front()
    }

    /// Reports that a driver's MAC has finished a packet, and pauses the run.
    pub(super) fn report(&mut self, handle: Handle, acknowledged: bool) {
        let Packet { load: Load::Flow(flow), serial, transmissions, .. } = self.world.packets.get(handle) else {
            return;
        };
        let Flow { from, to, role: Role::Outside, .. } = self.world.flows[flow] else { return };
        debug_assert!(self.world.nodes[from].egress.driver.is_some(), "others are not told");
        let (way, at) = (Way { flow, from: from.into(), to }, self.world.now);
        self.world.statuses.push_back(Status { way, number: serial, at, acknowledged, transmissions });
        self.world.until = at;
    }

    /// Sets the mode of the frame that is due as its driver requests for this attempt.
    #[cold]
    pub(super) fn follow_driver(&mut self, node: NodeId, category: u8) {
        let station = &mut self.world.nodes[node].station;
        let Some((to, Some(first))) = station.held.receivers(category).next() else { return };
        let packet = self.world.packets.get(first);
        let Load::Flow(flow) = packet.load else { return };
        if let Supply::Outside(passage) = &self.world.flows[flow].supply
            && let Some(kept) = passage.under_way.get(&packet.serial)
            && let Some(mode) = kept.series.after(packet.transmissions)
            && to != BROADCAST
        {
            station.rates.tell(to, mode);
        }
    }
}
