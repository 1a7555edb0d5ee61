//! Conditions of claims: `<= 400 ms`, `> 4`, `1.5 % .. 4.5 %`, `!= 1`, `zero`.

use super::quantity::quantity;
use crate::study::{Ruling, Side, Unit};
use std::str::FromStr;
use units::refuse_if;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Condition {
    /// A range. One end may be infinite. With `open` the range excludes its ends.
    Between { low: f64, high: f64, open: bool },
    /// Any value except this one.
    Not(f64),
    /// Zero. A claim over seeds allows the exception of [`ZERO_AT_MOST`].
    Zero,
}

/// Makes a condition that has one number, from this number.
type Make = fn(f64) -> Condition;

/// The signs before a single number. Longer signs come before shorter ones, because `<=` begins with `<`.
const SIGNS: [(&str, Make); 5] = [
    ("<=", |high| Condition::Between { low: f64::NEG_INFINITY, high, open: false }),
    (">=", |low| Condition::Between { low, high: f64::INFINITY, open: false }),
    ("!=", Condition::Not),
    ("<", |high| Condition::Between { low: f64::NEG_INFINITY, high, open: true }),
    (">", |low| Condition::Between { low, high: f64::INFINITY, open: true }),
];

/// Largest share over all seeds that counts as zero if the median seed has zero. It is less than the smallest share
/// that the ADTH document counts as not zero (1 packet of 25 507).
pub(super) const ZERO_AT_MOST: f64 = 3e-5;

impl Condition {
    /// Reads the condition, and the unit in which the condition's numbers are written.
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
            // In `1.5 .. 4.5 %` the unit at the end applies to both numbers.
            let shared = to.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-.e".contains(c));
            let (low, of_low) = match read(from)? {
                (_, Unit::Number) if unit != Unit::Number => read(&format!("{} {}", from.trim(), shared.trim()))?,
                other => other,
            };
            refuse_if!(of_low != unit, Err(format!("the bounds of `{text}` have different units")));
            refuse_if!(low > high, Err(format!("`{text}` never holds: {low} lies above {high}")));
            return Ok((Self::Between { low, high, open: false }, unit));
        }
        let signed = |(sign, make): &(&str, Make)| Some((text.strip_prefix(sign)?, *make));
        let (limit, make) = SIGNS.iter().find_map(signed).ok_or_else(wrong)?;
        let (limit, unit) = read(limit)?;
        Ok((make(limit), unit))
    }

    /// True if the value fulfils the condition; false for NaN.
    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::Between { low, high, open: false } => low <= value && value <= high,
            // An infinite end needs no exclusion.
            Self::Between { low, high, .. } => {
                (low < value || low.is_infinite()) && (value < high || high.is_infinite()) && !value.is_nan()
            }
            Self::Not(other) => (value - other).abs() > 0.0,
            Self::Zero => value == 0.0,
        }
    }

    /// True if some value between `low` and `high` fulfils the condition.
    pub(super) fn reaches(self, low: f64, high: f64) -> bool {
        match self {
            Self::Between { low: from, .. } if from.is_infinite() => self.holds(low),
            Self::Between { high: to, .. } if to.is_infinite() => self.holds(high),
            Self::Between { low: from, high: to, .. } => low <= to && high >= from,
            Self::Not(_) => self.holds(low) || self.holds(high),
            Self::Zero => low <= 0.0 && high >= 0.0,
        }
    }

    /// Returns the side of the window on which a value lies; `None` inside, and for a condition without sides.
    pub(super) fn beyond(self, value: f64) -> Option<Side> {
        let Self::Between { low, high, .. } = self else { return None };
        match value {
            value if self.holds(value) || value.is_nan() => None,
            value if value <= low => Some(Side::Below),
            value if value >= high => Some(Side::Above),
            _ => None,
        }
    }

    /// Rules on an interval, by whether all, some or no values between `low` and `high` fulfil the condition.
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

    /// Returns the distance of a value from the window: negative inside the window, infinite for NaN.
    pub(super) fn excess(self, value: f64) -> f64 {
        let excess = match self {
            Self::Between { low, high, .. } => (low - value).max(value - high),
            Self::Not(other) => -(value - other).abs(),
            Self::Zero => value.abs(),
        };
        if value.is_nan() { f64::INFINITY } else { excess }
    }
}

/// Writes a claim's window in the unit of the numbers next to it; `unit` is the unit of `value`. A window that was
/// written with a unit is not changed.
pub(crate) fn in_unit(holds: &str, unit: Unit, value: impl Fn(f64) -> String) -> String {
    let sign = |sign: &str, open: bool, limit: f64| format!("{sign}{} {}", if open { "" } else { "=" }, value(limit));
    match Condition::read(holds) {
        Ok((condition, Unit::Number)) if unit != Unit::Number => match condition {
            Condition::Between { low, high, open } if low.is_infinite() => sign("<", open, high),
            Condition::Between { low, high, open } if high.is_infinite() => sign(">", open, low),
            Condition::Between { low, high, .. } => format!("{} .. {}", value(low), value(high)),
            Condition::Not(other) => sign("!", false, other),
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

    fn between(low: f64, high: f64, open: bool) -> Condition {
        Condition::Between { low, high, open }
    }

    #[test]
    fn reads_every_form() {
        const NONE: f64 = f64::INFINITY;
        for (text, condition) in [
            ("<= 0.001", between(-NONE, 0.001, false)),
            ("<4", between(-NONE, 4.0, true)),
            (" >= -1 ", between(-1.0, NONE, false)),
            ("> 4e3", between(4e3, NONE, true)),
            ("!= 1", Condition::Not(1.0)),
            ("-0.01 .. 0.08", between(-0.01, 0.08, false)),
            ("1..2", between(1.0, 2.0, false)),
            ("zero", Condition::Zero),
        ] {
            assert_eq!(text.parse(), Ok(condition), "{text}");
        }
    }

    #[test]
    fn numbers_may_have_units() {
        for (text, condition, unit) in [
            ("<= 400 ms", between(f64::NEG_INFINITY, 0.4, false), Unit::Seconds),
            ("1.5 % .. 4.5 %", between(0.015, 0.045, false), Unit::Share),
            ("2 .. 3 s", between(2.0, 3.0, false), Unit::Seconds),
            ("-1 .. 4.5 %", between(-0.01, 0.045, false), Unit::Share),
        ] {
            assert_eq!(Condition::read(text), Ok((condition, unit)), "{text}");
        }
        assert!(Condition::read("1 s .. 4 %").unwrap_err().contains("different units"));
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
        const INF: f64 = f64::INFINITY;
        const NEG: f64 = f64::NEG_INFINITY;
        const NAN: f64 = f64::NAN;
        for (text, holds, not) in [
            ("1 .. 2", &[1.0, 2.0][..], &[2.1, 0.9, INF, NEG, NAN][..]),
            ("< 1", &[0.9, NEG], &[1.0, INF, NAN]),
            ("<= 1", &[1.0, NEG], &[1.1, INF, NAN]),
            ("> 1", &[1.1, INF], &[1.0, NEG, NAN]),
            (">= 1", &[1.0, INF], &[0.9, NEG, NAN]),
            ("!= 1", &[0.9, INF], &[1.0, NAN]),
            ("zero", &[0.0, -0.0], &[1e-300, NAN]),
        ] {
            let condition: Condition = text.parse().unwrap();
            assert!(holds.iter().all(|value| condition.holds(*value)), "{text} holds for {holds:?}");
            assert!(!not.iter().any(|value| condition.holds(*value)), "{text} holds for none of {not:?}");
        }
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
        for (text, value, distance) in
            [("<= 2", 3.5, 1.5), (">= 2", 3.5, -1.5), ("> 2", 1.0, 1.0), ("1 .. 2", 0.25, 0.75)]
        {
            assert_eq!(excess(text, value).to_bits(), f64::to_bits(distance), "{text}");
        }
        let infinite =
            [("<= 2", f64::INFINITY, true), ("> 2", f64::INFINITY, false), ("< 2", f64::NEG_INFINITY, false)];
        for (text, value, outside) in infinite {
            assert!(excess(text, value).is_infinite() && (excess(text, value) > 0.0) == outside, "{text}");
        }
    }
}
