//! An AODV node: its routes, and its searches for routes (section numbers: RFC 3561).

use super::action::{ALL, Action, Context, Ends};
use super::links::Links;
use super::message::Message;
use super::search::{Buffer, Search};
use super::settings::Settings;
use super::table::Table;
use crate::engine::{Handle, Stream};
use crate::net::LossCause;
use crate::results::Routing as Counts;
use std::collections::VecDeque;
use units::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Aodv {
    pub(super) address: u32,
    /// The node's own sequence number (6.1).
    pub(super) sequence: u32,
    pub(super) request_id: u32,
    pub(crate) table: Table,
    pub(super) searches: Vec<Search>,
    pub(super) buffer: Buffer,
    pub(super) requests: RateLimit,
    pub(super) errors: RateLimit,
    pub(super) links: Links,
    pub(super) random: Stream,
    /// Time at which to call [`timer`](Self::timer); `NEVER` for no call. The host reads it after every call.
    pub(crate) deadline: Instant,
    pub(crate) counts: Counts,
}

impl Aodv {
    /// Starts a node without routes. `random` draws the delays of its broadcasts.
    pub(crate) fn new(address: u32, settings: &Settings, mut random: Stream) -> Self {
        let links = Links::new(settings, &mut random);
        let mut node = Self {
            address,
            sequence: 0,
            request_id: 0,
            table: Table::default(),
            searches: Vec::new(),
            buffer: Buffer::default(),
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

    /// Returns the next hop of a data packet if a route is known. Its use keeps the route and its reverse alive (6.2).
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

    fn keep(&mut self, node: u32, now: Instant, until: Instant) {
        if let Some(route) = self.table.valid(node, now) {
            route.extend(until);
        }
    }

    /// Handles a data packet that has no [`route`](Self::route). At its origin, and while its route is being repaired,
    /// it waits for a route. Elsewhere it is lost, and its sender is told (6.11, case ii).
    pub(crate) fn unroutable(&mut self, packet: Handle, ends: &Ends, cx: &mut Context) {
        // During the hold after a failed search, when no request is sent, only this node's own packets wait.
        let waits = |search: &Search| ends.previous.is_none() || !search.holds();
        let sought = self.searches.iter().any(|search| search.destination == ends.destination && waits(search));
        match ends.previous {
            Some(previous) if !sought => {
                cx.out.actions.push(Action::Discard { packet, why: LossCause::NoRoute });
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

    pub(crate) fn timer(&mut self, cx: &mut Context) {
        self.check_searches(cx);
        self.check_links(cx);
        self.rearm();
    }

    /// Returns the number of packets that wait at the node.
    pub(crate) fn held(&self) -> usize {
        self.buffer.len()
    }

    pub(super) fn rearm(&mut self) {
        let searches = self.searches.iter().map(|search| search.due).min().unwrap_or(Instant::NEVER);
        self.deadline = searches.min(self.links.deadline());
    }

    /// Sends a message to all neighbours, after a random delay.
    pub(super) fn broadcast(&mut self, message: Message, cx: &mut Context) {
        let after = Duration::from_nanos(self.random.up_to(cx.settings.jitter.as_nanos()));
        self.links.broadcast = cx.now;
        cx.out.actions.push(Action::Send { message, to: ALL, after });
    }
}

/// Largest number of messages in any second (`RREQ_RATELIMIT`, `RERR_RATELIMIT`).
#[derive(Debug)]
pub(super) struct RateLimit {
    most: usize,
    last: VecDeque<Instant>,
}

impl RateLimit {
    pub(super) fn new(most: u8) -> Self {
        let most = usize::from(most);
        Self { most, last: VecDeque::with_capacity(most) }
    }

    /// Returns the earliest time at which the next message may be sent.
    pub(super) fn next(&self, now: Instant) -> Instant {
        match self.last.front() {
            Some(&first) if self.last.len() == self.most => now.max(first + Duration::from_secs(1)),
            _ => now,
        }
    }

    pub(super) fn count(&mut self, now: Instant) {
        if self.last.len() == self.most {
            self.last.pop_front();
        }
        self.last.push_back(now);
    }
}
