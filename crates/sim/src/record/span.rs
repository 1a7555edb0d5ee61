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
    pub(crate) fn record(&mut self, time: Duration) {
        self.n += 1;
        self.sum += time;
        self.max = self.max.max(time);
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum.as_secs_f64() / self.n as f64)
    }

    pub(crate) fn max(&self) -> Option<f64> {
        (self.n > 0).then(|| self.max.as_secs_f64())
    }
}
