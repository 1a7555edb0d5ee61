//! Noise, and the probability that bits survive at an SINR according to the models' formulas.

use super::coding::{UPPER, bandwidth, coded_rate, coding, ldpc};
use super::{dsss, nist, simulated, yans};
use crate::radio::mode::{Mode, OfdmRate};

/// An error model that depends on the SINR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Snr {
    pub(super) formula: Formula,
    /// Noise in attowatts per Hz of bandwidth.
    pub(super) density: f64,
    /// True for frames between nodes with LDPC. Rates of OFDM then also follow link simulations.
    pub(super) simulated: bool,
}

/// Formulas for the convolutional code of OFDM. DSSS, CCK and LDPC have the same formulas in both models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Formula {
    Nist,
    Yans,
}

impl Snr {
    /// Returns the noise power in a receiver of this mode, in attowatts.
    pub(in crate::radio) fn noise(&self, mode: Mode) -> f64 {
        self.density * bandwidth(mode)
    }

    /// Returns the noise power in the narrowest receiver, in attowatts: it is 20 MHz wide or, for extended range, less.
    pub(in crate::radio) fn least_noise(&self, extended: bool) -> f64 {
        self.noise(Mode::Ofdm(OfdmRate::M6)) * if extended { UPPER } else { 1.0 }
    }

    /// Returns the probability that `bits` consecutive bits survive at this SINR, according to the formula. It grows
    /// with the SINR and falls with the number of bits.
    pub(in crate::radio) fn success(&self, mode: Mode, ratio: f64, bits: f64) -> f64 {
        if bits <= 0.0 { 1.0 } else { libm::exp(-bits * self.failures(mode, ratio)) }
    }

    /// Returns -ln of the probability that a bit survives; a symbol's value is divided among its bits. Infinite if the
    /// bound of a bit error ratio reaches 1, or if LDPC's decoder fails.
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
