//! Energy in whole nanojoules.

use crate::saturating::saturating;

/// An energy in whole nanojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Energy(u64);

impl Energy {
    /// An energy of `n` nJ.
    pub const fn nanojoules(n: u64) -> Self {
        Self(n)
    }

    /// An energy of `joules`, rounded to the nearest nanojoule; zero for negative values and NaN.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    pub fn joules(joules: f64) -> Self {
        Self(libm::round(joules * 1e9) as u64)
    }

    /// The number of nanojoules.
    pub const fn as_nanojoules(self) -> u64 {
        self.0
    }

    /// The number of joules.
    pub fn as_joules(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

saturating!(Energy);

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
