//! Detects a controller that leaves the link idle although there is traffic for it, so that TCP starves.

use crate::Interval;
use units::{Duration, Rate};

/// Share of idle time above which the link counts as left idle, 0 to 1.
const IDLE: f64 = 0.5;
/// Share of dropped packets above which drops count: at this loss TCP with 40 ms round trips reaches some 10 Mb/s.
const DROPPED: f64 = 0.001;
/// Share of an ordered rate above which departures count as limited by the rate.
const HELD: f64 = 0.8;

/// Sums over intervals of a queue that has a controller.
///
/// If the link could send more, the queue is usually empty and drops nothing. A queue that is mostly empty and still
/// drops packets gets bursts above its limit. The limit is then below an aggregate, or below the product of bandwidth
/// and round trip. Traffic without congestion control loses these packets. TCP reduces its window after each loss, and
/// a controller that estimates from sent packets lowers the limit with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Idling {
    length: Duration,
    idle: Duration,
    held: Duration,
    arrived: u64,
    dropped: u64,
}

impl Idling {
    /// Adds an interval during which the controller had ordered `rate`.
    pub fn add(&mut self, seen: &Interval, rate: Option<Rate>) {
        self.length += seen.length;
        self.idle += seen.idle;
        self.arrived = self.arrived.saturating_add(seen.arrived.packets);
        self.dropped = self.dropped.saturating_add(seen.dropped.packets);
        let bits = 8.0 * seen.sent.bytes.count() as f64;
        let is_held = |rate: Rate| bits >= HELD * rate.as_bps() as f64 * seen.length.as_secs_f64();
        if rate.is_some_and(is_held) {
            self.held += seen.length;
        }
    }

    /// Returns the time of all intervals.
    pub const fn length(&self) -> Duration {
        self.length
    }

    /// Returns the share of the packets that were dropped and the share of the time in which the queue was empty.
    /// `None` if these shares do not show that the limit leaves the link idle.
    pub fn by_limit(&self) -> Option<(f64, f64)> {
        let dropped = self.dropped as f64 / self.arrived.max(1) as f64;
        let idle = share(self.idle, self.length);
        (dropped >= DROPPED && idle >= IDLE).then_some((dropped, idle))
    }

    /// True if the controller's rate limited the traffic for most of the time.
    pub fn by_rate(&self) -> bool {
        share(self.held, self.length) >= IDLE
    }
}

fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { part.as_secs_f64() / whole.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Count;
    use units::Bytes;

    fn interval(idle_ms: u64, arrived: u64, dropped: u64) -> Interval {
        let count = |packets| Count { packets, bytes: Bytes::new(1_000 * packets) };
        let (length, idle) = (Duration::from_millis(100), Duration::from_millis(idle_ms));
        let sent = count(arrived.saturating_sub(dropped));
        Interval { length, idle, arrived: count(arrived), sent, dropped: count(dropped), ..Interval::default() }
    }

    fn of(intervals: &[Interval], rate: Option<Rate>) -> Idling {
        let mut idling = Idling::default();
        for seen in intervals {
            idling.add(seen, rate);
        }
        idling
    }

    #[test]
    fn drops_at_a_queue_that_is_mostly_empty_count_and_others_do_not() {
        let burst = of(&[interval(100, 0, 0), interval(90, 10, 1)], None);
        assert_eq!(burst.by_limit(), Some((0.1, 0.95)));
        assert_eq!(of(&[interval(0, 100, 50)], None).by_limit(), None, "a link that is overloaded");
        assert_eq!(of(&[interval(100, 100, 0)], None).by_limit(), None, "a link with little to do");
        assert_eq!(of(&[interval(60, 10_000, 9)], None).by_limit(), None, "few drops");
        assert_eq!(Idling::default().by_limit(), None);
    }

    #[test]
    fn a_rate_holds_what_sends_as_much() {
        // 8 packets of 1000 B in 100 ms: 640 kb/s.
        let sends = [interval(0, 8, 0); 3];
        assert!(of(&sends, Some(Rate::kbps(640))).by_rate() && of(&sends, Some(Rate::kbps(800))).by_rate());
        assert!(!of(&sends, Some(Rate::kbps(900))).by_rate() && !of(&sends, None).by_rate());
        assert!(!Idling::default().by_rate());
    }

    #[test]
    fn no_interval_makes_it_panic() {
        let most = Count { packets: u64::MAX, bytes: Bytes::new(u64::MAX) };
        let seen = Interval {
            length: Duration::MAX,
            idle: Duration::MAX,
            arrived: most,
            sent: most,
            dropped: most,
            ..interval(0, 0, 0)
        };
        let idling = of(&[seen; 2], Some(Rate::bps(u64::MAX)));
        let _ = (idling.by_limit(), idling.by_rate());
    }
}
