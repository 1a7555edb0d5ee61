//! The messages of AODV (RFC 3561, section 5), without their bytes.

use units::{Bytes, Duration};

/// A route request (5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The TTL of its IP header: how many more hops it may go.
    pub(crate) ttl: u8,
    pub(crate) hops: u8,
    /// Together with the originator it names the request.
    pub(crate) id: u32,
    pub(crate) destination: u32,
    /// The last that is known of the destination; none: the U flag.
    pub(crate) destination_sequence: Option<u32>,
    pub(crate) originator: u32,
    pub(crate) originator_sequence: u32,
    /// The G flag.
    pub(crate) gratuitous: bool,
    /// The D flag.
    pub(crate) destination_only: bool,
}

/// A route reply (5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) hops: u8,
    pub(crate) destination: u32,
    pub(crate) destination_sequence: u32,
    /// Whom the reply is for.
    pub(crate) originator: u32,
    pub(crate) lifetime: Duration,
    /// The A flag: an RREP-ACK is asked for.
    pub(crate) acknowledge: bool,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Request(Request),
    Reply(Reply),
    /// A reply about the sender itself, for all neighbours (6.9).
    Hello {
        sequence: u32,
    },
    /// A route error (5.3).
    Error {
        unreachable: List,
        /// The N flag: the link has been repaired, the routes shall stay.
        no_delete: bool,
    },
    /// An acknowledgement of a reply (5.4).
    ReplyAck,
}

impl Message {
    /// Its length in the UDP datagram.
    pub(crate) fn length(&self, lists: &Lists) -> Bytes {
        Bytes::new(match self {
            Self::Request(_) => 24,
            Self::Reply(_) | Self::Hello { .. } => 20,
            Self::Error { unreachable, .. } => 4 + 8 * lists.get(*unreachable).len() as u64,
            Self::ReplyAck => 2,
        })
    }
}

/// A destination that has become unreachable, and its sequence number if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreachable {
    pub(crate) destination: u32,
    pub(crate) sequence: Option<u32>,
}

/// Names the destinations in a route error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List(u32);

/// The destinations in all route errors under way. Lists are used again.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    lists: Vec<Vec<Unreachable>>,
    free: Vec<u32>,
}

impl Lists {
    /// A list of these destinations.
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

    /// What a list holds.
    pub(crate) fn get(&self, list: List) -> &[Unreachable] {
        &self.lists[list.0 as usize]
    }

    /// The message is gone; its list, if it has one, may be used again.
    pub(crate) fn release(&mut self, message: &Message) {
        if let Message::Error { unreachable, .. } = message {
            self.free.push(unreachable.0);
        }
    }
}
