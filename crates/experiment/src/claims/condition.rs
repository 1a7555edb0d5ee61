//! Conditions of claims: `<= 400 ms`, `> 4`, `1.5 % .. 4.5 %`, `!= 1`, `zero`.

use super::quantity::quantity;
use crate::study::{Ruling, Side, Unit};
use std::str::FromStr;

/// A condition on a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Condition {
    AtMost(f64),
    Below(f64),
    AtLeast(f64),
    Above(f64),
    /// Both ends included.
    Within(f64, f64),
    /// Any other value.
    Not(f64),
    /// Zero. A claim over seeds has the exception that [`ZERO_AT_MOST`] grants.
    Zero,
}

/// Largest share over all seeds together that still counts as zero if the median seed has zero: below the least share
/// that the ADTH document counts as not zero (1 packet of 25 507).
pub(super) const ZERO_AT_MOST: f64 = 3e-5;

impl Condition {
    /// Reads the condition and the unit in which its numbers are written.
    pub(crate) fn read(text: &str) -> Result<(Self, Unit), String> {
        let wrong = || {
            format!(
                "`{text}` is not a condition: write `<= 400 ms`, `< 4`, `>= 1 %`, `> 4`, `-0.01 .. 0.08`, `!= 1` or `zero`"
            )
        };
        let read = |text: &str| quantity(text).ok_or_else(wrong);
        let text = text.trim();
        if text == "zero" {
            return Ok((Self::Zero, Unit::Number));
        }
        if let Some((from, to)) = text.split_once("..") {
            let (high, unit) = read(to)?;
            // In `1.5 .. 4.5 %` the unit at the end is that of both numbers.
            let shared = to.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-.e".contains(c));
            let (low, of_low) = match read(from)? {
                (_, Unit::Number) if unit != Unit::Number => read(&format!("{} {}", from.trim(), shared.trim()))?,
                other => other,
            };
            if of_low != unit {
                return Err(format!("`{text}` has two units that are not alike"));
            }
            if low > high {
                return Err(format!("`{text}` never holds: {low} lies above {high}"));
            }
            return Ok((Self::Within(low, high), unit));
        }
        // Longer signs come first, because `<=` begins with `<`.
        let after = |sign: &str| text.strip_prefix(sign);
        let (limit, make): (&str, fn(f64) -> Self) = if let Some(limit) = after("<=") {
            (limit, Self::AtMost)
        } else if let Some(limit) = after(">=") {
            (limit, Self::AtLeast)
        } else if let Some(limit) = after("!=") {
            (limit, Self::Not)
        } else if let Some(limit) = after("<") {
            (limit, Self::Below)
        } else if let Some(limit) = after(">") {
            (limit, Self::Above)
        } else {
            return Err(wrong());
        };
        let (limit, unit) = read(limit)?;
        Ok((make(limit), unit))
    }

    /// True if the value fulfils the condition; false for NaN.
    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::Below(limit) => value < limit,
            Self::AtLeast(limit) => value >= limit,
            Self::Above(limit) => value > limit,
            Self::Within(low, high) => low <= value && value <= high,
            Self::Not(other) => (value - other).abs() > 0.0,
            Self::Zero => value == 0.0,
        }
    }

    /// True if some value between `low` and `high` fulfils the condition.
    pub(super) fn reaches(self, low: f64, high: f64) -> bool {
        match self {
            Self::AtMost(_) | Self::Below(_) => self.holds(low),
            Self::AtLeast(_) | Self::Above(_) => self.holds(high),
            Self::Within(from, to) => low <= to && high >= from,
            Self::Not(_) => self.holds(low) || self.holds(high),
            Self::Zero => low <= 0.0 && high >= 0.0,
        }
    }

    /// Returns the side of the window on which a value lies; `None` inside, and for a condition without sides.
    pub(super) fn beyond(self, value: f64) -> Option<Side> {
        let (low, high) = match self {
            Self::AtMost(limit) | Self::Below(limit) => (f64::NEG_INFINITY, limit),
            Self::AtLeast(limit) | Self::Above(limit) => (limit, f64::INFINITY),
            Self::Within(low, high) => (low, high),
            Self::Not(_) | Self::Zero => return None,
        };
        match value {
            value if self.holds(value) || value.is_nan() => None,
            value if value <= low => Some(Side::Below),
            value if value >= high => Some(Side::Above),
            _ => None,
        }
    }

    /// Rules on an interval: all values between `low` and `high` fulfil the condition, some do, or none does.
    pub(super) fn rule(self, low: f64, high: f64) -> Ruling {
        let between = matches!(self, Self::Not(other) if low <= other && other <= high);
        if self.holds(low) && self.holds(high) && !between {
            Ruling::Holds
        } else if self.reaches(low, high) {
            Ruling::NotConfirmed
        } else {
            Ruling::Differs
        }
    }

    /// Returns the distance of a value from the window, negative inside, and infinite for NaN.
    pub(super) fn excess(self, value: f64) -> f64 {
        let excess = match self {
            Self::AtMost(limit) | Self::Below(limit) => value - limit,
            Self::AtLeast(limit) | Self::Above(limit) => limit - value,
            Self::Within(low, high) => (low - value).max(value - high),
            Self::Not(other) => -(value - other).abs(),
            Self::Zero => value.abs(),
        };
        if value.is_nan() { f64::INFINITY } else { excess }
    }
}

/// Writes a claim's window in the unit in which `value` writes the numbers beside it. A window that was written with a
/// unit stays as it is.
pub(crate) fn in_unit(holds: &str, unit: Unit, value: impl Fn(f64) -> String) -> String {
    let sign = |sign: &str, limit: f64| format!("{sign} {}", value(limit));
    match Condition::read(holds) {
        Ok((condition, Unit::Number)) if unit != Unit::Number => match condition {
            Condition::AtMost(limit) => sign("<=", limit),
            Condition::Below(limit) => sign("<", limit),
            Condition::AtLeast(limit) => sign(">=", limit),
            Condition::Above(limit) => sign(">", limit),
            Condition::Not(other) => sign("!=", other),
            Condition::Within(low, high) => format!("{} .. {}", value(low), value(high)),
            Condition::Zero => holds.to_owned(),
        },
        _ => holds.to_owned(),
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text).map(|(condition, _)| condition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form() {
        let read = |text: &str| text.parse::<Condition>().unwrap();
        assert_eq!(read("<= 0.001"), Condition::AtMost(0.001));
        assert_eq!(read("<4"), Condition::Below(4.0));
        assert_eq!(read(" >= -1 "), Condition::AtLeast(-1.0));
        assert_eq!(read("> 4e3"), Condition::Above(4e3));
        assert_eq!(read("-0.01 .. 0.08"), Condition::Within(-0.01, 0.08));
        assert_eq!(read("1..2"), Condition::Within(1.0, 2.0));
        assert_eq!(read("zero"), Condition::Zero);
    }

    #[test]
    fn numbers_may_have_units() {
        let read = |text: &str| Condition::read(text).unwrap();
        assert_eq!(read("<= 400 ms"), (Condition::AtMost(0.4), Unit::Seconds));
        assert_eq!(read("1.5 % .. 4.5 %"), (Condition::Within(0.015, 0.045), Unit::Share));
        assert_eq!(read("2 .. 3 s"), (Condition::Within(2.0, 3.0), Unit::Seconds));
        assert_eq!(read("-1 .. 4.5 %"), (Condition::Within(-0.01, 0.045), Unit::Share));
        assert!(Condition::read("1 s .. 4 %").unwrap_err().contains("two units"));
    }

    #[test]
    fn a_window_is_told_in_the_unit_of_the_value_beside_it() {
        let told = |holds: &str, unit| in_unit(holds, unit, |value| format!("{} %", value * 100.0));
        assert_eq!(told("<= 1", Unit::Share), "<= 100 %");
        assert_eq!(told("-0.5 .. 1", Unit::Share), "-50 % .. 100 %");
        assert_eq!(told("zero", Unit::Share), "zero");
        assert_eq!(told("<= 0.5 s", Unit::Seconds), "<= 0.5 s", "it has a unit");
        assert_eq!(told("> 4", Unit::Number), "> 4");
    }

    #[test]
    fn refuses_what_is_none() {
        for text in ["", "5", "=< 5", "<= x", "<= NaN", "3 .. 1", "..", "1 .. 2 .. 3", "<= 1 parsec"] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }

    #[test]
    fn ends_belong_to_a_range_and_nan_to_nothing() {
        let range = Condition::Within(1.0, 2.0);
        assert!(range.holds(1.0) && range.holds(2.0) && !range.holds(2.1) && !range.holds(f64::NAN));
        assert!(!Condition::Below(1.0).holds(1.0) && Condition::AtMost(1.0).holds(1.0));
        assert!(!Condition::AtLeast(1.0).holds(f64::NAN));
    }

    #[test]
    fn an_interval_that_contains_a_border_confirms_nothing() {
        use Ruling::{Differs, Holds, NotConfirmed};
        let rule = |text: &str, low, high| text.parse::<Condition>().unwrap().rule(low, high);
        assert_eq!(rule("> 0", 0.1, 0.2), Holds);
        assert_eq!(rule("> 0", -0.1, 0.2), NotConfirmed);
        assert_eq!(rule("> 0", 0.0, 0.2), NotConfirmed, "the border itself is outside");
        assert_eq!(rule("> 0", -0.2, 0.0), Differs);
        assert_eq!(rule("1 .. 2", 0.5, 2.5), NotConfirmed, "wider than the range");
        assert_eq!(rule("1 .. 2", 2.5, 3.0), Differs);
        assert_eq!(rule("1 .. 2", f64::NAN, f64::NAN), Differs);
        assert_eq!(rule("!= 1", 1.1, 1.2), Holds);
        assert_eq!(rule("!= 1", 0.9, 1.2), NotConfirmed);
        assert_eq!(rule("!= 1", 1.0, 1.0), Differs);
    }

    #[test]
    fn excess_is_the_distance_beyond_the_border() {
        let excess = |text: &str, value| text.parse::<Condition>().unwrap().excess(value);
        assert!(excess("<= 2", 3.0) > 0.0 && excess("<= 2", 1.0) < 0.0);
        assert!(excess(">= 2", 1.0) > 0.0 && excess("1 .. 2", 0.5) > excess("1 .. 2", 1.5));
        assert!(excess("<= 2", f64::NAN).is_infinite());
    }
}
