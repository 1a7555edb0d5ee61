//! Route discovery (RFC 3561): route requests (6.3), expanding ring search (6.4), and local repair (6.12).

use super::action::Context;
use super::message::{Message, Request};
use super::node::Aodv;
use super::search::{Search, Stage};
use super::settings::{LOCAL_ADD_TTL, TTL_INCREMENT};
use super::table::State;
use crate::config::{RepairBy, ReplyWait};
use units::{Duration, Instant};

/// Largest wait for a reply, `MAX_RREQ_TIMEOUT` of ns-2.
const LONGEST_MEASURED_WAIT: Duration = Duration::from_secs(10);

impl Aodv {
    /// Starts a search for a destination. The first ring is slightly larger than the last known distance (6.4).
    pub(super) fn search(&mut self, destination: u32, cx: &mut Context) {
        let ttl = self.first_ring(destination, cx);
        self.counts.searches += 1;
        self.begin(Search::new(destination, ttl, None, cx.now), cx);
    }

    fn first_ring(&mut self, destination: u32, cx: &Context) -> u8 {
        let last = self.table.entry(destination, cx.now).hops;
        let given = &cx.settings.given;
        cx.settings.ring(if last == 0 { given.ttl_start } else { last.saturating_add(TTL_INCREMENT) })
    }

    /// Starts a search for a way round a broken link. It reaches as far as the destination was, or half of the way back
    /// to the packet's origin if that is farther (6.12).
    pub(super) fn repair(&mut self, destination: u32, origin: u32, cx: &mut Context) {
        let back = self.table.find(origin).map_or(0, |route| route.hops);
        let route = self.table.entry(destination, cx.now);
        route.state = State::Repairing;
        let hops = route.hops;
        let given = &cx.settings.given;
        let ttl = match given.repair_by {
            RepairBy::OneRequest => hops.max(back / 2).saturating_add(LOCAL_ADD_TTL).min(given.net_diameter),
            RepairBy::WholeSearch => self.first_ring(destination, cx),
        };
        self.counts.repairs += 1;
        self.begin(Search::new(destination, ttl, Some(hops), cx.now), cx);
    }

    fn begin(&mut self, mut search: Search, cx: &mut Context) {
        self.request(&mut search, cx);
        self.searches.push(search);
    }

    /// Sends a request of this node (6.3) as soon as the rate limit allows.
    fn request(&mut self, search: &mut Search, cx: &mut Context) {
        let Context { now, settings, .. } = *cx;
        search.due = self.requests.next(now);
        if search.due > now {
            search.stage = Stage::HeldBack;
            return;
        }
        (search.stage, search.asked) = (Stage::Asked, now);
        self.requests.count(now);
        self.sequence = self.sequence.wrapping_add(1);
        self.request_id = self.request_id.wrapping_add(1);
        let given = &settings.given;
        if search.widens(given) && search.ttl == given.net_diameter {
            search.attempts = search.attempts.saturating_add(1);
        }
        search.due = now
            + match (given.reply_wait, search.attempts) {
                (ReplyWait::Measured, attempts) => {
                    let hop =
                        self.table.entry(search.destination, now).hop_times.mean().unwrap_or(given.node_traversal_time);
                    (hop * 2 * u64::from(search.ttl) * u64::from(attempts.max(1))).min(LONGEST_MEASURED_WAIT)
                }
                (ReplyWait::TraversalTime, 0) => settings.ring_traversal_time(search.ttl),
                // Binary exponential back-off (6.3).
                (ReplyWait::TraversalTime, attempts) => settings.net_traversal_time * (1 << (attempts - 1).min(16)),
            };
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

    /// Ends searches that have found a route, and sends the packets that waited.
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
                self.repair_ends(destination, true, cx);
            }
        }
    }

    /// Records the round-trip time per hop of a reply to a request of this node.
    pub(super) fn record_hop_time(&mut self, destination: u32, hops: u8, now: Instant) {
        if let Some(search) = self.searches.iter().find(|search| search.destination == destination && !search.holds()) {
            let time = now.since(search.asked) / u64::from(hops.max(1));
            self.table.entry(destination, now).hop_times.add(time);
        }
    }

    pub(super) fn check_searches(&mut self, cx: &mut Context) {
        let mut at = 0;
        while at < self.searches.len() {
            if self.searches[at].due > cx.now {
                at += 1;
                continue;
            }
            let mut search = self.searches.swap_remove(at);
            let asks = self.goes_on(&mut search, cx);
            if asks {
                self.request(&mut search, cx);
            }
            if asks || search.due > cx.now {
                self.searches.push(search);
                let last = self.searches.len() - 1;
                self.searches.swap(at, last);
                at += 1;
            }
        }
    }

    /// Handles a search without a reply: widens the ring, or gives up.
    fn goes_on(&mut self, search: &mut Search, cx: &mut Context) -> bool {
        let Context { now, settings, .. } = *cx;
        match search.stage {
            Stage::HeldBack => return true,
            Stage::Holds if self.buffer.holds(search.destination, now) => {
                // ns-2 keeps the TTL that the search had reached.
                (search.ttl, search.attempts) = (settings.given.net_diameter, 0);
                self.counts.searches += 1;
                return true;
            }
            Stage::Holds => return false,
            Stage::Asked => {}
        }
        let widest = search.ttl >= settings.given.net_diameter;
        if search.widens(&settings.given) && (!widest || search.attempts < settings.given.rreq_retries) {
            search.ttl = settings.ring(search.ttl.saturating_add(TTL_INCREMENT));
            return true;
        }
        self.counts.searches_failed += 1;
        self.buffer.release(search.destination, None, cx);
        if search.repairs.is_some() {
            self.table.entry(search.destination, now).state = State::Invalid;
            self.repair_ends(search.destination, false, cx);
        } else if !settings.given.search_hold.is_zero() {
            (search.stage, search.due) = (Stage::Holds, now + settings.given.search_hold);
        }
        false
    }
}
