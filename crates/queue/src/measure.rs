//! Counters and timers of a queue. They cost little per packet: sums and running counts, divided only on query.

use control::{Count, Interval, Stat};
use units::{Bytes, Duration, Instant};

/// Packets that the MAC finished at one instant after equal times: acknowledged, or given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Sojourn time of each packet: [`Departure::waited`](crate::Departure::waited).
    pub waited: Duration,
    /// Service time of each packet: from its departure until now.
    pub service: Duration,
    /// Number of packets, at least one.
    pub packets: u32,
}

impl Completion {
    /// Makes the completion of a single packet.
    pub const fn of_one(waited: Duration, service: Duration) -> Self {
        Self { waited, service, packets: 1 }
    }

    /// Returns the nodal delay of each packet: sojourn time plus service time.
    #[inline]
    pub fn nodal(&self) -> Duration {
        self.waited + self.service
    }
}

/// Totals of a queue. At any time `arrived = sent + dropped + backlog`, in packets and in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets that arrived, kept or not.
    pub arrived: Count,
    /// Packets that left through [`Queue::take`](crate::Queue::take).
    pub sent: Count,
    /// Packets discarded: on arrival, because the limit shrank, or by the discipline.
    pub dropped: Count,
    /// Packets that were marked (ECN) instead of dropped. They count as sent when they leave.
    pub marked: Count,
}

/// Packets and bytes. The counts wrap; the difference of two counts is always right.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, bytes: u64) {
        self.add_all(bytes, 1);
    }

    /// Adds packets of `bytes` each.
    #[inline]
    pub(crate) fn add_all(&mut self, bytes: u64, packets: u64) {
        self.packets = self.packets.wrapping_add(packets);
        self.bytes = self.bytes.wrapping_add(bytes.wrapping_mul(packets));
    }

    #[inline]
    pub(crate) fn remove(&mut self, bytes: u64) {
        self.packets = self.packets.wrapping_sub(1);
        self.bytes = self.bytes.wrapping_sub(bytes);
    }

    pub(crate) fn minus(self, earlier: Self) -> Self {
        Self { packets: self.packets.wrapping_sub(earlier.packets), bytes: self.bytes.wrapping_sub(earlier.bytes) }
    }

    pub(crate) fn count(self) -> Count {
        Count { packets: self.packets, bytes: Bytes::new(self.bytes) }
    }
}

/// Counts since the queue was built.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) arrived: Tally,
    pub(crate) sent: Tally,
    pub(crate) dropped: Tally,
    pub(crate) marked: Tally,
}

impl Counts {
    pub(crate) fn since(&self, earlier: &Self) -> Totals {
        Totals {
            arrived: self.arrived.minus(earlier.arrived).count(),
            sent: self.sent.minus(earlier.sent).count(),
            dropped: self.dropped.minus(earlier.dropped).count(),
            marked: self.marked.minus(earlier.marked).count(),
        }
    }

    /// True if every packet that arrived was sent, was dropped, or is in the `backlog`.
    pub(crate) fn balance(&self, backlog: Tally) -> bool {
        let held = self.arrived.minus(self.sent).minus(self.dropped);
        (held.packets, held.bytes) == (backlog.packets, backlog.bytes)
    }
}

/// Sum, maximum and last value of samples of a duration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Samples {
    n: u64,
    sum: Duration,
    max: Duration,
    last: Duration,
}

impl Samples {
    #[inline]
    pub(crate) fn add(&mut self, span: Duration) {
        self.add_all(span, 1);
    }

    /// Adds the sample `span` as many times as `times` says; `times` is at least 1.
    #[inline]
    pub(crate) fn add_all(&mut self, span: Duration, times: u64) {
        debug_assert!(times > 0, "a sample occurs");
        self.n += times;
        self.sum += span * times;
        self.max = self.max.max(span);
        self.last = span;
        debug_assert!(self.max >= span && self.max <= self.sum);
    }

    fn stat(self) -> Stat {
        Stat { n: self.n, mean: self.sum / self.n.max(1), max: self.max, last: self.last }
    }
}

/// Measurements since the controller's last update.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    start: Instant,
    counts: Counts,
    pub(crate) backlog_max: u64,
    pub(crate) service: Samples,
    pub(crate) departure_gap: Samples,
    pub(crate) sojourn: Samples,
    pub(crate) nodal: Samples,
}

impl Measured {
    /// Makes empty measurements of a queue with this backlog and these counts.
    pub(crate) fn new(now: Instant, counts: Counts, backlog: u64) -> Self {
        Self { start: now, counts, backlog_max: backlog, ..Self::default() }
    }

    /// Returns the interval up to `now`, without what [`ServiceAverage`] and [`Occupancy`] measure.
    pub(crate) fn interval(&self, now: Instant, counts: &Counts, backlog: Tally) -> Interval {
        let Totals { arrived, sent, dropped, .. } = counts.since(&self.counts);
        Interval {
            length: now.since(self.start),
            arrived,
            sent,
            dropped,
            backlog: backlog.count(),
            backlog_max: self.backlog_max,
            service: self.service.stat(),
            departure_gap: self.departure_gap.stat(),
            sojourn: self.sojourn.stat(),
            nodal: self.nodal.stat(),
            ..Interval::default()
        }
    }
}

/// The exponential average of service times. Each packet updates it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServiceAverage {
    /// Weight of the newest packet; `None` if the host keeps no average.
    weight: Option<f64>,
    mean_nanos: Option<f64>,
    /// Time at which the MAC last finished a packet.
    last: Instant,
}

impl ServiceAverage {
    pub(crate) fn new(weight: Option<f64>) -> Self {
        Self { weight, mean_nanos: None, last: Instant::ZERO }
    }

    /// Records packets that the MAC has finished; it had each for `service`. A packet is first in line from its
    /// hand-over, or from the last completion if that was later. So of packets in one frame only the first adds time.
    #[inline]
    pub(crate) fn add(&mut self, now: Instant, service: Duration, packets: u32) {
        let Some(weight) = self.weight else { return };
        debug_assert!(self.last <= now && packets > 0);
        for _ in 0..packets {
            let first_in_line = service.min(now.since(self.last)).as_nanos() as f64;
            self.last = now;
            self.mean_nanos =
                Some(self.mean_nanos.map_or(first_in_line, |mean| mean + weight * (first_in_line - mean)));
        }
        debug_assert!(self.mean_nanos >= Some(0.0), "a mean of times");
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of times, rounded")]
    pub(crate) fn mean(&self) -> Option<Duration> {
        self.mean_nanos.map(|nanos| Duration::from_nanos((nanos + 0.5) as u64))
    }
}

/// Measures the time in which at most a threshold of packets waited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupancy {
    threshold: u64,
    is_idle: bool,
    /// Start of the idle time; or of the interval, if the interval began later.
    since: Instant,
    /// Idle time in the interval before `since`.
    idle: Duration,
}

impl Occupancy {
    /// Makes the measurements of an empty queue at the start of the run.
    pub(crate) fn new(threshold: u32) -> Self {
        Self { threshold: threshold.into(), is_idle: true, since: Instant::ZERO, idle: Duration::ZERO }
    }

    /// Sets the number of packets that wait from now on.
    #[inline]
    pub(crate) fn set(&mut self, now: Instant, packets: u64) {
        let is_idle = packets <= self.threshold;
        if is_idle != self.is_idle {
            self.count(now);
            self.is_idle = is_idle;
        }
    }

    /// Returns the idle time of the interval that ends now, and begins another interval.
    pub(crate) fn take_idle(&mut self, now: Instant) -> Duration {
        self.count(now);
        debug_assert_eq!(self.since, now);
        std::mem::take(&mut self.idle)
    }

    fn count(&mut self, now: Instant) {
        debug_assert!(self.since <= now, "time does not run back");
        if self.is_idle {
            self.idle += now.since(self.since);
        }
        self.since = now;
    }
}
