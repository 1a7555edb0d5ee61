//! Error models: with which probability the bits of a frame survive noise and interference.
//!
//! `nist` and `yans` give the success of a chunk of bits at one ratio of signal to noise and interference; a frame is cut
//! where that ratio changes, and the chunks' probabilities are multiplied. `docs/phy.md` has the formulas.

mod dsss;
mod nist;
mod table;
mod yans;

use super::mode::{DsssRate, Mode, OfdmRate};
use super::settings::Refusal;
use crate::config::{ErrorModel, Radio};
pub(super) use table::Tables;
use units::{Decibels, Duration};

/// Boltzmann's constant in J/K, and the temperature of the noise in K.
const BOLTZMANN: f64 = 1.380_649e-23;
const TEMPERATURE: f64 = 290.0;

/// What spoils frames besides collisions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Errors {
    /// Nothing.
    None,
    /// Independent errors, whatever the power.
    Fixed {
        /// Share of MPDUs lost, whatever their length.
        packets: f64,
        /// Share of bits lost; an MPDU survives when all its bits do.
        bits: f64,
        /// ACK, CTS, RTS and block acknowledgements are lost too.
        control: bool,
    },
    /// By the ratio of signal to noise and interference.
    Snr(Snr),
}

/// An error model that goes by the ratio of signal to noise and interference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Snr {
    formula: Formula,
    /// Noise a hertz of bandwidth, in attowatts.
    density: f64,
}

/// Which formulas OFDM goes by; DSSS and CCK have one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Formula {
    Nist,
    Yans,
}

/// How an OFDM subcarrier is modulated and what the convolutional code adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Coding {
    /// Points of the constellation: 2, 4, 16 or 64.
    points: u32,
    code: CodeRate,
}

/// Rates of the convolutional code of constraint length 7, punctured beyond 1/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CodeRate {
    Half,
    TwoThirds,
    ThreeQuarters,
    FiveSixths,
}

/// The part of a PHY header that carries bits: when it begins and ends after the start of the frame, how many bits, and
/// how they are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeaderField {
    pub(super) begins: Duration,
    pub(super) ends: Duration,
    pub(super) bits: f64,
    pub(super) mode: Mode,
}

impl Errors {
    /// The model of a scenario's radio.
    pub(crate) fn new(radio: &Radio) -> Result<Self, Refusal> {
        let settings = &radio.errors;
        let fixed_only = [
            ("errors.packet_error_ratio", settings.packet_error_ratio.is_some()),
            ("errors.bit_error_ratio", settings.bit_error_ratio.is_some()),
            ("errors.control_frames", settings.control_frames),
        ];
        let model = radio.error_model();
        if model != ErrorModel::Fixed
            && let Some((key, _)) = fixed_only.into_iter().find(|&(_, given)| given)
        {
            return Err(Refusal::new(key, "this belongs to `model = \"fixed\"`; leave it out or choose that model"));
        }
        let formula = match model {
            ErrorModel::None => return Ok(Self::None),
            ErrorModel::Fixed => return Self::fixed(radio),
            ErrorModel::Nist => Formula::Nist,
            ErrorModel::Yans => Formula::Yans,
        };
        if !radio.propagation.has_powers() {
            let why = "`propagation = \"range\"` has no powers to compare with noise; choose another propagation";
            return Err(Refusal::new("errors.model", why));
        }
        if radio.nominal_rate.is_some() {
            let why = "a nominal rate has no modulation; write `mcs`, or `model = \"fixed\"`";
            return Err(Refusal::new("errors.model", why));
        }
        let figure = settings.noise_figure.unwrap_or(Decibels::new(7.0));
        if !(0.0..=50.0).contains(&figure.as_db()) {
            return Err(Refusal::new("errors.noise_figure", "a noise figure lies between 0 dB and 50 dB"));
        }
        Ok(Self::Snr(Snr { formula, density: BOLTZMANN * TEMPERATURE * figure.as_ratio() * 1e18 }))
    }

    fn fixed(radio: &Radio) -> Result<Self, Refusal> {
        let settings = &radio.errors;
        let ratios = [
            ("errors.packet_error_ratio", settings.packet_error_ratio),
            ("errors.bit_error_ratio", settings.bit_error_ratio),
        ];
        for (key, ratio) in ratios {
            if ratio.is_some_and(|ratio| !(0.0..=1.0).contains(&ratio)) {
                return Err(Refusal::new(key, "a ratio lies between 0 and 1"));
            }
        }
        let (packets, bits) = match (ratios[0].1, ratios[1].1) {
            (Some(packets), None) => (packets, 0.0),
            (None, Some(bits)) => (0.0, bits),
            (None, None) => {
                let why = "`model = \"fixed\"` needs `packet_error_ratio` or `bit_error_ratio`";
                return Err(Refusal::new("errors.model", why));
            }
            (Some(_), Some(_)) => {
                let why = "give `packet_error_ratio` or `bit_error_ratio`, not both";
                return Err(Refusal::new("errors.bit_error_ratio", why));
            }
        };
        Ok(Self::Fixed { packets, bits, control: settings.control_frames })
    }
}

impl Snr {
    /// The power of the noise that a receiver of this mode lets in, in attowatts.
    pub(super) fn noise(&self, mode: Mode) -> f64 {
        self.density * bandwidth(mode)
    }

    /// The noise of the narrowest receiver, 20 MHz wide, in attowatts.
    pub(super) fn least_noise(&self) -> f64 {
        self.noise(Mode::Ofdm(OfdmRate::M6))
    }

    /// The probability that `bits` in a row survive at this ratio of powers, by the formula. It grows with the ratio and
    /// falls with the number of bits.
    pub(super) fn success(&self, mode: Mode, ratio: f64, bits: f64) -> f64 {
        if bits <= 0.0 { 1.0 } else { libm::exp(-bits * self.failures(mode, ratio)) }
    }

    /// -ln of the probability that a bit survives; a symbol's is shared by its bits. Infinite where the bound on a bit error
    /// ratio reaches 1.
    fn failures(&self, mode: Mode, ratio: f64) -> f64 {
        let error = match mode {
            Mode::Dsss { rate, .. } => return dsss::failures(rate, ratio),
            Mode::Ofdm(_) | Mode::Ht { .. } | Mode::Nominal { .. } => {
                let coding = coding(mode);
                match self.formula {
                    Formula::Nist => nist::bit_error(coding, ratio),
                    Formula::Yans => yans::bit_error(coding, ratio * bandwidth(mode) / coded_rate(mode, coding)),
                }
            }
        };
        -libm::log1p(-error)
    }
}

/// The probability that none of `bits` is wrong.
pub(super) fn all_survive(error: f64, bits: f64) -> f64 {
    if error >= 1.0 { 0.0 } else { libm::exp(bits * libm::log1p(-error)) }
}

/// Hertz. DSSS spreads over 22 MHz.
fn bandwidth(mode: Mode) -> f64 {
    match mode {
        Mode::Dsss { .. } => 22e6,
        Mode::Ofdm(_) | Mode::Nominal { .. } => 20e6,
        Mode::Ht { width, .. } => width.hertz(),
    }
}

/// Bits a second behind the code, in one stream.
fn coded_rate(mode: Mode, coding: Coding) -> f64 {
    let streams = if let Mode::Ht { mcs, .. } = mode { f64::from(mcs.streams()) } else { 1.0 };
    mode.rate().as_bps() as f64 / streams / coding.code.ratio()
}

fn coding(mode: Mode) -> Coding {
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
        Mode::Ht { mcs, .. } => {
            let schemes = [
                (2, Half),
                (4, Half),
                (4, ThreeQuarters),
                (16, Half),
                (16, ThreeQuarters),
                (64, TwoThirds),
                (64, ThreeQuarters),
                (64, FiveSixths),
            ];
            schemes[usize::from(mcs.coding())]
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

/// Where a frame's PHY header has its bits: SIGNAL (and HT-SIG) at 6 Mb/s behind the training of 16 us, or the PLCP
/// header of 48 bits behind the SYNC and SFD of a DSSS preamble, at 1 Mb/s (long) or 2 Mb/s (short).
pub(super) fn header_field(mode: Mode) -> HeaderField {
    let ends = mode.header();
    let us = Duration::from_micros;
    match mode {
        Mode::Dsss { preamble, .. } => {
            let short = ends < us(192);
            let rate = if short { DsssRate::K2000 } else { DsssRate::K1000 };
            let begins = if short { us(72) } else { us(144) };
            HeaderField { begins, ends, bits: 48.0, mode: Mode::Dsss { rate, preamble } }
        }
        Mode::Ofdm(_) => HeaderField { begins: us(16), ends, bits: 24.0, mode: Mode::Ofdm(OfdmRate::M6) },
        Mode::Ht { .. } | Mode::Nominal { .. } => {
            HeaderField { begins: us(16), ends: us(28), bits: 72.0, mode: Mode::Ofdm(OfdmRate::M6) }
        }
    }
}

#[cfg(test)]
mod tests;
