//! The DSR Options header (RFC 4728, section 6), without its bytes.

use super::route::{MOST_NODES, Route};
use super::settings::Settings;
use units::Bytes;

/// Length of the header's fixed portion, in bytes (6.1).
const FIXED: u64 = 4;
/// Bytes of a Source Route option without addresses (6.7); each node between the ends adds four.
const SOURCE_ROUTE: u64 = 4;
/// Bytes of a Route Request option without the addresses after the initiator's (6.2).
const REQUEST: u64 = 8;
/// Bytes of a Route Error option for an unreachable node (6.4).
const ERROR: u64 = 16;
/// Bytes of an address.
const ADDRESS: u64 = 4;

/// Source route of a packet, and how far the packet has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) route: Route,
    /// Index of the node that sends the packet.
    pub(crate) at: u8,
    /// Number of nodes that have salvaged the packet with a new route.
    pub(crate) salvaged: u8,
}

impl Header {
    /// No header, for a broadcast packet.
    pub(crate) const NONE: Self = Self { route: Route::EMPTY, at: 0, salvaged: 0 };

    /// Makes the header of a packet at the first node of its route.
    pub(crate) fn new(route: Route) -> Self {
        Self { route, ..Self::NONE }
    }

    pub(crate) fn sender(&self) -> Option<u32> {
        self.route.at(self.at)
    }

    pub(crate) fn next(&self) -> Option<u32> {
        self.route.at(self.at.saturating_add(1))
    }

    /// Returns the length on the air, with the fixed portion.
    pub(crate) fn length(&self) -> Bytes {
        match self.route.hops() {
            0 => Bytes::new(0),
            hops => Bytes::new(FIXED + SOURCE_ROUTE + ADDRESS * (u64::from(hops) - 1)),
        }
    }
}

/// Returns the length of the longest header that a data packet can have.
pub(crate) fn longest_header() -> Bytes {
    Bytes::new(FIXED + SOURCE_ROUTE + ADDRESS * (MOST_NODES as u64 - 2))
}

/// A link over which a node could not send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A route request (6.2). The route in the header has the nodes that it has passed, its initiator first.
    Request {
        id: u32,
        target: u32,
        /// Number of hops that the request may travel beyond the nodes that hear it now.
        hops_left: u8,
        /// A broken link that was reported to the initiator (3.4.4).
        broken: Option<Broken>,
    },
    /// A route reply (6.3). Its route leads from the receiver of the reply to the target.
    Reply { route: Route },
    /// A route error (6.4).
    Error { broken: Broken },
}

/// A packet without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) header: Header,
    pub(crate) content: Content,
}

impl Message {
    /// Returns the message's length in its IP packet.
    pub(crate) fn length(&self, given: &Settings) -> Bytes {
        let hops = |route: &Route| u64::from(route.hops());
        match &self.content {
            Content::Request { broken, .. } => {
                let error = if broken.is_some() { ERROR } else { 0 };
                Bytes::new(FIXED + REQUEST + ADDRESS * hops(&self.header.route) + error)
            }
            Content::Reply { route } => {
                let option = u64::from(given.reply_bytes) + ADDRESS * hops(route);
                self.header.length() + Bytes::new(option.next_multiple_of(4))
            }
            Content::Error { .. } => self.header.length() + Bytes::new(ERROR),
        }
    }

    /// Returns the destination; `None` for a request.
    pub(crate) fn destination(&self) -> Option<u32> {
        match self.content {
            Content::Request { .. } => None,
            Content::Reply { .. } | Content::Error { .. } => self.header.route.nodes().last().copied(),
        }
    }
}
