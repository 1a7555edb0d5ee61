//! Settings that must be above zero are refused where they are read, so that the error points at their line.

use crate::text::Text;
use crate::{Bytes, Duration, Frequency, Length, Rate, Speed};
use core::fmt::{self, Display};
use serde::de::{Deserialize, Deserializer, Error};

/// A quantity, or an optional one, that may be required to be above zero.
pub trait Positive {
    /// True above zero, and for an optional quantity that is absent.
    fn is_positive(&self) -> bool;

    /// Says, for a value that is not positive, what it should be: `"0 s" is zero; expected a duration above zero`.
    ///
    /// # Errors
    /// Those of the formatter.
    fn complain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

macro_rules! positive_quantities {
    ($($type:ident, $value:ident, $zero:literal);* $(;)?) => {$(
        impl Positive for $type {
            fn is_positive(&self) -> bool {
                self.$value() > $zero
            }

            fn complain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let fault = if *self == Self::default() { "zero" } else { "negative" };
                write!(f, "\"{self}\" is {fault}; expected {} above zero", Self::KIND.name)
            }
        }
    )*};
}

positive_quantities! {
    Duration, as_nanos, 0;
    Rate, as_bps, 0;
    Bytes, count, 0;
    Frequency, as_hertz, 0;
    Length, as_metres, 0.0;
    Speed, as_metres_per_second, 0.0;
}

impl<T: Positive> Positive for Option<T> {
    fn is_positive(&self) -> bool {
        self.as_ref().is_none_or(Positive::is_positive)
    }

    fn complain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |value| value.complain(f))
    }
}

/// For `#[serde(deserialize_with = "units::positive")]`: reads a quantity, or an optional one, and refuses zero.
///
/// # Errors
/// Those of reading the quantity; and `"0 s" is zero; expected a duration above zero`.
pub fn positive<'de, D: Deserializer<'de>, T: Deserialize<'de> + Positive>(deserializer: D) -> Result<T, D::Error> {
    struct Complaint<T>(T);
    impl<T: Positive> Display for Complaint<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.complain(f)
        }
    }

    let value = T::deserialize(deserializer)?;
    if value.is_positive() { Ok(value) } else { Err(D::Error::custom(Complaint(value))) }
}
