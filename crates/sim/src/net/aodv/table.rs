//! The route table (RFC 3561, sections 2 and 6.2).
//!
//! Entries are never deleted, so that a destination's sequence number is never forgotten. Deletion after
//! `DELETE_PERIOD` is allowed, not required (6.11). It can make loops if a route error was lost.

use units::{Duration, Instant};

/// True if sequence number `a` is newer than `b`. The numbers wrap around (6.1).
pub(crate) fn newer(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

/// Returns the newer of two sequence numbers; either may be unknown.
pub(super) fn newest(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if newer(b, a) { b } else { a }),
        (one, other) => one.or(other),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// Packets use the route until it expires.
    Valid,
    /// The route was never known, or it has expired or broken.
    #[default]
    Invalid,
    /// The route is broken and in local repair (6.12).
    Repairing,
}

/// What a node knows of another node and of the route to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Route {
    pub(crate) destination: u32,
    pub(crate) next: u32,
    /// Number of hops to the destination, or the last known number of an invalid route. Zero: never known.
    pub(crate) hops: u8,
    pub(crate) state: State,
    /// Largest sequence number that was heard, or its successor after the route broke.
    pub(crate) sequence: Option<u32>,
    /// True if the sequence number says how fresh the route is; false if hearing the neighbour made the route.
    pub(crate) known: bool,
    pub(crate) expires: Instant,
    /// Neighbours that are told when the route breaks.
    pub(crate) precursors: Vec<u32>,
    /// Destinations that this node requested, whose requests the neighbour passed on without a reply.
    pub(super) asked: Vec<u32>,
    /// Time until which requests of this neighbour are ignored (6.8).
    pub(crate) blacklisted: Instant,
    /// Requests that the node originated.
    pub(crate) seen: Seen,
    /// Times per hop in the searches for this node.
    pub(super) hop_times: HopTimes,
}

/// Times per hop in the last searches for a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HopTimes {
    last: [Option<Duration>; 3],
}

impl HopTimes {
    pub(super) fn add(&mut self, time: Duration) {
        self.last = [Some(time), self.last[0], self.last[1]];
    }

    /// Returns the mean of these times; `None` if there is none yet.
    pub(super) fn mean(&self) -> Option<Duration> {
        let known = self.last.iter().flatten().count() as u64;
        let sum = self.last.iter().flatten().fold(Duration::ZERO, |sum, &time| sum + time);
        (known > 0).then(|| sum / known)
    }
}

impl Route {
    fn new(destination: u32) -> Self {
        Self { destination, next: destination, ..Self::default() }
    }

    /// Extends the lifetime of the route to at least this time.
    pub(super) fn extend(&mut self, until: Instant) {
        self.expires = self.expires.max(until);
    }

    /// Invalidates the route, with the sequence number of a route error or because this node has detected the break
    /// (6.11). A valid number increases by one, so that no older route through this node can count as newer. It
    /// increases only once: an invalid route keeps its number, so that it is never more than one ahead of the
    /// destination's own. The destination's next request has a number higher by one (6.1) and is thus always new
    /// enough. An invalid number does not increase: otherwise a neighbour that comes and goes would get numbers that it
    /// never had.
    pub(super) fn invalidate(&mut self, reported: Option<u32>) {
        let grows = self.known && self.state == State::Valid;
        self.state = State::Invalid;
        self.sequence = match (self.sequence, reported) {
            (Some(own), Some(reported)) if newer(reported, own) => Some(reported),
            (Some(own), _) if grows => Some(own.wrapping_add(1)),
            (Some(own), _) => Some(own),
            (None, reported) => reported,
        };
    }

    /// Forgets the destination's number. If the route was valid, other nodes may have routes through this one.
    fn forget_number(&mut self) {
        if self.known && self.state == State::Valid {
            self.sequence = self.sequence.map(|own| own.wrapping_add(1));
        }
        self.known = false;
    }

    /// Records that a request of this node was passed on and has no reply yet.
    pub(super) fn asks_for(&mut self, destination: u32) {
        if !self.asked.contains(&destination) {
            self.asked.push(destination);
        }
    }

    pub(super) fn add_precursor(&mut self, neighbour: u32) {
        if !self.precursors.contains(&neighbour) {
            self.precursors.push(neighbour);
        }
    }
}

/// Requests that were seen from a node, which numbers them consecutively. The newest number and a bit for each of the
/// 64 numbers before it suffice: a node makes fewer requests in `PATH_DISCOVERY_TIME`. Older requests count as seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    newest: u32,
    /// Bit `k`: `newest - k` was seen.
    bits: u64,
    /// Time at which all these requests are forgotten.
    until: Option<Instant>,
}

impl Seen {
    /// Records a request. True if it is seen for the first time.
    pub(super) fn is_first(&mut self, id: u32, now: Instant, lasts: Duration) -> bool {
        if self.until.is_none_or(|until| until <= now) {
            *self = Self { newest: id, bits: 1, until: Some(now + lasts) };
            return true;
        }
        let first = if newer(id, self.newest) {
            let ahead = id.wrapping_sub(self.newest);
            self.bits = self.bits.checked_shl(ahead).unwrap_or(0) | 1;
            self.newest = id;
            true
        } else {
            let bit = 1_u64.checked_shl(self.newest.wrapping_sub(id)).unwrap_or(0);
            let first = bit != 0 && self.bits & bit == 0;
            self.bits |= bit;
            first
        };
        if first {
            self.until = Some(now + lasts);
        }
        first
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) destination: u32,
    pub(super) sequence: u32,
    pub(super) hops: u8,
    pub(super) next: u32,
    /// Lifetime of the route, unless a longer lifetime is known.
    pub(super) until: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Destinations, sorted, with their indices in `routes`.
    index: Vec<(u32, u32)>,
    /// Entries in the order of their first use.
    routes: Vec<Route>,
}

impl Table {
    /// Returns the entry of a node in any state, if there is one; see [`valid`](Self::valid).
    pub(crate) fn find(&self, node: u32) -> Option<&Route> {
        self.position(node).map(|at| &self.routes[at])
    }

    pub(super) fn routes(&mut self) -> &mut [Route] {
        &mut self.routes
    }

    /// Returns the entry of a node, created if there is none. An expired route becomes invalid.
    pub(super) fn entry(&mut self, node: u32, now: Instant) -> &mut Route {
        let at = match self.index.binary_search_by_key(&node, |&(destination, _)| destination) {
            Ok(found) => self.index[found].1,
            Err(place) => {
                let at = u32::try_from(self.routes.len()).expect("fewer entries than nodes");
                self.index.insert(place, (node, at));
                self.routes.push(Route::new(node));
                at
            }
        };
        let route = &mut self.routes[at as usize];
        expire(route, now);
        route
    }

    pub(super) fn valid(&mut self, node: u32, now: Instant) -> Option<&mut Route> {
        let at = self.position(node)?;
        let route = &mut self.routes[at];
        expire(route, now);
        (route.state == State::Valid).then_some(route)
    }

    /// Records that a neighbour was heard, so that there is a link to it. Its sequence number is unknown (6.2).
    pub(super) fn learn_neighbour(&mut self, neighbour: u32, now: Instant, lifetime: Duration) {
        let route = self.entry(neighbour, now);
        if route.state != State::Valid || route.hops != 1 {
            route.forget_number();
            (route.state, route.next, route.hops) = (State::Valid, neighbour, 1);
            route.expires = now;
        }
        route.extend(now + lifetime);
    }

    /// Takes an offered route if it is newer than the known one. An equally new one is taken if it is shorter, or if
    /// the known route is invalid (6.2). Returns the entry if it was taken.
    pub(super) fn learn(&mut self, offer: Offer, now: Instant) -> Option<&mut Route> {
        let route = self.entry(offer.destination, now);
        let better = match route.sequence {
            None => true,
            Some(own) if own == offer.sequence => {
                let active = route.state == State::Valid;
                let better = !active || offer.hops < route.hops || (!route.known && offer.hops == route.hops);
                // The destination has reached this number. The next receivers of the message will take it as the number
                // of this node's route, so it must increase when the route breaks.
                route.known |= active;
                better
            }
            Some(own) => newer(offer.sequence, own),
        };
        if !better {
            return None;
        }
        if route.state != State::Valid {
            route.expires = offer.until;
        }
        route.extend(offer.until);
        (route.state, route.next, route.hops) = (State::Valid, offer.next, offer.hops);
        (route.sequence, route.known) = (Some(offer.sequence), true);
        Some(route)
    }

    fn position(&self, node: u32) -> Option<usize> {
        let found = self.index.binary_search_by_key(&node, |&(destination, _)| destination).ok()?;
        Some(self.index[found].1 as usize)
    }
}

/// Invalidates a route that was not used for too long (6.2).
fn expire(route: &mut Route, now: Instant) {
    if route.state == State::Valid && route.expires <= now {
        route.invalidate(None);
    }
}
