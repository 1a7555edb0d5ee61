//! Mean and maximum of a time, where a distribution would be too dear.

use units::Duration;

/// Mean and maximum of some times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    n: u64,
    sum: Duration,
    max: Duration,
}

impl Span {
    /// Records a time that has come so often.
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
