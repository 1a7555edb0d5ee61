//! Noise, and the probability that bits survive an SINR, by the formulas.

use super::coding::{UPPER, bandwidth, coded_rate, coding, ldpc};
use super::{dsss, nist, simulated, yans};
use crate::radio::mode::{Mode, OfdmRate};

/// An error model by SINR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Snr {
    pub(super) formula: Formula,
    /// Noise per hertz of bandwidth, in attowatts.
    pub(super) density: f64,
    /// True for frames between nodes with LDPC, for which rates of OFDM follow link simulations too.
    pub(super) simulated: bool,
}

/// Formulas for the convolutional code of OFDM; DSSS, CCK and LDPC always have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Formula {
    Nist,
    Yans,
}

impl Snr {
    /// Noise power in a receiver of this mode, in attowatts.
    pub(in crate::radio) fn noise(&self, mode: Mode) -> f64 {
        self.density * bandwidth(mode)
    }

    /// Noise power in the narrowest receiver, in attowatts: 20 MHz or less wide.
    pub(in crate::radio) fn least_noise(&self, extended: bool) -> f64 {
        self.noise(Mode::Ofdm(OfdmRate::M6)) * if extended { UPPER } else { 1.0 }
    }

    /// Probability that `bits` consecutive bits survive at this SINR, by the formula. The probability grows with the
    /// SINR and falls with the number of bits.
    pub(in crate::radio) fn success(&self, mode: Mode, ratio: f64, bits: f64) -> f64 {
        if bits <= 0.0 { 1.0 } else { libm::exp(-bits * self.failures(mode, ratio)) }
    }

    /// -ln of the probability that a bit survives; a symbol's value is divided among its bits. Infinite where the bound
    /// of a bit error ratio reaches 1, or where LDPC's decoder fails.
    pub(super) fn failures(&self, mode: Mode, ratio: f64) -> f64 {
        if let Some(mcs) = ldpc(mode) {
            return simulated::ldpc(mcs, ratio);
        }
        let error = match mode {
            Mode::Dsss { rate, .. } => return dsss::failures(rate, ratio),
            Mode::Ofdm(rate) if self.simulated => return simulated::convolutional(rate, ratio),
            Mode::Ofdm(_) | Mode::Mimo(_) | Mode::Nominal { .. } => {
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
