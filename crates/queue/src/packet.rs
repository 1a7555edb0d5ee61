//! Properties of a packet that a queue uses.

use units::{Bytes, Instant};

/// The ECN field of an IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The ends do not understand ECN: a queue can only drop.
    #[default]
    NotEct,
    /// The ends understand ECN: ECT(0).
    Ect0,
    /// The ends understand ECN and react to marks as L4S requires (RFC 9331): ECT(1).
    Ect1,
    /// A queue on the way was congested (CE).
    Ce,
}

/// A packet's properties that a queue uses. The value may be a handle of the packet.
#[expect(clippy::len_without_is_empty, reason = "a packet is not a collection")]
pub trait Packet: Copy {
    /// Length in network-layer bytes, IP header and above.
    fn len(&self) -> Bytes;

    /// Hash of the packet's transport flow (addresses, ports and protocol): equal for packets of one flow and
    /// direction, and preferably different for other flows.
    fn flow(&self) -> u64;

    /// ECN field of the IP header (RFC 3168).
    fn ecn(&self) -> Ecn;

    /// Discard priority: 0 is discarded first. `None` if the sender sets no priority; such a packet is discarded last.
    fn discard_priority(&self) -> Option<u8> {
        None
    }

    /// Time at which the packet entered the network, stamped by its first node. `None` without a stamp, which counts as
    /// the youngest.
    fn stamp(&self) -> Option<Instant> {
        None
    }

    /// Sets the ECN field to [`Ecn::Ce`]. The method is never called for a packet with [`Ecn::NotEct`].
    fn mark(&mut self);
}
