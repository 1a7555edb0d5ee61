//! Estimates the intervals of a queue from readings of its counters, many per interval.
//!
//! - *Sojourn* by Little's law (Little 1961): the backlog in bytes, integrated over time, divided by the bytes that
//!   left. Bytes are used because the kernel counts a GSO packet once while it waits, but by its segments when it
//!   leaves. Packets dropped at the head have waited like those sent, and count as leaving.
//! - *Departure gap* and *service*: the time between two readings divided by the number of packets that left. Packets
//!   must wait at both readings, so that the link was never idle.
//! - *Idle and busy time*: each reading counts for half of the time since the previous reading and half of the time
//!   until the next.

use crate::kernel::Counters;
use control::{Count, Interval, Measures, Reads, Stat};
use units::{Bytes, Duration, Instant};

/// Quantities that are estimated from counters, not measured per packet.
pub(crate) const ESTIMATED: Reads = Reads::SOJOURN.and(Reads::GAP).and(Reads::AVERAGE).and(Reads::OCCUPANCY);
/// Methods of estimation, in a few words.
pub(crate) const ESTIMATES: [(Reads, &str); 3] = [
    (Reads::SOJOURN, "Little's law: the backlog in bytes over time, divided by the bytes that left"),
    (
        Reads::GAP.and(Reads::AVERAGE),
        "time between two readings divided by the packets that left, while packets waited",
    ),
    (Reads::OCCUPANCY, "each reading counts for half the time to the readings before and after it"),
];

/// State of a queue between two intervals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Estimator {
    measures: Measures,
    /// Bytes of link header in each packet, which intervals do not count.
    header: u64,
    drops_at_head: bool,
    last: (Instant, Counters),
    /// Counters at the last interval's end.
    base: (Instant, Counters),
    backlog_max: u32,
    sojourn: Samples,
    gap: Samples,
    /// Backlog integrated over the time since the last departure, in byte nanoseconds.
    waiting: u128,
    /// Time since the last departure in which packets waited.
    serving: u64,
    idle: u64,
    service_nanos: Option<f64>,
}

impl Estimator {
    /// Starts with the counters `first` at `now`. These counters include `header` bytes of link header for each packet.
    pub(crate) fn new(measures: Measures, header: u64, drops_at_head: bool, now: Instant, first: Counters) -> Self {
        Self {
            measures,
            header,
            drops_at_head,
            last: (now, first),
            base: (now, first),
            backlog_max: first.backlog_packets,
            ..Self::default()
        }
    }

    pub(crate) fn measure(&mut self, measures: Measures) {
        self.measures = measures;
    }

    /// Adds a reading of the counters.
    pub(crate) fn look(&mut self, now: Instant, counters: Counters) {
        let (then, before) = std::mem::replace(&mut self.last, (now, counters));
        let time = now.as_nanos().saturating_sub(then.as_nanos());
        let half = |counters: Counters| u64::from(counters.backlog_packets <= self.measures.idle_threshold) * time;
        self.idle = self.idle.saturating_add(half(before).midpoint(half(counters)));
        self.backlog_max = self.backlog_max.max(counters.backlog_packets);

        let bytes = u128::from(before.backlog_bytes) + u128::from(counters.backlog_bytes);
        self.waiting = self.waiting.saturating_add(bytes * u128::from(time) / 2);
        let passed = passed(&before, &counters, self.header);
        let on_link =
            |count: Count| u128::from(count.bytes.count()) + u128::from(self.header) * u128::from(count.packets);
        let dropped = if self.drops_at_head { on_link(passed.dropped) } else { 0 };
        if let Some(sojourn) = self.waiting.checked_div(on_link(passed.sent) + dropped) {
            self.sojourn.add(passed.sent.packets, u64::try_from(sojourn).unwrap_or(u64::MAX));
            self.waiting = 0;
        }
        if before.backlog_packets == 0 || counters.backlog_packets == 0 {
            self.serving = 0;
            return;
        }
        self.serving = self.serving.saturating_add(time);
        if let Some(gap) = self.serving.checked_div(passed.sent.packets) {
            self.gap.add(passed.sent.packets, gap);
            self.serving = 0;
            self.average(passed.sent.packets, gap as f64);
        }
    }

    /// Updates the average of service times with `packets` packets that each took `service`.
    fn average(&mut self, packets: u64, service: f64) {
        let Some(weight) = self.measures.service_weight else { return };
        let kept = libm::pow(1.0 - weight, packets as f64);
        self.service_nanos = Some(self.service_nanos.map_or(service, |mean| service + kept * (mean - service)));
    }

    /// Returns the interval from the previous call to the last reading.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of times, rounded")]
    pub(crate) fn take(&mut self) -> Interval {
        let (now, counters) = self.last;
        let (start, base) = std::mem::replace(&mut self.base, self.last);
        let length = Duration::from_nanos(now.as_nanos().saturating_sub(start.as_nanos()));
        let idle = Duration::from_nanos(std::mem::take(&mut self.idle));
        let backlog_max = std::mem::replace(&mut self.backlog_max, counters.backlog_packets);
        Interval {
            length,
            backlog: backlog(&counters, self.header),
            backlog_max: backlog_max.into(),
            sojourn: std::mem::take(&mut self.sojourn).stat(),
            departure_gap: std::mem::take(&mut self.gap).stat(),
            service_ewma: self.service_nanos.map(|nanos| Duration::from_nanos((nanos + 0.5) as u64)),
            idle,
            busy: length.saturating_sub(idle),
            ..passed(&base, &counters, self.header)
        }
    }
}

fn backlog(counters: &Counters, header: u64) -> Count {
    let packets = u64::from(counters.backlog_packets);
    Count { packets, bytes: Bytes::new(u64::from(counters.backlog_bytes).saturating_sub(packets * header)) }
}

/// Computes arrivals, departures and drops between two readings. The kernel counts no dropped bytes: dropped packets
/// have the mean size of those that left or, if none left, that wait. Counters that decrease belong to another queue.
fn passed(before: &Counters, after: &Counters, header: u64) -> Interval {
    let (old, waiting) = (backlog(before, header), backlog(after, header));
    let packets = after.sent_packets.saturating_sub(before.sent_packets);
    let bytes = after.sent_bytes.saturating_sub(before.sent_bytes).saturating_sub(packets.saturating_mul(header));
    let sent = Count { packets, bytes: Bytes::new(bytes) };
    let packets = u64::from(after.dropped.wrapping_sub(before.dropped));
    let like = if sent.packets > 0 { sent } else { waiting };
    let dropped =
        Count { packets, bytes: Bytes::new(packets.saturating_mul(like.bytes.count() / like.packets.max(1))) };
    let came = |sent: u64, dropped: u64, after: u64, before: u64| {
        sent.saturating_add(dropped).saturating_add(after).saturating_sub(before)
    };
    let bytes = came(sent.bytes.count(), dropped.bytes.count(), waiting.bytes.count(), old.bytes.count());
    let packets = came(sent.packets, dropped.packets, waiting.packets, old.packets);
    Interval { arrived: Count { packets, bytes: Bytes::new(bytes) }, sent, dropped, ..Interval::default() }
}

/// Statistics of estimates; each estimate stands for several packets.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    n: u64,
    sum: u128,
    max: u64,
    last: u64,
}

impl Samples {
    fn add(&mut self, packets: u64, nanos: u64) {
        self.n = self.n.saturating_add(packets);
        self.sum = self.sum.saturating_add(u128::from(packets) * u128::from(nanos));
        self.max = self.max.max(nanos);
        self.last = nanos;
    }

    fn stat(self) -> Stat {
        let mean = self.sum.checked_div(self.n.into()).unwrap_or_default();
        let mean = Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX));
        if self.n == 0 {
            return Stat::default();
        }
        Stat { n: self.n, mean, max: Duration::from_nanos(self.max), last: Duration::from_nanos(self.last) }
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
