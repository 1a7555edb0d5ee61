//! Ad hoc on-demand distance vector routing (RFC 3561) as a state machine, one a node: it is told what happens and says
//! what to send. It knows no queue, no MAC and no radio. `docs/routing.md` has what is implemented, by section, and the
//! choices that the RFC leaves.

mod links;
mod message;
mod receive;
mod search;
mod settings;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use message::{Lists, Message};
pub(crate) use settings::Settings;

use crate::engine::{Handle, Stream};
use crate::net::Loss;
use crate::results::Routing as Counts;
use links::Links;
use search::{Buffer, Search};
use std::collections::VecDeque;
use table::Table;
use units::{Duration, Instant};

/// The receiver of a message for all neighbours.
pub(crate) const ALL: u32 = crate::mac::BROADCAST;

/// Something that a node wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send a message after a delay, to a neighbour or to [`ALL`].
    Send { message: Message, to: u32, after: Duration },
    /// Send a packet that was handed over to a neighbour.
    Forward { packet: Handle, to: u32 },
    /// Discard a packet that was handed over.
    Discard { packet: Handle, why: Loss },
}

/// What nodes want done, in order. The host carries it out after each call and empties it.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) actions: Vec<Action>,
    pub(crate) lists: Lists,
    /// Scratch space for route errors.
    unreachable: Vec<message::Unreachable>,
    precursors: Vec<u32>,
}

/// What comes with every call: the time, the network's parameters, and where to put what shall be done.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) settings: &'a Settings,
    pub(crate) out: &'a mut Output,
}

/// Where a data packet comes from and where it is to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) origin: u32,
    pub(crate) destination: u32,
    /// The neighbour that sent it; none at its origin.
    pub(crate) previous: Option<u32>,
    /// Hops that it has come.
    pub(crate) travelled: u8,
}

/// At most so many in any second (`RREQ_RATELIMIT`, `RERR_RATELIMIT`).
#[derive(Debug)]
struct RateLimit {
    most: usize,
    last: VecDeque<Instant>,
}

impl RateLimit {
    fn new(most: u8) -> Self {
        let most = usize::from(most);
        Self { most, last: VecDeque::with_capacity(most) }
    }

    /// When the next may be sent, at the earliest.
    fn next(&self, now: Instant) -> Instant {
        match self.last.front() {
            Some(&first) if self.last.len() == self.most => now.max(first + Duration::from_secs(1)),
            _ => now,
        }
    }

    fn note(&mut self, now: Instant) {
        if self.last.len() == self.most {
            self.last.pop_front();
        }
        self.last.push_back(now);
    }
}

/// A node.
#[derive(Debug)]
pub(crate) struct Aodv {
    address: u32,
    /// Its own sequence number (6.1).
    sequence: u32,
    request_id: u32,
    pub(crate) table: Table,
    searches: Vec<Search>,
    buffer: Buffer,
    requests: RateLimit,
    errors: RateLimit,
    links: Links,
    random: Stream,
    /// When [`timer`](Self::timer) is to be called; `NEVER` for not at all. The host reads it after every call.
    pub(crate) deadline: Instant,
    pub(crate) counts: Counts,
}

impl Aodv {
    /// A node that knows nobody. `random` draws the delays of its broadcasts.
    pub(crate) fn new(address: u32, settings: &Settings, mut random: Stream) -> Self {
        let links = Links::new(settings, &mut random);
        let mut node = Self {
            address,
            sequence: 0,
            request_id: 0,
            table: Table::default(),
            searches: Vec::new(),
            buffer: Buffer::new(settings),
            requests: RateLimit::new(settings.given.rreq_ratelimit),
            errors: RateLimit::new(settings.given.rerr_ratelimit),
            links,
            random,
            deadline: Instant::NEVER,
            counts: Counts::default(),
        };
        node.rearm();
        node
    }

    /// The next hop of a data packet, if a route is known; using a route keeps it and the way back alive (6.2).
    #[inline]
    pub(crate) fn route(&mut self, ends: &Ends, now: Instant, settings: &Settings) -> Option<u32> {
        let until = now + settings.given.active_route_timeout;
        let route = self.table.valid(ends.destination, now)?;
        route.extend(until);
        let next = route.next;
        if next != ends.destination {
            self.keep(next, now, until);
        }
        if let Some(previous) = ends.previous {
            self.keep(ends.origin, now, until);
            if previous != ends.origin {
                self.keep(previous, now, until);
            }
        }
        Some(next)
    }

    #[inline]
    fn keep(&mut self, node: u32, now: Instant, until: Instant) {
        if let Some(route) = self.table.valid(node, now) {
            route.extend(until);
        }
    }

    /// A data packet for which [`route`](Self::route) knows no next hop. At its origin, and where the route is being
    /// repaired, it waits for one; elsewhere it is lost and those who sent it here are told (6.11, case ii).
    pub(crate) fn unroutable(&mut self, packet: Handle, ends: &Ends, cx: &mut Context) {
        // Where nothing is asked for the time being, only packets of its own wait.
        let waits = |search: &Search| ends.previous.is_none() || !search.holds();
        let sought = self.searches.iter().any(|search| search.destination == ends.destination && waits(search));
        match ends.previous {
            Some(previous) if !sought => {
                cx.out.actions.push(Action::Discard { packet, why: Loss::NoRoute });
                self.no_route(ends.destination, previous, cx);
            }
            _ => {
                self.buffer.hold(packet, ends.destination, cx);
                if !sought {
                    self.search(ends.destination, cx);
                }
            }
        }
        self.rearm();
    }

    /// The deadline has come.
    pub(crate) fn timer(&mut self, cx: &mut Context) {
        self.check_searches(cx);
        self.check_links(cx);
        self.rearm();
    }

    /// Packets that it holds.
    pub(crate) fn held(&self) -> usize {
        self.buffer.len()
    }

    fn rearm(&mut self) {
        let searches = self.searches.iter().map(|search| search.due).min().unwrap_or(Instant::NEVER);
        self.deadline = searches.min(self.links.deadline());
    }

    /// Sends a message to all neighbours, after a random delay.
    fn broadcast(&mut self, message: Message, cx: &mut Context) {
        let after = Duration::from_nanos(self.random.up_to(cx.settings.given.jitter.as_nanos()));
        self.links.broadcast = cx.now;
        cx.out.actions.push(Action::Send { message, to: ALL, after });
    }
}
