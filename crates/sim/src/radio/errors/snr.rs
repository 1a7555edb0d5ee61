//! Noise, and how many bits survive a ratio of signal to it, by the formulas.

use super::coding::{bandwidth, coded_rate, coding};
use super::{dsss, nist, yans};
use crate::radio::mode::{Mode, OfdmRate};

/// An error model that goes by the ratio of signal to noise and interference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Snr {
    pub(super) formula: Formula,
    /// Noise a hertz of bandwidth, in attowatts.
    pub(super) density: f64,
}

/// Which formulas OFDM goes by; DSSS and CCK have one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Formula {
    Nist,
    Yans,
}

impl Snr {
    /// The power of the noise that a receiver of this mode lets in, in attowatts.
    pub(in crate::radio) fn noise(&self, mode: Mode) -> f64 {
        self.density * bandwidth(mode)
    }

    /// The noise of the narrowest receiver, 20 MHz wide, in attowatts.
    pub(in crate::radio) fn least_noise(&self) -> f64 {
        self.noise(Mode::Ofdm(OfdmRate::M6))
    }

    /// The probability that `bits` in a row survive at this ratio of powers, by the formula. It grows with the ratio and
    /// falls with the number of bits.
    pub(in crate::radio) fn success(&self, mode: Mode, ratio: f64, bits: f64) -> f64 {
        if bits <= 0.0 { 1.0 } else { libm::exp(-bits * self.failures(mode, ratio)) }
    }

    /// -ln of the probability that a bit survives; a symbol's is shared by its bits. Infinite where the bound on a bit error
    /// ratio reaches 1.
    pub(super) fn failures(&self, mode: Mode, ratio: f64) -> f64 {
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
