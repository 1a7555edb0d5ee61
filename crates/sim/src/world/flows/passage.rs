//! Flows of real packets. The simulated packet is like any other. The real program's bytes stay with the flow until the
//! packet arrives or is lost.

use crate::net::Packet;
use crate::world::real::Series;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

/// Number of arrived packets whose bytes are kept. A frame may be traced after its packets have arrived, because its
/// acknowledgement was lost or other nodes hear it later. A frame and a window of frames carry fewer packets.
const TRACED_LATER: usize = 4096;

/// Real packets of a flow that are in flight; the key is their number in the flow.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    pub(crate) under_way: BTreeMap<u32, Kept>,
    /// The packets that arrived last, if the run is watched.
    arrived: VecDeque<(u32, Box<[u8]>)>,
}

/// What is kept with a simulated packet.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) bytes: Box<[u8]>,
    pub(crate) tos: u8,
    /// Index of the packet's access category.
    pub(crate) category: u8,
    pub(crate) key: u32,
    /// Modes that a driver requests for the packet.
    pub(crate) series: Series,
    /// For a packet to all: the nodes that have it. They take no other copy.
    pub(crate) holders: Arc<Mutex<BTreeSet<u32>>>,
}

impl Passage {
    /// Returns the bytes that a real program sent as this packet.
    pub(super) fn bytes(&self, packet: &Packet) -> Option<Box<[u8]>> {
        let arrived = || self.arrived.iter().rev().find(|(serial, _)| *serial == packet.serial);
        let under_way = self.under_way.get(&packet.serial).map(|kept| &kept.bytes);
        under_way.or_else(|| arrived().map(|(_, bytes)| bytes)).cloned()
    }

    /// Returns the bytes of this packet, which has reached a node. If it is `for_all`, they are kept for other nodes.
    pub(crate) fn reaches(&mut self, packet: &Packet, for_all: bool) -> Option<Kept> {
        let Self { under_way, .. } = self;
        if for_all { under_way.get(&packet.serial).cloned() } else { under_way.remove(&packet.serial) }
    }

    /// Drops the bytes of a lost packet.
    pub(crate) fn forget(&mut self, packet: &Packet) {
        self.under_way.remove(&packet.serial);
    }

    /// Keeps the bytes of a packet that has arrived, for frames that are traced later.
    pub(crate) fn keep(&mut self, packet: &Packet, bytes: &[u8]) {
        if self.arrived.len() == TRACED_LATER {
            self.arrived.pop_front();
        }
        self.arrived.push_back((packet.serial, bytes.into()));
    }
}
