//! Actions that a DSR node orders, and the context of every call.

use super::header::{Header, Message};
use super::settings::Settings;
use crate::engine::Handle;
use crate::net::LossCause;
use units::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send a message after a delay: a request to all neighbours, another message to the next hop in its header.
    Send { message: Message, after: Duration },
    /// Send a packet, which the node was given, to the next hop in this header, after a delay.
    Forward { packet: Handle, header: Header, after: Duration },
    /// Discard a packet that the node was given.
    Discard { packet: Handle, why: LossCause },
    /// Discard a buffered packet to make room for a new one.
    Displace { packet: Handle },
}

/// Actions that nodes have ordered, in sequence. After each call the host executes these actions and empties the list.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) actions: Vec<Action>,
    /// Scratch space for searches in a link cache: nodes that were reached, each with the index of the node before it.
    pub(super) reached: Vec<(u32, usize)>,
}

/// Context of every call: the time, the network's parameters, and the list to which actions are added.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) given: &'a Settings,
    pub(crate) out: &'a mut Output,
}
