//! Adaptive ARF: Lacage, Manshaei and Turletti, IEEE 802.11 rate adaptation: a practical approach (2004). A probe that
//! fails makes the next one twice as rare.

/// Acknowledged transmissions in a row before a probe: initial and largest value.
const SUCCESSES: (u32, u32) = (10, 50);
/// Failures in a row after which a slower mode is used and the threshold is reset.
const FAILURES: u32 = 2;

/// The state towards one peer.
#[derive(Debug)]
pub(super) struct Aarf {
    /// The mode in use.
    pub(super) index: usize,
    top: usize,
    successes: u32,
    failures: u32,
    /// Transmissions since the mode changed.
    timer: u32,
    /// Successes in a row before the next probe.
    threshold: u32,
    probing: bool,
}

impl Aarf {
    /// Starts with the slowest of the modes 0 ..= `top`.
    pub(super) fn new(top: usize) -> Self {
        Self { index: 0, top, successes: 0, failures: 0, timer: 0, threshold: SUCCESSES.0, probing: false }
    }

    /// Records that a transmission was acknowledged, or not.
    pub(super) fn report(&mut self, acknowledged: bool) {
        self.timer += 1;
        if acknowledged {
            self.failures = 0;
            self.probing = false;
            self.successes += 1;
            // The timer grows with the threshold, in ARF's proportion.
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
            self.change(below, (2 * self.threshold).min(SUCCESSES.1));
        } else if self.failures >= FAILURES {
            self.change(below, SUCCESSES.0);
        }
    }

    fn change(&mut self, index: usize, threshold: u32) {
        *self = Self { index, threshold, ..Self::new(self.top) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_that_fail_become_rare() {
        let mut aarf = Aarf::new(3);
        let mut probes = Vec::new();
        for turn in 0..300 {
            let works = aarf.index == 0;
            if !works {
                probes.push(turn);
            }
            aarf.report(works);
        }
        // After 10, 20, 40 and then always 50 successes.
        assert_eq!(probes, [10, 31, 72, 123, 174, 225, 276]);
    }

    #[test]
    fn two_failures_make_probes_frequent_again() {
        let mut aarf = Aarf::new(3);
        for _ in 0..130 {
            let works = aarf.index == 0;
            aarf.report(works);
        }
        aarf.report(false);
        aarf.report(false);
        (0..9).for_each(|_| aarf.report(true));
        assert_eq!(aarf.index, 0);
        aarf.report(true);
        assert_eq!(aarf.index, 1);
    }
}
