//! Resource units (RUs) of OFDMA: parts of a channel, each for one station. They are in an HE MU PPDU of an access
//! point, or in HE TB PPDUs of several stations at once.
//!
//! Source: IEEE 802.11ax-2021. RUs are in 27.3.2.2 (numbers for each width in table 27-9), data subcarriers in 27.3.11
//! (tables 27-13 to 27-15), HE-SIG-B in 27.3.11.8.

use crate::config::ChannelWidth;

/// Size of an RU, named by its number of tones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the numbers of tones")]
pub enum Ru {
    T26,
    T52,
    T106,
    T242,
    T484,
    T996,
}

impl Ru {
    /// All sizes, smallest first.
    pub const ALL: [Self; 6] = [Self::T26, Self::T52, Self::T106, Self::T242, Self::T484, Self::T996];

    /// Returns the number of data subcarriers: tones without pilots.
    pub const fn subcarriers(self) -> u64 {
        [24, 48, 102, 234, 468, 980][self as usize]
    }

    /// Returns the number of data subcarriers in a quarter of a symbol (NSD,short; 27.3.12.5).
    pub(super) const fn quarter(self) -> u64 {
        [6, 12, 24, 60, 120, 240][self as usize]
    }

    /// Returns the number of such RUs in a channel.
    pub const fn count(self, width: ChannelWidth) -> usize {
        let by_size = match width {
            ChannelWidth::Mhz20 => [9, 4, 2, 1, 0, 0],
            ChannelWidth::Mhz40 => [18, 8, 4, 2, 1, 0],
            ChannelWidth::Mhz80 => [37, 16, 8, 4, 2, 1],
            ChannelWidth::Mhz160 => [74, 32, 16, 8, 4, 2],
        };
        by_size[self as usize]
    }

    /// Splits a channel equally among at most `users`, as finely as possible with all RUs used. `None` if that split is
    /// the whole channel.
    pub fn split(width: ChannelWidth, users: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|ru| ru.count(width) <= users).filter(|ru| ru.count(width) > 1)
    }

    pub(crate) fn widest(width: ChannelWidth) -> Self {
        Self::ALL.into_iter().rfind(|ru| ru.count(width) > 0).unwrap_or(Self::T242)
    }
}

/// Returns the number of 4 us symbols of the HE-SIG-B field for this many users of equal RUs. Each 20 MHz has half the
/// common field, which lists the channel's RUs, and user fields in pairs (tables 27-23 and 27-26). The two content
/// channels of a wide PPDU share the users. `coding`: MCS of the slowest user; HE-SIG-B has at most MCS 5.
pub(crate) fn sig_b_symbols(width: ChannelWidth, users: usize, coding: u8) -> u8 {
    const CHECK_AND_TAIL: usize = 4 + 6;
    const USER: usize = 21;
    let (allocation, contents) = match width {
        ChannelWidth::Mhz20 => (8, 1),
        ChannelWidth::Mhz40 => (8, 2),
        // One bit tells whether the 26 tones in the middle of each 80 MHz are used.
        ChannelWidth::Mhz80 => (2 * 8 + 1, 2),
        ChannelWidth::Mhz160 => (4 * 8 + 1, 2),
    };
    let fields = users.div_ceil(contents);
    let bits = allocation + CHECK_AND_TAIL + fields * USER + fields.div_ceil(2) * CHECK_AND_TAIL;
    let per_symbol = [26, 52, 78, 104, 156, 208][usize::from(coding.min(5))];
    u8::try_from(bits.div_ceil(per_symbol)).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};

    #[test]
    fn a_channel_is_split_as_finely_as_there_are_users() {
        let split = |width, users| Ru::split(width, users).map(|ru| (ru, ru.count(width)));
        assert_eq!([0, 1].map(|users| split(Mhz80, users)), [None; 2]);
        assert_eq!([2, 3].map(|users| split(Mhz80, users)), [Some((Ru::T484, 2)); 2]);
        assert_eq!([4, 7].map(|users| split(Mhz80, users)), [Some((Ru::T242, 4)); 2]);
        assert_eq!([8, 16, 36].map(|users| split(Mhz80, users).map(|(_, count)| count)), [Some(8), Some(16), Some(16)]);
        assert_eq!([37, 200].map(|users| split(Mhz80, users)), [Some((Ru::T26, 37)); 2]);
        assert_eq!(
            [2, 4, 9].map(|users| split(Mhz20, users).map(|(ru, _)| ru)),
            [Ru::T106, Ru::T52, Ru::T26].map(Some)
        );
        assert_eq!((split(Mhz40, 2), split(Mhz160, 2)), (Some((Ru::T242, 2)), Some((Ru::T996, 2))));
    }

    /// An RU has fewer data subcarriers than its tones, and all RUs together at most as many as the channel.
    #[test]
    fn rus_lie_side_by_side() {
        let tones = [26, 52, 106, 242, 484, 996];
        for (ru, tones) in Ru::ALL.into_iter().zip(tones) {
            assert!(ru.subcarriers() < tones && ru.subcarriers() % 2 == 0);
            for (width, all) in [(Mhz20, 234), (Mhz40, 468), (Mhz80, 980), (Mhz160, 1960)] {
                assert!(ru.count(width) as u64 * ru.subcarriers() <= all, "{ru:?} {width:?}");
            }
        }
    }

    #[test]
    fn sig_b_lasts_what_the_standard_says() {
        // 20 MHz, two users: 8 + 10 and 2 * 21 + 10 bits: 70, 2.7 symbols of 26, 0.34 of 208.
        assert_eq!((sig_b_symbols(Mhz20, 2, 0), sig_b_symbols(Mhz20, 2, 11)), (3, 1));
        // 80 MHz, four users, two in each half: 17 + 10 + 52 = 79.
        assert_eq!((sig_b_symbols(Mhz80, 4, 0), sig_b_symbols(Mhz80, 4, 5)), (4, 1));
        // 37 users: 27 and 19 fields in ten blocks, 399 + 100: 526 bits.
        assert_eq!((sig_b_symbols(Mhz80, 37, 0), sig_b_symbols(Mhz80, 37, 7)), (21, 3));
        // 160 MHz, 74: 43 + 37 * 21 + 190.
        assert_eq!(sig_b_symbols(Mhz160, 74, 0), 39);
    }
}
