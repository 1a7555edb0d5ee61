//! Packets of real programs.

use crate::engine::FlowId;
use crate::radio::Mode;
use units::{Bytes, Instant};

/// A flow of real packets, from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub(super) flow: FlowId,
    /// Index of the node at which its packets are injected.
    pub from: u32,
    /// Index of the node at which the packets come out, or [`World::ALL`](crate::World::ALL).
    pub to: u32,
}

/// A packet of a real program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Payload. The simulator does not read it.
    pub bytes: Box<[u8]>,
    /// Length on the network layer, at most [`World::MTU`](crate::World::MTU).
    pub length: Bytes,
    /// DSCP and ECN field, as the second octet of an IPv4 header. Under EDCA it determines the category (RFC 8325).
    pub tos: u8,
    /// Hash of addresses, protocol and ports. With it queues distinguish flows between the same two nodes.
    pub key: u32,
}

/// Modes that a driver requests for a frame, in order, each with a number of attempts. All further attempts use the
/// last mode. If no mode is requested, the node's own modes are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Series(pub [Option<(Mode, u8)>; 4]);

impl Series {
    /// Returns the mode of the attempt that follows this number of transmissions.
    pub(super) fn after(&self, mut transmissions: u16) -> Option<Mode> {
        let mut last = None;
        for &(mode, times) in self.0.iter().flatten() {
            last = Some(mode);
            if transmissions < times.into() {
                break;
            }
            transmissions -= u16::from(times);
        }
        last
    }
}

/// Outcome of a frame that a driver handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The flow of the frame.
    pub way: Way,
    /// Its number.
    pub number: u32,
    /// Time at which the MAC finished the frame.
    pub at: Instant,
    /// True if the frame's receiver has acknowledged it.
    pub acknowledged: bool,
    /// Number of times that the frame was sent.
    pub transmissions: u16,
}

/// A real packet that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The flow of the packet.
    pub way: Way,
    /// Time at which the packet was injected.
    pub sent: Instant,
    /// Time at which the packet arrived.
    pub at: Instant,
    /// The injected packet.
    pub bytes: Box<[u8]>,
    /// DSCP and ECN field. The ECN field is CE (congestion experienced) if a queue marked the packet.
    pub tos: u8,
    /// Number of routers that the packet passed; each decrements its TTL. Access points are bridges and do not count.
    pub routers: u8,
}
