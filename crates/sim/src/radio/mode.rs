//! Modes: modulation, rate and preamble of a frame.
//!
//! Sources: IEEE 802.11-2016, clauses 15 and 16 (DSSS, HR/DSSS), 17 and 18 (OFDM, ERP-OFDM), 19 (HT; the preamble is
//! that of HT-mixed format, the parameters of MCS 0 to 31 are those of tables 19-27 to 19-34).

use crate::config::{ChannelWidth, GuardInterval, Preamble};
use units::{Bytes, Duration, Rate};

/// Mode of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// 802.11b: DSSS at 1 and 2 Mb/s, CCK at 5.5 and 11 Mb/s.
    Dsss {
        /// Rate of the payload.
        rate: DsssRate,
        /// Preamble; 1 Mb/s has only the long one.
        preamble: Preamble,
    },
    /// 802.11a and g: OFDM over 20 MHz.
    Ofdm(OfdmRate),
    /// 802.11n: HT-mixed format.
    Ht {
        /// Modulation, coding and streams.
        mcs: Mcs,
        /// Bandwidth.
        width: ChannelWidth,
        /// Guard interval before each symbol.
        guard: GuardInterval,
    },
    /// Any rate: symbols of 4 us behind the HT-mixed preamble of one stream.
    Nominal {
        /// Rate of the payload in kb/s.
        kbps: u32,
    },
}

/// Rates of 802.11b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the rates in kb/s")]
pub enum DsssRate {
    K1000,
    K2000,
    K5500,
    K11000,
}

/// Rates of OFDM over 20 MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the rates in Mb/s")]
pub enum OfdmRate {
    M6,
    M9,
    M12,
    M18,
    M24,
    M36,
    M48,
    M54,
}

/// A modulation and coding scheme of HT with equal modulation: 0 to 31, eight for each number of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mcs(u8);

/// Data bits per symbol of MCS 0 to 7: over 20 MHz (52 data subcarriers) and 40 MHz (108).
const HT_BITS_PER_SYMBOL: [[u64; 8]; 2] =
    [[26, 52, 78, 104, 156, 208, 234, 260], [54, 108, 162, 216, 324, 432, 486, 540]];

impl DsssRate {
    /// All rates, slowest first.
    pub const ALL: [Self; 4] = [Self::K1000, Self::K2000, Self::K5500, Self::K11000];

    /// Bits per second.
    pub const fn rate(self) -> Rate {
        Rate::kbps([1_000, 2_000, 5_500, 11_000][self as usize])
    }
}

impl OfdmRate {
    /// All rates, slowest first.
    pub const ALL: [Self; 8] = [Self::M6, Self::M9, Self::M12, Self::M18, Self::M24, Self::M36, Self::M48, Self::M54];

    /// Bits per second.
    pub const fn rate(self) -> Rate {
        Rate::mbps([6, 9, 12, 18, 24, 36, 48, 54][self as usize])
    }
}

impl Mcs {
    /// The highest scheme, of four streams.
    pub const HIGHEST: Self = Self(31);

    /// Scheme with this index, if it is from 0 to 31.
    pub const fn new(index: u8) -> Option<Self> {
        if index <= Self::HIGHEST.0 { Some(Self(index)) } else { None }
    }

    /// Its index.
    pub const fn index(self) -> u8 {
        self.0
    }

    /// Number of spatial streams, 1 to 4.
    pub const fn streams(self) -> u8 {
        self.0 / 8 + 1
    }

    /// Modulation and coding: the index of the same scheme with one stream, 0 to 7.
    pub const fn coding(self) -> u8 {
        self.0 % 8
    }

    /// Data bits per symbol (NDBPS).
    const fn bits_per_symbol(self, width: ChannelWidth) -> u64 {
        HT_BITS_PER_SYMBOL[width as usize][self.coding() as usize] * self.streams() as u64
    }
}

/// Bits before the PSDU (SERVICE) of every OFDM frame, and tail bits after it that reset the convolutional encoder.
const SERVICE: u64 = 16;
const TAIL: u64 = 6;

impl Mode {
    /// Bits per second of the payload, rounded down.
    pub fn rate(self) -> Rate {
        match self {
            Self::Dsss { rate, .. } => rate.rate(),
            Self::Ofdm(rate) => rate.rate(),
            Self::Ht { mcs, width, guard } => Rate::bps(mcs.bits_per_symbol(width) * 10_000_000 / symbol_tenths(guard)),
            Self::Nominal { kbps } => Rate::kbps(u64::from(kbps)),
        }
    }

    /// Duration of preamble and PHY header.
    #[inline]
    pub fn header(self) -> Duration {
        Duration::from_micros(match self {
            Self::Dsss { rate, preamble: Preamble::DataRate } => return exactly(PLCP, rate),
            // 16.2.2.3: the short preamble is for 2 Mb/s and above.
            Self::Dsss { rate, preamble: Preamble::Short } if rate != DsssRate::K1000 => 96,
            Self::Dsss { .. } => 192,
            // Short and long training, SIGNAL.
            Self::Ofdm(_) => 20,
            // L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4, and 4 for each HT-LTF: 1, 2, 4, 4 for 1 to 4 streams.
            Self::Ht { mcs, .. } => 32 + 4 * [1, 2, 4, 4][usize::from(mcs.streams()) - 1],
            Self::Nominal { .. } => 36,
        })
    }

    /// Duration of `psdu` bytes after the header, without a signal extension.
    #[inline]
    pub(super) fn payload(self, psdu: Bytes) -> Duration {
        match self {
            Self::Dsss { rate, preamble: Preamble::DataRate } => exactly(psdu, rate),
            // 16.3.4: the PSDU lasts a whole number of microseconds.
            Self::Dsss { rate, .. } => Duration::from_micros((psdu.bits() * 1_000_000).div_ceil(rate.rate().as_bps())),
            // 17.4.3: whole symbols of 4 us; 4 bits a Mb/s in each.
            Self::Ofdm(rate) => {
                let bits = SERVICE + psdu.bits() + TAIL;
                Duration::from_micros(4 * bits.div_ceil(rate.rate().as_bps() / 250_000))
            }
            Self::Ht { mcs, width, guard } => {
                let bits_per_symbol = mcs.bits_per_symbol(width);
                let bits = SERVICE + psdu.bits() + TAIL * encoders(bits_per_symbol);
                let symbols = bits.div_ceil(bits_per_symbol);
                // Short symbols fill up to a whole number of long ones.
                Duration::from_micros(4 * (symbols * symbol_tenths(guard)).div_ceil(40))
            }
            Self::Nominal { kbps } => {
                let bits = SERVICE + psdu.bits() + TAIL;
                Duration::from_micros(4 * (bits * 1_000).div_ceil(4 * u64::from(kbps)))
            }
        }
    }

    /// Longest PSDU whose [`payload`](Self::payload) lasts at most `time`; zero if there is none.
    pub(super) fn longest(self, time: Duration) -> Bytes {
        let micros = time.as_nanos() / 1_000;
        let symbols = micros / 4;
        let (bits, around) = match self {
            Self::Dsss { rate, preamble: Preamble::DataRate } => {
                (time.as_nanos().saturating_mul(rate.rate().as_bps()) / 1_000_000_000, 0)
            }
            Self::Dsss { rate, .. } => (micros.saturating_mul(rate.rate().as_bps()) / 1_000_000, 0),
            Self::Ofdm(rate) => (symbols.saturating_mul(rate.rate().as_bps() / 250_000), SERVICE + TAIL),
            Self::Ht { mcs, width, guard } => {
                let short = symbols.saturating_mul(40) / symbol_tenths(guard);
                let bits_per_symbol = mcs.bits_per_symbol(width);
                (short.saturating_mul(bits_per_symbol), SERVICE + TAIL * encoders(bits_per_symbol))
            }
            Self::Nominal { kbps } => (symbols.saturating_mul(4 * u64::from(kbps)) / 1_000, SERVICE + TAIL),
        };
        Bytes::new(bits.saturating_sub(around) / 8)
    }
}

/// Length of preamble and PLCP header, 144 and 48 bits, where they count as bytes of the frame.
const PLCP: Bytes = Bytes::new(24);

/// Duration of these bytes, to the nanosecond above.
#[inline]
fn exactly(bytes: Bytes, rate: DsssRate) -> Duration {
    Duration::from_nanos((bytes.bits() * 1_000_000_000).div_ceil(rate.rate().as_bps()))
}

/// Number of encoders (19.4.3; tables 19-27 to 19-34): a second one above 300 Mb/s.
const fn encoders(bits_per_symbol: u64) -> u64 {
    if bits_per_symbol > 1_200 { 2 } else { 1 }
}

/// Duration of a symbol and its guard interval, in tenths of a microsecond.
const fn symbol_tenths(guard: GuardInterval) -> u64 {
    match guard {
        GuardInterval::Long => 40,
        GuardInterval::Short => 36,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn modes() -> impl Strategy<Value = Mode> {
        let dsss = (
            prop::sample::select(&DsssRate::ALL),
            prop::sample::select(&[Preamble::Long, Preamble::Short, Preamble::DataRate]),
        );
        let width = prop::sample::select(&[ChannelWidth::Mhz20, ChannelWidth::Mhz40]);
        let guard = prop::sample::select(&[GuardInterval::Long, GuardInterval::Short]);
        prop_oneof![
            dsss.prop_map(|(rate, preamble)| Mode::Dsss { rate, preamble }),
            prop::sample::select(&OfdmRate::ALL).prop_map(Mode::Ofdm),
            (0..=Mcs::HIGHEST.0, width, guard).prop_map(|(mcs, width, guard)| Mode::Ht { mcs: Mcs(mcs), width, guard }),
            (1_u32..1_000_000).prop_map(|kbps| Mode::Nominal { kbps }),
        ]
    }

    proptest! {
        #[test]
        fn the_longest_psdu_lasts_no_longer_and_the_next_one_does(mode in modes(), nanos in 0_u64..20_000_000_000) {
            let time = Duration::from_nanos(nanos);
            let longest = mode.longest(time);
            prop_assert!(longest.count() == 0 || mode.payload(longest) <= time);
            prop_assert!(mode.payload(longest + Bytes::new(1)) > time);
        }
    }

    fn ht(mcs: u8, width: ChannelWidth, guard: GuardInterval) -> Mode {
        Mode::Ht { mcs: Mcs::new(mcs).expect("0 to 31"), width, guard }
    }

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn ht_rates_are_those_of_the_standards_tables() {
        use ChannelWidth::{Mhz20, Mhz40};
        use GuardInterval::{Long, Short};
        let expected = [
            (0, Mhz20, Long, 6_500_000),
            (7, Mhz20, Long, 65_000_000),
            (7, Mhz20, Short, 72_222_222),
            (15, Mhz20, Long, 130_000_000),
            (31, Mhz20, Short, 288_888_888),
            (0, Mhz40, Short, 15_000_000),
            (7, Mhz40, Long, 135_000_000),
            (7, Mhz40, Short, 150_000_000),
            (20, Mhz40, Short, 270_000_000),
            (31, Mhz40, Long, 540_000_000),
            (31, Mhz40, Short, 600_000_000),
        ];
        for (mcs, width, guard, bps) in expected {
            assert_eq!(ht(mcs, width, guard).rate(), Rate::bps(bps), "MCS {mcs} {width:?} {guard:?}");
        }
        assert!(Mcs::new(32).is_none());
    }

    #[test]
    fn ht_preambles_grow_with_the_streams() {
        let header = |mcs| ht(mcs, ChannelWidth::Mhz20, GuardInterval::Long).header();
        assert_eq!([0, 7, 8, 16, 24, 31].map(header), [36, 36, 40, 48, 48, 48].map(us));
    }

    #[test]
    fn ht_frames_last_what_the_standard_says() {
        use ChannelWidth::{Mhz20, Mhz40};
        use GuardInterval::{Long, Short};
        let bytes = Bytes::new(1066);
        // 16 + 8528 + 6 = 8550 bits at 260 a symbol: 32.9, so 33 symbols.
        assert_eq!(ht(7, Mhz20, Long).payload(bytes), us(132));
        // 33 short symbols are 118.8 us: 30 long ones.
        assert_eq!(ht(7, Mhz20, Short).payload(bytes), us(120));
        // 65535 B at MCS 15: 524302 bits at 520 a symbol: 1008.3, so 1009.
        assert_eq!(ht(15, Mhz20, Long).payload(Bytes::new(65_535)), us(4 * 1009));
        // MCS 21 over 40 MHz is 324 Mb/s: two encoders, 12 bits of tail. 161 B: 16 + 1288 + 12 = 1316 bits at 1296.
        assert_eq!(ht(21, Mhz40, Long).payload(Bytes::new(161)), us(8));
        // MCS 29 over 20 MHz has 832 bits a symbol and one encoder: 16 + 808 + 6 = 830 bits.
        assert_eq!(ht(29, Mhz20, Long).payload(Bytes::new(101)), us(4));
        assert_eq!(ht(29, Mhz20, Long).payload(Bytes::new(102)), us(8));
    }

    #[test]
    fn a_nominal_rate_fills_symbols_of_4_us() {
        // 216 Mb/s: 864 bits a symbol. 8 x 1066 B: 68246 bits, 78.99 symbols.
        let mode = Mode::Nominal { kbps: 216_000 };
        assert_eq!((mode.header(), mode.payload(Bytes::new(8 * 1066))), (us(36), us(4 * 79)));
        assert_eq!(mode.rate(), Rate::mbps(216));
    }
}
