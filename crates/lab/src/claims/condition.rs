//! When a claim holds: `<= 0.001`, `> 4`, `-0.01 .. 0.08`.

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
}

impl Condition {
    /// False for NaN.
    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::Below(limit) => value < limit,
            Self::AtLeast(limit) => value >= limit,
            Self::Above(limit) => value > limit,
            Self::Within(low, high) => low <= value && value <= high,
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a condition: write `<= 0.001`, `< 4`, `>= 1`, `> 4` or `-0.01 .. 0.08`");
        let number = |text: &str| match text.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(wrong()),
        };
        let text = text.trim();
        if let Some((low, high)) = text.split_once("..") {
            let (low, high) = (number(low)?, number(high)?);
            if low > high {
                return Err(format!("`{text}` never holds: {low} lies above {high}"));
            }
            return Ok(Self::Within(low, high));
        }
        // The longer signs first: `<=` begins with `<`.
        if let Some(limit) = text.strip_prefix("<=") {
            number(limit).map(Self::AtMost)
        } else if let Some(limit) = text.strip_prefix(">=") {
            number(limit).map(Self::AtLeast)
        } else if let Some(limit) = text.strip_prefix('<') {
            number(limit).map(Self::Below)
        } else if let Some(limit) = text.strip_prefix('>') {
            number(limit).map(Self::Above)
        } else {
            Err(wrong())
        }
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
    }

    #[test]
    fn refuses_what_is_none() {
        for text in ["", "5", "=< 5", "<= x", "<= NaN", "3 .. 1", "..", "1 .. 2 .. 3", "<= 1 %"] {
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
}
