//! Automatic rate fallback: Kamerman and Monteban, WaveLAN-II: a high-performance wireless LAN for the unlicensed band
//! (1997), with the timer counted in transmissions as by Lacage, Manshaei and Turletti (2004).

/// Acknowledged transmissions in a row after which a faster mode is tried.
const SUCCESSES: u32 = 10;
/// Transmissions after which it is tried in any case.
const TIMER: u32 = 15;
/// Failures in a row after which a slower mode is used.
const FAILURES: u32 = 2;

/// The state towards one peer.
#[derive(Debug)]
pub(super) struct Arf {
    /// The mode in use.
    pub(super) index: usize,
    top: usize,
    successes: u32,
    failures: u32,
    /// Transmissions since the mode changed or the last failure.
    timer: u32,
    /// True if the next transmission is the first with a faster mode.
    probing: bool,
}

impl Arf {
    /// Starts with the slowest of the modes 0 ..= `top`.
    pub(super) fn new(top: usize) -> Self {
        Self { index: 0, top, successes: 0, failures: 0, timer: 0, probing: false }
    }

    /// Records that a transmission was acknowledged, or not.
    pub(super) fn report(&mut self, acknowledged: bool) {
        self.timer += 1;
        if acknowledged {
            self.failures = 0;
            self.probing = false;
            self.successes += 1;
            if (self.successes >= SUCCESSES || self.timer >= TIMER) && self.index < self.top {
                self.change(self.index + 1);
                self.probing = true;
            }
            return;
        }
        self.successes = 0;
        self.failures += 1;
        if self.probing || self.failures >= FAILURES {
            self.change(self.index.saturating_sub(1));
        }
    }

    fn change(&mut self, index: usize) {
        *self = Self { index, ..Self::new(self.top) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_successes_climb_and_a_failed_probe_falls_at_once() {
        let mut arf = Arf::new(3);
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
        let mut arf = Arf::new(3);
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
        let mut arf = Arf::new(3);
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
        let mut arf = Arf::new(1);
        (0..10).for_each(|_| arf.report(false));
        assert_eq!(arf.index, 0);
        (0..100).for_each(|_| arf.report(true));
        assert_eq!(arf.index, 1);
    }
}
