//! The search for a route: route requests (6.3), expanding ring search (6.4), and the packets that wait for its end.

use super::message::{Message, Request};
use super::table::State;
use super::{Action, Aodv, Context, Settings};
use crate::engine::Handle;
use crate::net::Loss;
use std::collections::VecDeque;
use units::Instant;

/// A destination that is being looked for.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) destination: u32,
    ttl: u8,
    /// Requests made with the largest TTL.
    attempts: u8,
    /// When the next request is made, or the search given up.
    pub(super) due: Instant,
    /// The rate limit holds back the request.
    held_back: bool,
    /// Hops of the route that is being repaired.
    pub(super) repairs: Option<u8>,
}

/// Packets that wait for a route.
#[derive(Debug)]
pub(super) struct Buffer {
    packets: VecDeque<Held>,
    limit: usize,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Handle,
    destination: u32,
    until: Instant,
}

impl Buffer {
    pub(super) fn new(settings: &Settings) -> Self {
        let limit = usize::try_from(settings.given.buffer_packets).expect("32 bits are a size");
        Self { packets: VecDeque::new(), limit }
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Takes a packet; the oldest makes way.
    pub(super) fn hold(&mut self, packet: Handle, destination: u32, cx: &mut Context) {
        if self.packets.len() == self.limit
            && let Some(oldest) = self.packets.pop_front()
        {
            cx.out.actions.push(Action::Discard { packet: oldest.packet, why: Loss::Buffer });
        }
        self.packets.push_back(Held { packet, destination, until: cx.now + cx.settings.given.buffer_time });
    }

    /// All packets for a destination leave: to the next hop, or for good.
    fn release(&mut self, destination: u32, next: Option<u32>, cx: &mut Context) {
        let now = cx.now;
        self.packets.retain(|held| {
            if held.destination != destination {
                return true;
            }
            let packet = held.packet;
            cx.out.actions.push(match next {
                Some(_) if held.until <= now => Action::Discard { packet, why: Loss::Buffer },
                Some(to) => Action::Forward { packet, to },
                None => Action::Discard { packet, why: Loss::NoRoute },
            });
            false
        });
    }
}

impl Aodv {
    /// Starts to look for a destination. The first ring is a little larger than the last distance known (6.4).
    pub(super) fn search(&mut self, destination: u32, cx: &mut Context) {
        let last = self.table.entry(destination, cx.now).hops;
        let given = &cx.settings.given;
        let ttl = if last == 0 { given.ttl_start } else { last.saturating_add(given.ttl_increment) };
        let ttl = cx.settings.ring(ttl);
        self.counts.searches += 1;
        self.begin(Search { destination, ttl, attempts: 0, due: cx.now, held_back: false, repairs: None }, cx);
    }

    /// Looks for a way round a broken link: no farther than the destination was, or half-way back to the packet's
    /// origin (6.12).
    pub(super) fn repair(&mut self, destination: u32, origin: u32, cx: &mut Context) {
        let back = self.table.find(origin).map_or(0, |route| route.hops);
        let route = self.table.entry(destination, cx.now);
        route.state = State::Repairing;
        let hops = route.hops;
        let ttl =
            hops.max(back / 2).saturating_add(cx.settings.given.local_add_ttl).min(cx.settings.given.net_diameter);
        self.counts.repairs += 1;
        self.begin(Search { destination, ttl, attempts: 0, due: cx.now, held_back: false, repairs: Some(hops) }, cx);
    }

    fn begin(&mut self, mut search: Search, cx: &mut Context) {
        self.request(&mut search, cx);
        self.searches.push(search);
    }

    /// Originates a request (6.3), as soon as the rate limit allows.
    fn request(&mut self, search: &mut Search, cx: &mut Context) {
        let Context { now, settings, .. } = *cx;
        search.due = self.requests.next(now);
        search.held_back = search.due > now;
        if search.held_back {
            return;
        }
        self.requests.note(now);
        self.sequence = self.sequence.wrapping_add(1);
        self.request_id = self.request_id.wrapping_add(1);
        let given = &settings.given;
        let wait = if search.repairs.is_none() && search.ttl == given.net_diameter {
            search.attempts = search.attempts.saturating_add(1);
            // Binary exponential back-off (6.3).
            settings.net_traversal_time * (1 << (search.attempts - 1).min(16))
        } else {
            settings.ring_traversal_time(search.ttl)
        };
        search.due = now + wait;
        let request = Request {
            ttl: search.ttl,
            hops: 0,
            id: self.request_id,
            destination: search.destination,
            destination_sequence: self.table.entry(search.destination, now).sequence,
            originator: self.address,
            originator_sequence: self.sequence,
            gratuitous: given.gratuitous_rrep,
            destination_only: given.destination_only,
        };
        self.counts.requests_sent += 1;
        self.broadcast(Message::Request(request), cx);
    }

    /// Routes may have been found: packets that waited for them leave.
    pub(super) fn end_searches(&mut self, cx: &mut Context) {
        let mut at = 0;
        while at < self.searches.len() {
            let Search { destination, repairs, .. } = self.searches[at];
            let Some(route) = self.table.valid(destination, cx.now) else {
                at += 1;
                continue;
            };
            let (next, hops) = (route.next, route.hops);
            self.searches.swap_remove(at);
            self.buffer.release(destination, Some(next), cx);
            if repairs.is_some_and(|before| hops > before) {
                self.tell_of_detour(destination, cx);
            }
        }
    }

    /// Goes on with the searches whose time has come.
    pub(super) fn check_searches(&mut self, cx: &mut Context) {
        let mut at = 0;
        while at < self.searches.len() {
            if self.searches[at].due > cx.now {
                at += 1;
                continue;
            }
            let mut search = self.searches.swap_remove(at);
            if self.goes_on(&mut search, cx) {
                self.request(&mut search, cx);
                self.searches.push(search);
                let last = self.searches.len() - 1;
                self.searches.swap(at, last);
                at += 1;
            }
        }
    }

    /// No reply has come in time. Widens the ring, or gives up.
    fn goes_on(&mut self, search: &mut Search, cx: &mut Context) -> bool {
        let Context { now, settings, .. } = *cx;
        if search.held_back {
            return true;
        }
        let widest = search.ttl >= settings.given.net_diameter;
        if search.repairs.is_none() && (!widest || search.attempts < settings.given.rreq_retries) {
            search.ttl = settings.ring(search.ttl.saturating_add(settings.given.ttl_increment));
            return true;
        }
        self.counts.searches_failed += 1;
        self.buffer.release(search.destination, None, cx);
        if search.repairs.is_some() {
            self.table.entry(search.destination, now).state = State::Invalid;
            self.tell_unreachable(search.destination, cx);
        }
        false
    }
}
