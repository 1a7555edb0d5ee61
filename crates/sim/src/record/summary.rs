//! The distribution of a duration, in memory that does not grow with the number of samples.

use super::histogram::Histogram;
use crate::results::Times;
use units::Duration;

/// Distribution of durations. Mean and maximum are exact; percentiles come from a histogram in microseconds.
///
/// Packets of one aggregate often have the same value, and packets that come in pairs alternate between two values. So
/// the last two values are only counted at first, and recorded when other values replace them or results are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// The last value, not yet recorded.
    last: Repeated,
    /// The last value that differs from the newest one, not yet recorded.
    before: Repeated,
    n: u64,
    nanos: u128,
    max: Duration,
    histogram: Histogram,
}

/// A value with the number of its samples.
#[derive(Clone, Copy, Debug, Default)]
struct Repeated {
    time: Duration,
    times: u32,
}

impl Repeated {
    /// True if this is the value and its count can grow by `times`.
    fn takes(&self, time: Duration, times: u32) -> bool {
        self.time == time && self.times <= u32::MAX - times
    }
}

impl Summary {
    pub(crate) fn record(&mut self, time: Duration) {
        self.record_all(time, 1);
    }

    /// Records a time that occurred `times` times.
    pub(crate) fn record_all(&mut self, time: Duration, times: u32) {
        if !self.last.takes(time, times) {
            self.turn_to(time, times);
        }
        self.last.times += times;
    }

    /// Makes room for a value that differs from the last two.
    // Not inlined, so that the callers' code stays short.
    #[inline(never)]
    fn turn_to(&mut self, time: Duration, times: u32) {
        let before = std::mem::replace(&mut self.before, self.last);
        if before.takes(time, times) {
            self.last = before;
        } else {
            self.last = Repeated { time, times: 0 };
            self.settle(before);
        }
    }

    #[inline(always)] // once a packet, where times differ
    fn settle(&mut self, Repeated { time, times }: Repeated) {
        if times == 0 {
            return;
        }
        self.n += u64::from(times);
        self.nanos += u128::from(time.as_nanos()) * u128::from(times);
        self.max = self.max.max(time);
        self.histogram.record(time.as_nanos() / 1_000, times);
    }

    /// Adds all values of another distribution.
    pub(crate) fn add(&mut self, other: &Self) {
        self.n += other.n;
        self.nanos += other.nanos;
        self.max = self.max.max(other.max);
        other.histogram.bins().for_each(|(bin, times)| self.histogram.add(bin, times));
        self.settle(other.last);
        self.settle(other.before);
    }

    /// The same distribution with all values recorded.
    fn settled(&self) -> Self {
        let mut all = self.clone();
        for kept in [&mut all.last, &mut all.before].map(std::mem::take) {
            all.settle(kept);
        }
        all
    }

    pub(crate) fn times(&self) -> Times {
        let all = self.settled();
        if all.n == 0 {
            return Times::default();
        }
        let quantile = |q| all.quantile(q);
        Times {
            mean: all.nanos as f64 / all.n as f64 / 1e9,
            p5: quantile(0.05),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: all.max.as_secs_f64(),
        }
    }

    /// Quantiles for these shares; none without samples.
    pub(crate) fn quantiles(&self, shares: &[f64]) -> Vec<f64> {
        let all = self.settled();
        let each = |shares: &[f64]| shares.iter().map(|&share| all.quantile(share)).collect();
        if all.n == 0 { Vec::new() } else { each(shares) }
    }

    /// Values are bounded by the largest sample, because the end of a bin can lie above it.
    fn quantile(&self, share: f64) -> f64 {
        (self.histogram.ranked(rank(self.n, share)) as f64 / 1e6).min(self.max.as_secs_f64())
    }
}

/// Rank, from 1, of the sample at a quantile of `n`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the samples")]
fn rank(n: u64, quantile: f64) -> u64 {
    (libm::ceil(quantile * n as f64) as u64).max(1)
}

/// Mean and maximum of durations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    n: u64,
    sum: Duration,
    max: Duration,
}

impl Span {
    /// Records a time that occurred `times` times.
    pub(crate) fn record_all(&mut self, time: Duration, times: u32) {
        self.n += u64::from(times);
        self.sum += time * u64::from(times);
        self.max = self.max.max(time);
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum.as_secs_f64() / self.n as f64)
    }

    pub(crate) fn max(&self) -> Option<f64> {
        (self.n > 0).then(|| self.max.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_times_in_a_row_are_all_counted(runs in prop::collection::vec((0_u64..4, 0_usize..5), 0..40)) {
            let mut in_rows = Summary::default();
            for &(millis, times) in &runs {
                in_rows.record_all(Duration::from_millis(millis), u32::try_from(times).expect("below 5"));
            }
            let times = runs.iter().flat_map(|&(millis, times)| std::iter::repeat_n(Duration::from_millis(millis), times));
            let mut sorted: Vec<_> = times.clone().collect();
            let mut summary = Summary::default();
            times.for_each(|time| summary.record(time));
            sorted.sort_unstable();
            let found = summary.times();
            prop_assert_eq!(found, in_rows.times());
            if let Some(max) = sorted.last() {
                let sum: Duration = sorted.iter().fold(Duration::ZERO, |sum, &time| sum + time);
                prop_assert!((found.mean - sum.as_secs_f64() / sorted.len() as f64).abs() < 1e-12);
                prop_assert!((found.max - max.as_secs_f64()).abs() < 1e-12);
                let middle = sorted[sorted.len().div_ceil(2) - 1].as_secs_f64();
                prop_assert!((found.p50 - middle).abs() <= 1e-3 * middle, "{} for {}", found.p50, middle);
            } else {
                prop_assert_eq!(found, Times::default());
            }
        }
    }

    proptest! {
        #[test]
        fn summaries_add_up(times in prop::collection::vec((0_u64..300, any::<bool>()), 0..300)) {
            let [mut all, mut one, mut other] = [(); 3].map(|()| Summary::default());
            for &(millis, which) in &times {
                let time = Duration::from_millis(millis);
                all.record(time);
                if which { &mut one } else { &mut other }.record(time);
            }
            one.add(&other);
            prop_assert_eq!(one.times(), all.times());
        }
    }

    #[test]
    fn percentiles_mean_and_maximum() {
        let mut summary = Summary::default();
        assert_eq!(summary.times(), Times::default());
        for millis in 1..=1000 {
            summary.record(Duration::from_millis(millis));
        }
        let times = summary.times();
        assert!((times.mean - 0.5005).abs() < 1e-12 && (times.max - 1.0).abs() < 1e-12);
        for (found, expected) in
            [(times.p5, 0.05), (times.p50, 0.5), (times.p95, 0.95), (times.p99, 0.99), (times.p999, 0.999)]
        {
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} for {expected}");
        }
        let shares = crate::results::shares();
        let quantiles = summary.quantiles(&shares);
        for (found, share) in quantiles.iter().zip(shares) {
            assert!((found - share.max(0.001)).abs() < 1.1e-3, "{found} for {share}");
        }
        assert_eq!(Summary::default().quantiles(&[0.5]), [0.0; 0]);
    }

    #[test]
    fn a_time_that_comes_often_counts_as_often() {
        let (mut often, mut each) = (Span::default(), Span::default());
        for (millis, times) in [(3, 2), (5, 1), (4, 7)] {
            let time = Duration::from_millis(millis);
            often.record_all(time, times);
            (0..times).for_each(|_| each.record_all(time, 1));
        }
        assert_eq!((often.mean(), often.max()), (each.mean(), each.max()));
    }
}
