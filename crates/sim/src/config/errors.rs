//! The `[radio.errors]` and `[radio.fading]` tables: causes of frame errors besides collisions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Decibels;

/// Frame errors besides collisions; see `docs/phy.md`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Errors {
    /// Error model. Default `nist`; `none` for `propagation = "range"` or `nominal_rate`.
    pub model: Option<ErrorModel>,
    /// With `"fixed"`: share of MPDUs lost, whatever their length and power.
    pub packet_error_ratio: Option<f64>,
    /// With `"fixed"`, instead: share of bits lost.
    pub bit_error_ratio: Option<f64>,
    /// With `"fixed"`: applies to ACK, CTS, RTS and BlockAck too.
    pub control_frames: bool,
    /// Receiver noise above thermal noise at 290 K, for `nist` and `yans`. Default 7 dB.
    pub noise_figure: Option<Decibels>,
}

/// An error model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorModel {
    /// Losses only by interference, decided by `capture_threshold`.
    None,
    /// `none`, plus independent errors of a fixed ratio.
    Fixed,
    /// By SINR in each interval of constant interference (Pei and Henderson 2010, 2009).
    Nist,
    /// `nist`, but OFDM by Lacage and Henderson (2006).
    Yans,
}

/// Random deviation of received power from the mean at the link's distance.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fading {
    /// Log-normal shadowing: standard deviation per pair of nodes, constant during a run. Default: none.
    pub shadowing: Option<Decibels>,
    /// Fast fading: independent power per frame and listener.
    pub model: FadingModel,
    /// Nakagami shape m, at least 0.5; larger is steadier. Default 1.5.
    pub nakagami_m: Option<f64>,
}

/// A model of fast fading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FadingModel {
    /// No fading.
    #[default]
    None,
    /// No line of sight: exponentially distributed power.
    Rayleigh,
    /// Gamma-distributed power of shape `nakagami_m`.
    Nakagami,
}
