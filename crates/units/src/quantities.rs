//! Quantities other than time. Lengths, speeds and radio powers are floats: the model uses them to compute links.

use crate::Duration;
use crate::saturating::saturating;

/// Makes types of quantities. Each has a constructor, and a method that returns the number of its unit.
macro_rules! quantities {
    ($number:ty: $derived:tt; $(
        $(#[$doc:meta])*
        $Name:ident, $make:ident($value:ident) = $made:literal, $get:ident = $got:literal;
    )+) => {$(
        quantities!(@ $derived, $(#[$doc])* pub struct $Name($number););

        impl $Name {
            #[doc = $made]
            pub const fn $make($value: $number) -> Self {
                Self($value)
            }

            #[doc = $got]
            pub const fn $get(self) -> $number {
                self.0
            }
        }
    )+};
    (@ ($($derived:ident),*), $($struct:tt)*) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, $($derived),*)]
        $($struct)*
    };
}

quantities! {
    f64: ();
    /// A length in metres.
    Length, metres(metres) = "A length of `metres`.", as_metres = "The number of metres.";
    /// A speed in metres per second. Text cannot give a negative one.
    Speed, metres_per_second(metres) = "A speed of `metres` a second.",
    as_metres_per_second = "The number of metres a second.";
    /// A radio power, kept in dBm (decibels relative to a milliwatt).
    Power, dbm(dbm) = "A power of `dbm` decibel-milliwatts.", as_dbm = "Decibels above a milliwatt.";
    /// A ratio of powers in decibels.
    Decibels, new(db) = "A ratio of `db` decibels.", as_db = "The ratio in decibels.";
}

quantities! {
    u64: (Eq, Ord, Hash);
    /// A frequency in whole hertz.
    Frequency, hertz(n) = "A frequency of `n` Hz.", as_hertz = "The number of hertz.";
    /// An energy in whole nanojoules.
    Energy, nanojoules(n) = "An energy of `n` nJ.", as_nanojoules = "The number of nanojoules.";
    /// A size in whole bytes.
    Bytes, new(n) = "A size of `n` bytes.", count = "The number of bytes.";
    /// A rate in whole bits per second.
    Rate, bps(n) = "A rate of `n` bit/s.", as_bps = "The rate in bits per second.";
}

saturating!(Energy);
saturating!(Bytes);

impl Power {
    /// Makes a power of `watts`; minus infinity dBm for zero watts.
    pub fn watts(watts: f64) -> Self {
        Self(10.0 * libm::log10(watts) + 30.0)
    }

    /// Returns the power in watts.
    pub fn as_watts(self) -> f64 {
        libm::pow(10.0, (self.0 - 30.0) / 10.0)
    }
}

impl Decibels {
    /// Returns the ratio as a plain number: 10 for 10 dB, about 2 for 3 dB.
    pub fn as_ratio(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }
}

impl Energy {
    /// Makes an energy of `joules`, rounded to the nearest nanojoule; zero for negative values and NaN.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    pub fn joules(joules: f64) -> Self {
        Self(libm::round(joules * 1e9) as u64)
    }

    /// Returns the number of joules.
    pub fn as_joules(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Bytes {
    /// Returns the number of bits.
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }
}

const NANOS: u64 = 1_000_000_000;

impl Rate {
    /// Makes a rate of `n` kb/s (1000 bit/s).
    pub const fn kbps(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }

    /// Makes a rate of `n` Mb/s (10^6 bit/s).
    pub const fn mbps(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// True if the rate is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the time that `volume` takes at this rate, rounded up to a nanosecond; [`Duration::MAX`] at rate zero.
    pub fn time_for(self, volume: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // Up to 2.3 GB the product fits into 64 bits.
        if let Some(bit_nanos) = volume.bits().checked_mul(NANOS) {
            return Duration::from_nanos(bit_nanos.div_ceil(self.0));
        }
        let bit_nanos = u128::from(volume.bits()) * u128::from(NANOS);
        let nanos = bit_nanos.div_ceil(u128::from(self.0));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Returns this rate times `factor`, rounded to a bit/s; zero for negative factors and NaN.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub fn scaled(self, factor: f64) -> Self {
        Self(libm::round(self.0 as f64 * factor) as u64)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString as _;

    #[test]
    fn it_is_read_and_printed_exactly_and_never_wraps() {
        for (text, nanojoules) in [("1.5 J", 1_500_000_000), ("330 mJ", 330_000_000), ("2.64 uJ", 2_640), ("7 nJ", 7)] {
            assert_eq!(text.parse(), Ok(Energy::nanojoules(nanojoules)));
            assert_eq!(text, Energy::nanojoules(nanojoules).to_string());
        }
        assert_eq!(Energy::joules(0.001_5), Energy::nanojoules(1_500_000));
        assert!((Energy::nanojoules(250_000_000).as_joules() - 0.25).abs() < 1e-12);
        let most = Energy::nanojoules(u64::MAX);
        assert_eq!([most + Energy::joules(1.0), Energy::joules(1.0) - most], [most, Energy::default()]);
        assert_eq!(
            [Energy::joules(f64::NAN), Energy::joules(-1.0), Energy::joules(1e30)],
            [most - most, most - most, most]
        );
    }
}
