//! Modes: modulation, rate and preamble of a frame.
//!
//! Sources: IEEE 802.11-2016, clauses 15 to 18 (DSSS, HR/DSSS, OFDM, ERP-OFDM). `mimo.rs` names those of MIMO-OFDM.

use super::mimo::{Mimo, SERVICE, TAIL};
use crate::config::{Preamble, Standard};
use units::{Bytes, Duration, Rate};

/// Mode of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// 802.11b: DSSS at 1 and 2 Mb/s, and CCK at 5.5 and 11 Mb/s.
    Dsss {
        /// Rate of the payload.
        rate: DsssRate,
        /// Preamble; 1 Mb/s has only the long one.
        preamble: Preamble,
    },
    /// 802.11a and g: OFDM over 20 MHz.
    Ofdm(OfdmRate),
    /// 802.11n, ac and ax.
    Mimo(Mimo),
    /// Any rate: symbols of 4 us after the HT-mixed preamble of one stream.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

pub(super) const MANDATORY: [OfdmRate; 3] = [OfdmRate::M6, OfdmRate::M12, OfdmRate::M24];

impl DsssRate {
    /// All rates, slowest first.
    pub const ALL: [Self; 4] = [Self::K1000, Self::K2000, Self::K5500, Self::K11000];

    /// Returns the rate in bits per second.
    pub const fn rate(self) -> Rate {
        Rate::kbps([1_000, 2_000, 5_500, 11_000][self as usize])
    }
}

impl OfdmRate {
    /// All rates, slowest first.
    pub const ALL: [Self; 8] = [Self::M6, Self::M9, Self::M12, Self::M18, Self::M24, Self::M36, Self::M48, Self::M54];

    /// Returns the rate in bits per second.
    pub const fn rate(self) -> Rate {
        Rate::mbps([6, 9, 12, 18, 24, 36, 48, 54][self as usize])
    }
}

impl Mode {
    /// Returns the rate of the payload in bits per second, rounded down.
    pub fn rate(self) -> Rate {
        match self {
            Self::Dsss { rate, .. } => rate.rate(),
            Self::Ofdm(rate) => rate.rate(),
            Self::Mimo(mimo) => mimo.rate(),
            Self::Nominal { kbps } => Rate::kbps(u64::from(kbps)),
        }
    }

    /// Returns the index of the responses to this mode. They depend on the fastest mandatory OFDM rate (6, 12 or 24
    /// Mb/s) up to the mode's non-HT reference rate (IEEE 802.11-2020, 10.6.11; 10.6.6.5.2), on the tones of an HE ER
    /// SU PPDU, or on the rate of 802.11b.
    #[inline]
    pub(super) fn responses(self) -> usize {
        match self {
            Self::Nominal { .. } => 0,
            Self::Dsss { rate, .. } => MANDATORY.len() + 2 + rate as usize,
            Self::Ofdm(rate) => usize::from(rate >= OfdmRate::M12) + usize::from(rate >= OfdmRate::M24),
            Self::Mimo(mimo) => match mimo.extended_range() {
                None => usize::from(mimo.coding() >= 1) + usize::from(mimo.coding() >= 3),
                Some(tones) => MANDATORY.len() + tones as usize,
            },
        }
    }

    /// True if a station of this standard decodes frames of this mode.
    pub(super) fn is_of(self, standard: Standard) -> bool {
        match (self, standard) {
            (_, Standard::N | Standard::Ac | Standard::Ax)
            | (Self::Dsss { .. }, Standard::B | Standard::G)
            | (Self::Ofdm(_), Standard::A | Standard::G) => true,
            (_, Standard::B | Standard::A | Standard::G) => false,
        }
    }

    /// True if a station of this standard detects the preamble of such a frame and reads the frame's length. The
    /// preambles of all OFDM formats begin in the same way.
    pub(super) fn is_found_by(self, standard: Standard) -> bool {
        match standard {
            Standard::B => matches!(self, Self::Dsss { .. }),
            Standard::A => !matches!(self, Self::Dsss { .. }),
            Standard::G | Standard::N | Standard::Ac | Standard::Ax => true,
        }
    }

    /// Returns a number that only this mode has; it is faster to compare.
    #[inline]
    pub(super) fn key(self) -> u64 {
        match self {
            Self::Dsss { rate, preamble } => u64::from_le_bytes([rate as u8, preamble as u8, 0, 0, 0, 0, 0, 1]),
            Self::Ofdm(rate) => u64::from_le_bytes([rate as u8, 0, 0, 0, 0, 0, 0, 2]),
            Self::Mimo(mimo) => mimo.key(),
            Self::Nominal { kbps } => u64::from(kbps) | 3 << 56,
        }
    }

    /// Returns the duration of preamble and PHY header.
    #[inline]
    pub fn header(self) -> Duration {
        Duration::from_micros(match self {
            Self::Dsss { rate, preamble: Preamble::DataRate } => return exactly(PLCP, rate),
            // 16.2.2.3: the short preamble exists for 2 Mb/s and above.
            Self::Dsss { rate, preamble: Preamble::Short } if rate != DsssRate::K1000 => 96,
            Self::Dsss { .. } => 192,
            // The short training, the long training and SIGNAL.
            Self::Ofdm(_) => 20,
            Self::Mimo(mimo) => return mimo.header(),
            Self::Nominal { .. } => 36,
        })
    }

    /// Returns the duration of `psdu` bytes after the header, without a signal extension.
    #[inline]
    pub(super) fn payload(self, psdu: Bytes) -> Duration {
        match self {
            Self::Dsss { rate, preamble: Preamble::DataRate } => exactly(psdu, rate),
            // 16.3.4: the PSDU lasts a whole number of microseconds.
            Self::Dsss { rate, .. } => Duration::from_micros((psdu.bits() * 1_000_000).div_ceil(rate.rate().as_bps())),
            // 17.4.3: whole symbols of 4 us, each with 4 bits per Mb/s.
            Self::Ofdm(rate) => {
                let bits = SERVICE + psdu.bits() + TAIL;
                Duration::from_micros(4 * bits.div_ceil(rate.rate().as_bps() / 250_000))
            }
            Self::Mimo(mimo) => mimo.payload(psdu),
            Self::Nominal { kbps } => {
                let bits = SERVICE + psdu.bits() + TAIL;
                Duration::from_micros(4 * (bits * 1_000).div_ceil(4 * u64::from(kbps)))
            }
        }
    }

    /// Returns the time that `bytes` take of a common frame, exact to the bit: symbols only round the whole frame.
    pub(crate) fn share(self, bytes: Bytes) -> Duration {
        match self {
            Self::Mimo(mimo) => mimo.share(bytes),
            Self::Dsss { .. } | Self::Ofdm(_) | Self::Nominal { .. } => self.rate().time_for(bytes),
        }
    }

    /// Returns the part of the [`payload`](Self::payload) in which the PSDU is sent, without the packet extension.
    pub(super) fn data(self, psdu: Bytes) -> Duration {
        let extension = if let Self::Mimo(mimo) = self { mimo.extension(psdu) } else { Duration::ZERO };
        self.payload(psdu) - extension
    }

    /// Returns the longest PSDU whose [`payload`](Self::payload) lasts at most `time`; zero if there is none.
    pub(super) fn longest(self, time: Duration) -> Bytes {
        let micros = time.as_nanos() / 1_000;
        let symbols = micros / 4;
        let (bits, around) = match self {
            Self::Dsss { rate, preamble: Preamble::DataRate } => {
                (time.as_nanos().saturating_mul(rate.rate().as_bps()) / 1_000_000_000, 0)
            }
            Self::Dsss { rate, .. } => (micros.saturating_mul(rate.rate().as_bps()) / 1_000_000, 0),
            Self::Ofdm(rate) => (symbols.saturating_mul(rate.rate().as_bps() / 250_000), SERVICE + TAIL),
            Self::Mimo(mimo) => (mimo.fits(time.as_nanos()), 0),
            Self::Nominal { kbps } => (symbols.saturating_mul(4 * u64::from(kbps)) / 1_000, SERVICE + TAIL),
        };
        Bytes::new(bits.saturating_sub(around) / 8)
    }
}

/// Length of preamble (144 bits) and PLCP header (48 bits) if they count as bytes of the frame.
const PLCP: Bytes = Bytes::new(24);

/// Returns the duration of these bytes, rounded up to a nanosecond.
fn exactly(bytes: Bytes, rate: DsssRate) -> Duration {
    Duration::from_nanos((bytes.bits() * 1_000_000_000).div_ceil(rate.rate().as_bps()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ExtendedRange, PacketPadding};
    use proptest::prelude::*;

    /// Every mode of MIMO-OFDM as it is, in an HE ER SU PPDU if it can be, and with packet extensions.
    fn mimo() -> impl Strategy<Value = Mimo> {
        let tones = prop::sample::select(&[ExtendedRange::All, ExtendedRange::Upper]);
        let padding = prop::sample::select(&[PacketPadding::Us0, PacketPadding::Us8, PacketPadding::Us16]);
        let modes = (prop::sample::select(Mimo::all()), prop::option::of(tones), padding);
        modes.prop_map(|(mimo, tones, padding)| {
            tones.and_then(|tones| mimo.extended(tones)).unwrap_or(mimo).padded(padding)
        })
    }

    fn modes() -> impl Strategy<Value = Mode> {
        let dsss = (
            prop::sample::select(&DsssRate::ALL),
            prop::sample::select(&[Preamble::Long, Preamble::Short, Preamble::DataRate]),
        );
        prop_oneof![
            dsss.prop_map(|(rate, preamble)| Mode::Dsss { rate, preamble }),
            prop::sample::select(&OfdmRate::ALL).prop_map(Mode::Ofdm),
            mimo().prop_map(Mode::Mimo),
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

    proptest! {
        /// Together several parts last as long as the frame, but for SERVICE, tails and padding.
        #[test]
        fn shares_of_a_frame_add_up(mode in mimo(), lengths in prop::collection::vec(1_u64..3_000, 1..64)) {
            let shares = lengths.iter().fold(Duration::ZERO, |sum, &bytes| sum + Mode::Mimo(mode).share(Bytes::new(bytes)));
            let whole = mode.padded(PacketPadding::Us0).payload(Bytes::new(lengths.iter().sum()));
            let most = Duration::from_nanos(2 * mode.symbol() + 4_000 + 100_000_000_000 / mode.rate().as_bps().max(1));
            prop_assert!(shares <= whole + Duration::from_nanos(64) && whole <= shares + most, "{shares} {whole}");
        }
    }

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn a_nominal_rate_fills_symbols_of_4_us() {
        // 216 Mb/s: 864 bits a symbol. 8 x 1066 B: 68246 bits, 78.99 symbols.
        let mode = Mode::Nominal { kbps: 216_000 };
        assert_eq!((mode.header(), mode.payload(Bytes::new(8 * 1066))), (us(36), us(4 * 79)));
        assert_eq!(mode.rate(), Rate::mbps(216));
    }
}
