//! The age of a packet.

use units::{Bytes, Instant};

/// Length of a key: 48 bits of microseconds and 16 of origin and number (R2).
pub(crate) const KEY: Bytes = Bytes::new(8);

/// Sort key of packets by age: the smallest key is the oldest. No two packets have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// Time at which its first node made it.
    pub(crate) stamp: Instant,
    /// Its flow: where it comes from.
    pub(crate) origin: u32,
    /// Its number in the flow.
    pub(crate) serial: u32,
}

/// What a frame says of the packets that its sender has still to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tells {
    /// The frame has no field for that.
    #[default]
    Nothing,
    /// There are none.
    Empty,
    /// The oldest of them.
    Next(Key),
}

impl From<Option<Key>> for Tells {
    fn from(key: Option<Key>) -> Self {
        key.map_or(Self::Empty, Self::Next)
    }
}
