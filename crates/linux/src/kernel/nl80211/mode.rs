//! Parses the format and rate of a frame (`enum nl80211_rate_info`).

use crate::kernel::wire::{attributes, u16_at, u32_at};
use std::fmt;
use units::{Duration, Rate};

pub(super) const BITRATE: u16 = 1;
const HT_MCS: u16 = 2;
const WIDTH_40: u16 = 3;
const SHORT_GUARD: u16 = 4;
pub(super) const BITRATE_32: u16 = 5;
const VHT_MCS: u16 = 6;
const VHT_STREAMS: u16 = 7;
const WIDTH_80: u16 = 8;
const WIDTH_80_80: u16 = 9;
const WIDTH_160: u16 = 10;
const WIDTH_10: u16 = 11;
const WIDTH_5: u16 = 12;
pub(super) const HE_MCS: u16 = 13;
const HE_STREAMS: u16 = 14;
const HE_GUARD: u16 = 15;
const HE_UNIT: u16 = 17;
const WIDTH_320: u16 = 18;
const EHT_MCS: u16 = 19;
const EHT_STREAMS: u16 = 20;
const EHT_GUARD: u16 = 21;
const EHT_UNIT: u16 = 22;
/// 802.11bn (UHR); its other attributes are those of EHT.
const UHR_MCS: u16 = 30;

const BITRATE_UNIT: u64 = 100_000;
/// Largest MCS of 802.11n; each spatial stream has eight of them.
const LAST_HT_MCS: u8 = 31;
/// Guard intervals of HE and EHT in nanoseconds, in the order of their numbers.
const GUARDS: [u64; 3] = [800, 1_600, 3_200];
/// For each resource unit's number in HE and EHT, the width in MHz of the narrowest channel that has such a unit.
const HE_UNITS: [u32; 7] = [20, 20, 20, 20, 40, 80, 160];
const EHT_UNITS: [u32; 16] = [20, 20, 20, 20, 20, 20, 40, 80, 80, 160, 160, 160, 320, 320, 320, 320];

/// Format of a frame (PPDU format in IEEE Std 802.11-2020).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Older than 802.11n: no A-MPDUs.
    #[default]
    NonHt,
    /// 802.11n.
    Ht,
    /// 802.11ac.
    Vht,
    /// 802.11ax.
    He,
    /// 802.11be and later.
    Eht,
}

impl Format {
    /// Returns the standard that defined the format; `None` before 802.11n, because older standards share modes.
    pub const fn standard(self) -> Option<&'static str> {
        match self {
            Self::NonHt => None,
            Self::Ht => Some("802.11n"),
            Self::Vht => Some("802.11ac"),
            Self::He => Some("802.11ax"),
            Self::Eht => Some("802.11be"),
        }
    }

    /// Returns the name of the format: `VHT`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NonHt => "non-HT",
            Self::Ht => "HT",
            Self::Vht => "VHT",
            Self::He => "HE",
            Self::Eht => "EHT",
        }
    }
}

/// Format, modulation and coding scheme, streams and width of a frame; `None`: not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// Format.
    pub format: Format,
    /// Modulation and coding scheme; 0 to 31 in HT, eight for each spatial stream.
    pub mcs: Option<u8>,
    /// Number of spatial streams.
    pub streams: Option<u8>,
    /// Width in MHz. For a frame in a resource unit: the width of the narrowest channel with such a unit.
    pub width: u32,
    /// Guard interval.
    pub guard: Option<Duration>,
}

impl fmt::Display for Mode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, mcs, streams, width, guard } = self;
        out.write_str(format.name())?;
        if let Some(mcs) = mcs {
            write!(out, " MCS {mcs}")?;
        }
        if let Some(streams) = streams {
            write!(out, ", {streams} stream{}", if *streams == 1 { "" } else { "s" })?;
        }
        if *width > 0 {
            write!(out, ", {width} MHz")?;
        }
        if let Some(guard) = guard {
            write!(out, ", {:.1} us", guard.as_secs_f64() * 1e6)?;
        }
        Ok(())
    }
}

/// Parses the nested attributes of a rate (`nl80211_rate_info`): the bitrate and the mode of the frame.
pub(super) fn mode(nest: &[u8]) -> (Option<Rate>, Mode) {
    let (mut old, mut new, mut mode, mut is_short) = (None, None, Mode { width: 20, ..Mode::default() }, false);
    for (kind, value) in attributes(nest) {
        let byte = value.first().copied();
        let of = |table: &[u32]| byte.and_then(|number| table.get(usize::from(number)).copied()).unwrap_or(20);
        match kind {
            BITRATE => old = u16_at(value, 0).map(u64::from),
            BITRATE_32 => new = u32_at(value, 0).map(u64::from),
            HT_MCS => (mode.format, mode.mcs) = (Format::Ht, byte),
            VHT_MCS => (mode.format, mode.mcs) = (Format::Vht, byte),
            HE_MCS => (mode.format, mode.mcs) = (Format::He, byte),
            EHT_MCS | UHR_MCS => (mode.format, mode.mcs) = (Format::Eht, byte),
            VHT_STREAMS | HE_STREAMS | EHT_STREAMS => mode.streams = byte,
            HE_GUARD | EHT_GUARD => {
                let guard = byte.and_then(|number| GUARDS.get(usize::from(number)));
                mode.guard = guard.map(|&nanos| Duration::from_nanos(nanos));
            }
            SHORT_GUARD => is_short = true,
            WIDTH_5 => mode.width = 5,
            WIDTH_10 => mode.width = 10,
            WIDTH_40 => mode.width = 40,
            WIDTH_80 => mode.width = 80,
            WIDTH_80_80 | WIDTH_160 => mode.width = 160,
            WIDTH_320 => mode.width = 320,
            HE_UNIT => mode.width = of(&HE_UNITS),
            EHT_UNIT => mode.width = of(&EHT_UNITS),
            _ => {}
        }
    }
    if mode.format == Format::Ht {
        mode.streams = mode.mcs.filter(|&mcs| mcs <= LAST_HT_MCS).map(|mcs| mcs / 8 + 1);
    }
    if matches!(mode.format, Format::Ht | Format::Vht) {
        mode.guard = Some(Duration::from_nanos(if is_short { 400 } else { 800 }));
    }
    // The attribute of 32 bits holds rates that are too large for the older one.
    let units = new.or(old).filter(|&units| units > 0);
    (units.map(|units| Rate::bps(units * BITRATE_UNIT)), mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::wire::Request;
    use proptest::prelude::*;

    /// Parses attributes, in the order and with the sizes in which `nl80211_put_sta_rate` writes them.
    fn told(parts: &[(u16, &[u8])]) -> (Option<Rate>, Mode) {
        let nest = parts.iter().fold(Request::new(0, 0, &[]), |nest, (kind, value)| nest.with(*kind, value));
        mode(&nest.finish(0)[16..])
    }

    #[test]
    fn a_frame_has_its_format_mcs_streams_width_and_guard_interval() {
        for (parts, rate, shown) in [
            (vec![(BITRATE_32, &[0x1c, 2, 0, 0][..]), (BITRATE, &[9, 0])], 54_000, "non-HT, 20 MHz"),
            (
                vec![(BITRATE, &[0xdc, 5]), (HT_MCS, &[15]), (WIDTH_40, &[]), (SHORT_GUARD, &[])],
                150_000,
                "HT MCS 15, 2 streams, 40 MHz, 0.4 us",
            ),
            (vec![(BITRATE, &[65, 0]), (HT_MCS, &[7])], 6_500, "HT MCS 7, 1 stream, 20 MHz, 0.8 us"),
            (
                vec![(BITRATE, &[1, 0]), (WIDTH_80, &[]), (VHT_MCS, &[9]), (VHT_STREAMS, &[3])],
                100,
                "VHT MCS 9, 3 streams, 80 MHz, 0.8 us",
            ),
            (
                vec![(WIDTH_160, &[]), (HE_MCS, &[11]), (HE_STREAMS, &[2]), (HE_GUARD, &[2]), (16, &[0])],
                0,
                "HE MCS 11, 2 streams, 160 MHz, 3.2 us",
            ),
            (
                vec![(HE_MCS, &[4]), (HE_STREAMS, &[1]), (HE_GUARD, &[1]), (HE_UNIT, &[4])],
                0,
                "HE MCS 4, 1 stream, 40 MHz, 1.6 us",
            ),
            (
                vec![(WIDTH_320, &[]), (EHT_MCS, &[13]), (EHT_STREAMS, &[4]), (EHT_GUARD, &[0])],
                0,
                "EHT MCS 13, 4 streams, 320 MHz, 0.8 us",
            ),
            (vec![(UHR_MCS, &[17]), (EHT_STREAMS, &[1]), (EHT_UNIT, &[7])], 0, "EHT MCS 17, 1 stream, 80 MHz"),
        ] {
            let (seen, mode) = told(&parts);
            assert_eq!((seen.map_or(0, |rate| rate.as_bps() / 1_000), mode.to_string().as_str()), (rate, shown));
        }
    }

    /// An MCS above 31 does not show the streams. Unknown numbers and values without bytes are ignored.
    #[test]
    fn what_has_no_meaning_is_left_out() {
        assert_eq!(told(&[(HT_MCS, &[32])]).1.to_string(), "HT MCS 32, 20 MHz, 0.8 us");
        let (_, strange) = told(&[(HE_MCS, &[]), (HE_STREAMS, &[]), (HE_GUARD, &[3]), (HE_UNIT, &[7])]);
        assert_eq!(strange, Mode { format: Format::He, width: 20, ..Mode::default() });
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = mode(&bytes);
        }

        /// Attributes have the right types, any values and any order.
        #[test]
        fn no_attributes_make_it_panic(
            parts in proptest::collection::vec((0_u16..40, proptest::collection::vec(any::<u8>(), 0..6)), 0..20),
        ) {
            let parts: Vec<(u16, &[u8])> = parts.iter().map(|(kind, value)| (*kind, &value[..])).collect();
            let (_, mode) = told(&parts);
            prop_assert!(mode.width <= 320 && !mode.to_string().is_empty());
        }
    }
}
