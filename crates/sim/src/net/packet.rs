//! Packets, without their bytes, and what headers add.

use crate::engine::Handle;
use units::{Bytes, Instant};

/// UDP header (RFC 768).
const UDP: Bytes = Bytes::new(8);
/// IPv4 header without options (RFC 791).
const IP: Bytes = Bytes::new(20);
/// LLC and SNAP in front of an IP packet in 802.11 (IEEE 802.2; RFC 1042).
const LLC_SNAP: Bytes = Bytes::new(8);

/// The longest MSDU (IEEE 802.11-2016, 9.2.3, table 9-19), LLC and SNAP included.
const LONGEST_MSDU: u64 = 2304;
/// The most payload that a packet carries in one frame.
pub(crate) const MOST_PAYLOAD: Bytes = Bytes::new(LONGEST_MSDU - LLC_SNAP.count() - IP.count() - UDP.count());

/// A UDP packet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// The flow that it belongs to.
    pub(crate) flow: u32,
    /// When the application made it.
    pub(crate) created: Instant,
    /// Length with UDP and IP headers.
    pub(crate) length: Bytes,
}

impl Packet {
    /// What the application gave.
    pub(crate) fn payload(&self) -> Bytes {
        Bytes::new(self.length.count() - UDP.count() - IP.count())
    }
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) packet: Handle,
    pub(crate) length: Bytes,
}

impl queue::Packet for Waiting {
    fn len(&self) -> Bytes {
        self.length
    }
}

/// Length of a packet at the network layer, which queues count.
pub(crate) fn network_bytes(payload: Bytes) -> Bytes {
    payload + UDP + IP
}

/// Length of the MSDU of a packet of `length` at the network layer.
pub(crate) fn msdu_bytes(length: Bytes) -> Bytes {
    length + LLC_SNAP
}
