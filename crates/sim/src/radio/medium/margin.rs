//! How far the signals about which a node decides are from the capture threshold.
//!
//! If positions alone determine powers, a frame 0.5 dB above the threshold is always received, and one 0.5 dB below it
//! never. With many such frames, a run's result depends more on the threshold than on the network.

/// A decision (verdict) is near the threshold if a threshold 1 dB higher or lower would change it.
const NEAR: f64 = 1.258_925_411_794_167_2;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Margins {
    /// Number of decisions, including those about undisturbed frames.
    pub(crate) verdicts: u64,
    pub(crate) near: u64,
    /// In the decision nearest to the threshold: the frame's power divided by the power of all other signals.
    pub(crate) nearest: Option<f64>,
}

impl Margins {
    /// Counts a frame of this power, during which other signals had at most the power `others`.
    #[inline]
    pub(super) fn weigh(&mut self, power: u64, others: u64, capture: f64) {
        if others == 0 {
            return self.undisturbed();
        }
        self.verdicts += 1;
        let threshold = others as f64 * capture;
        let power = power as f64;
        if power * NEAR >= threshold && power < threshold * NEAR {
            self.near += 1;
            let ratio = power / others as f64;
            let distance = |ratio: f64| libm::fabs(libm::log(ratio / capture));
            if self.nearest.is_none_or(|nearest| distance(ratio) < distance(nearest)) {
                self.nearest = Some(ratio);
            }
        }
    }

    /// Counts a frame without interference.
    pub(super) fn undisturbed(&mut self) {
        self.verdicts += 1;
    }

    /// True if a noticeable share of the decisions, one in twenty, depends on less than 1 dB.
    pub(crate) fn is_noticeable(&self) -> bool {
        self.near > 0 && self.near * 20 >= self.verdicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_near_within_one_decibel_of_the_threshold() {
        let near = |power: u64, others: u64| {
            let mut margins = Margins::default();
            margins.weigh(power, others, 10.0);
            margins.near == 1
        };
        // 9.54 dB, as three hops against one in free space; 8.99, 9.01, 10.99 and 11.01 dB.
        assert!(near(900, 100));
        assert_eq!([near(793, 100), near(796, 100), near(1_256, 100), near(1_262, 100)], [false, true, true, false]);
        // Equal powers, and nothing else there.
        assert!(!near(1_000, 1_000) && !near(1_000, 0));
    }

    #[test]
    fn one_in_twenty_is_noticed_and_the_nearest_is_kept() {
        let mut margins = Margins::default();
        margins.weigh(900, 100, 10.0);
        margins.weigh(1_010, 100, 10.0);
        margins.weigh(1_100, 100, 10.0);
        assert_eq!(margins.nearest, Some(10.1));
        (0..57).for_each(|_| margins.weigh(1_000, 0, 10.0));
        assert!(margins.is_noticeable());
        margins.weigh(1_000, 1_000, 10.0);
        assert!(!margins.is_noticeable());
    }
}
