//! The distribution of a time, in memory that does not grow with the number of samples.

use super::histogram::Histogram;
use crate::results::Times;
use units::Duration;

/// Collects times. Mean and maximum are exact; percentiles come from a histogram in microseconds.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    n: u64,
    nanos: u128,
    max: Duration,
    histogram: Histogram,
}

impl Summary {
    #[inline]
    pub(crate) fn record(&mut self, time: Duration) {
        self.n += 1;
        self.nanos += u128::from(time.as_nanos());
        self.max = self.max.max(time);
        self.histogram.record(time.as_nanos() / 1_000);
    }

    pub(crate) fn times(&self) -> Times {
        if self.n == 0 {
            return Times::default();
        }
        let max = self.max.as_secs_f64();
        let quantile = |q| self.quantile(q);
        Times {
            mean: self.nanos as f64 / self.n as f64 / 1e9,
            p5: quantile(0.05),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max,
        }
    }
}

impl Summary {
    /// The end of a bin can lie above the largest sample.
    fn quantile(&self, share: f64) -> f64 {
        (self.histogram.ranked(rank(self.n, share)) as f64 / 1e6).min(self.max.as_secs_f64())
    }

    /// The time that each of the shares does not exceed; none where nothing was collected.
    pub(crate) fn quantiles(&self, shares: &[f64]) -> Vec<f64> {
        let all = |shares: &[f64]| shares.iter().map(|&share| self.quantile(share)).collect();
        if self.n == 0 { Vec::new() } else { all(shares) }
    }
}

/// The number, from 1, of the sample at a quantile of `n`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the samples")]
fn rank(n: u64, quantile: f64) -> u64 {
    (libm::ceil(quantile * n as f64) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
