//! Modulation and coding of OFDM.

use crate::config::ExtendedRange;
use crate::radio::mimo::Format;
use crate::radio::mode::{DsssRate, Mode, OfdmRate};
use units::Duration;

/// Modulation of an OFDM subcarrier and rate of the convolutional code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Coding {
    /// Number of points of the constellation: 2, 4, 16, 64, 256 or 1024.
    pub(super) points: u32,
    pub(super) code: CodeRate,
}

/// Rates of the convolutional code of constraint length 7; it is punctured above 1/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeRate {
    Half,
    TwoThirds,
    ThreeQuarters,
    FiveSixths,
}

/// Share of the tones of 20 MHz that the narrower HE ER SU PPDU occupies.
pub(super) const UPPER: f64 = 106.0 / 242.0;

/// Returns the bandwidth in Hz. DSSS spreads over 22 MHz.
pub(super) fn bandwidth(mode: Mode) -> f64 {
    match mode {
        Mode::Dsss { .. } => 22e6,
        Mode::Ofdm(_) | Mode::Nominal { .. } => 20e6,
        Mode::Mimo(mimo) if mimo.extended_range() == Some(ExtendedRange::Upper) => 20e6 * UPPER,
        Mode::Mimo(mimo) => mimo.width().hertz(),
    }
}

/// Returns the bit rate of one stream before decoding.
pub(super) fn coded_rate(mode: Mode, coding: Coding) -> f64 {
    let streams = if let Mode::Mimo(mimo) = mode { f64::from(mimo.streams()) } else { 1.0 };
    mode.rate().as_bps() as f64 / streams / coding.code.ratio()
}

/// Returns the MCS of one stream of a mode if the mode has LDPC.
pub(super) fn ldpc(mode: Mode) -> Option<u8> {
    if let Mode::Mimo(mimo) = mode { mimo.has_ldpc().then_some(mimo.coding()) } else { None }
}

/// Returns modulation and convolutional code. For a mode with LDPC: the code of the same rate.
pub(super) fn coding(mode: Mode) -> Coding {
    use CodeRate::{FiveSixths, Half, ThreeQuarters, TwoThirds};
    let (points, code) = match mode {
        Mode::Ofdm(OfdmRate::M6) => (2, Half),
        Mode::Ofdm(OfdmRate::M9) => (2, ThreeQuarters),
        Mode::Ofdm(OfdmRate::M12) => (4, Half),
        Mode::Ofdm(OfdmRate::M18) => (4, ThreeQuarters),
        Mode::Ofdm(OfdmRate::M24) => (16, Half),
        Mode::Ofdm(OfdmRate::M36) => (16, ThreeQuarters),
        Mode::Ofdm(OfdmRate::M48) => (64, TwoThirds),
        Mode::Ofdm(OfdmRate::M54) => (64, ThreeQuarters),
        Mode::Mimo(mimo) => {
            let schemes = [
                (2, Half),
                (4, Half),
                (4, ThreeQuarters),
                (16, Half),
                (16, ThreeQuarters),
                (64, TwoThirds),
                (64, ThreeQuarters),
                (64, FiveSixths),
                (256, ThreeQuarters),
                (256, FiveSixths),
                (1_024, ThreeQuarters),
                (1_024, FiveSixths),
            ];
            schemes[usize::from(mimo.coding())]
        }
        Mode::Dsss { .. } | Mode::Nominal { .. } => unreachable!("only OFDM has a convolutional code"),
    };
    Coding { points, code }
}

impl CodeRate {
    fn ratio(self) -> f64 {
        match self {
            Self::Half => 1.0 / 2.0,
            Self::TwoThirds => 2.0 / 3.0,
            Self::ThreeQuarters => 3.0 / 4.0,
            Self::FiveSixths => 5.0 / 6.0,
        }
    }
}

/// The part of a PHY header that carries bits: its start and end, counted from the start of the frame; the number of
/// bits and of copies of each; and its mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::radio) struct HeaderField {
    pub(in crate::radio) begins: Duration,
    pub(in crate::radio) ends: Duration,
    pub(in crate::radio) bits: f64,
    pub(in crate::radio) copies: u64,
    pub(in crate::radio) mode: Mode,
}

/// Returns the bits of a frame's PHY header. With OFDM: SIGNAL (and HT-SIG, VHT-SIG-A or, after SIGNAL's repetition,
/// HE-SIG-A) at 6 Mb/s after 16 us of training; in an HE ER SU PPDU each bit comes twice. With DSSS: the PLCP header of
/// 48 bits after SYNC and SFD, at 1 Mb/s (long preamble) or 2 Mb/s (short).
#[inline]
pub(in crate::radio) fn header_field(mode: Mode) -> HeaderField {
    let ends = mode.header();
    let us = Duration::from_micros;
    match mode {
        Mode::Dsss { preamble, .. } => {
            let short = ends < us(192);
            let rate = if short { DsssRate::K2000 } else { DsssRate::K1000 };
            let begins = if short { us(72) } else { us(144) };
            HeaderField { begins, ends, bits: 48.0, copies: 1, mode: Mode::Dsss { rate, preamble } }
        }
        Mode::Ofdm(_) => HeaderField { begins: us(16), ends, bits: 24.0, copies: 1, mode: Mode::Ofdm(OfdmRate::M6) },
        Mode::Mimo(mimo) if mimo.format() == Format::He => {
            let (ends, copies) = if mimo.extended_range().is_some() { (us(40), 2) } else { (us(32), 1) };
            HeaderField { begins: us(16), ends, bits: 76.0, copies, mode: Mode::Ofdm(OfdmRate::M6) }
        }
        Mode::Mimo(_) | Mode::Nominal { .. } => {
            HeaderField { begins: us(16), ends: us(28), bits: 72.0, copies: 1, mode: Mode::Ofdm(OfdmRate::M6) }
        }
    }
}
