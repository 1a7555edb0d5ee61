//! Channel effects besides path loss: bit errors, fading and shadowing.

use super::band::Band;
use super::ends::Ends;
use super::errors::{Errors, Tables};
use super::fading::{Fading, Shadowing};
use super::settings::Refusal;
use crate::config::Radio;
use units::Decibels;

#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(super) errors: Errors,
    /// If the error model depends on the SINR: the SINR above which nothing is lost in any mode of the standard.
    certain: f64,
    /// With such a model: power in W above which a frame at the data rate is never lost unless there is interference.
    pub(super) needed: f64,
    pub(super) fading: Option<Fading>,
    pub(super) shadowing: Option<Shadowing>,
    /// Powers, antennas and noise of individual nodes, if some differ.
    ends: Option<Ends>,
    /// True if frames of extended range are sent.
    pub(super) extended: bool,
    /// Bitmask of the 20 MHz channels of each node; empty if all share one.
    tuned: Vec<u64>,
}

impl Channel {
    /// Makes the channel of a scenario's radio between nodes with these names.
    pub(crate) fn new(radio: &Radio, names: &[String], seed: u64) -> Result<Self, Refusal> {
        let errors = Errors::new(radio)?;
        let fading = Fading::new(radio)?;
        let (certain, needed) = match errors {
            Errors::Snr(model) => {
                let (mut tables, mode) = (Tables::new(model, false), radio.data_mode()?);
                let certain = radio.all_modes().into_iter().map(|mode| tables.least_certain(mode)).fold(0.0, f64::max);
                (certain, tables.least_certain(mode) * model.noise(mode) * 1e-18)
            }
            Errors::None | Errors::Fixed { .. } => (f64::INFINITY, 0.0),
        };
        let shadowing = Shadowing::new(radio, names, seed);
        Ok(Self { errors, certain, needed, fading, shadowing, ends: None, extended: false, tuned: Vec::new() })
    }

    /// Returns this channel, with or without frames of extended range.
    pub(crate) fn extended(self, extended: bool) -> Self {
        Self { extended, ..self }
    }

    /// Returns this channel between nodes with their own powers, antennas and noise.
    pub(crate) fn between(self, ends: Option<Ends>) -> Self {
        Self { ends, ..self }
    }

    /// Returns this channel between nodes in their own bands.
    pub(crate) fn tuned(self, bands: &[Band]) -> Self {
        Self { tuned: bands.iter().map(|band| band.all()).collect(), ..self }
    }

    /// True if the channels of two nodes overlap.
    pub(super) fn joins(&self, a: u32, b: u32) -> bool {
        self.tuned.is_empty() || self.tuned[a as usize] & self.tuned[b as usize] != 0
    }

    /// Makes a channel whose only effect is path loss over distance.
    #[cfg(test)]
    pub(super) fn clear() -> Self {
        Self {
            errors: Errors::None,
            certain: f64::INFINITY,
            needed: 0.0,
            fading: None,
            shadowing: None,
            ends: None,
            extended: false,
            tuned: Vec::new(),
        }
    }

    /// Returns this channel with the mean power on every link and all nodes as in `[radio]`.
    pub(super) fn without_shadowing(&self) -> Self {
        Self { shadowing: None, ends: None, ..self.clone() }
    }

    /// Returns the default capture threshold.
    pub(super) fn capture_threshold(&self) -> Decibels {
        Decibels::new(if matches!(self.errors, Errors::Snr(_)) { 4.0 } else { 10.0 })
    }

    /// Returns the mean power in W below which signals are ignored. A signal above `threshold` counts even alone, and
    /// frames from power `receive` on are decoded. A weaker signal rises to `threshold` only by very rare fading. It
    /// has less than a tenth of the noise, or of the power that affects the weakest frame.
    pub(super) fn least_power(&self, threshold: f64, receive: f64) -> f64 {
        let luck = self.fading.map_or(1.0, Fading::luck);
        let disturbs = match &self.errors {
            Errors::Snr(model) => {
                let least = self.ends.as_ref().map_or(1.0, |ends| ends.least_noise().min(1.0));
                (model.least_noise(self.extended) * 1e-18 * least).max(receive / self.certain) / 10.0
            }
            Errors::None | Errors::Fixed { .. } => f64::INFINITY,
        };
        threshold.min(disturbs) / luck
    }

    /// Returns the factor of the power from one node to another: shadowing, and the nodes' own powers and antennas.
    pub(super) fn gain(&self, from: u32, to: u32) -> f64 {
        let shadowing = self.shadowing.as_ref().map_or(1.0, |shadowing| shadowing.gain(from, to));
        self.ends.as_ref().map_or(shadowing, |ends| shadowing * ends.gain(from, to))
    }

    /// Returns the factor that at most one pair of nodes in a million exceeds.
    pub(super) fn largest_gain(&self) -> f64 {
        self.shadowing.as_ref().map_or(1.0, Shadowing::luck) * self.ends.as_ref().map_or(1.0, Ends::most)
    }
}
