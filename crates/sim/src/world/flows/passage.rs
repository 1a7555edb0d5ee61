//! Flows of real packets. The simulated packet is like any other; what the program sent stays beside it, in the flow,
//! until the packet arrives or is lost.

use crate::net::Packet;
use crate::world::real::Series;
use std::collections::{BTreeMap, VecDeque};

/// Frames may be traced after what they carry has arrived, if their acknowledgements were lost or they come to others
/// later: more packets than a frame and a window of frames carry.
const TRACED_LATER: usize = 4096;

/// Real packets of a flow that are on their way, by their numbers in the flow.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    pub(crate) under_way: BTreeMap<u32, Kept>,
    /// The last ones that have arrived, if the run is watched.
    arrived: VecDeque<(u32, Box<[u8]>)>,
}

/// Data kept with a simulated packet.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) bytes: Box<[u8]>,
    pub(crate) tos: u8,
    /// Index of its access category.
    pub(crate) category: u8,
    pub(crate) key: u32,
    /// Modes that a driver wants tried.
    pub(crate) series: Series,
}

impl Passage {
    /// Bytes that a real program sent as this packet.
    pub(super) fn bytes(&self, packet: &Packet) -> Option<Box<[u8]>> {
        let arrived = || self.arrived.iter().rev().find(|(serial, _)| *serial == packet.serial);
        let under_way = self.under_way.get(&packet.serial).map(|kept| &kept.bytes);
        under_way.or_else(|| arrived().map(|(_, bytes)| bytes)).cloned()
    }

    /// What was sent as this packet, which has come to a node; others get it too if it is `for_all`.
    pub(crate) fn reaches(&mut self, packet: &Packet, for_all: bool) -> Option<Kept> {
        let Self { under_way, .. } = self;
        if for_all { under_way.get(&packet.serial).cloned() } else { under_way.remove(&packet.serial) }
    }

    /// Drops what belongs to a lost packet.
    pub(crate) fn forget(&mut self, packet: &Packet) {
        self.under_way.remove(&packet.serial);
    }

    /// Keeps the bytes of an arrived packet for frames that are traced later.
    pub(crate) fn keep(&mut self, packet: &Packet, bytes: &[u8]) {
        if self.arrived.len() == TRACED_LATER {
            self.arrived.pop_front();
        }
        self.arrived.push_back((packet.serial, bytes.into()));
    }
}
