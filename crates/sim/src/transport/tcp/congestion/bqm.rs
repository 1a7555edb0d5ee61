//! The window law of BQM (BQM thesis, section 3.5, Table 3.1): the lower the lost discard priorities, the less the
//! window falls, and the slower it grows afterwards.
//!
//! | highest lost priority | overload | `alpha` | `beta` |
//! |---|---|---|---|
//! | 0 | W/8 | 7/8 | 1/8 |
//! | 1 | W/4 | 3/4 | 1/4 |
//! | 2 | W/2 | 1/2 | 1/2 |
//! | 3 | W | 1/4 | 1 |
//!
//! `beta` is the overload, and `alpha` the rest to the whole; as a window of zero would send nothing, a quarter remains
//! in the last line. Other patterns of priorities have other overloads. A loss without report is handled as in Reno.

use crate::config::bqm::{Growth, Threshold, WirelessLoss};
use crate::transport::tcp::Report;
use crate::transport::tcp::bqm::{PRIORITIES, Settings};

/// The whole in the unit of `alpha` and `beta`.
const WHOLE: u64 = 16;

/// `alpha` if the path is overloaded by all packets that were sent.
const LEAST: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reaction {
    pub(super) cwnd: u64,
    pub(super) ssthresh: u64,
}

#[derive(Debug)]
pub(super) struct Bqm {
    settings: Settings,
    /// Segments by which the window grows per window acknowledged, in sixteenths.
    beta: u64,
    /// Octets acknowledged since the window last grew, in sixteenths, each `beta` times.
    acked: u64,
    /// Window before the last reaction.
    before: u64,
}

impl Bqm {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, beta: WHOLE, acked: 0, before: 0 }
    }

    /// Growth of `cwnd`, like Reno's except for `beta`.
    pub(super) fn increase(&mut self, cwnd: u64, acked: u64, segment: u64) -> u64 {
        if self.settings.growth == Growth::UntilRegained && cwnd >= self.before {
            self.beta = WHOLE;
        }
        let window = cwnd.saturating_mul(WHOLE);
        self.acked = self.acked.saturating_add(acked.saturating_mul(self.beta));
        if self.acked < window {
            return 0;
        }
        self.acked = (self.acked - window).min(window);
        debug_assert!(self.beta <= WHOLE && self.acked <= window);
        segment
    }

    /// Reaction to a loss, with the receiver's report.
    pub(super) fn react(&mut self, now: Reaction, flight: u64, segment: u64, report: Option<Report>) -> Reaction {
        let Reaction { cwnd, ssthresh } = now;
        match report {
            Some(Report::Wireless) => {
                let less = match self.settings.wireless_loss {
                    WirelessLoss::OnePacket => segment,
                    WirelessLoss::None => 0,
                };
                let reduced = cwnd.saturating_sub(less);
                // Slow start continues; after its end no new one begins.
                Reaction { cwnd: reduced, ssthresh: if cwnd < ssthresh { ssthresh } else { reduced } }
            }
            Some(Report::Congestion { reached }) => {
                let overload = self.settings.pattern.overload(reached);
                let left = if reached + 1 < PRIORITIES { WHOLE - overload } else { LEAST };
                self.begin(cwnd, overload);
                let reduced = cwnd.saturating_mul(left) / WHOLE;
                let ssthresh = match self.settings.threshold {
                    Threshold::Reduced => reduced,
                    Threshold::Half => flight / 2,
                };
                Reaction { cwnd: reduced, ssthresh }
            }
            None => {
                let half = self.decrease(cwnd, flight);
                Reaction { cwnd: half, ssthresh: half }
            }
        }
    }

    /// Slow start threshold after congestion without report (RFC 5681, equation 4).
    pub(super) fn decrease(&mut self, cwnd: u64, flight: u64) -> u64 {
        self.begin(cwnd, WHOLE);
        flight / 2
    }

    fn begin(&mut self, cwnd: u64, beta: u64) {
        debug_assert!(beta > 0 && beta <= WHOLE);
        (self.before, self.beta, self.acked) = (cwnd, beta, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1000;

    /// Round trips until a window of 64 segments is as large as before a loss with this report.
    fn round_trips(growth: Growth, report: Option<Report>) -> u64 {
        let before = 64 * SEGMENT;
        let mut law = Bqm::new(Settings { growth, ..Settings::default() });
        let now = Reaction { cwnd: before, ssthresh: before };
        let mut cwnd = law.react(now, before, SEGMENT, report).cwnd;
        let mut round_trips = 0;
        while cwnd < before {
            (0..cwnd / SEGMENT).for_each(|_| cwnd += law.increase(cwnd, SEGMENT, SEGMENT));
            round_trips += 1;
        }
        round_trips
    }

    /// `(W - alpha W) / beta` of section 3.5: `W` for 0, 1 and 2, three quarters of it for 3, and half of it as Reno has it.
    #[test]
    fn a_window_is_regained_after_as_many_round_trips_as_the_formula_says() {
        for growth in [Growth::UntilNext, Growth::UntilRegained] {
            let of = |report, expected: u64| {
                let measured = round_trips(growth, report);
                assert!(measured.abs_diff(expected) <= 1, "{report:?}: {measured} instead of {expected}");
            };
            for (reached, expected) in [(0, 64), (1, 64), (2, 64), (3, 48)] {
                of(Some(Report::Congestion { reached }), expected);
            }
            of(None, 32);
        }
    }

    /// Segments by which a window of eight grows in eight round trips, when it is as large as before a reaction to priority 0.
    #[test]
    fn growth_is_slow_until_the_next_reaction_or_until_the_window_is_regained() {
        let grown = |growth| {
            let mut law = Bqm::new(Settings { growth, ..Settings::default() });
            law.begin(8 * SEGMENT, 2);
            (0..64).map(|_| law.increase(8 * SEGMENT, SEGMENT, SEGMENT)).sum::<u64>() / SEGMENT
        };
        assert_eq!([Growth::UntilNext, Growth::UntilRegained].map(grown), [1, 8]);
    }

    #[test]
    fn after_slow_start_a_loss_that_is_not_by_congestion_begins_none() {
        let mut law = Bqm::new(Settings::default());
        let now = Reaction { cwnd: 10 * SEGMENT, ssthresh: 10 * SEGMENT };
        let reduced = law.react(now, 10 * SEGMENT, SEGMENT, Some(Report::Wireless));
        assert_eq!(reduced, Reaction { cwnd: 9 * SEGMENT, ssthresh: 9 * SEGMENT });
    }
}
