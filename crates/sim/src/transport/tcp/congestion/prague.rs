//! Prague (draft-briscoe-iccrg-prague-congestion-control-04): DCTCP (RFC 8257) for the Internet. Prague reacts to the
//! share of octets that arrive marked, so a queue can mark early and often; its requirements are from RFC 9331.
//!
//! As in Linux, the source of the numbers: once per round trip the window falls by half the average share; it grows by
//! one segment per round trip of 25 ms, if the real round trip is shorter; marked octets cause no growth. Not modelled:
//! pacing, the 500 round trips after which Linux begins to count in 25 ms, and the detection of queues that mark by RFC
//! 3168.

use super::Growth;
use units::{Duration, Instant};

/// Gain of the average share, `g`.
const GAIN: f64 = 1.0 / 16.0;
/// Virtual round trip in which flows with shorter round trips grow and react (`RTT_virt` at least).
const REFERENCE: Duration = Duration::from_millis(25);

#[derive(Debug)]
pub(super) struct Prague {
    segment: f64,
    /// Average share of octets that were marked, `alpha`. The average begins at the first mark.
    share: f64,
    seen: bool,
    round: Round,
    /// The last reduction by marks: its time, and the first octet not yet sent then.
    reduced: Option<(Instant, u64)>,
    /// Fraction of an octet of growth not yet applied.
    fraction: f64,
}

/// A round trip in which marks are counted.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Instant,
    /// First octet not sent when the round trip began.
    end: u64,
    acked: u64,
    marked: u64,
}

/// Handles an acknowledgement, with the octets that arrived marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    pub(crate) now: Instant,
    /// First octet not acknowledged.
    pub(crate) una: u64,
    /// First octet not sent.
    pub(crate) nxt: u64,
    /// Octets newly acknowledged in order.
    pub(crate) acked: u64,
    /// Octets that newly arrived with a mark.
    pub(crate) marked: u64,
    /// False in a recovery from losses.
    pub(crate) may_reduce: bool,
}

impl Prague {
    pub(super) fn new(segment: u64) -> Self {
        let round = Round { began: Instant::ZERO, end: 0, acked: 0, marked: 0 };
        Self { segment: segment as f64, share: 1.0, seen: false, round, reduced: None, fraction: 0.0 }
    }

    /// Growth of `cwnd` in octets by the octets that were acknowledged without a mark.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(super) fn increase(&mut self, cwnd: u64, growth: Growth) -> u64 {
        // One segment per reference round trip; the ratio squared, as an equal window's rate also rises by it.
        let ratio = growth.srtt.map_or(1.0, |srtt| srtt.as_secs_f64() / REFERENCE.as_secs_f64()).min(1.0);
        self.fraction += self.segment * ratio * ratio * growth.acked as f64 / cwnd as f64;
        let whole = libm::floor(self.fraction);
        self.fraction -= whole;
        debug_assert!(whole >= 0.0 && (0.0..1.0).contains(&self.fraction));
        whole as u64
    }

    /// Counts marks. Returns the lower window if marks reduce it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(super) fn hear(&mut self, cwnd: u64, is_slow_start: bool, heard: &Heard) -> Option<u64> {
        let &Heard { now, una, nxt, marked, .. } = heard;
        self.round.acked += heard.acked;
        self.round.marked += marked;
        self.seen |= marked > 0;
        let least = if is_slow_start { Duration::ZERO } else { REFERENCE };
        let is_due = self.reduced.is_none_or(|(when, end)| una >= end && now.since(when) >= least);
        let reduced = (marked > 0 && heard.may_reduce && is_due).then(|| {
            self.reduced = Some((now, nxt));
            libm::round(cwnd as f64 * (1.0 - self.share / 2.0)) as u64
        });
        if una >= self.round.end && now.since(self.round.began) >= least {
            if self.seen {
                let share = self.round.marked as f64 / self.round.acked.max(1) as f64;
                self.share += (share.min(1.0) - self.share) * GAIN;
            }
            self.round = Round { began: now, end: nxt, acked: 0, marked: 0 };
        }
        debug_assert!((0.0..=1.0).contains(&self.share), "a share of octets");
        debug_assert!(self.round.began <= now && una <= nxt);
        reduced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Purpose, Stream};

    const SEGMENT: u64 = 1000;

    /// Mean window in segments when each segment is marked with this probability, over a round trip of this length.
    fn window(probability: f64, rtt: Duration) -> f64 {
        let mut prague = Prague::new(SEGMENT);
        let mut luck = Stream::new(1, "marks", Purpose::RECEPTION);
        let (mut cwnd, mut una, mut now, mut sum) = (10 * SEGMENT, 1, Instant::ZERO, 0.0);
        let rounds = 60_000;
        for round in 0..rounds {
            let (nxt, gap) = (una + cwnd, rtt / (cwnd / SEGMENT));
            while una < nxt {
                una += SEGMENT;
                now += gap;
                let marked = if luck.happens(probability) { SEGMENT } else { 0 };
                let srtt = Some(rtt);
                let acked = SEGMENT - marked;
                cwnd += prague.increase(cwnd, Growth { now, srtt, acked, limited: true, timed_out: false });
                let heard = Heard { now, una, nxt: una + cwnd, acked: SEGMENT, marked, may_reduce: true };
                cwnd = prague.hear(cwnd, false, &heard).map_or(cwnd, |reduced| reduced.max(2 * SEGMENT));
            }
            sum += if round >= rounds / 2 { cwnd as f64 / SEGMENT as f64 } else { 0.0 };
        }
        sum / f64::from(rounds / 2)
    }

    /// With x = pW marks a round trip, one reduction by p/2 comes each 1 + 1/x round trips: the first mark after a round
    /// trip. In between the window grows by (1 - p)(1 + 1/x) segments: x^2 = 2 (1 - p)(x + 1).
    #[test]
    fn the_mean_window_is_that_of_the_equilibrium() {
        for p in [0.01_f64, 0.03, 0.1, 0.2] {
            let unmarked = 1.0 - p;
            let expected = (unmarked + (unmarked * unmarked + 2.0 * unmarked).sqrt()) / p;
            let seen = window(p, Duration::from_millis(40));
            assert!((seen / expected - 1.0).abs() < 0.1, "{p}: {seen} instead of {expected}");
        }
    }

    #[test]
    fn below_the_reference_round_trip_the_rate_does_not_depend_on_it() {
        // At equal marks the rate, the window over the round trip, is as at 25 ms.
        let rate = |millis: u64| window(0.03, Duration::from_millis(millis)) / millis as f64;
        for millis in [10, 15, 20] {
            let ratio = rate(millis) / rate(25);
            assert!((ratio - 1.0).abs() < 0.15, "{millis} ms: {ratio}");
        }
    }
}
