//! A DSR node: its routes, its searches, and the packets that wait for routes.

use super::action::{Action, Context};
use super::cache::Cache;
use super::header::{Broken, Header, Message};
use super::search::{Buffer, Held, Search, Seen, Shortened};
use super::settings::Settings;
use crate::engine::{Handle, Stream};
use crate::results::Routing as Counts;
use units::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Dsr {
    pub(super) address: u32,
    pub(super) request_id: u32,
    pub(super) cache: Cache,
    pub(super) searches: Vec<Search>,
    pub(super) seen: Seen,
    pub(super) buffer: Buffer,
    pub(super) shortened: Shortened,
    /// Time of the next buffer check, with `buffer_check`.
    next_check: Instant,
    /// True if the cache has learnt a route since the last buffer check.
    pub(super) learnt: bool,
    /// The broken link that was last reported to the node, with the time of the report.
    pub(super) told: Option<(Broken, Instant)>,
    pub(super) random: Stream,
    /// Time at which to call [`timer`](Self::timer); `NEVER` for no call. The host reads it after every call.
    pub(crate) deadline: Instant,
    pub(crate) counts: Counts,
}

impl Dsr {
    /// Starts a node without routes. `random` draws the delays of its messages.
    pub(crate) fn new(address: u32, given: &Settings, random: Stream) -> Self {
        Self {
            address,
            request_id: 0,
            cache: Cache::new(address, given),
            searches: Vec::new(),
            seen: Seen::default(),
            buffer: Buffer::default(),
            shortened: Shortened::default(),
            next_check: Instant::ZERO,
            learnt: false,
            told: None,
            random,
            deadline: Instant::NEVER,
            counts: Counts::default(),
        }
    }

    /// Sends a packet of this node, or keeps it until a route is known.
    pub(crate) fn originate(&mut self, packet: Handle, destination: u32, cx: &mut Context) {
        if let Some(route) = self.cache.find(destination, true, cx) {
            cx.out.actions.push(Action::Forward { packet, header: Header::new(route), after: Duration::ZERO });
        } else {
            self.hold(packet, destination, 0, true, cx);
        }
        self.rearm(cx);
    }

    /// Takes a packet for another node. Returns its header for the next hop; `None` if its route has no next hop.
    pub(crate) fn forward(&mut self, mut header: Header, cx: &mut Context) -> Option<Header> {
        header.at = header.at.saturating_add(1);
        if header.sender() != Some(self.address) {
            return None;
        }
        header.next()?;
        self.learn_from(&header, true, cx);
        self.settle(cx);
        Some(header)
    }

    pub(super) fn hold(&mut self, packet: Handle, destination: u32, salvaged: u8, own: bool, cx: &mut Context) {
        let until = cx.now + cx.given.buffer_time;
        self.buffer.hold(Held { packet, destination, until, salvaged, own }, cx);
        self.search(destination, own, cx);
    }

    pub(crate) fn timer(&mut self, cx: &mut Context) {
        self.buffer.expire(cx);
        let period = cx.given.buffer_check;
        if !period.is_zero() {
            self.next_check = cx.now + period + self.up_to(period);
            self.release(Duration::ZERO, cx);
        }
        self.check_searches(cx);
        self.rearm(cx);
    }

    /// Returns the number of packets in the buffer.
    pub(crate) fn held(&self) -> usize {
        self.buffer.packets.len()
    }

    pub(super) fn rearm(&mut self, cx: &Context) {
        let searches = self.searches.iter().map(|search| search.due).min().unwrap_or(Instant::NEVER);
        let buffer = self.buffer.packets.front().map_or(Instant::NEVER, |held| held.until);
        self.deadline = searches.min(buffer);
        let period = cx.given.buffer_check;
        if self.deadline == Instant::NEVER || period.is_zero() {
            return;
        }
        // ns-2's timer runs all the time, so only the rest of its period is left.
        if self.next_check <= cx.now {
            let whole = period + self.up_to(period);
            self.next_check = cx.now + Duration::from_nanos(1) + self.up_to(whole);
        }
        self.deadline = self.next_check;
    }

    /// Draws a time from zero to `most`.
    fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_nanos(self.random.up_to(most.as_nanos()))
    }

    /// Sends a message after a random delay of at most `jitter`.
    pub(super) fn send(&mut self, message: Message, jitter: Duration, cx: &mut Context) {
        let after = self.up_to(jitter);
        cx.out.actions.push(Action::Send { message, after });
    }
}
