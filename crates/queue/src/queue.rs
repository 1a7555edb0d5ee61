//! The queue, as its host sees it: a discipline with its account.

use crate::account::{Account, Waiting};
use crate::discipline::{Context, Purge, Setup};
use crate::disciplines::{AnyDiscipline, DisciplineName, End, Fifo, fq_codel, turns};
use crate::level::Level;
use crate::measure::{Completion, Totals};
use crate::packet::Packet;
use crate::settings::{Settings, unusable};
use control::{AnyController, Controller as _, Count, Interval, Invalid, Limit, Measures, Site};
use units::{Duration, Instant};

/// Parameters of a plain queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoParams {
    /// Which packet is dropped at the limit: those at the head, or the arriving one.
    pub overflow: End,
    /// Which packets are discarded when the limit shrinks below the backlog.
    pub purge: Purge,
    /// The hard limit, which is also the limit until [`Queue::set_limit`]. At most
    /// [`MOST_PACKETS`](crate::MOST_PACKETS); with a limit in bytes as many packets of 40 B (an IP and a TCP header) fit.
    pub limit: Limit,
}

/// A packet that leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet that left.
    pub packet: P,
    /// The packet's sojourn time, to be reported in its [`Completion`].
    pub waited: Duration,
}

/// A queue of packets. Calls must come in order of time.
///
/// The host enqueues and takes packets, reports those that the MAC is done with ([`completed`](Self::completed)), and in
/// every interval of its controller takes the measurements ([`take_interval`](Self::take_interval)) and sets the limit
/// ([`set_limit`](Self::set_limit)). After each call every packet is accounted for: it is queued, was taken, or was handed
/// to the `dropped` of a call. Hosts that handle many packets at one instant find fast paths in
/// [`Batch`](crate::Batch).
#[derive(Debug)]
pub struct Queue<P> {
    pub(crate) account: Account,
    pub(crate) packets: AnyDiscipline<P>,
}

impl<P: Packet> Queue<P> {
    /// An empty plain queue at the start of the run.
    pub fn fifo(params: FifoParams) -> Self {
        let fifo = Fifo::new(params.overflow, Some(params.purge));
        Self { account: Account::new(params.limit), packets: AnyDiscipline::Fifo(fifo) }
    }

    /// Configures the measurements that its controller asks for, at the start of the run.
    #[must_use]
    pub fn measuring(mut self, measures: Measures) -> Self {
        self.account.measure(measures);
        self
    }

    /// Takes no intervals until [`watch`](Self::watch), at the start of the run, and leaves out measurements that only
    /// intervals show.
    #[must_use]
    pub fn unwatched(mut self) -> Self {
        self.account.watched = false;
        self
    }

    /// Starts taking intervals, if they were not taken before; the first begins now.
    pub fn watch(&mut self, now: Instant) {
        self.account.watch(now);
    }

    /// An empty queue with these settings. Errors: the first setting of the discipline that cannot be used, by its key
    /// within the table.
    pub(crate) fn new(settings: &Settings, seed: u64) -> Result<Self, Invalid> {
        let account = Account::new(settings.limit);
        let setup = Setup { purge: settings.purge, seed };
        Ok(Self { packets: AnyDiscipline::new(settings.discipline, &settings.tables(), &setup)?, account })
    }

    /// Takes an arriving packet. Packets that the discipline drops, this one or queued ones, are handed to `dropped`.
    #[inline(always)] // once a packet and hop
    pub fn enqueue(&mut self, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        account.comes(packet.len().count());
        packets.enqueue(packet, &mut Context { account, now, dropped });
        debug_assert!(account.balances(), "it has joined or was dropped");
    }

    /// Takes an arriving packet that goes before all others, whatever the discipline. Without room, packets at the tail
    /// or of the longest flow make way.
    pub fn enqueue_first(&mut self, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        let len = packet.len().count();
        account.comes(len);
        if !account.fits_alone(len) {
            return account.refuse(packet, dropped);
        }
        while !account.fits(len) {
            packets.make_way(&mut Context { account, now, dropped });
        }
        debug_assert!(account.fits(len));
        packets.put_first(Waiting { packet, since: now });
        account.joins(now, len);
    }

    /// The packet that would leave after `index` others; zero for the one that [`take`](Self::take) returns. A discipline
    /// that drops at the head decides about the packets up to there now, at most [`LOOK_AHEAD`](crate::LOOK_AHEAD): a
    /// packet seen here leaves, unless a packet that goes first arrives before or the limit shrinks.
    #[inline]
    pub fn peek(&mut self, now: Instant, index: usize, dropped: &mut impl FnMut(P)) -> Option<&P> {
        let Self { account, packets } = self;
        packets.peek(index, &mut Context { account, now, dropped })
    }

    /// Takes the next packet for the MAC, or that after `index` others if it can share a frame with one before it. Some
    /// packet if any is queued and `index` is zero.
    #[inline]
    pub fn take(&mut self, now: Instant, index: usize, dropped: &mut impl FnMut(P)) -> Option<Departure<P>> {
        let Self { account, packets } = self;
        let Waiting { packet, since } = packets.remove(index, &mut Context { account, now, dropped })?;
        Some(Departure { packet, waited: account.leaves(now, packet.len().count(), since) })
    }

    /// Reports packets that the MAC is done with. Needed only in a queue that is watched.
    #[inline]
    pub fn completed(&mut self, now: Instant, completion: &Completion) {
        if self.account.watched {
            self.account.completed(now, completion);
        }
    }

    /// Sets the limit, at most the hard limit, and discards packets above it at once, unless the queue's [`Purge`] says
    /// otherwise.
    pub fn set_limit(&mut self, now: Instant, limit: Limit, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        account.set_limit(now, limit);
        packets.purge(&mut Context { account, now, dropped });
        account.settle(now);
    }

    /// Discards at least one packet, if any is queued, as if the limit had shrunk below the backlog: for queues that share
    /// a limit. Does nothing if the queue's [`Purge`] says so.
    pub fn make_way(&mut self, now: Instant, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        debug_assert!(account.balances());
        account.one_below(|account| packets.purge(&mut Context { account, now, dropped }));
        account.settle(now);
    }

    /// Sets `target`, `interval`, `mtu` and `ecn` of FQ-CoDel from the next packet on; the state of its flows stays. Has no
    /// effect on other disciplines.
    pub fn follow(&mut self, params: &fq_codel::Params) {
        if let AnyDiscipline::FqCodel(flows) = &mut self.packets {
            flows.follow(params);
        }
    }

    /// Orders the bounds of `turns` for packets that arrive from now on. Has no effect on other disciplines.
    pub fn set_pace(&mut self, pace: turns::Pace) {
        if let AnyDiscipline::Turns(held) = &mut self.packets {
            held.set_pace(pace);
        }
    }

    /// Number of packets that go before all flows under `turns`; zero under other disciplines.
    pub fn thin_packets(&self) -> usize {
        if let AnyDiscipline::Turns(held) = &self.packets { held.thin_packets() } else { 0 }
    }

    /// Discards all packets that are `unwanted`.
    pub fn discard_where(&mut self, now: Instant, unwanted: &mut impl FnMut(&P) -> bool, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        debug_assert!(account.balances());
        packets.discard_where(unwanted, &mut Context { account, now, dropped });
        account.settle(now);
    }

    /// The present limit.
    pub fn limit(&self) -> Limit {
        self.account.limit
    }

    /// Packets and bytes queued now, without packets that were handed to the MAC.
    #[inline]
    pub fn backlog(&self) -> Count {
        self.account.backlog()
    }

    /// True if no packet is queued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.account.is_empty()
    }

    /// The discipline that holds the packets.
    pub fn discipline(&self) -> DisciplineName {
        self.packets.name()
    }

    /// Why the [registered](crate::register) discipline failed, if it did: from then on the queue drops all packets.
    pub fn fault(&self) -> Option<&str> {
        if let AnyDiscipline::Own(held) = &self.packets { held.fault.as_deref() } else { None }
    }

    /// Totals since the start or the last [`restart_statistics`](Self::restart_statistics).
    pub fn totals(&self) -> Totals {
        self.account.totals()
    }

    /// Measurements since the last call, for the controller. A departure gap counts in the interval in which it ends.
    pub fn take_interval(&mut self, now: Instant) -> Interval {
        self.account.take_interval(now)
    }

    /// Backlog in packets over time since the start or the last [`restart_statistics`](Self::restart_statistics).
    pub fn backlog_level(&self, now: Instant) -> Level {
        self.account.backlog_level(now)
    }

    /// Limit over the same time, in packets, or in bytes if the hard limit is in bytes.
    pub fn limit_level(&self, now: Instant) -> Level {
        self.account.limit_level(now)
    }

    /// Restarts totals and levels, at the end of a warm-up. Queued packets count as arrived now, so that the account stays
    /// balanced. The controller's interval goes on.
    pub fn restart_statistics(&mut self, now: Instant) {
        self.account.restart_statistics(now);
    }
}

impl Settings {
    /// Builds only the controller, for a queue outside this crate. The random numbers follow from `seed`, so that a
    /// recording can be replayed.
    ///
    /// # Errors
    /// The limit or the first of the controller's parameters that cannot be used, by its key within the table.
    pub fn build_controller(&self, seed: u64) -> Result<AnyController, Invalid> {
        match unusable(self.limit) {
            Some(why) => Err(Invalid::new("limit", why)),
            None => AnyController::new(self.controller, &self.parameters(), &Site { hard_limit: self.limit, seed }),
        }
    }

    /// Builds the queue, empty, and its controller. All random numbers follow from `seed`.
    ///
    /// # Errors
    /// The first setting that cannot be used, by its key within the table.
    pub fn build<P: Packet>(&self, seed: u64) -> Result<(Queue<P>, AnyController), Invalid> {
        let controller = self.build_controller(seed)?;
        let mut queue = Queue::new(self, seed)?.measuring(controller.needs().measures);
        let begin = controller.begin().limit;
        if begin != self.limit {
            queue.set_limit(Instant::ZERO, begin, &mut |_| ());
            queue.restart_statistics(Instant::ZERO);
        }
        Ok((queue, controller))
    }
}
