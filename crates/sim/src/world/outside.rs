//! Real packets: an outside program injects them at one node and takes them out at another.

use super::flows::passage::Kept;
use super::flows::{Flow, Role, Supply};
use super::real::{Arrival, Datagram, Series, Status, Way};
use super::routing::Routing;
use super::state::World;
use crate::config::Dscp;
use crate::engine::{FlowId, Handle, NodeId};
use crate::mac::BROADCAST;
use crate::net::{Load, MTU, Packet, serial};
use queue::Ecn;
use units::{Bytes, Duration};

/// CE in the ECN field (RFC 3168, section 5).
const CONGESTION_EXPERIENCED: u8 = 0b11;

impl World {
    /// Largest length of a real packet on the network layer.
    pub const MTU: Bytes = MTU;
    /// Largest length of a driver's frame without MAC and LLC headers and check sum, with overhead of encryption.
    pub const FRAME: Bytes = Bytes::new(2_304);

    /// The flows of real packets: from each real node to every other, in the scenario's order.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        let outside = self.flows.numbers().filter(|&flow| self.flows[flow].role == Role::Outside);
        outside.map(|flow| Way { flow, from: self.flows[flow].from.into(), to: self.flows[flow].to })
    }

    /// Packets and frames that outside programs and drivers hand in and take out.
    pub fn outside(&mut self) -> Outside<'_> {
        Outside { world: self }
    }

    /// Hands out a real packet that has arrived at its destination, and pauses the run.
    pub(crate) fn hand_out(&mut self, node: NodeId, index: FlowId, packet: &Packet) {
        let (now, delay) = (self.now, self.now.since(packet.created));
        // Access points are bridges, not routers.
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
            && let Some(Kept { bytes, tos, .. }) = passage.reaches(packet, *to == BROADCAST)
        {
            let way = Way { flow: index, from: (*from).into(), to: self.roaming.home(node.into()) };
            let mark = if packet.ecn == Ecn::Ce { CONGESTION_EXPERIENCED } else { 0 };
            let tos = tos | mark;
            if self.watch.is_some() {
                passage.keep(packet, &bytes);
            }
            self.arrivals.push_back(Arrival { way, sent: packet.created, at: now, bytes, tos, routers });
            self.until = now;
        }
        self.accounts(node).delivered(packet);
    }
}

/// The interface of a network for outside programs and drivers.
pub struct Outside<'w> {
    world: &'w mut World,
}

impl Outside<'_> {
    /// Injects a real packet now. False, without effect, if the node is off the air.
    ///
    /// # Panics
    /// If the packet is longer than [`World::MTU`], or this network does not have the way (flow).
    pub fn inject(&mut self, way: Way, datagram: Datagram) -> bool {
        let length = datagram.length;
        assert!(length <= MTU, "a packet of {length} is longer than the MTU of {MTU}");
        self.launch(way, datagram, Series::default()).is_some()
    }

    /// Hands a frame of a driver to its node's MAC now. Returns the frame's number, with which its
    /// [status](Self::take_status) comes; none if the node is off the air.
    ///
    /// # Panics
    /// If the frame is longer than [`World::FRAME`], its node has no driver, or the network does not have the way.
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
        let Flow { from, record, supply: Supply::Outside(passage), .. } = &mut self.world.flows[way.flow] else {
            panic!("the way belongs to another network")
        };
        let (from, waits) = (self.world.roaming.place(*from), self.world.roaming.has(*from));
        if self.world.nodes[from].absent && !waits {
            return None;
        }
        record.sent += 1;
        record.offered += length;
        let number = serial(record.ledger.made);
        passage.under_way.insert(number, Kept { bytes, tos, category, key, series });
        self.world.launch(way.flow, Packet { dscp, ecn, ..Packet::new(Load::Flow(way.flow), self.world.now, length) });
        self.world.serve(from);
        Some(number)
    }

    /// Takes the outcome of the first finished frame of a driver that was not taken yet.
    pub fn take_status(&mut self) -> Option<Status> {
        self.world.statuses.pop_front()
    }

    /// Takes the airtime of the frames that a driver's node has sent to another node, or `received` from it, since the
    /// last call: every attempt counts.
    pub fn take_airtime(&mut self, node: u32, other: u32, received: bool) -> Duration {
        let driver = self.world.nodes[node.into()].egress.driver.as_mut();
        driver.map_or(Duration::ZERO, |driver| driver.take_airtime(other, received))
    }

    /// Takes the first real packet that has arrived and was not taken yet; [`World::run_to`] pauses for such packets.
    pub fn take_arrival(&mut self) -> Option<Arrival> {
        self.world.arrivals.pop_front()
    }

    /// Reports that a driver's MAC is done with a packet, and pauses the run.
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

    /// Sets the mode of the frame that is due, as its driver requests for this attempt.
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
