//! Actions of a DSR node, and the context of every call.

use super::header::{Header, Message};
use super::settings::Settings;
use crate::engine::Handle;
use crate::net::LossCause;
use units::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send a message after a delay: a request to all neighbours, another to the next hop of its header.
    Send { message: Message, after: Duration },
    /// Send a packet that was handed over to the next hop of this header, after a delay.
    Forward { packet: Handle, header: Header, after: Duration },
    /// Discard a packet that was handed over.
    Discard { packet: Handle, why: LossCause },
    /// Discard a packet for which there is no room next to the one that is handed over.
    Displace { packet: Handle },
}

/// Actions of nodes, in order. The host carries them out after each call and empties it.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) actions: Vec<Action>,
    /// Scratch space of searches in a link cache: nodes reached, and the index of the node before each.
    pub(super) reached: Vec<(u32, usize)>,
}

/// Context of every call: the time, the network's parameters, and the list of actions to extend.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) given: &'a Settings,
    pub(crate) out: &'a mut Output,
}
