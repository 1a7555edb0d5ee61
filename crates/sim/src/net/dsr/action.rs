//! Actions of a DSR node, and the context of every call.

use super::header::{Header, Message};
use super::settings::Settings;
use crate::engine::Handle;
use crate::net::LossCause;
use units::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send a message after a delay: a request to all neighbours, any other message to the next hop of its header.
    Send { message: Message, after: Duration },
    /// Send a packet that was handed over to the next hop of this header, after a delay.
    Forward { packet: Handle, header: Header, after: Duration },
    /// Discard a packet that was handed over.
    Discard { packet: Handle, why: LossCause },
    /// Discard a packet for which the buffer has no room next to the new packet.
    Displace { packet: Handle },
}

/// Actions of nodes, in order. The host executes the actions after each call and empties the list.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) actions: Vec<Action>,
    /// Scratch space of searches in a link cache: nodes reached, and for each the index of the previous node.
    pub(super) reached: Vec<(u32, usize)>,
}

/// Context of every call: the time, the network's parameters, and the list of actions to extend.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) given: &'a Settings,
    pub(crate) out: &'a mut Output,
}
