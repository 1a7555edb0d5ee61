//! What a queue needs to know of a packet.

use units::{Bytes, Instant};

/// The ECN field of an IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The ends do not support ECN: a queue can only drop.
    #[default]
    NotEct,
    /// The ends support ECN: ECT(0).
    Ect0,
    /// The ends support ECN and react to marks as L4S requires (RFC 9331): ECT(1).
    Ect1,
    /// A queue on the way was congested (CE).
    Ce,
}

/// What a queue needs to know of a packet. The value may be a handle of the packet.
#[expect(clippy::len_without_is_empty, reason = "a packet is not a collection")]
pub trait Packet: Copy {
    /// Returns the length in network-layer bytes (IP header and above).
    fn len(&self) -> Bytes;

    /// Returns a hash of the packet's transport flow (addresses, ports and protocol). It is equal for packets of one
    /// flow and direction, and preferably different for other flows.
    fn flow(&self) -> u64;

    /// Returns the ECN field of the IP header (RFC 3168).
    fn ecn(&self) -> Ecn;

    /// Returns the discard priority; 0 is discarded first. `None` (the sender gives none): discarded last.
    fn discard_priority(&self) -> Option<u8> {
        None
    }

    /// Returns the time at which the packet entered the network, as its first node stamped it. `None` without a stamp;
    /// the packet then counts as the youngest.
    fn stamp(&self) -> Option<Instant> {
        None
    }

    /// Sets the ECN field to [`Ecn::Ce`]. It is never called for a packet with [`Ecn::NotEct`].
    fn mark(&mut self);
}
