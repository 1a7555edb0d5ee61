//! First in, first out, with a movable limit, two ends to drop from, and the measurements that controllers ask for.

use crate::Packet;
use crate::level::{Level, Meter};
use crate::measure::{Counts, Measured, Tally, Totals};
use control::{Count, Interval, Limit};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant};

/// The most packets that a queue has room for, whatever its limit.
pub const MOST_PACKETS: u32 = 1_000_000;

/// An end of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The packets that waited longest.
    Head,
    /// The packets that came last.
    Tail,
}

/// How a [`Fifo`] behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoParams {
    /// What makes way when a packet comes and the limit is reached: the packets at the head, or the one that comes.
    pub overflow: End,
    /// Which packets go when the limit shrinks below what waits.
    pub purge: End,
    /// The hard limit: never exceeded, and the limit until [`Fifo::set_limit`]. Its room is reserved at once; for a
    /// limit in bytes, room for packets of 40 B (an IP and a TCP header) on average. At most [`MOST_PACKETS`].
    pub limit: Limit,
}

/// A packet that leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet.
    pub packet: P,
    /// Its time in the queue; to be handed back to [`Fifo::completed`].
    pub waited: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Waiting<P> {
    packet: P,
    since: Instant,
}

/// A queue of packets in order of arrival. Calls must come in order of time.
///
/// The host enqueues and dequeues, reports what the MAC made of each departure ([`completed`](Self::completed)), and at
/// every interval of its controller takes the measurements ([`take_interval`](Self::take_interval)) and applies the
/// answer ([`set_limit`](Self::set_limit)). After each call the limit holds and every packet is accounted for.
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    ring: VecDeque<Waiting<P>>,
    backlog: Tally,
    overflow: End,
    purge: End,
    limit: Limit,
    limit_packets: u64,
    limit_bytes: u64,
    hard: Limit,
    room: u32,
    /// The last departure, if the queue has not been empty since (ADTH section 3.2.3).
    busy_since: Option<Instant>,
    counts: Counts,
    measured: Measured,
    totals_base: Counts,
    backlog_meter: Meter,
    limit_meter: Meter,
}

impl<P: Packet> Fifo<P> {
    /// An empty queue at the start of the run.
    pub fn new(params: FifoParams) -> Self {
        let FifoParams { overflow, purge, limit: hard } = params;
        let room = match hard {
            Limit::Packets(packets) => packets.min(MOST_PACKETS),
            Limit::Bytes(bytes) => {
                let packets = u32::try_from(bytes.count() / 40).unwrap_or(u32::MAX);
                packets.clamp(1, MOST_PACKETS)
            }
        };
        let start = Instant::ZERO;
        let mut fifo = Self {
            ring: VecDeque::with_capacity(room as usize),
            backlog: Tally::default(),
            overflow,
            purge,
            limit: hard,
            limit_packets: 0,
            limit_bytes: 0,
            hard,
            room,
            busy_since: None,
            counts: Counts::default(),
            measured: Measured::new(start, Counts::default(), 0),
            totals_base: Counts::default(),
            backlog_meter: Meter::new(start, 0),
            limit_meter: Meter::new(start, 0),
        };
        fifo.apply(hard);
        fifo.limit_meter = Meter::new(start, fifo.limit_in_hard_unit());
        fifo
    }

    /// A packet comes. Whatever does not fit goes to `dropped`: packets from the head (only if that makes room for the
    /// arriving one), or the arriving packet itself.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let len = packet.len().count();
        self.counts.arrived.add(len);
        if !self.fits(self.backlog, len) {
            if self.overflow == End::Tail || !self.fits(Tally::default(), len) {
                self.counts.dropped.add(len);
                dropped(packet);
                return;
            }
            while !self.fits(self.backlog, len) {
                self.discard(End::Head, dropped);
            }
        }
        self.ring.push_back(Waiting { packet, since: now });
        self.joined(now, len);
    }

    /// A packet comes that goes before all that wait. If there is no room, those at the tail make way.
    pub fn enqueue_first(&mut self, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let len = packet.len().count();
        self.counts.arrived.add(len);
        if !self.fits(Tally::default(), len) {
            self.counts.dropped.add(len);
            dropped(packet);
            return;
        }
        while !self.fits(self.backlog, len) {
            self.discard(End::Tail, dropped);
        }
        self.ring.push_front(Waiting { packet, since: now });
        self.joined(now, len);
    }

    /// The packet that would be yielded after `index` others; zero for what [`dequeue`](Self::dequeue) would yield.
    #[inline]
    pub fn peek(&self, index: usize) -> Option<&P> {
        self.ring.get(index).map(|waiting| &waiting.packet)
    }

    /// The MAC asks for the next packet.
    #[inline]
    pub fn dequeue(&mut self, now: Instant) -> Option<Departure<P>> {
        let front = self.ring.pop_front()?;
        Some(self.depart(now, front))
    }

    /// The MAC asks for the packet after `index` others, because it can share a frame with one before it.
    pub fn take(&mut self, now: Instant, index: usize) -> Option<Departure<P>> {
        let taken = if index == 0 { self.ring.pop_front() } else { self.ring.remove(index) }?;
        Some(self.depart(now, taken))
    }

    #[inline]
    fn depart(&mut self, now: Instant, taken: Waiting<P>) -> Departure<P> {
        let Waiting { packet, since } = taken;
        let len = packet.len().count();
        self.backlog.remove(len);
        self.counts.sent.add(len);
        self.backlog_meter.set(now, self.backlog.packets);
        let waited = now.since(since);
        self.measured.sojourn.add(waited);
        if let Some(previous) = self.busy_since {
            self.measured.departure_gap.add(now.since(previous));
        }
        self.busy_since = if self.ring.is_empty() { None } else { Some(now) };
        Departure { packet, waited }
    }

    /// The MAC is done with a packet that left after it `waited`: its ACK came or it failed for good, `service` after
    /// it left.
    #[inline]
    pub fn completed(&mut self, waited: Duration, service: Duration) {
        self.measured.service.add(service);
        self.measured.nodal.add(waited + service);
    }

    /// Moves the limit, never above the hard one, and discards at once what no longer fits.
    pub fn set_limit(&mut self, now: Instant, limit: Limit, dropped: &mut impl FnMut(P)) {
        self.apply(limit);
        self.limit_meter.set(now, self.limit_in_hard_unit());
        while self.backlog.packets > self.limit_packets || self.backlog.bytes > self.limit_bytes {
            self.discard(self.purge, dropped);
        }
        if self.ring.is_empty() {
            self.busy_since = None;
        }
        self.backlog_meter.set(now, self.backlog.packets);
    }

    /// Takes out what is `unwanted`, wherever it waits, and discards it.
    pub fn discard_where(&mut self, now: Instant, unwanted: &mut impl FnMut(&P) -> bool, dropped: &mut impl FnMut(P)) {
        let Self { ring, backlog, counts, .. } = self;
        ring.retain(|waiting| {
            let goes = unwanted(&waiting.packet);
            if goes {
                let len = waiting.packet.len().count();
                backlog.remove(len);
                counts.dropped.add(len);
                dropped(waiting.packet);
            }
            !goes
        });
        if self.ring.is_empty() {
            self.busy_since = None;
        }
        self.backlog_meter.set(now, self.backlog.packets);
    }

    /// The limit that holds now.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// What waits.
    #[inline]
    pub fn backlog(&self) -> Count {
        self.backlog.count()
    }

    /// True when nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// What went through since the start or the last [`restart_statistics`](Self::restart_statistics).
    pub fn totals(&self) -> Totals {
        self.counts.since(&self.totals_base)
    }

    /// What was measured since the last call, for the controller. A departure gap that reaches back into the interval
    /// before counts where it ends.
    pub fn take_interval(&mut self, now: Instant) -> Interval {
        let interval = self.measured.interval(now, &self.counts, self.backlog);
        self.measured = Measured::new(now, self.counts, self.backlog.packets);
        interval
    }

    /// How many packets waited, over time since the start or the last
    /// [`restart_statistics`](Self::restart_statistics).
    pub fn backlog_level(&self, now: Instant) -> Level {
        self.backlog_meter.level(now)
    }

    /// The limit over the same time, in packets, or in bytes where the hard limit is in bytes.
    pub fn limit_level(&self, now: Instant) -> Level {
        self.limit_meter.level(now)
    }

    /// Starts totals and levels anew: for the end of a warm-up. What waits counts as arrived now, so that the account
    /// stays balanced. The controller's interval goes on.
    pub fn restart_statistics(&mut self, now: Instant) {
        self.totals_base = self.counts.base_with(self.backlog);
        self.backlog_meter.restart(now);
        self.limit_meter.restart(now);
    }

    /// True where `len` more bytes may join `backlog`.
    #[inline]
    fn fits(&self, backlog: Tally, len: u64) -> bool {
        backlog.packets < self.limit_packets && len <= self.limit_bytes && backlog.bytes <= self.limit_bytes - len
    }

    /// A packet has joined the ring.
    #[inline]
    fn joined(&mut self, now: Instant, len: u64) {
        self.backlog.add(len);
        self.measured.backlog_max = self.measured.backlog_max.max(self.backlog.packets);
        self.backlog_meter.set(now, self.backlog.packets);
    }

    fn discard(&mut self, end: End, dropped: &mut impl FnMut(P)) {
        let gone = match end {
            End::Head => self.ring.pop_front(),
            End::Tail => self.ring.pop_back(),
        };
        let Waiting { packet, .. } = gone.expect("only a queue that holds something exceeds a limit");
        let len = packet.len().count();
        self.backlog.remove(len);
        self.counts.dropped.add(len);
        dropped(packet);
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
    }

    fn limit_in_hard_unit(&self) -> u64 {
        match self.hard {
            Limit::Packets(_) => self.limit_packets,
            Limit::Bytes(_) => self.limit_bytes,
        }
    }
}
