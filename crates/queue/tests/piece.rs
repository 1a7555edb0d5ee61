//! A test packet of a flow, with helpers to enqueue and dequeue it.

use queue::{Ecn, Packet, Queue, Settings};
use units::{Bytes, Duration, Instant};

/// A packet: its flow, its number and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) flow: u64,
    pub(crate) number: u32,
    pub(crate) bytes: u64,
    pub(crate) ecn: Ecn,
}

impl Packet for Piece {
    fn len(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        assert_ne!(self.ecn, Ecn::NotEct, "packets that do not understand ECN are not marked");
        self.ecn = Ecn::Ce;
    }
}

pub(crate) fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

pub(crate) fn queue(toml: &str) -> Queue<Piece> {
    build(toml)
}

/// Builds a queue for packets of any type.
pub(crate) fn build<P: Packet>(toml: &str) -> Queue<P> {
    let settings: Settings = toml::from_str(toml).expect("a table that is fine");
    settings.build(7).expect("settings that can be used").0
}

pub(crate) fn piece(flow: u64, number: u32) -> Piece {
    Piece { flow, number, bytes: 1000, ecn: Ecn::NotEct }
}

/// Enqueues packets of a flow and checks that none is dropped.
pub(crate) fn put(queue: &mut Queue<Piece>, now: u64, flow: u64, numbers: std::ops::RangeInclusive<u32>) {
    for number in numbers {
        queue.enqueue(at(now), piece(flow, number), &mut |dropped| panic!("{dropped:?} is dropped"));
    }
}

/// Dequeues `count` packets and returns the flow and number of each.
pub(crate) fn take(queue: &mut Queue<Piece>, now: u64, packets: usize) -> Vec<(u64, u32)> {
    let next = |_| {
        let departure = queue.take(at(now), 0, &mut |dropped| panic!("{dropped:?} is dropped"))?;
        Some((departure.packet.flow, departure.packet.number))
    };
    (0..packets).map_while(next).collect()
}
