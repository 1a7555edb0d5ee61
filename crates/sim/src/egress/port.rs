//! A port: one queue of a node, with its controller, its shaper and its records.

use crate::config::Dscp;
use crate::engine::PortId;
use crate::net::Waiting;
use crate::record::{Passed, QueueRecord, Standing};
use crate::results;
use control::{AnyController, Controller as _, Heard, Idling, Interval, Limit, Mark, Needs, Orders, Radio, Seen};
use queue::{Batch as _, Completion, Departure, Ecn, Queue, Shaper};
use units::{Bytes, Duration, Instant};

/// The packets of one access category, station or wired link: their queue, its controller and their shaper.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) queue: Queue<Waiting>,
    pub(crate) controller: AnyController,
    shaper: Shaper,
    /// Which arriving packets are marked, as the controller has ordered.
    mark: Mark,
    marked: u64,
    pub(crate) record: QueueRecord,
    idling: Idling,
    /// Interval at which an outside agent decides instead of the controller.
    steered: Option<Duration>,
}

/// A packet that leaves for the MAC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) packet: Waiting,
    /// Time that the packet spent in the queue.
    pub(crate) waited: Duration,
    /// Time at which it left the queue.
    pub(crate) at: Instant,
    /// Airtime expected of the packet when it was released; zero without an estimate. It is reported again at the
    /// packet's [completion](super::Egress::completed).
    pub(crate) expected: Duration,
    /// How much of a hardware queue's depth the packet takes; zero without such a queue.
    pub(crate) load: u32,
    /// The port that the packet leaves now; `None` if the packet has left its port [before](super::Egress::pull).
    pub(crate) left: Option<PortId>,
}

impl Port {
    /// Makes an empty port. `shaper` limits it to its controller's rate.
    pub(crate) fn new(queue: Queue<Waiting>, controller: AnyController, mut shaper: Shaper) -> Self {
        let begin = controller.begin();
        let queue = if controller.needs().interval < Duration::MAX { queue } else { queue.unwatched() };
        shaper.set_rate(Instant::ZERO, begin.rate);
        let (record, idling) = (QueueRecord::default(), Idling::default());
        Self { queue, controller, shaper, mark: begin.mark, marked: 0, record, idling, steered: None }
    }

    /// True if a packet of this length fits into the queue without a drop of a waiting packet.
    pub(crate) fn has_room(&self, length: Bytes) -> bool {
        let backlog = self.queue.backlog();
        match self.queue.limit() {
            Limit::Packets(packets) => backlog.packets < u64::from(packets),
            Limit::Bytes(bytes) => backlog.bytes + length <= bytes,
        }
    }

    /// Enqueues a packet; a packet that goes `first` overtakes all other packets of the queue.
    #[inline(always)] // once a packet
    pub(super) fn offer(&mut self, now: Instant, mut packet: Waiting, first: bool, dropped: &mut impl FnMut(Waiting)) {
        if self.mark != Mark::None {
            self.mark(&mut packet);
        }
        if first {
            self.queue.enqueue_first(now, packet, dropped);
        } else {
            self.queue.enqueue(now, packet, dropped);
        }
    }

    /// Marks a packet if it can be marked and the controller has ordered it.
    fn mark(&mut self, packet: &mut Waiting) {
        let hash = control::mix(packet.flow.into());
        debug_assert_ne!(self.mark, Mark::None);
        if matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1) && self.mark.hits(hash, packet.dscp == Dscp::REAL_TIME_NEW) {
            packet.ecn = Ecn::Ce;
            self.marked += 1;
        }
    }

    /// Returns the earliest time at which a packet may leave; `None` if no packet waits.
    pub(crate) fn ready_at(&self) -> Option<Instant> {
        (!self.queue.is_empty()).then(|| self.shaper.ready_at())
    }

    /// True if a packet may leave now.
    pub(super) fn is_ready(&self, now: Instant) -> bool {
        self.ready_at().is_some_and(|at| at <= now)
    }

    /// Returns the packet at `index`, if it may leave now.
    #[inline]
    pub(super) fn peek(&mut self, now: Instant, index: usize, dropped: &mut impl FnMut(Waiting)) -> Option<Waiting> {
        if now < self.shaper.ready_at() { None } else { self.queue.peek(now, index, dropped).copied() }
    }

    /// Takes the packet at `index`, if it may leave now.
    #[inline]
    pub(super) fn take(
        &mut self,
        now: Instant,
        index: usize,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<Departure<Waiting>> {
        if now < self.shaper.ready_at() {
            return None;
        }
        let departure = self.queue.take(now, index, dropped)?;
        debug_assert!(departure.packet.created + departure.waited <= now, "it waits after it is made");
        self.shaper.leaves(now, departure.packet.length);
        Some(departure)
    }

    /// True if packets of this length can [pass](Self::pass): no rate and no marks apply, and the queue allows it.
    pub(super) fn lets_pass(&self, length: Bytes) -> bool {
        self.shaper.rate().is_none() && self.mark == Mark::None && self.queue.lets_pass(length)
    }

    /// Passes a batch of at least one packet, all of one length. See [`queue::Batch::pass`].
    pub(super) fn pass(&mut self, now: Instant, length: Bytes, packets: u64) {
        debug_assert!(packets > 0 && self.lets_pass(length));
        self.queue.pass(now, length, packets);
    }

    /// Fast path of a packet through an idle port, equal to [`offer`](Self::offer) and [`take`](Self::take). False if
    /// the packet must take the usual path; nothing has changed then.
    #[inline]
    pub(super) fn pass_idle(&mut self, now: Instant, packet: &Waiting) -> bool {
        let passes =
            self.mark == Mark::None && self.shaper.ready_at() <= now && self.queue.pass_idle(now, packet.length);
        debug_assert!(!passes || self.queue.is_empty());
        if passes {
            self.shaper.leaves(now, packet.length);
        }
        passes
    }

    /// Reports packets that the MAC or a wired link has finished.
    pub(super) fn completed(&mut self, now: Instant, completion: &Completion) {
        debug_assert!(completion.packets > 0);
        debug_assert!(completion.nodal() <= now.since(Instant::ZERO), "within the run");
        self.queue.completed(now, completion);
        self.record.complete(completion, self.controller.target_delay());
    }

    /// Returns the time between two decisions; `None` without a controller.
    pub(crate) fn interval(&self) -> Option<Duration> {
        let own = self.controller.needs().interval;
        self.steered.or(Some(own).filter(|&interval| interval < Duration::MAX))
    }

    /// Makes an outside agent decide every `interval`, at a port whose controller never decides.
    pub(crate) fn steer(&mut self, now: Instant, interval: Duration) {
        debug_assert!(!interval.is_zero());
        self.steered = Some(interval);
        self.queue.watch(now);
    }

    /// Returns the measurements of an interval about which an outside agent decides. `None` without an agent.
    pub(crate) fn steered(&mut self, now: Instant) -> Option<Interval> {
        self.steered?;
        let queue = self.queue.take_interval(now);
        self.idling.add(&queue, self.shaper.rate());
        Some(queue)
    }

    /// Ends an interval. Returns its measurements, and the controller's orders, which [`obey`](Self::obey) carries out.
    /// `radio`: the node's radio measurements, if the controller reads them. `heard`: its neighbours' notes.
    pub(crate) fn decide(&mut self, now: Instant, radio: Option<Radio>, heard: &[Heard]) -> (Interval, Orders) {
        let queue = self.queue.take_interval(now);
        self.idling.add(&queue, self.shaper.rate());
        (queue, self.controller.update(&Seen { queue, radio, heard }))
    }

    /// Carries out a controller's orders.
    pub(crate) fn obey(&mut self, now: Instant, orders: &Orders, dropped: &mut impl FnMut(Waiting)) {
        self.queue.set_limit(now, orders.limit, dropped);
        self.shaper.set_rate(now, orders.rate);
        self.mark = orders.mark;
    }

    /// Returns the requirements of the port's controller.
    pub(crate) fn needs(&self) -> Needs {
        self.controller.needs()
    }

    /// Returns the controller's name, and its statistics on whether it leaves the link idle.
    pub(crate) fn idling(&self) -> (&'static str, &Idling) {
        let name = if self.steered.is_some() { "the program's controller" } else { self.controller.name().as_str() };
        (name, &self.idling)
    }

    /// Restarts the statistics.
    pub(super) fn restart_statistics(&mut self, now: Instant) {
        self.queue.restart_statistics(now);
        self.marked = 0;
        (self.record, self.idling) = (QueueRecord::default(), Idling::default());
    }

    /// Returns the port's present state for a time series.
    pub(crate) fn standing(&self) -> Standing {
        let totals = self.queue.totals();
        Standing {
            limit: self.queue.limit().count() as f64,
            backlog: self.queue.backlog().packets,
            passed: Passed {
                arrived: totals.arrived.packets,
                sent: totals.sent.packets,
                sent_bytes: totals.sent.bytes,
                dropped: totals.dropped.packets,
                marked: totals.marked.packets + self.marked,
            },
            rate: self.shaper.rate(),
            real_time: self.controller.real_time_rate(),
            sets: self.controller.needs().sets,
            busy: None,
        }
    }

    /// Returns the results of a run that ends now, without results of a wired link. `several`: the node has several
    /// ports, so that the MAC's service time is not this port's alone.
    pub(super) fn result(&self, name: String, now: Instant, several: bool) -> results::QueueResult {
        let Self { queue, controller, record, .. } = self;
        let totals = queue.totals();
        let marked = totals.marked.packets + self.marked;
        let limit = level(queue.limit_level(now));
        let backlog = queue.backlog_level(now);
        let (sojourn_s, nodal_delay_s) = record.waits();
        let in_packets = matches!(queue.limit(), Limit::Packets(_));
        results::QueueResult {
            name,
            scheduler: queue.discipline().as_str().to_owned(),
            controller: controller.name().as_str().to_owned(),
            arrived_packets: totals.arrived.packets,
            sent_packets: totals.sent.packets,
            dropped_packets: totals.dropped.packets,
            marked_packets: (marked > 0).then_some(marked),
            limit_packets: in_packets.then_some(limit),
            limit_bytes: (!in_packets).then_some(limit),
            backlog_packets: level(backlog),
            empty_ratio: backlog.zero,
            sojourn_s,
            service_s: several.then(|| record.service()),
            nodal_delay_s,
            target_delay_s: controller.target_delay().map(Duration::as_secs_f64),
            target_miss_ratio: record.target_miss_ratio(),
            utilisation_ratio: None,
        }
    }
}

fn level(level: queue::Level) -> results::Level {
    results::Level { mean: level.mean, min: level.min as f64, max: level.max as f64, last: level.last as f64 }
}
