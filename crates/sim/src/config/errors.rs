//! The `[radio.errors]` and `[radio.fading]` tables: what spoils frames besides collisions.

use serde::{Deserialize, Serialize};
use units::Decibels;

/// What spoils frames besides collisions: see `docs/phy.md`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Errors {
    /// The model. Default: `nist`; `none` where frames have no powers (`propagation = "range"`) or no modulation
    /// (`nominal_rate`).
    pub model: Option<ErrorModel>,
    /// Fixed: share of MPDUs lost, whatever their length and power.
    pub packet_error_ratio: Option<f64>,
    /// Fixed, instead: share of bits lost; a longer MPDU is lost more often.
    pub bit_error_ratio: Option<f64>,
    /// Fixed: ACK, CTS, RTS and block acknowledgements are lost too.
    pub control_frames: bool,
    /// `nist` and `yans`: noise of the receiver above thermal noise at 290 K. Default 7 dB.
    pub noise_figure: Option<Decibels>,
}

/// An error model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ErrorModel {
    /// A frame is lost only to others, by `capture_threshold`.
    None,
    /// As `none`, and independent errors of a fixed ratio at every receiver.
    Fixed,
    /// By the ratio of signal to noise and interference, from one interval of constant interference to the next: OFDM by
    /// Pei and Henderson (2010), DSSS and CCK by Pei and Henderson (2009).
    Nist,
    /// As `nist`, with OFDM by Lacage and Henderson (2006).
    Yans,
}

/// How the power of a signal departs from the mean at its distance.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Fading {
    /// Log-normal shadowing: standard deviation of the power between two nodes, the same in both directions and for the
    /// whole run. Default: none.
    pub shadowing: Option<Decibels>,
    /// Fast fading: another power for every frame at every listener.
    pub model: FadingModel,
    /// Nakagami: the shape m, at least 0.5; the greater, the steadier. Default 1.5.
    pub nakagami_m: Option<f64>,
}

/// A model of fast fading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FadingModel {
    /// The power is the mean.
    #[default]
    None,
    /// No line of sight: exponentially distributed power.
    Rayleigh,
    /// Gamma-distributed power of shape `nakagami_m`.
    Nakagami,
}
