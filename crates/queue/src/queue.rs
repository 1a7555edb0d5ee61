//! A queue of any discipline, as its host sees it.

use crate::account::{Account, Waiting};
use crate::fifo::{End, Fifo};
use crate::level::Level;
use crate::measure::Totals;
use crate::{Packet, Purge};
use control::{Count, Interval, Limit, Measures};
use units::{Duration, Instant};

/// The most packets that a queue has room for, whatever its limit.
pub const MOST_PACKETS: u32 = 1_000_000;

/// How a plain queue behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoParams {
    /// What makes way when a packet comes and the limit is reached: the packets at the head, or the one that comes.
    pub overflow: End,
    /// Which packets go when the limit shrinks below what waits.
    pub purge: Purge,
    /// The hard limit: never exceeded, and the limit until [`Queue::set_limit`]. Its room is reserved at once; for a
    /// limit in bytes, room for packets of 40 B (an IP and a TCP header) on average. At most [`MOST_PACKETS`].
    pub limit: Limit,
}

/// A packet that leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet.
    pub packet: P,
    /// Its time in the queue; to be handed back to [`Queue::completed`].
    pub waited: Duration,
}

/// A queue of packets. Calls must come in order of time.
///
/// The host enqueues and takes, reports what the MAC made of each departure ([`completed`](Self::completed)), and at
/// every interval of its controller takes the measurements ([`take_interval`](Self::take_interval)) and applies the
/// answer ([`set_limit`](Self::set_limit)). Every packet is accounted for after each call: it waits, or was handed out,
/// or given to the `dropped` of a call.
#[derive(Clone, Debug)]
pub struct Queue<P> {
    account: Account,
    fifo: Fifo<P>,
}

impl<P: Packet> Queue<P> {
    /// An empty plain queue at the start of the run.
    pub fn fifo(params: FifoParams) -> Self {
        let account = Account::new(params.limit);
        Self { fifo: Fifo::new(account.room(), params.overflow, params.purge), account }
    }

    /// The same queue, at the start of the run, that measures as its controller asks for.
    #[must_use]
    pub fn measuring(mut self, measures: Measures) -> Self {
        self.account.measure(measures);
        self
    }

    /// A packet comes. Whatever does not fit goes to `dropped`: packets that wait (only if that makes room for the
    /// arriving one), or the arriving packet itself.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        self.account.comes(packet.len().count());
        self.fifo.enqueue(&mut self.account, now, packet, dropped);
    }

    /// A packet comes that goes before all that wait. If there is no room, those at the tail make way.
    pub fn enqueue_first(&mut self, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        self.account.comes(packet.len().count());
        self.fifo.enqueue_first(&mut self.account, now, packet, dropped);
    }

    /// The packet that would be yielded after `index` others; zero for what [`take`](Self::take) would yield. A
    /// discipline that drops at the head decides about the packets up to there now: what was seen will be yielded.
    #[inline]
    pub fn peek(&mut self, _now: Instant, index: usize, _dropped: &mut impl FnMut(P)) -> Option<&P> {
        self.fifo.peek(index)
    }

    /// The MAC asks for the next packet, or for that after `index` others because it can share a frame with one before
    /// it. Never none from a queue that holds packets if `index` is zero.
    #[inline]
    pub fn take(&mut self, now: Instant, index: usize, _dropped: &mut impl FnMut(P)) -> Option<Departure<P>> {
        let Waiting { packet, since } = self.fifo.remove(index)?;
        Some(Departure { packet, waited: self.account.leaves(now, packet.len().count(), since) })
    }

    /// The MAC is done with a packet that left after it `waited`: its ACK came or it failed for good, `service` after
    /// it left.
    #[inline]
    pub fn completed(&mut self, now: Instant, waited: Duration, service: Duration) {
        self.account.completed(now, waited, service);
    }

    /// Moves the limit, never above the hard one, and discards at once what no longer fits, unless the queue's
    /// [`Purge`] says otherwise.
    pub fn set_limit(&mut self, now: Instant, limit: Limit, dropped: &mut impl FnMut(P)) {
        self.account.set_limit(now, limit);
        self.fifo.purge(&mut self.account, dropped);
        self.account.settle(now);
    }

    /// Takes out what is `unwanted`, wherever it waits, and discards it.
    pub fn discard_where(&mut self, now: Instant, unwanted: &mut impl FnMut(&P) -> bool, dropped: &mut impl FnMut(P)) {
        self.fifo.discard_where(&mut self.account, unwanted, dropped);
        self.account.settle(now);
    }

    /// The limit that holds now.
    pub fn limit(&self) -> Limit {
        self.account.limit()
    }

    /// What waits.
    #[inline]
    pub fn backlog(&self) -> Count {
        self.account.backlog()
    }

    /// True when nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.account.is_empty()
    }

    /// What went through since the start or the last [`restart_statistics`](Self::restart_statistics).
    pub fn totals(&self) -> Totals {
        self.account.totals()
    }

    /// What was measured since the last call, for the controller. A departure gap that reaches back into the interval
    /// before counts where it ends.
    pub fn take_interval(&mut self, now: Instant) -> Interval {
        self.account.take_interval(now)
    }

    /// How many packets waited, over time since the start or the last
    /// [`restart_statistics`](Self::restart_statistics).
    pub fn backlog_level(&self, now: Instant) -> Level {
        self.account.backlog_level(now)
    }

    /// The limit over the same time, in packets, or in bytes where the hard limit is in bytes.
    pub fn limit_level(&self, now: Instant) -> Level {
        self.account.limit_level(now)
    }

    /// Starts totals and levels anew: for the end of a warm-up. What waits counts as arrived now, so that the account
    /// stays balanced. The controller's interval goes on.
    pub fn restart_statistics(&mut self, now: Instant) {
        self.account.restart_statistics(now);
    }
}
