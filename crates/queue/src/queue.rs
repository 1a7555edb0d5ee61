//! The queue as its host sees it: a discipline and its account.

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
    /// Which packet is dropped at the limit: the oldest ones, or the arriving one.
    pub overflow: End,
    /// Which packets are discarded when the limit shrinks below the backlog.
    pub purge: Purge,
    /// Hard limit, which is also the limit until [`Queue::set_limit`]. At most [`MOST_PACKETS`](crate::MOST_PACKETS);
    /// if it is in bytes, as many packets of 40 B (an IP and a TCP header) as fit.
    pub limit: Limit,
}

/// A packet that leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet that left.
    pub packet: P,
    /// The packet's sojourn time. It is reported again in the packet's [`Completion`].
    pub waited: Duration,
}

/// A queue of packets. Calls must come in order of time.
///
/// The host enqueues and takes packets, and reports those that the MAC has finished ([`completed`](Self::completed)).
/// In every interval of its controller it takes the measurements ([`take_interval`](Self::take_interval)) and sets the
/// limit ([`set_limit`](Self::set_limit)). After each call every packet is queued, was taken, or was handed to the
/// `dropped` of a call. [`Batch`](crate::Batch) has fast paths for hosts that handle many packets at one instant.
#[derive(Debug)]
pub struct Queue<P> {
    pub(crate) account: Account,
    pub(crate) packets: AnyDiscipline<P>,
}

impl<P: Packet> Queue<P> {
    /// Makes an empty plain queue at the start of the run.
    pub fn fifo(params: FifoParams) -> Self {
        let fifo = Fifo::new(params.overflow, Some(params.purge));
        Self { account: Account::new(params.limit), packets: AnyDiscipline::Fifo(fifo) }
    }

    /// Configures the measurements that the queue's controller requests, at the start of the run.
    #[must_use]
    pub fn measuring(mut self, measures: Measures) -> Self {
        self.account.measure(measures);
        self
    }

    /// Takes no intervals until [`watch`](Self::watch), at the start of the run. What only intervals need is left out.
    #[must_use]
    pub fn unwatched(mut self) -> Self {
        self.account.watched = false;
        self
    }

    /// Starts to take intervals if the queue takes none; the first begins now.
    pub fn watch(&mut self, now: Instant) {
        self.account.watch(now);
    }

    /// Makes an empty queue with these settings. Errors: names the key of the first setting of the discipline that
    /// cannot be used.
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

    /// Takes an arriving packet that goes before all waiting packets, whatever the discipline is. If there is no room,
    /// packets at the tail or of the longest flow are dropped.
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

    /// Returns the packet at `index`; index 0 is the packet that [`take`](Self::take) returns next. A discipline that
    /// drops at the head decides now about all packets up to `index`, at most [`LOOK_AHEAD`](crate::LOOK_AHEAD). A
    /// packet seen here leaves, unless a packet that goes first arrives before or the limit shrinks.
    #[inline]
    pub fn peek(&mut self, now: Instant, index: usize, dropped: &mut impl FnMut(P)) -> Option<&P> {
        let Self { account, packets } = self;
        packets.peek(index, &mut Context { account, now, dropped })
    }

    /// Takes the packet at `index` for the MAC: the next packet (index 0), or a later one that can share a frame with
    /// an earlier one. If a packet is queued and `index` is zero, it returns one.
    #[inline]
    pub fn take(&mut self, now: Instant, index: usize, dropped: &mut impl FnMut(P)) -> Option<Departure<P>> {
        let Self { account, packets } = self;
        let Waiting { packet, since } = packets.remove(index, &mut Context { account, now, dropped })?;
        Some(Departure { packet, waited: account.leaves(now, packet.len().count(), since) })
    }

    /// Reports packets that the MAC has finished. Only a watched queue needs this.
    #[inline]
    pub fn completed(&mut self, now: Instant, completion: &Completion) {
        if self.account.watched {
            self.account.completed(now, completion);
        }
    }

    /// Sets the limit, which is at most the hard limit. Packets above it are discarded at once, unless the queue's
    /// [`Purge`] says otherwise.
    pub fn set_limit(&mut self, now: Instant, limit: Limit, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        account.set_limit(now, limit);
        packets.purge(&mut Context { account, now, dropped });
        account.settle(now);
    }

    /// Discards at least one packet, if any is queued, as if the limit had shrunk below the backlog: for queues that
    /// share a limit. Does nothing with [`Purge::None`].
    pub fn make_way(&mut self, now: Instant, dropped: &mut impl FnMut(P)) {
        let Self { account, packets } = self;
        debug_assert!(account.balances());
        account.one_below(|account| packets.purge(&mut Context { account, now, dropped }));
        account.settle(now);
    }

    /// Sets `target`, `interval`, `mtu` and `ecn` of FQ-CoDel from the next packet on. The state of its flows stays. It
    /// does not affect other disciplines.
    pub fn follow(&mut self, params: &fq_codel::Params) {
        if let AnyDiscipline::FqCodel(flows) = &mut self.packets {
            flows.follow(params);
        }
    }

    /// Sets the bounds of `turns` for packets that arrive from now on. It does not affect other disciplines.
    pub fn set_pace(&mut self, pace: turns::Pace) {
        if let AnyDiscipline::Turns(held) = &mut self.packets {
            held.set_pace(pace);
        }
    }

    /// Returns the number of packets that go before all flows under `turns`; zero under other disciplines.
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

    /// Returns the present limit.
    pub fn limit(&self) -> Limit {
        self.account.limit
    }

    /// Returns the packets and bytes that are queued now. Packets handed to the MAC do not count.
    #[inline]
    pub fn backlog(&self) -> Count {
        self.account.backlog()
    }

    /// True if no packet is queued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.account.is_empty()
    }

    /// Returns the discipline that holds the packets.
    pub fn discipline(&self) -> DisciplineName {
        self.packets.name()
    }

    /// Returns why the [registered](crate::register) discipline failed, if it did. The queue then drops all packets.
    pub fn fault(&self) -> Option<&str> {
        if let AnyDiscipline::Own(held) = &self.packets { held.fault.as_deref() } else { None }
    }

    /// Returns the totals since the start or the last [`restart_statistics`](Self::restart_statistics).
    pub fn totals(&self) -> Totals {
        self.account.totals()
    }

    /// Returns the measurements since the last call. A departure gap counts in the interval in which it ends.
    pub fn take_interval(&mut self, now: Instant) -> Interval {
        self.account.take_interval(now)
    }

    /// Returns the backlog in packets since the start or the last [`restart_statistics`](Self::restart_statistics).
    pub fn backlog_level(&self, now: Instant) -> Level {
        self.account.backlog_level(now)
    }

    /// Returns the limit since the start or last restart: in packets, or in bytes if the hard limit is in bytes.
    pub fn limit_level(&self, now: Instant) -> Level {
        self.account.limit_level(now)
    }

    /// Restarts totals and levels at the end of a warm-up. Queued packets count as arrived now, so that the account
    /// stays balanced. The controller's interval continues.
    pub fn restart_statistics(&mut self, now: Instant) {
        self.account.restart_statistics(now);
    }
}

impl Settings {
    /// Builds only the controller, for a queue outside this crate. `seed` determines its random numbers, so that a
    /// recording can be given to it again.
    ///
    /// # Errors
    /// Names the limit or the key of the first parameter of the controller that cannot be used.
    pub fn build_controller(&self, seed: u64) -> Result<AnyController, Invalid> {
        match unusable(self.limit) {
            Some(why) => Err(Invalid::new("limit", why)),
            None => AnyController::new(self.controller, &self.parameters(), &Site { hard_limit: self.limit, seed }),
        }
    }

    /// Builds the queue, which is empty, and its controller. `seed` determines all random numbers.
    ///
    /// # Errors
    /// Names the key of the first setting that cannot be used.
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
