//! What a queue needs to know of a packet.

use units::{Bytes, Instant};

/// The ECN field of an IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The ends do not understand ECN: a queue can only drop.
    #[default]
    NotEct,
    /// The ends understand ECN (ECT).
    Ect,
    /// A queue on the way was congested (CE).
    Ce,
}

/// What a queue needs to know of a packet. The packet itself may be a handle.
#[expect(clippy::len_without_is_empty, reason = "a packet is not a collection")]
pub trait Packet: Copy {
    /// Its size: network-layer bytes, IP header and above.
    fn len(&self) -> Bytes;

    /// A number for its transport flow (addresses, ports and protocol): equal for packets of one flow and direction, and
    /// best different for those of others.
    fn flow(&self) -> u64;

    /// What its IP header says of ECN (RFC 3168).
    fn ecn(&self) -> Ecn;

    /// How soon its sender would have it discarded: 0 first. None where the sender does not say, which counts as last of all.
    fn discard_priority(&self) -> Option<u8> {
        None
    }

    /// When it entered the network, as its first node stamped it. None where nobody did, which counts as younger than all.
    fn stamp(&self) -> Option<Instant> {
        None
    }

    /// Sets the ECN field to [`Ecn::Ce`]. Called only where it is [`Ecn::Ect`] or [`Ecn::Ce`] already.
    fn mark(&mut self);
}
