//! Automatic rate fallback (ARF): Kamerman and Monteban, WaveLAN-II: a high-performance wireless LAN for the unlicensed band
//! (1997), with the timer counted in transmissions as by Lacage, Manshaei and Turletti (2004).
//!
//! Also adaptive ARF (Lacage, Manshaei and Turletti, IEEE 802.11 rate adaptation: a practical approach, 2004). If a
//! probe fails, the number of successes before the next probe doubles.

/// Number of consecutive acknowledged transmissions after which a faster mode is tried.
pub(super) const SUCCESSES: u32 = 10;
/// Largest number of successes to which adaptive ARF raises `SUCCESSES`.
pub(super) const MOST_SUCCESSES: u32 = 50;
/// Number of consecutive failures after which a slower mode is used and the number of successes is reset.
const FAILURES: u32 = 2;

/// State of rate control for one peer.
#[derive(Debug)]
pub(super) struct Arf {
    /// Index of the mode in use.
    pub(super) index: usize,
    top: usize,
    /// Number of consecutive successes before the next probe, and the largest value that failed probes can give it.
    threshold: u32,
    most: u32,
    successes: u32,
    failures: u32,
    /// Number of transmissions since the mode changed.
    timer: u32,
    /// True if the next transmission is the first one in a faster mode.
    probing: bool,
}

impl Arf {
    /// Starts with the slowest of the modes 0 to `top`. After at most `most` successes a faster one is tried.
    pub(super) fn new(top: usize, most: u32) -> Self {
        Self { index: 0, top, threshold: SUCCESSES, most, successes: 0, failures: 0, timer: 0, probing: false }
    }

    /// Records whether a transmission was acknowledged.
    pub(super) fn report(&mut self, acknowledged: bool) {
        self.timer += 1;
        if acknowledged {
            self.failures = 0;
            self.probing = false;
            self.successes += 1;
            // A probe is due at the latest after 1.5 times `threshold` transmissions.
            let due = self.successes >= self.threshold || 2 * self.timer >= 3 * self.threshold;
            if due && self.index < self.top {
                self.change(self.index + 1, self.threshold);
                self.probing = true;
            }
            return;
        }
        self.successes = 0;
        self.failures += 1;
        let below = self.index.saturating_sub(1);
        if self.probing {
            self.change(below, (2 * self.threshold).min(self.most));
        } else if self.failures >= FAILURES {
            self.change(below, SUCCESSES);
        }
    }

    fn change(&mut self, index: usize, threshold: u32) {
        *self = Self { index, threshold, ..Self::new(self.top, self.most) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_successes_climb_and_a_failed_probe_falls_at_once() {
        let mut arf = Arf::new(3, SUCCESSES);
        for turn in 1..=9 {
            arf.report(true);
            assert_eq!(arf.index, 0, "after {turn}");
        }
        arf.report(true);
        assert_eq!(arf.index, 1);
        arf.report(false);
        assert_eq!(arf.index, 0, "the probe has failed");
        // Where the faster mode never works, it oscillates: one failure in eleven transmissions.
        let mut failures = 0;
        for _ in 0..1_100 {
            let works = arf.index == 0;
            failures += u32::from(!works);
            arf.report(works);
        }
        assert_eq!(failures, 100);
    }

    #[test]
    fn two_failures_in_a_row_fall_and_one_does_not() {
        let mut arf = Arf::new(3, SUCCESSES);
        (0..20).for_each(|_| arf.report(true));
        assert_eq!(arf.index, 2);
        arf.report(true);
        arf.report(false);
        arf.report(true);
        arf.report(false);
        assert_eq!(arf.index, 2);
        arf.report(false);
        assert_eq!(arf.index, 1);
    }

    #[test]
    fn the_timer_climbs_where_failures_break_every_row_of_successes() {
        let mut arf = Arf::new(3, SUCCESSES);
        // Two successes and a failure, again and again: the timer is over with the 16th transmission, a success.
        let mut turns = 0;
        while arf.index == 0 {
            arf.report(turns % 3 != 2);
            turns += 1;
        }
        assert_eq!(turns, 16);
    }

    #[test]
    fn the_ends_of_the_ladder_hold() {
        let mut arf = Arf::new(1, SUCCESSES);
        (0..10).for_each(|_| arf.report(false));
        assert_eq!(arf.index, 0);
        (0..100).for_each(|_| arf.report(true));
        assert_eq!(arf.index, 1);
    }

    #[test]
    fn probes_that_fail_become_rare_if_it_adapts() {
        let mut arf = Arf::new(3, MOST_SUCCESSES);
        let mut probes = Vec::new();
        for turn in 0..300 {
            let works = arf.index == 0;
            if !works {
                probes.push(turn);
            }
            arf.report(works);
        }
        // After 10, 20, 40 and then always 50 successes.
        assert_eq!(probes, [10, 31, 72, 123, 174, 225, 276]);
    }

    #[test]
    fn two_failures_make_probes_frequent_again() {
        let mut arf = Arf::new(3, MOST_SUCCESSES);
        for _ in 0..130 {
            let works = arf.index == 0;
            arf.report(works);
        }
        arf.report(false);
        arf.report(false);
        (0..9).for_each(|_| arf.report(true));
        assert_eq!(arf.index, 0);
        arf.report(true);
        assert_eq!(arf.index, 1);
    }
}
