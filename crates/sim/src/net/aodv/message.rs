//! The messages of AODV (RFC 3561, section 5), without their bytes.

use units::{Bytes, Duration};

/// A route request (5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// TTL of the message's IP header: number of remaining hops.
    pub(crate) ttl: u8,
    pub(crate) hops: u8,
    /// Number of the request. Together with the originator it identifies the request.
    pub(crate) id: u32,
    pub(crate) destination: u32,
    /// Last known sequence number of the destination. `None` sets the U flag.
    pub(crate) destination_sequence: Option<u32>,
    pub(crate) originator: u32,
    pub(crate) originator_sequence: u32,
    /// The G flag: the destination gets a gratuitous reply.
    pub(crate) gratuitous: bool,
    /// The D flag: only the destination may reply.
    pub(crate) destination_only: bool,
}

/// A route reply (5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) hops: u8,
    pub(crate) destination: u32,
    pub(crate) destination_sequence: u32,
    /// The node that will get the reply.
    pub(crate) originator: u32,
    pub(crate) lifetime: Duration,
    /// The A flag: an RREP-ACK is requested.
    pub(crate) acknowledge: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Request(Request),
    Reply(Reply),
    /// A hello: a reply about the sender itself to all neighbours (6.9).
    Hello {
        sequence: u32,
    },
    /// A route error (5.3).
    Error {
        unreachable: List,
        /// The N flag: the link has been repaired, so routes shall stay.
        no_delete: bool,
    },
    /// An acknowledgement of a reply (5.4).
    ReplyAck,
}

impl Message {
    /// Returns the message's length in its UDP datagram.
    pub(crate) fn length(&self, lists: &Lists) -> Bytes {
        Bytes::new(match self {
            Self::Request(_) => 24,
            Self::Reply(_) | Self::Hello { .. } => 20,
            Self::Error { unreachable, .. } => 4 + 8 * lists.get(*unreachable).len() as u64,
            Self::ReplyAck => 2,
        })
    }
}

/// A destination that cannot be reached, with its sequence number if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreachable {
    pub(crate) destination: u32,
    pub(crate) sequence: Option<u32>,
}

/// Identifies the destinations of a route error in [`Lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List(u32);

/// Destinations of all route errors in flight. Lists are reused.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    lists: Vec<Vec<Unreachable>>,
    free: Vec<u32>,
}

impl Lists {
    /// Stores a list of these destinations.
    pub(crate) fn insert(&mut self, unreachable: &[Unreachable]) -> List {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            u32::try_from(self.lists.len() - 1).expect("fewer than 2^32 route errors at once")
        });
        let list = &mut self.lists[slot as usize];
        list.clear();
        list.extend_from_slice(unreachable);
        List(slot)
    }

    pub(crate) fn get(&self, list: List) -> &[Unreachable] {
        &self.lists[list.0 as usize]
    }

    /// Frees the list of a message that is no longer in flight.
    pub(crate) fn release(&mut self, message: &Message) {
        if let Message::Error { unreachable, .. } = message {
            self.free.push(unreachable.0);
        }
    }
}
