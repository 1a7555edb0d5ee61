//! Who agents exchange messages of admission with, and about what.

use std::net::Ipv4Addr;

/// Who sends or gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A program of this machine, by its port on loopback.
    Program(u16),
    /// A node in reach.
    Neighbour(Neighbour),
}

/// A node in reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    /// The interface's number.
    pub(crate) index: u32,
    pub(crate) address: Ipv4Addr,
}

/// Packets from one machine to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    /// Their port at the destination, zero where they have none.
    pub(crate) port: u16,
}
