//! The distribution of a time, in memory that does not grow with the number of samples.

use crate::results::Times;
use hdrhistogram::Histogram;
use units::Duration;

/// Three significant digits: a percentile is exact to 0.1 %.
const DIGITS: u8 = 3;

/// Collects times. Mean and maximum are exact; percentiles come from a histogram in microseconds.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    n: u64,
    nanos: u128,
    max: Duration,
    histogram: Option<Histogram<u32>>,
}

impl Summary {
    #[inline]
    pub(crate) fn record(&mut self, time: Duration) {
        self.n += 1;
        self.nanos += u128::from(time.as_nanos());
        self.max = self.max.max(time);
        let histogram = self.histogram.get_or_insert_with(|| Histogram::new(DIGITS).expect("three digits are valid"));
        histogram.record(time.as_nanos() / 1_000).expect("the histogram grows with its largest value");
    }

    pub(crate) fn times(&self) -> Times {
        let Some(histogram) = &self.histogram else { return Times::default() };
        // The end of a bin can lie above the largest sample.
        let max = self.max.as_secs_f64();
        let quantile = |q| (histogram.value_at_quantile(q) as f64 / 1e6).min(max);
        Times {
            mean: self.nanos as f64 / self.n as f64 / 1e9,
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max,
        }
    }
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
        for (found, expected) in [(times.p50, 0.5), (times.p95, 0.95), (times.p99, 0.99), (times.p999, 0.999)] {
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} for {expected}");
        }
    }
}
