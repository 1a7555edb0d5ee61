//! Time as whole nanoseconds, up to 584 years, with the same results on every machine.

use crate::saturating::saturating;
use core::ops::{Add, AddAssign, Div};

/// A span of time in whole nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// The empty span.
    pub const ZERO: Self = Self(0);
    /// The longest span, 584 years; it stands for "for ever".
    pub const MAX: Self = Self(u64::MAX);

    /// Makes a span of `n` nanoseconds.
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }

    /// Makes a span of `n` microseconds.
    pub const fn from_micros(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }

    /// Makes a span of `n` milliseconds.
    pub const fn from_millis(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// Makes a span of `n` seconds.
    pub const fn from_secs(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000_000))
    }

    /// Makes a span of `seconds`, to the nearest nanosecond; zero for negative values and NaN, at most [`Self::MAX`].
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    #[inline]
    pub fn from_secs_f64(seconds: f64) -> Self {
        let nanos = seconds * 1e9;
        let whole = nanos as u64;
        Self(whole.saturating_add(u64::from(nanos - whole as f64 >= 0.5)))
    }

    /// Returns the span in whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the span in seconds, rounded to a double.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// True for [`Self::ZERO`].
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns `self - other`, or zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns how often `part` fits into the span; `u64::MAX` if `part` is zero.
    pub const fn div_floor(self, part: Self) -> u64 {
        match self.0.checked_div(part.0) {
            Some(times) => times,
            None => u64::MAX,
        }
    }
}

saturating!(Duration);

/// A division by zero gives [`Duration::MAX`].
impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, parts: u64) -> Self {
        Self(self.0.checked_div(parts).unwrap_or(u64::MAX))
    }
}

impl core::iter::Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

/// Returns year, month and day in the Gregorian calendar, `days` after 1 January 1970. Days are counted in years that
/// begin in March, so that the leap day is the last day of its year. 400 years have 146,097 days.
pub const fn date(days: u64) -> [u64; 3] {
    // This is the number of days from 1 March of the year 0 to 1970.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Five months from March on have 153 days, and so have the next five.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    [era * 400 + year + later, month, day]
}

/// A moment, counted in whole nanoseconds from the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// A moment that never comes.
    pub const NEVER: Self = Self(u64::MAX);

    /// Makes the moment `n` nanoseconds after the start.
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }

    /// Returns the nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start, rounded to a double.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time from `earlier` to `self`; zero if `earlier` is the later one.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: rounded half away from zero, then cast.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    fn rounded(seconds: f64) -> Duration {
        Duration::from_nanos(libm::round(seconds * 1e9) as u64)
    }

    #[test]
    fn seconds_are_rounded_to_the_nearest_nanosecond() {
        let edges =
            [0.0, -0.0, 0.499_999_999_999_999_94, 0.5, 1.5, 2.5, 1e15 + 0.5, 9_007_199_254_740_993.0, 1.8e19, 2e19];
        for nanos in edges.into_iter().chain([f64::INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::MAX]) {
            for seconds in [nanos, -nanos, nanos / 1e9, -nanos / 1e9] {
                assert_eq!(Duration::from_secs_f64(seconds), rounded(seconds), "{seconds:e}");
            }
        }
        assert_eq!(Duration::from_secs_f64(1.5e-9), Duration::from_nanos(2));
    }

    proptest! {
        #[test]
        fn any_seconds_are_rounded_alike(seconds in any::<f64>(), nanos in 0.0..1e7_f64) {
            prop_assert_eq!(Duration::from_secs_f64(seconds), rounded(seconds));
            prop_assert_eq!(Duration::from_secs_f64(nanos / 2e9), rounded(nanos / 2e9));
        }
    }
}
