//! Analytic models that are computed beside runs, and what they say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Analytic models that are computed beside every run, from what was measured in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Models {
    /// Those of SWAN.
    #[serde(default)]
    pub swan: Option<Swan>,
}

/// SWAN's models A and B (`docs/theory.md`): real-time and best-effort devices on one channel of the DCF with a fixed
/// rate, each sending to neighbours; UDP packets of one length, and TCP with `segment`. Results have the keys `model.swan.*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Swan {
    /// The real-time devices: a node's name, or `video*` for all whose names begin so.
    pub class_1: String,
    /// The best-effort devices.
    pub class_2: String,
}

/// What models say of a run: `model` in its results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Modelled {
    /// Those of SWAN.
    pub swan: Equilibrium,
}

/// SWAN's models beside what they speak of. A value is absent (`null`) where nothing was sent or the model has no solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Equilibrium {
    /// What was measured at the real-time devices.
    pub class_1: Devices,
    /// What was measured at the best-effort devices.
    pub class_2: Devices,
    /// Mean MAC delay of all packets of both.
    pub mac_delay_s: Option<f64>,
    /// `T_s`: mean over the packets sent, acknowledgements of TCP included.
    pub success_s: Option<f64>,
    /// `T_c`: mean of the longer of two of them.
    pub collision_s: Option<f64>,
    /// Model A: the mean MAC delay that follows from the measured busy parts of both classes.
    pub model_a_delay_s: Option<f64>,
    /// Model B: how busy each best-effort device may be so that real time has the MAC delay that it had in this run.
    pub model_b_busy_ratio: Option<f64>,
    /// Model B: the mean number of busy best-effort devices.
    pub model_b_backlogged: Option<f64>,
    /// Model B: 1 where at least one best-effort device is busy on average, 0 below, where the method does not hold.
    pub model_b_valid: Option<f64>,
    /// Model B with (2) in the place of (8).
    pub model_b_with_2_busy_ratio: Option<f64>,
}

/// What was measured at the devices of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Devices {
    /// How many there are.
    pub devices: u32,
    /// `p_on`: the part of the time in which the MAC of a device holds a packet, the mean over the devices.
    pub busy_ratio: Option<f64>,
    /// Mean MAC delay of their packets, those that were given up included.
    pub mac_delay_s: Option<f64>,
    /// Packets per second of one of them, the mean.
    pub packets_per_second: Option<f64>,
}
