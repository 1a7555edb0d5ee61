//! Accounting of a queue, the same for all disciplines: limit, backlog, counts and measurements.

use crate::level::{Level, Meter};
use crate::measure::{Completion, Counts, Measured, Occupancy, ServiceAverage, Tally, Totals};
use crate::packet::Packet;
use control::{Count, Interval, Limit, Measures};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant};

/// The largest hard limit of a queue, in packets.
pub const MOST_PACKETS: u32 = 1_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting<P> {
    pub(crate) packet: P,
    /// Time at which the packet arrived at the queue.
    pub(crate) since: Instant,
}

/// The account of a queue. The discipline that holds the packets reports arrivals, joins, drops and departures.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// True if the host takes intervals. If it does not, costly measurements that only intervals need are left out.
    pub(crate) watched: bool,
    pub(crate) limit: Limit,
    limit_packets: u64,
    limit_bytes: u64,
    hard: Limit,
    room: u32,
    backlog: Tally,
    /// Time of the last departure; `None` if the queue has been empty since (ADTH, section 3.2.3).
    busy_since: Option<Instant>,
    counts: Counts,
    measured: Measured,
    service_average: ServiceAverage,
    occupancy: Occupancy,
    totals_base: Counts,
    backlog_meter: Meter,
    limit_meter: Meter,
}

impl Account {
    /// Makes the account of an empty queue at the start of the run.
    pub(crate) fn new(hard: Limit) -> Self {
        let room = match hard {
            Limit::Packets(packets) => packets.min(MOST_PACKETS),
            Limit::Bytes(bytes) => {
                let packets = u32::try_from(bytes.count() / 40).unwrap_or(u32::MAX);
                packets.clamp(1, MOST_PACKETS)
            }
        };
        let start = Instant::ZERO;
        let mut account = Self {
            watched: true,
            limit: hard,
            limit_packets: 0,
            limit_bytes: 0,
            hard,
            room,
            backlog: Tally::default(),
            busy_since: None,
            counts: Counts::default(),
            measured: Measured::new(start, Counts::default(), 0),
            service_average: ServiceAverage::new(None),
            occupancy: Occupancy::new(0),
            totals_base: Counts::default(),
            backlog_meter: Meter::new(start, 0),
            limit_meter: Meter::new(start, 0),
        };
        account.apply(hard);
        account.limit_meter = Meter::new(start, account.limit_in_hard_unit());
        account
    }

    /// Configures the measurements that a controller requests, from the start of the run on.
    pub(crate) fn measure(&mut self, measures: Measures) {
        self.service_average = ServiceAverage::new(measures.service_weight);
        self.occupancy = Occupancy::new(measures.idle_threshold);
    }

    /// Starts to take intervals; the first begins now.
    pub(crate) fn watch(&mut self, now: Instant) {
        if !self.watched {
            self.watched = true;
            self.take_interval(now);
        }
    }

    /// True if a packet of `len` bytes fits in addition to the backlog.
    #[inline]
    pub(crate) fn fits(&self, len: u64) -> bool {
        self.fits_beside(self.backlog, len)
    }

    /// True if a packet of `len` bytes fits into an empty queue.
    #[inline]
    pub(crate) fn fits_alone(&self, len: u64) -> bool {
        self.fits_beside(Tally::default(), len)
    }

    #[inline]
    fn fits_beside(&self, backlog: Tally, len: u64) -> bool {
        backlog.packets < self.limit_packets && len <= self.limit_bytes && backlog.bytes <= self.limit_bytes - len
    }

    /// True if the backlog is above the limit.
    pub(crate) fn is_over(&self) -> bool {
        self.backlog.packets > self.limit_packets || self.backlog.bytes > self.limit_bytes
    }

    /// Records that a packet of `len` bytes arrives. It may then join or be dropped.
    #[inline]
    pub(crate) fn comes(&mut self, len: u64) {
        self.counts.arrived.add(len);
    }

    /// Hands over an arriving packet that the queue refuses.
    #[inline]
    pub(crate) fn refuse<P: Packet>(&mut self, packet: P, dropped: &mut impl FnMut(P)) {
        self.counts.dropped.add(packet.len().count());
        debug_assert!(self.balances());
        dropped(packet);
    }

    /// Records that an arriving packet joined the queue.
    #[inline]
    pub(crate) fn joins(&mut self, now: Instant, len: u64) {
        self.backlog.add(len);
        self.measured.backlog_max = self.measured.backlog_max.max(self.backlog.packets);
        self.backlog_moved(now);
        debug_assert!(!self.is_over(), "only what fits joins");
        debug_assert!(self.balances());
    }

    /// True if every packet that arrived is accounted for.
    pub(crate) fn balances(&self) -> bool {
        self.counts.balance(self.backlog)
    }

    /// Hands over a queued packet that is discarded; [`settle`](Self::settle) or another report must follow at once.
    #[inline]
    pub(crate) fn discard<P: Packet>(&mut self, packet: P, dropped: &mut impl FnMut(P)) {
        let len = packet.len().count();
        debug_assert!(self.backlog.packets > 0, "a queued packet");
        debug_assert!(self.backlog.bytes >= len);
        self.backlog.remove(len);
        self.counts.dropped.add(len);
        dropped(packet);
    }

    /// Discards the packets of a sequence that are `unwanted`.
    pub(crate) fn discard_where<P: Packet>(
        &mut self,
        line: &mut VecDeque<Waiting<P>>,
        unwanted: &mut impl FnMut(&P) -> bool,
        dropped: &mut impl FnMut(P),
    ) {
        line.retain(|waiting| {
            let goes = unwanted(&waiting.packet);
            if goes {
                self.discard(waiting.packet, dropped);
            }
            !goes
        });
    }

    /// Records that a packet was marked instead of dropped.
    #[inline]
    pub(crate) fn marked(&mut self, len: u64) {
        self.counts.marked.add(len);
    }

    /// Updates the account after packets were discarded.
    pub(crate) fn settle(&mut self, now: Instant) {
        debug_assert!(self.backlog.packets > 0 || self.backlog.bytes == 0);
        debug_assert!(self.balances());
        if self.backlog.packets == 0 {
            self.busy_since = None;
        }
        self.backlog_moved(now);
    }

    /// Records that a packet, queued since `since`, leaves for the MAC. Returns its sojourn time.
    #[inline]
    pub(crate) fn leaves(&mut self, now: Instant, len: u64, since: Instant) -> Duration {
        debug_assert!(since <= now, "it has arrived");
        debug_assert!(self.backlog.packets > 0 && self.backlog.bytes >= len);
        self.backlog.remove(len);
        self.counts.sent.add(len);
        self.backlog_moved(now);
        debug_assert!(self.balances());
        let waited = now.since(since);
        if self.watched {
            self.measured.sojourn.add(waited);
            if let Some(previous) = self.busy_since {
                self.measured.departure_gap.add(now.since(previous));
            }
            self.busy_since = if self.backlog.packets == 0 { None } else { Some(now) };
        }
        waited
    }

    /// Records a packet of `len` bytes that arrives at an empty queue and leaves it at once.
    #[inline]
    pub(crate) fn passes_idle(&mut self, now: Instant, len: u64) {
        debug_assert!(self.is_empty() && self.fits(len));
        self.counts.arrived.add(len);
        self.counts.sent.add(len);
        debug_assert!(self.balances());
        self.measured.backlog_max = self.measured.backlog_max.max(1);
        if self.watched {
            self.measured.sojourn.add(Duration::ZERO);
        }
        for packets in [1, 0] {
            self.backlog_meter.set(now, packets);
            self.occupancy.set(now, packets);
        }
    }

    /// True if a queued packet of `len` bytes may leave and an equal packet may replace it.
    pub(crate) fn fits_in_turn(&self, len: u64) -> bool {
        let mut others = self.backlog;
        others.remove(len);
        !self.is_empty() && self.fits_beside(others, len)
    }

    /// Records a batch of at least one packet of `len` bytes, enqueued and dequeued one by one at one instant. The
    /// first is recorded as any packet; the further packets do not change the queue.
    pub(crate) fn pass(&mut self, now: Instant, len: u64, packets: u64) {
        debug_assert!(packets > 0 && self.fits_in_turn(len));
        self.leaves(now, len, now);
        self.comes(len);
        self.joins(now, len);
        let others = packets - 1;
        if others > 0 {
            self.counts.arrived.add_all(len, others);
            self.counts.sent.add_all(len, others);
            if self.watched {
                self.measured.sojourn.add_all(Duration::ZERO, others);
                if self.busy_since.is_some() {
                    self.measured.departure_gap.add_all(Duration::ZERO, others);
                }
            }
        }
        debug_assert!(self.balances());
    }

    #[inline]
    fn backlog_moved(&mut self, now: Instant) {
        self.backlog_meter.set(now, self.backlog.packets);
        self.occupancy.set(now, self.backlog.packets);
    }

    /// Records packets that the MAC has finished.
    #[inline]
    pub(crate) fn completed(&mut self, now: Instant, completion: &Completion) {
        let &Completion { service, packets, .. } = completion;
        self.service_average.add(now, service, packets);
        self.measured.service.add_all(service, packets.into());
        self.measured.nodal.add_all(completion.nodal(), packets.into());
    }

    /// Sets the limit, which is at most the hard limit.
    pub(crate) fn set_limit(&mut self, now: Instant, limit: Limit) {
        self.apply(limit);
        self.limit_meter.set(now, self.limit_in_hard_unit());
        debug_assert!(self.limit_packets <= self.room.into(), "at most the hard limit");
    }

    /// Calls `act` while the limit is one packet below the backlog.
    pub(crate) fn one_below(&mut self, act: impl FnOnce(&mut Self)) {
        let limit = self.limit;
        let packets = self.backlog.packets.saturating_sub(1);
        self.apply(Limit::Packets(u32::try_from(packets).unwrap_or(u32::MAX)));
        debug_assert!(self.is_empty() || self.is_over());
        act(self);
        self.apply(limit);
        debug_assert_eq!(self.limit, limit);
    }

    #[inline]
    pub(crate) fn backlog(&self) -> Count {
        self.backlog.count()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.backlog.packets == 0
    }

    pub(crate) fn totals(&self) -> Totals {
        self.counts.since(&self.totals_base)
    }

    pub(crate) fn take_interval(&mut self, now: Instant) -> Interval {
        let interval = self.measured.interval(now, &self.counts, self.backlog);
        debug_assert!(interval.backlog_max >= interval.backlog.packets);
        self.measured = Measured::new(now, self.counts, self.backlog.packets);
        let idle = self.occupancy.take_idle(now);
        let busy = interval.length.saturating_sub(idle);
        debug_assert!(idle <= interval.length, "idle within the interval");
        Interval { service_ewma: self.service_average.mean(), idle, busy, ..interval }
    }

    pub(crate) fn backlog_level(&self, now: Instant) -> Level {
        self.backlog_meter.level(now)
    }

    pub(crate) fn limit_level(&self, now: Instant) -> Level {
        self.limit_meter.level(now)
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        // After a restart, packets that wait count as arrived.
        self.totals_base = Counts { arrived: self.counts.arrived.minus(self.backlog), ..self.counts };
        self.backlog_meter.restart(now);
        self.limit_meter.restart(now);
        debug_assert_eq!(self.totals().arrived, self.backlog());
        debug_assert_eq!((self.totals().sent, self.totals().dropped), Default::default());
    }

    fn apply(&mut self, limit: Limit) {
        let hard_bytes = match self.hard {
            Limit::Packets(_) => Bytes::new(u64::MAX),
            Limit::Bytes(bytes) => bytes,
        };
        let (packets, bytes) = match limit {
            Limit::Packets(packets) => (packets.min(self.room), hard_bytes),
            Limit::Bytes(bytes) => (self.room, bytes.min(hard_bytes)),
        };
        (self.limit_packets, self.limit_bytes) = (u64::from(packets), bytes.count());
        self.limit = match limit {
            Limit::Packets(_) => Limit::Packets(packets),
            Limit::Bytes(_) => Limit::Bytes(bytes),
        };
        debug_assert!(packets <= self.room && bytes <= hard_bytes);
    }

    fn limit_in_hard_unit(&self) -> u64 {
        match self.hard {
            Limit::Packets(_) => self.limit_packets,
            Limit::Bytes(_) => self.limit_bytes,
        }
    }
}
