//! A number that jumps at moments in time, and its mean over time.

use units::Instant;

/// How a number went over a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Its mean, weighted by time.
    pub mean: f64,
    /// The smallest value it had, however briefly.
    pub min: u64,
    /// The largest value it had, however briefly.
    pub max: u64,
    /// Its value at the end.
    pub last: u64,
}

/// Follows a number over time.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    value: u64,
    since: Instant,
    start: Instant,
    min: u64,
    max: u64,
    /// Value times nanoseconds, up to `since`.
    area: u128,
}

impl Meter {
    pub(crate) fn new(now: Instant, value: u64) -> Self {
        Self { value, since: now, start: now, min: value, max: value, area: 0 }
    }

    #[inline]
    pub(crate) fn set(&mut self, now: Instant, value: u64) {
        self.area += self.area_until(now);
        self.since = now;
        self.value = value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    pub(crate) fn restart(&mut self, now: Instant) {
        *self = Self::new(now, self.value);
    }

    pub(crate) fn level(&self, now: Instant) -> Level {
        let span = now.since(self.start).as_nanos();
        let area = self.area + self.area_until(now);
        let mean = if span == 0 { self.value as f64 } else { area as f64 / span as f64 };
        Level { mean, min: self.min, max: self.max, last: self.value }
    }

    #[inline]
    fn area_until(&self, now: Instant) -> u128 {
        u128::from(self.value) * u128::from(now.since(self.since).as_nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn the_mean_is_weighted_by_time() {
        let mut meter = Meter::new(at(10), 4);
        meter.set(at(20), 0);
        meter.set(at(20), 9);
        meter.set(at(50), 2);
        // (4 * 10 + 9 * 30 + 2 * 20) / 60
        assert_eq!(meter.level(at(70)), Level { mean: 350.0 / 60.0, min: 0, max: 9, last: 2 });
        meter.restart(at(70));
        assert_eq!(meter.level(at(70)), Level { mean: 2.0, min: 2, max: 2, last: 2 });
        assert_eq!(meter.level(at(90)), Level { mean: 2.0, min: 2, max: 2, last: 2 });
    }
}
