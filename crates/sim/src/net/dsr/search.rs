//! Route searches of a node, the requests that it has seen, and packets that wait for a route.

use super::action::{Action, Context};
use super::settings::Settings;
use crate::engine::Handle;
use crate::net::LossCause;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// `MaxRequestPeriod`: longest time between two requests.
const MAX_REQUEST_PERIOD: Duration = Duration::from_secs(10);

/// A search for a destination, until a reply comes. Its back-off lasts longer than packets wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) destination: u32,
    pub(super) stage: Stage,
    /// Time of the next request, if a packet waits.
    pub(super) due: Instant,
    /// Time from the start of this attempt to the start of the next.
    pub(super) wait: Duration,
    pub(super) began: Instant,
}

impl Search {
    /// Lengthens the time to the next attempt.
    pub(super) fn back_off(&mut self, given: &Settings) {
        self.wait = (self.wait * u64::from(given.request_backoff)).min(MAX_REQUEST_PERIOD);
    }
}

/// What a search waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The end of the time in which neighbours may answer.
    Near,
    /// The end of the search's back-off.
    Far,
}

/// Number of nodes whose requests are remembered: `RequestTableSize`.
const ORIGINATORS: usize = 64;

/// Requests that were seen: for each initiator the newest id, and a bit for each id before it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    newest: VecDeque<(u32, u32, u64)>,
}

impl Seen {
    /// Records a request. True if it is seen for the first time.
    pub(super) fn is_first(&mut self, initiator: u32, id: u32) -> bool {
        let Some(place) = self.newest.iter().position(|&(node, ..)| node == initiator) else {
            if self.newest.len() == ORIGINATORS {
                self.newest.pop_front();
            }
            self.newest.push_back((initiator, id, 1));
            return true;
        };
        let (_, newest, bits) = &mut self.newest[place];
        let ahead = id.wrapping_sub(*newest);
        if ahead != 0 && ahead.cast_signed() > 0 {
            *bits = bits.checked_shl(ahead).unwrap_or(0) | 1;
            *newest = id;
            return true;
        }
        let bit = 1_u64.checked_shl(newest.wrapping_sub(id)).unwrap_or(0);
        let first = bit != 0 && *bits & bit == 0;
        *bits |= bit;
        first
    }
}

/// A packet that waits for a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) packet: Handle,
    pub(super) destination: u32,
    pub(super) until: Instant,
    /// Number of nodes that have salvaged the packet with a new route.
    pub(super) salvaged: u8,
    /// True if this node made the packet.
    pub(super) own: bool,
}

/// Largest number of packets that wait at a node during searches.
const HELD: usize = 64;

/// The send buffer: packets that wait for a route.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) packets: VecDeque<Held>,
}

impl Buffer {
    /// Adds a packet. If there is no room, the oldest packet is dropped.
    pub(super) fn hold(&mut self, held: Held, cx: &mut Context) {
        if self.packets.len() == HELD
            && let Some(oldest) = self.packets.pop_front()
        {
            cx.out.actions.push(Action::Displace { packet: oldest.packet });
        }
        self.packets.push_back(held);
    }

    /// Drops packets that have waited for too long.
    pub(super) fn expire(&mut self, cx: &mut Context) {
        while let Some(&Held { packet, until, .. }) = self.packets.front()
            && until <= cx.now
        {
            self.packets.pop_front();
            cx.out.actions.push(Action::Discard { packet, why: LossCause::Buffer });
        }
    }

    /// Drops the oldest packet of another node for a destination. False if there is no such packet.
    pub(super) fn give_up_other(&mut self, destination: u32, cx: &mut Context) -> bool {
        let oldest = self.packets.iter().position(|held| held.destination == destination && !held.own);
        let Some(held) = oldest.and_then(|index| self.packets.remove(index)) else { return false };
        cx.out.actions.push(Action::Discard { packet: held.packet, why: LossCause::NoRoute });
        true
    }

    /// True if a packet of this node for a destination waits.
    pub(super) fn waits(&self, destination: u32) -> bool {
        self.packets.iter().any(|held| held.destination == destination && held.own)
    }
}

/// Number of gratuitous replies that are remembered.
const MOST_SHORTENED: usize = 64;
/// Shortest time between gratuitous replies to a node about the same neighbour.
const GRATUITOUS_REPLY_HOLDOFF: Duration = Duration::from_secs(1);

/// Recent gratuitous replies: who got each, which node was overheard, and until when the next reply waits.
#[derive(Debug, Default)]
pub(super) struct Shortened {
    recent: VecDeque<(u32, u32, Instant)>,
}

impl Shortened {
    /// Records a reply. False if the same node got one about the same neighbour a short time ago.
    pub(super) fn is_new(&mut self, told: u32, heard: u32, cx: &Context) -> bool {
        self.recent.retain(|&(.., until)| until > cx.now);
        if self.recent.len() == MOST_SHORTENED || self.recent.iter().any(|&(a, b, _)| (a, b) == (told, heard)) {
            return false;
        }
        self.recent.push_back((told, heard, cx.now + GRATUITOUS_REPLY_HOLDOFF));
        true
    }
}
