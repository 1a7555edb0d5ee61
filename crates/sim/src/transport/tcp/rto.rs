//! The smoothed round-trip time and the retransmission timeout (RFC 6298).

use units::Duration;

/// The timeout before the first measurement (RFC 6298, 2.1).
pub(super) const INITIAL: Duration = Duration::from_secs(1);
/// The timeout of the first data after a repeated SYN (RFC 6298, 5.7).
const AFTER_REPEATED_SYN: Duration = Duration::from_secs(3);
/// The longest timeout (RFC 6298, 2.5: at least 60 s).
pub(super) const LONGEST: Duration = Duration::from_secs(60);
/// Clock granularity, G: a millisecond, as in today's timestamps; RFC 6298, section 4, recommends at most 100 ms.
const GRANULARITY: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Rto {
    shortest: Duration,
    /// The smoothed round-trip time.
    pub(super) srtt: Option<Duration>,
    rttvar: Duration,
    base: Duration,
    backoff: Backoff,
}

impl Rto {
    /// State without a measurement; `shortest` is the lower bound of the timeout.
    pub(super) fn new(shortest: Duration) -> Self {
        Self { shortest, srtt: None, rttvar: Duration::ZERO, base: INITIAL, backoff: Backoff::default() }
    }

    pub(super) fn timeout(&self) -> Duration {
        self.backoff.stretch(self.base)
    }

    /// Takes a measurement, one of `per_window` within a round trip (RFC 6298, section 2; RFC 7323, appendix G). Ends
    /// the back-off.
    pub(super) fn measure(&mut self, rtt: Duration, per_window: u64) {
        let samples = per_window.max(1);
        let srtt = match self.srtt {
            None => {
                self.rttvar = rtt / 2;
                rtt
            }
            Some(srtt) => {
                let error = rtt.saturating_sub(srtt) + srtt.saturating_sub(rtt);
                self.rttvar = approach(self.rttvar, error, samples.saturating_mul(4));
                approach(srtt, rtt, samples.saturating_mul(8))
            }
        };
        self.srtt = Some(srtt);
        self.base = (srtt + GRANULARITY.max(self.rttvar * 4)).max(self.shortest).min(LONGEST);
        self.backoff = Backoff::default();
        debug_assert!(self.base >= self.shortest.min(LONGEST) && self.base <= LONGEST);
        debug_assert!(self.timeout() > Duration::ZERO);
    }

    /// Handles a timeout (RFC 6298, 5.5).
    pub(super) fn back_off(&mut self) {
        let before = self.timeout();
        self.backoff.increase();
        debug_assert!(self.timeout() >= before && self.timeout() <= LONGEST);
    }

    /// Handles the end of the handshake; `repeated`: its SYN was retransmitted (RFC 6298, 5.7). A measurement comes
    /// first, which timestamps allow even after a retransmission.
    pub(super) fn begin_data(&mut self, repeated: bool) {
        self.backoff = Backoff::default();
        if repeated && self.srtt.is_none() {
            self.base = AFTER_REPEATED_SYN;
        }
    }
}

/// Moves `old` towards `new` by a fraction of one in `parts` of the difference.
fn approach(old: Duration, new: Duration, parts: u64) -> Duration {
    if new >= old { old + (new - old) / parts } else { old - (old - new) / parts }
}

/// Number of times that a timer has doubled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff(u32);

impl Backoff {
    /// `base`, doubled as often as the timer expired, up to [`LONGEST`].
    pub(super) fn stretch(self, base: Duration) -> Duration {
        (base * (1 << self.0)).min(LONGEST)
    }

    pub(super) fn increase(&mut self) {
        // 60 s / 1 ms is below 2^16: more doublings change nothing.
        self.0 = (self.0 + 1).min(16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn the_timeout_follows_the_formulas_of_rfc_6298() {
        let mut rto = Rto::new(Duration::ZERO);
        assert_eq!((rto.srtt, rto.timeout()), (None, millis(1000)));
        rto.measure(millis(200), 1);
        // SRTT 200, RTTVAR 100: 200 + 4 * 100.
        assert_eq!((rto.srtt, rto.timeout()), (Some(millis(200)), millis(600)));
        rto.measure(millis(280), 1);
        // RTTVAR 3/4 * 100 + 1/4 * 80 = 95 first, then SRTT 7/8 * 200 + 1/8 * 280 = 210.
        assert_eq!((rto.srtt, rto.timeout()), (Some(millis(210)), millis(590)));
    }

    #[test]
    fn several_measurements_a_round_trip_weigh_as_one() {
        let (mut one, mut many) = (Rto::new(Duration::ZERO), Rto::new(Duration::ZERO));
        one.measure(millis(100), 1);
        many.measure(millis(100), 10);
        one.measure(millis(200), 1);
        (0..10).for_each(|_| many.measure(millis(200), 10));
        // One of weight 1/8 brings SRTT to 112.5; ten of weight 1/80 to 200 - 100 * (79/80)^10 = 111.8198.
        assert_eq!(one.srtt, Some(Duration::from_micros(112_500)));
        assert_eq!(many.srtt.unwrap().as_nanos() / 1_000, 111_819);
    }

    #[test]
    fn a_timeout_doubles_up_to_a_minute_and_a_measurement_ends_that() {
        let mut rto = Rto::new(millis(1000));
        let mut timeouts = Vec::new();
        for _ in 0..8 {
            timeouts.push(rto.timeout().as_nanos() / 1_000_000_000);
            rto.back_off();
        }
        assert_eq!(timeouts, [1, 2, 4, 8, 16, 32, 60, 60]);
        rto.measure(millis(10), 1);
        assert_eq!(rto.timeout(), millis(1000));
    }

    #[test]
    fn a_round_trip_of_no_time_still_gives_a_timeout() {
        let mut rto = Rto::new(Duration::ZERO);
        rto.measure(Duration::ZERO, 1);
        assert_eq!(rto.timeout(), GRANULARITY);
    }

    #[test]
    fn data_after_a_repeated_syn_wait_for_three_seconds_unless_a_time_was_measured() {
        let mut rto = Rto::new(millis(1000));
        rto.back_off();
        rto.begin_data(true);
        assert_eq!(rto.timeout(), millis(3000));
        rto.measure(millis(10), 1);
        rto.begin_data(true);
        assert_eq!(rto.timeout(), millis(1000));
    }

    proptest! {
        #[test]
        fn no_measurement_breaks_the_bounds(times in prop::collection::vec((any::<u64>(), any::<u64>(), any::<bool>()), 1..50)) {
            let mut rto = Rto::new(millis(200));
            for (nanos, per_window, late) in times {
                rto.measure(Duration::from_nanos(nanos), per_window);
                if late { rto.back_off(); }
                prop_assert!(rto.timeout() >= millis(200) && rto.timeout() <= LONGEST);
            }
        }
    }
}
