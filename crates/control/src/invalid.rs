//! Parameters that make no sense, and where that is said.

use core::fmt;
use serde::de::{Deserialize, Deserializer, Error, Unexpected};

/// A setting that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Its key within the queue's table: `adth.phi_min`.
    pub parameter: &'static str,
    /// What is wrong: `is above phi_max`.
    pub why: &'static str,
}

/// `adth.phi_min is above phi_max`
impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.parameter, self.why)
    }
}

impl core::error::Error for Invalid {}

/// A setting that is used though it may behave badly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Its key within the queue's table: `alt.a1`.
    pub parameter: &'static str,
    /// What may happen, and by which equation.
    pub why: &'static str,
}

/// `alt.a1 is not below 10 + b1 ...`
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.parameter, self.why)
    }
}

/// For `#[serde(deserialize_with)]`: reads a number and refuses zero, negative numbers, infinity and NaN, so that the
/// error points at the number's place in the file.
///
/// # Errors
/// Those of reading a number; and `invalid value: floating point 0.0, expected a number above zero`.
pub fn above_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if number > 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(D::Error::invalid_value(Unexpected::Float(number), &"a number above zero"))
    }
}
