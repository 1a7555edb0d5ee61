//! Sizes in bytes and rates in bit/s.

use crate::Duration;
use crate::saturating::saturating;

const NANOS: u64 = 1_000_000_000;

/// A size in whole bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// A size of `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// The number of bytes.
    pub const fn count(self) -> u64 {
        self.0
    }

    /// The number of bits.
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }
}

saturating!(Bytes);

/// A rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// A rate of `n` bit/s.
    pub const fn bps(n: u64) -> Self {
        Self(n)
    }

    /// A rate of `n` kb/s (1000 bit/s).
    pub const fn kbps(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }

    /// A rate of `n` Mb/s (10^6 bit/s).
    pub const fn mbps(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// The rate in bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// True for a rate of zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The time that `volume` takes at this rate, rounded up to a nanosecond; [`Duration::MAX`] at rate zero.
    pub fn time_for(self, volume: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // Data sent at once are short enough.
        if let Some(bit_nanos) = volume.bits().checked_mul(NANOS) {
            return Duration::from_nanos(bit_nanos.div_ceil(self.0));
        }
        let bit_nanos = u128::from(volume.bits()) * u128::from(NANOS);
        let nanos = bit_nanos.div_ceil(u128::from(self.0));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// This rate times `factor`, rounded to a bit/s; zero for negative factors and NaN.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub fn scaled(self, factor: f64) -> Self {
        Self(libm::round(self.0 as f64 * factor) as u64)
    }
}
