//! Quantities as text: their units, and how each is read, printed and serialised.

use crate::parse::{Examples, Fault, Kind, Written};
use crate::{Bytes, Decibels, Duration, Energy, Frequency, Length, ParseError, Power, Rate, Speed};
use core::fmt;
use core::str::FromStr;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

pub(crate) trait Text: FromStr<Err = ParseError> {
    const KIND: &'static Kind;
    /// True for quantities that can be below zero.
    #[cfg(feature = "schema")]
    const SIGNED: bool;
    /// Returns all units that can be read, aliases included.
    #[cfg(feature = "schema")]
    fn unit_names() -> impl Iterator<Item = &'static str>;
}

/// Reads an integer quantity. `units`: names, each with the number of smallest units in it.
fn read(text: &str, kind: &'static Kind, units: &[(&str, u64)]) -> Result<u64, ParseError> {
    let written = Written::split(text, kind)?;
    match units.iter().find(|(name, _)| *name == written.unit) {
        Some((_, scale)) => written.whole_times(*scale),
        None => Err(written.unknown_unit()),
    }
}

/// Prints all digits of `n` in the first of `units` whose smallest value `n` reaches: (name, scale, smallest value).
fn print(f: &mut fmt::Formatter<'_>, n: u64, kind: &Kind, units: &[(&str, u64, u64)]) -> fmt::Result {
    if n == 0 {
        return f.write_str(kind.zero);
    }
    let Some((name, scale, _)) = units.iter().find(|(_, _, from)| n >= *from) else {
        return write!(f, "{n} {}", kind.smallest);
    };
    write!(f, "{}", n / scale)?;
    let (mut rest, mut digit) = (n % scale, scale / 10);
    if rest > 0 {
        f.write_str(".")?;
    }
    while rest > 0 {
        write!(f, "{}", rest / digit)?;
        rest %= digit;
        digit /= 10;
    }
    write!(f, " {name}")
}

/// Reads a quantity that is kept as a float. `units`: each name with its conversion from a number.
fn read_float(text: &str, kind: &'static Kind, units: &[(&str, Convert)]) -> Result<f64, ParseError> {
    let written = Written::split(text, kind)?;
    let Some((_, convert)) = units.iter().find(|(name, _)| *name == written.unit) else {
        return Err(written.unknown_unit());
    };
    let value = convert(written.float()?).map_err(|fault| written.refuse(fault))?;
    if value.is_finite() { Ok(value) } else { Err(written.refuse(Fault::TooLarge)) }
}

type Convert = fn(f64) -> Result<f64, Fault>;

/// Converts to decibels; zero power has no value in decibels.
fn dbm(watts: f64) -> Result<f64, Fault> {
    if watts > 0.0 { Ok(Power::watts(watts).as_dbm()) } else { Err(Fault::NotAboveZero) }
}

fn not_negative(value: f64) -> Result<f64, Fault> {
    if value < 0.0 { Err(Fault::Negative) } else { Ok(value) }
}

/// Reads the text of a quantity. The error for a bare number says how to write the quantity.
struct TextVisitor<T>(core::marker::PhantomData<T>);

impl<T: Text> TextVisitor<T> {
    fn bare<E: Error>(number: &dyn fmt::Display) -> E {
        let examples = Examples(T::KIND);
        E::custom(format_args!("{number} has no unit; write {} as text with a unit: {examples}", T::KIND.name))
    }
}

impl<T: Text> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} such as {:?}", T::KIND.name, T::KIND.examples[0])
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Err(Self::bare(&number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        Err(Self::bare(&number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        Err(Self::bare(&number))
    }
}

macro_rules! text {
    ($type:ident, $make:path, $name:literal, $examples:expr, $units:literal, $smallest:literal, zero $zero:literal,
     largest $largest:literal, signed $signed:literal, $read:ident $scale:ty: $table:expr, print $print:expr) => {
        impl Text for $type {
            const KIND: &'static Kind = &Kind {
                name: $name,
                examples: &$examples,
                units: $units,
                smallest: $smallest,
                zero: $zero,
                largest: $largest,
            };
            #[cfg(feature = "schema")]
            const SIGNED: bool = $signed;
            #[cfg(feature = "schema")]
            fn unit_names() -> impl Iterator<Item = &'static str> {
                const READ: &[(&str, $scale)] = &$table;
                READ.iter().map(|(name, _)| *name)
            }
        }

        /// Reads a number and a unit: exactly if it is a whole number of smallest units, else to the nearest double.
        impl FromStr for $type {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<Self, ParseError> {
                $read(text, Self::KIND, &$table).map($make)
            }
        }

        /// Prints all digits in a readable unit. The printed text reads as the same value.
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let show: fn(Self, &mut fmt::Formatter<'_>) -> fmt::Result = $print;
                show(*self, f)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TextVisitor(core::marker::PhantomData))
            }
        }
    };
}

text!(
    Duration, Duration::from_nanos, "a duration", ["250 us", "5 ms", "10 s"], "ns, us, ms, s, min or h", "ns",
    zero "0 s", largest "18446744073.709551615 s", signed false,
    // The micro sign has two code points: U+00B5, and the Greek letter U+03BC.
    read u64: [
        ("ns", 1), ("us", 1_000), ("\u{b5}s", 1_000), ("\u{3bc}s", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000),
        ("min", 60_000_000_000), ("h", 3_600_000_000_000),
    ],
    print |time, f| print(f, time.as_nanos(), Self::KIND, &[
        ("s", 1_000_000_000, 1_000_000_000), ("ms", 1_000_000, 1_000_000), ("us", 1_000, 1_000),
    ])
);

text!(
    Rate, Rate::bps, "a rate", ["64 kb/s", "1.8 Mb/s", "1 Gb/s"], "b/s, kb/s, Mb/s or Gb/s", "b/s",
    zero "0 b/s", largest "18446744073.709551615 Gb/s", signed false,
    read u64: [
        ("b/s", 1), ("kb/s", 1_000), ("Mb/s", 1_000_000), ("Gb/s", 1_000_000_000),
        ("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000),
    ],
    print |rate, f| print(f, rate.as_bps(), Self::KIND, &[
        ("Gb/s", 1_000_000_000, 1_000_000_000), ("Mb/s", 1_000_000, 1_000_000), ("kb/s", 1_000, 1_000),
    ])
);

text!(
    Bytes, Bytes::new, "a size", ["1500 B", "64 kB", "2 MiB"], "B, kB, MB, GB, KiB, MiB or GiB", "B",
    zero "0 B", largest "18446744073709.551615 MB", signed false,
    read u64: [
        ("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ],
    // Packet sizes stay in bytes: 1518 B, not 1.518 kB.
    print |size, f| print(f, size.count(), Self::KIND, &[("MB", 1_000_000, 10_000_000), ("kB", 1_000, 10_000)])
);

text!(
    Frequency, Frequency::hertz, "a frequency", ["44 kHz", "20 MHz", "2.412 GHz"], "Hz, kHz, MHz or GHz", "Hz",
    zero "0 Hz", largest "18446744073.709551615 GHz", signed false,
    read u64: [("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)],
    print |frequency, f| print(f, frequency.as_hertz(), Self::KIND, &[
        ("GHz", 1_000_000_000, 1_000_000_000), ("MHz", 1_000_000, 1_000_000), ("kHz", 1_000, 1_000),
    ])
);

text!(
    Energy, Energy::nanojoules, "an energy", ["250 uJ", "5 mJ", "10 J"], "nJ, uJ, mJ or J", "nJ",
    zero "0 J", largest "18446744073.709551615 J", signed false,
    read u64: [("nJ", 1), ("uJ", 1_000), ("mJ", 1_000_000), ("J", 1_000_000_000)],
    print |energy, f| print(f, energy.as_nanojoules(), Self::KIND, &[
        ("J", 1_000_000_000, 1_000_000_000), ("mJ", 1_000_000, 1_000_000), ("uJ", 1_000, 1_000),
    ])
);

text!(
    Length, Length::metres, "a length", ["50 cm", "30 m", "1.5 km"], "cm, m or km", "m",
    zero "", largest "", signed true,
    read_float Convert: [("cm", |number| Ok(number / 100.0)), ("m", Ok), ("km", |number| Ok(number * 1_000.0))],
    print |length, f| write!(f, "{} m", length.as_metres())
);

text!(
    Speed, Speed::metres_per_second, "a speed", ["20 m/s", "72 km/h"], "m/s or km/h", "m/s",
    zero "", largest "", signed false,
    read_float Convert: [("m/s", not_negative), ("km/h", |number| not_negative(number / 3.6))],
    print |speed, f| write!(f, "{} m/s", speed.as_metres_per_second())
);

text!(
    Power, Power::dbm, "a power", ["15 dBm", "-82 dBm", "100 mW"], "dBm, mW or W", "dBm",
    zero "", largest "", signed true,
    read_float Convert: [("dBm", Ok), ("mW", |number| dbm(number / 1_000.0)), ("W", dbm)],
    print |power, f| write!(f, "{} dBm", power.as_dbm())
);

text!(
    Decibels, Decibels::new, "a ratio of powers", ["10 dB", "-3 dB", "0.5 dB"], "dB", "dB",
    zero "", largest "", signed true,
    read_float Convert: [("dB", Ok)],
    print |ratio, f| write!(f, "{} dB", ratio.as_db())
);
