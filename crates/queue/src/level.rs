//! Time average of a number that changes in steps.

use units::Instant;

/// Statistics of a number over a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Mean, weighted by time.
    pub mean: f64,
    /// Smallest value, however short its time.
    pub min: u64,
    /// Largest value, however short its time.
    pub max: u64,
    /// Value at the end.
    pub last: u64,
    /// Share of time in which the value is zero, 0 to 1.
    pub zero: f64,
}

/// Measures a number over time.
#[derive(Clone, Debug)]
pub struct Meter {
    value: u64,
    since: Instant,
    start: Instant,
    min: u64,
    max: u64,
    /// Sum of value times nanoseconds, up to `since`.
    area: u128,
    /// Time in which the value was zero, up to `since`, in ns.
    zero: u64,
}

impl Meter {
    /// Makes a meter that has this value from now on.
    pub fn new(now: Instant, value: u64) -> Self {
        Self { value, since: now, start: now, min: value, max: value, area: 0, zero: 0 }
    }

    /// Sets the value from now on.
    #[inline]
    pub fn set(&mut self, now: Instant, value: u64) {
        debug_assert!(now >= self.since, "time does not run back");
        // Several packets often arrive and leave at one instant.
        if now > self.since {
            self.area += self.area_until(now);
            self.zero += self.zero_until(now);
            self.since = now;
        }
        self.value = value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        debug_assert!(self.min <= self.value && self.value <= self.max);
    }

    /// Restarts the statistics.
    pub fn restart(&mut self, now: Instant) {
        *self = Self::new(now, self.value);
    }

    /// Returns the present value.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Returns the statistics up to now.
    pub fn level(&self, now: Instant) -> Level {
        let span = now.since(self.start).as_nanos();
        let (area, zero) = (self.area + self.area_until(now), self.zero + self.zero_until(now));
        let (mean, zero) = match span {
            0 => (self.value as f64, f64::from(u8::from(self.value == 0))),
            span => (area as f64 / span as f64, zero as f64 / span as f64),
        };
        Level { mean, min: self.min, max: self.max, last: self.value, zero }
    }

    #[inline]
    fn area_until(&self, now: Instant) -> u128 {
        u128::from(self.value) * u128::from(now.since(self.since).as_nanos())
    }

    #[inline]
    fn zero_until(&self, now: Instant) -> u64 {
        if self.value == 0 { now.since(self.since).as_nanos() } else { 0 }
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
        assert_eq!(meter.level(at(70)), Level { mean: 350.0 / 60.0, min: 0, max: 9, last: 2, zero: 0.0 });
        meter.restart(at(70));
        let two = Level { mean: 2.0, min: 2, max: 2, last: 2, zero: 0.0 };
        assert_eq!(meter.level(at(70)), two);
        assert_eq!(meter.level(at(90)), two);
    }

    #[test]
    fn time_at_zero_is_a_share_of_the_time_since_the_start() {
        let mut meter = Meter::new(at(0), 0);
        assert!((meter.level(at(0)).zero - 1.0).abs() < 1e-12);
        meter.set(at(30), 3);
        meter.set(at(60), 0);
        // 30 before, 20 of the last 40: 50 of 80.
        assert!((meter.level(at(80)).zero - 0.625).abs() < 1e-12);
        meter.set(at(100), 1);
        meter.restart(at(100));
        assert!(meter.level(at(200)).zero.abs() < 1e-12);
    }
}
