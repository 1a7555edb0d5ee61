//! Actions that an AODV node orders, and the context of every call.

use super::message::{Lists, Message, Unreachable};
use super::settings::Settings;
use crate::engine::Handle;
use crate::net::LossCause;
use units::{Duration, Instant};

/// Receiver address of a message for all neighbours.
pub(crate) const ALL: u32 = crate::mac::BROADCAST;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send a message after a delay, to a neighbour or to [`ALL`].
    Send { message: Message, to: u32, after: Duration },
    /// Send a packet, which the node was given, to a neighbour.
    Forward { packet: Handle, to: u32 },
    /// Discard a packet that the node was given.
    Discard { packet: Handle, why: LossCause },
    /// Discard a buffered packet to make room for a new one.
    Displace { packet: Handle },
}

/// Actions that nodes have ordered, in sequence. After each call the host executes these actions and empties the list.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) actions: Vec<Action>,
    pub(crate) lists: Lists,
    /// Scratch space for route errors.
    pub(super) unreachable: Vec<Unreachable>,
    pub(super) precursors: Vec<u32>,
}

/// Context of every call: the time, the network's parameters, and the list to which actions are added.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) settings: &'a Settings,
    pub(crate) out: &'a mut Output,
}

/// Origin, destination and previous hop of a data packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) origin: u32,
    pub(crate) destination: u32,
    /// The neighbour that sent the packet; `None` at its origin.
    pub(crate) previous: Option<u32>,
    /// Number of hops that the packet has travelled.
    pub(crate) travelled: u8,
}
