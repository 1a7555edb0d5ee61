//! Bounded values for settings. A value out of bounds cannot be built. It is refused while it is read, so that the
//! error points at its line. The JSON Schema of each type states its bounds.

use crate::text::Text;
use crate::{Bytes, Duration, Frequency, Length, Rate, Speed};
use core::fmt;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, Unexpected};

/// A value above zero: a quantity, a finite number or a [`Share`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Positive<T>(T);

/// A number from 0 to 1, both included. `Positive<Share>` excludes 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Share(f64);

/// A value from `LEAST` to `MOST`, both included. They count the type's smallest unit: nanoseconds, bytes or ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Within<T, const LEAST: u64, const MOST: u64 = { u64::MAX }>(T);

/// Types of quantities that a setting may require to be above zero.
pub trait AboveZero: Sized {
    /// True if the value is above zero; a number must also be finite.
    fn is_above_zero(&self) -> bool;

    /// Makes the error for a value that is not above zero: `"0 s" is zero; expected a duration above zero`.
    fn refuse<E: Error>(&self) -> E;
}

macro_rules! positive_quantities {
    ($($type:ident, $value:ident, $zero:literal);* $(;)?) => {$(
        impl AboveZero for $type {
            fn is_above_zero(&self) -> bool {
                self.$value() > $zero
            }

            fn refuse<E: Error>(&self) -> E {
                let fault = if *self == Self::default() { "zero" } else { "negative" };
                E::custom(format_args!("\"{self}\" is {fault}; expected {} above zero", Self::KIND.name))
            }
        }

        impl Positive<$type> {
            /// Wraps `value` if it is above zero.
            pub const fn new(value: $type) -> Option<Self> {
                if value.$value() > $zero { Some(Self(value)) } else { None }
            }

            /// Returns the value, which is above zero.
            pub const fn get(self) -> $type {
                self.0
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

impl AboveZero for f64 {
    fn is_above_zero(&self) -> bool {
        *self > 0.0 && self.is_finite()
    }

    fn refuse<E: Error>(&self) -> E {
        E::invalid_value(Unexpected::Float(*self), &"a number above zero")
    }
}

impl Positive<f64> {
    /// Wraps `number` if it is above zero and finite.
    pub const fn new(number: f64) -> Option<Self> {
        if number > 0.0 && number.is_finite() { Some(Self(number)) } else { None }
    }

    /// Returns the number, which is above zero and finite.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Share {
    /// Wraps `number` if it is from 0 to 1.
    pub const fn new(number: f64) -> Option<Self> {
        if number >= 0.0 && number <= 1.0 { Some(Self(number)) } else { None }
    }

    /// Returns the number, which is from 0 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Positive<Share> {
    /// Wraps `number` if it is above 0 and at most 1.
    pub const fn new(number: f64) -> Option<Self> {
        if number > 0.0 && number <= 1.0 { Some(Self(Share(number))) } else { None }
    }

    /// Returns the number, which is above 0 and at most 1.
    pub const fn get(self) -> f64 {
        self.0.0
    }
}

/// Types that [`Within`] can bound: they count smallest units.
pub(crate) trait Counted: Copy + fmt::Debug {
    fn count(self) -> u64;

    /// Makes the error for a value out of bounds: `"1 ns" is out of range; it must be at least 100 us`.
    fn refuse<E: Error>(self, least: u64, most: u64) -> E;
}

macro_rules! within {
    ($($type:ident, |$value:ident| $count:expr, $make:expr, $message:literal);* $(;)?) => {$(
        impl Counted for $type {
            fn count(self) -> u64 {
                let $value = self;
                $count
            }

            fn refuse<E: Error>(self, least: u64, most: u64) -> E {
                let make = $make;
                let (low, high) = (make(least), make(most));
                match (least, most) {
                    (_, u64::MAX) => E::custom(format_args!(concat!($message, "at least {}"), self, low)),
                    (0, _) => E::custom(format_args!(concat!($message, "at most {}"), self, high)),
                    _ => E::custom(format_args!(concat!($message, "from {} to {}"), self, low, high)),
                }
            }
        }

        impl<const LEAST: u64, const MOST: u64> Within<$type, LEAST, MOST> {
            /// Wraps `value` if it is within the bounds.
            pub const fn new($value: $type) -> Option<Self> {
                let count = $count;
                if count >= LEAST && count <= MOST { Some(Self($value)) } else { None }
            }

            /// Returns the value, which is within the bounds.
            pub const fn get(self) -> $type {
                self.0
            }
        }
    )*};
}

within! {
    Duration, |value| value.as_nanos(), Duration::from_nanos, "\"{}\" is out of range; it must be ";
    Bytes, |value| value.count(), Bytes::new, "\"{}\" is out of range; it must be ";
    u32, |value| ones(value), |count| count, "{} is out of range; it must be ";
}

const fn ones(value: u32) -> u64 {
    value as u64
}

impl<'de, T: AboveZero + Deserialize<'de>> Deserialize<'de> for Positive<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        if value.is_above_zero() { Ok(Self(value)) } else { Err(value.refuse()) }
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| D::Error::invalid_value(Unexpected::Float(number), &"a number from 0 to 1"))
    }
}

impl<'de> Deserialize<'de> for Positive<Share> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        let expected = &"a number above zero and at most 1";
        Self::new(number).ok_or_else(|| D::Error::invalid_value(Unexpected::Float(number), expected))
    }
}

impl<'de, T: Counted + Deserialize<'de>, const LEAST: u64, const MOST: u64> Deserialize<'de>
    for Within<T, LEAST, MOST>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        if (LEAST..=MOST).contains(&value.count()) { Ok(Self(value)) } else { Err(value.refuse(LEAST, MOST)) }
    }
}

/// For `#[serde(deserialize_with = "units::positive")]`: reads a quantity, or an optional one. Refuses zero.
///
/// # Errors
/// Those of reading the quantity, and `"0 s" is zero; expected a duration above zero`.
pub fn positive<'de, D: Deserializer<'de>, T: Deserialize<'de> + AboveZero>(deserializer: D) -> Result<T, D::Error> {
    Positive::deserialize(deserializer).map(|Positive(value)| value)
}

impl<T: AboveZero> AboveZero for Option<T> {
    fn is_above_zero(&self) -> bool {
        self.as_ref().is_none_or(AboveZero::is_above_zero)
    }

    fn refuse<E: Error>(&self) -> E {
        self.as_ref().map_or_else(|| E::custom("nothing"), AboveZero::refuse)
    }
}
