//! The error models that a scenario can choose.

use super::snr::{Formula, Snr};
use crate::config::{ErrorModel, Radio};
use crate::radio::settings::Refusal;
use units::{Decibels, refuse_if};

/// Boltzmann's constant in J/K, and the temperature of the noise in K.
const BOLTZMANN: f64 = 1.380_649e-23;
const TEMPERATURE: f64 = 290.0;

/// Causes of lost frames other than collisions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Errors {
    None,
    /// Errors that are independent of each other and of the power.
    Fixed {
        /// Share of MPDUs that are lost, whatever their length is.
        packets: f64,
        /// Share of bits that are lost. An MPDU survives if all its bits do.
        bits: f64,
        /// True if ACK, CTS, RTS and block acknowledgements are lost too.
        control: bool,
    },
    Snr(Snr),
}

impl Errors {
    /// Makes the error model of a scenario's radio.
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
        let why = "`propagation = \"range\"` has no powers to compare with noise; choose another propagation";
        refuse_if!(!radio.propagation.has_powers(), Err(Refusal::new("errors.model", why)));
        let why = "a nominal rate has no modulation; write `mcs`, or `model = \"fixed\"`";
        refuse_if!(radio.nominal_rate.is_some(), Err(Refusal::new("errors.model", why)));
        radio.marks.read("coding", ());
        let figure = radio.marks.read("errors.noise_figure", settings.noise_figure).unwrap_or(Decibels::new(7.0));
        if !(0.0..=50.0).contains(&figure.as_db()) {
            return Err(Refusal::new("errors.noise_figure", "a noise figure must be between 0 dB and 50 dB"));
        }
        let density = BOLTZMANN * TEMPERATURE * figure.as_ratio() * 1e18;
        Ok(Self::Snr(Snr { formula, density, simulated: false }))
    }

    fn fixed(radio: &Radio) -> Result<Self, Refusal> {
        let settings = &radio.errors;
        let ratios = [
            ("errors.packet_error_ratio", settings.packet_error_ratio),
            ("errors.bit_error_ratio", settings.bit_error_ratio),
        ];
        for (key, ratio) in ratios {
            if ratio.is_some_and(|ratio| !(0.0..=1.0).contains(&ratio)) {
                return Err(Refusal::new(key, "a ratio must be between 0 and 1"));
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

/// Returns the probability that none of `bits` is wrong.
pub(in crate::radio) fn all_survive(error: f64, bits: f64) -> f64 {
    match error {
        0.0 => 1.0,
        1.0.. => 0.0,
        _ => libm::exp(bits * libm::log1p(-error)),
    }
}
