//! Channels of 20 MHz within a band, and the wider channels that they form.
//!
//! Source: IEEE 802.11-2020, annex E, table E-4 (operating classes 115 to 130), and IEEE 802.11ax-2021 (131 to 134).

use crate::config::ChannelWidth;

/// The channel of a node, in 20 MHz channels that are numbered from the lowest channel of the band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Band {
    /// Index of the 20 MHz channel in which the node contends.
    primary: u8,
    width: ChannelWidth,
}

/// For each group of adjacent channels at 5 GHz: its lowest channel, that channel's index in the band, and the number
/// of channels. With these indices, every wider channel begins at a multiple of its width.
const GROUPS: [(u8, u8, u8); 4] = [(36, 0, 8), (100, 8, 8), (132, 16, 4), (149, 24, 8)];
/// Number of channels at 6 GHz, from channel 1 on in steps of 4.
const AT_6_GHZ: u8 = 59;

impl Band {
    /// Makes a channel of this width that all nodes share.
    pub(crate) const fn only(width: ChannelWidth) -> Self {
        Self { primary: 0, width }
    }

    /// Makes the channel of this width around the primary 20 MHz channel with this number. `high`: it is at 6 GHz
    /// instead of 5 GHz. Errors: the channel does not exist; the error names the nearest one that does.
    pub(crate) fn new(number: u8, width: ChannelWidth, high: bool) -> Result<Self, String> {
        let exists = |&number: &u8| Self::place(number, width, high).is_some();
        if let Some(primary) = Self::place(number, width, high) {
            return Ok(Self { primary, width });
        }
        let nearest = (1..=233).filter(exists).min_by_key(|near: &u8| near.abs_diff(number)).unwrap_or(36);
        let (width, band) = (width.mhz(), if high { 6 } else { 5 });
        Err(format!("at {band} GHz no channel of {width} MHz holds channel {number}; the nearest is {nearest}"))
    }

    /// Returns the index in the band of a 20 MHz channel; `None` if no channel of this width contains it.
    fn place(number: u8, width: ChannelWidth, high: bool) -> Option<u8> {
        let all = 1_u8 << width as u8;
        if high {
            let place = number.checked_sub(1).filter(|above| above % 4 == 0)? / 4;
            return (place / all * all + all <= AT_6_GHZ).then_some(place);
        }
        GROUPS.into_iter().find_map(|(lowest, first, count)| {
            let above = number.checked_sub(lowest).filter(|above| above % 4 == 0)? / 4;
            (above < count && above / all * all + all <= count).then_some(first + above)
        })
    }

    pub(crate) const fn width(self) -> ChannelWidth {
        self.width
    }

    /// Returns the same primary channel in a channel that is not wider than this width.
    pub(crate) fn at_most(self, width: ChannelWidth) -> Self {
        Self { width: self.width.min(width), ..self }
    }

    /// Returns a bitmask of the channels of a frame of this width around the primary one.
    pub(crate) const fn channels(self, width: ChannelWidth) -> u64 {
        let all = 1_u8 << width as u8;
        ((1 << all) - 1) << (self.primary / all * all)
    }

    pub(crate) const fn all(self) -> u64 {
        self.channels(self.width)
    }

    pub(crate) const fn primary(self) -> u64 {
        1 << self.primary
    }

    pub(crate) const fn first(self) -> u32 {
        self.all().trailing_zeros()
    }

    /// Returns bitmasks of the secondary channels of 20, 40 and 80 MHz.
    pub(crate) const fn secondary(self) -> [u64; 3] {
        use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
        let [narrow, double, four, eight] =
            [self.channels(Mhz20), self.channels(Mhz40), self.channels(Mhz80), self.channels(Mhz160)];
        let all = self.all();
        [double & !narrow & all, four & !double & all, eight & !four & all]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};

    fn band(number: u8, width: ChannelWidth) -> Band {
        Band::new(number, width, false).expect("a channel of the standard")
    }

    /// Channel 42 is 36 to 48, 50 is 36 to 64, 106 is 100 to 112, 155 is 149 to 161.
    #[test]
    fn wide_channels_hold_those_of_the_standard() {
        assert_eq!([36, 40, 44, 48].map(|number| band(number, Mhz80).all()), [0b1111; 4]);
        assert_eq!([52, 64].map(|number| band(number, Mhz80).all()), [0b1111 << 4; 2]);
        assert_eq!([36, 64].map(|number| band(number, Mhz160).all()), [0xff; 2]);
        assert_eq!(band(108, Mhz40).all(), 0b11 << 10);
        assert_eq!(band(161, Mhz80).all(), 0b1111 << 24);
        assert_eq!(band(144, Mhz20).all(), 1 << 19);
    }

    #[test]
    fn secondary_channels_lie_around_the_primary_one() {
        let wide = band(44, Mhz160);
        assert_eq!(wide.primary(), 0b100);
        assert_eq!(wide.secondary(), [0b1000, 0b0011, 0b1111_0000]);
        assert_eq!(wide.at_most(Mhz40).secondary(), [0b1000, 0, 0]);
        assert_eq!(wide.at_most(Mhz20).secondary(), [0, 0, 0]);
    }

    #[test]
    fn channels_that_do_not_exist_are_refused_with_the_nearest() {
        let refused = |number, width, high| Band::new(number, width, high).expect_err("no such channel");
        assert!(refused(38, Mhz20, false).ends_with("the nearest is 36"), "{}", refused(38, Mhz20, false));
        // No 160 MHz over 132 to 144, no 40 MHz and more over 233.
        assert!(refused(140, Mhz160, false).ends_with("the nearest is 149"));
        assert!(refused(233, Mhz40, true).ends_with("the nearest is 229"));
        assert!(refused(0, Mhz20, true).ends_with("the nearest is 1"));
        assert_eq!(Band::new(221, Mhz160, true).map(Band::first), Ok(48));
        assert!(Band::new(233, Mhz20, true).is_ok());
    }
}
