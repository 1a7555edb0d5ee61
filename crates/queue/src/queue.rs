//! A queue of any discipline, as its host sees it.

use crate::account::{Account, Waiting};
use crate::discipline::Setup;
use crate::disciplines::{AnyDiscipline, End, Fifo, fq_codel};
use crate::level::Level;
use crate::measure::Totals;
use crate::packet::Packet;
use crate::purge::Purge;
use crate::settings::Settings;
use control::{Count, Interval, Invalid, Limit, Measures};
use units::{Bytes, Duration, Instant};

/// Behaviour of a plain queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoParams {
    /// Packets dropped when a packet arrives at a full queue: those at the head, or the arriving one.
    pub overflow: End,
    /// Packets discarded when the limit shrinks below the backlog.
    pub purge: Purge,
    /// The hard limit: never exceeded, and the limit until [`Queue::set_limit`]. Its room is reserved at once; for a
    /// limit in bytes, room for packets of 40 B (an IP and a TCP header) on average. At most
    /// [`MOST_PACKETS`](crate::MOST_PACKETS).
    pub limit: Limit,
}

/// A packet that leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet that left.
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
    packets: AnyDiscipline<P>,
}

impl<P: Packet> Queue<P> {
    /// An empty plain queue at the start of the run.
    pub fn fifo(params: FifoParams) -> Self {
        let account = Account::new(params.limit);
        let fifo = Fifo::new(account.room(), params.overflow, Some(params.purge));
        Self { account, packets: AnyDiscipline::Fifo(fifo) }
    }

    /// The same queue, at the start of the run, that measures as its controller asks for.
    #[must_use]
    pub fn measuring(mut self, measures: Measures) -> Self {
        self.account.measure(measures);
        self
    }

    /// Makes the same queue at the start of the run with interval measurements off until [`watch`](Self::watch).
    #[must_use]
    pub fn unwatched(mut self) -> Self {
        self.account.unwatch();
        self
    }

    /// Intervals are taken from now on, if they were not before; the first begins now.
    pub fn watch(&mut self, now: Instant) {
        self.account.watch(now);
    }

    /// Does anyone take intervals?
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.account.is_watched()
    }

    /// An empty queue as the `settings` have it.
    ///
    /// # Errors
    /// The first setting of the discipline that cannot be used, by its key within the table.
    pub(crate) fn new(settings: &Settings, seed: u64) -> Result<Self, Invalid> {
        let account = Account::new(settings.limit);
        let setup = Setup { room: account.room(), purge: settings.purge, seed };
        Ok(Self { packets: AnyDiscipline::new(settings.discipline, &settings.tables(), &setup)?, account })
    }

    /// A packet comes. What the discipline drops goes to `dropped`: the arriving packet itself, or packets that wait.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        account.comes(packet.len().count());
        packets.enqueue(account, now, packet, dropped);
    }

    /// A packet comes that goes before all that wait, whatever the discipline. If there is no room, others make way: those
    /// at the tail, or of the longest flow.
    pub fn enqueue_first(&mut self, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        account.comes(packet.len().count());
        packets.enqueue_first(account, now, packet, dropped);
    }

    /// The packet that would be yielded after `index` others; zero for what [`take`](Self::take) would yield. A
    /// discipline that drops at the head decides about the packets up to there now, [`LOOK_AHEAD`](crate::LOOK_AHEAD) at most: what was seen
    /// is yielded, if not by then a packet came that goes first or the limit shrank.
    #[inline]
    pub fn peek(&mut self, now: Instant, index: usize, dropped: &mut impl FnMut(P)) -> Option<&P> {
        let Self { account, packets } = self;
        packets.peek(account, now, index, dropped)
    }

    /// The MAC asks for the next packet, or for that after `index` others because it can share a frame with one before
    /// it. Never none from a queue that holds packets if `index` is zero.
    #[inline]
    pub fn take(&mut self, now: Instant, index: usize, dropped: &mut impl FnMut(P)) -> Option<Departure<P>> {
        let Self { account, packets } = self;
        let Waiting { packet, since } = packets.remove(account, now, index, dropped)?;
        Some(Departure { packet, waited: account.leaves(now, packet.len().count(), since) })
    }

    /// True where nothing waits, and nothing is remembered of what did: [`take`](Self::take) would change nothing.
    #[inline]
    pub fn is_idle(&self) -> bool {
        matches!(self.packets, AnyDiscipline::Fifo(_)) && self.account.is_empty()
    }

    /// A packet comes that can be taken at once, without having waited: as [`enqueue`](Self::enqueue) and
    /// [`take`](Self::take), but it is not stored in between. False where it must go their way: then nothing has happened.
    #[inline]
    pub fn pass_idle(&mut self, now: Instant, length: Bytes) -> bool {
        let passes = self.is_idle() && self.account.fits(length.count());
        if passes {
            self.account.passes_idle(now, length.count());
        }
        passes
    }

    /// The packets that wait in a plain queue, in the order in which they leave; none of another discipline's.
    pub fn in_line(&self) -> impl Iterator<Item = &P> {
        self.packets.plain().into_iter().flat_map(Fifo::iter)
    }

    /// May packets of this length [pass](Self::pass)? In a plain queue where something waits and, whenever one has left, there
    /// is room for the next.
    pub fn lets_pass(&self, length: Bytes) -> bool {
        self.packets.plain().is_some() && self.account.fits_in_turn(length.count())
    }

    /// Enqueues and dequeues a batch of at least one packet of one length at one instant: as if each were
    /// [taken](Self::take) and the next [enqueued](Self::enqueue). The waiting packet has arrived at this instant too,
    /// has this length, [lets them pass](Self::lets_pass), and stands for the last of the batch from now on.
    pub fn pass(&mut self, now: Instant, length: Bytes, packets: u64) {
        self.account.pass(now, length.count(), packets);
    }

    /// The MAC is done with a packet that left after it `waited`: its ACK came or it failed for good, `service` after
    /// it left. Nothing is to be told of a queue that is not [watched](Self::is_watched).
    #[inline]
    pub fn completed(&mut self, now: Instant, waited: Duration, service: Duration) {
        self.account.completed(now, waited, service, 1);
    }

    /// Records at least one packet that the MAC has finished, as if each were [completed](Self::completed).
    #[inline]
    pub fn completed_all(&mut self, now: Instant, waited: Duration, service: Duration, packets: u32) {
        self.account.completed(now, waited, service, packets);
    }

    /// Moves the limit, never above the hard one, and discards at once what no longer fits, unless the queue's
    /// [`Purge`] says otherwise.
    pub fn set_limit(&mut self, now: Instant, limit: Limit, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        account.set_limit(now, limit);
        packets.purge(account, dropped);
        account.settle(now);
    }

    /// Discards packets, one at least where any waits, as if the limit had shrunk below what waits: where several queues
    /// share a limit. Nothing where the queue's [`Purge`] says so.
    pub fn make_way(&mut self, now: Instant, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        account.one_below(|account| packets.purge(account, dropped));
        account.settle(now);
    }

    /// FQ-CoDel goes by these parameters from the next packet on: `target`, `interval`, `mtu` and `ecn`; what its flows
    /// remember stays. Another discipline takes no notice.
    pub fn follow(&mut self, params: &fq_codel::Params) {
        if let AnyDiscipline::FqCodel(flows) = &mut self.packets {
            flows.follow(params);
        }
    }

    /// Takes out what is `unwanted`, wherever it waits, and discards it.
    pub fn discard_where(&mut self, now: Instant, unwanted: &mut impl FnMut(&P) -> bool, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        packets.discard_where(account, unwanted, dropped);
        account.settle(now);
    }

    /// The limit that holds now.
    pub fn limit(&self) -> Limit {
        self.account.limit()
    }

    /// Returns the backlog, without packets already handed to the MAC.
    #[inline]
    pub fn backlog(&self) -> Count {
        self.account.backlog()
    }

    /// True when nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.account.is_empty()
    }

    /// Returns the counts since the start or the last [`restart_statistics`](Self::restart_statistics).
    pub fn totals(&self) -> Totals {
        self.account.totals()
    }

    /// Returns the measurements since the last call, for the controller. A departure gap that reaches back into the
    /// interval before counts where it ends.
    pub fn take_interval(&mut self, now: Instant) -> Interval {
        self.account.take_interval(now)
    }

    /// Returns the backlog in packets over time since the start or the last
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
