//! Analytic models that are computed for runs, and their results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

/// Analytic models, computed from measurements of every run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Models {
    /// Models of SWAN.
    pub swan: Option<Swan>,
    /// Expected throughput of BQM.
    pub bqm: Option<Bqm>,
    /// E-model of calls.
    pub voice: Option<Voice>,
}

/// E-model ratings of calls (`docs/theory.md`), from all delays (`record.distributions`) and losses; results:
/// `model.voice.calls`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Voice {
    /// Flows of kind `voice`: a name, or `call*` for all whose names begin with `call`.
    pub flows: String,
}

/// Throughput that BQM's document expects of TCP, for received packets' hop counts (`record.hops`). Result:
/// `model.bqm.expected_bps`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bqm {
    /// Throughput of one connection over one hop, two hops, and so on; beyond the list, inversely proportional to hops.
    pub throughput: Vec<Rate>,
}

/// SWAN's models A and B (`docs/theory.md`) for devices in range of each other on one DCF channel of fixed rate, with
/// UDP packets of one length, and TCP with `segment`. Results: `model.swan.*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Swan {
    /// Real-time devices: a node, or `video*` for all whose names begin with `video`.
    pub class_1: String,
    /// Best-effort devices.
    pub class_2: String,
}

/// Results of models for a run: `model` in its results.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Modelled {
    /// Results of SWAN's models.
    pub swan: Option<Equilibrium>,
    /// Result of BQM's model.
    pub bqm: Option<Expectation>,
    /// Results of the E-model.
    pub voice: Option<Rated>,
}

/// Ratings of calls by the E-model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rated {
    /// Each call, in the scenario's order.
    pub calls: Vec<Call>,
}

/// A call whose receiver plays every packet at the same time after it was sent: the time with the best rating. All
/// values are absent if nothing was received.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The flow's name.
    pub name: String,
    /// The transmission rating factor `R`, 0 to 93.2, with a mouth-to-ear delay of one packet's speech and `playout_s`.
    pub rating: Option<f64>,
    /// Time from sending a packet until it is played.
    pub playout_s: Option<f64>,
    /// Share of the packets that were lost or arrived after `playout_s`.
    pub missing_ratio: Option<f64>,
}

/// Prediction of BQM's model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// Throughput of a connection, mean over the packets received; absent if there were none.
    pub expected_bps: Option<f64>,
}

/// Predictions of SWAN's models, and the measurements that they refer to. A value is absent (`null`) if nothing was
/// sent or the model has no solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Equilibrium {
    /// Measurements at the real-time devices.
    pub class_1: Devices,
    /// Measurements at the best-effort devices.
    pub class_2: Devices,
    /// Mean MAC delay of all packets of both classes.
    pub mac_delay_s: Option<f64>,
    /// `T_s`: mean over the packets sent, acknowledgements of TCP included.
    pub success_s: Option<f64>,
    /// `T_c`: mean of the longer of two packets sent.
    pub collision_s: Option<f64>,
    /// Model A: the mean MAC delay that follows from the measured busy shares of both classes.
    pub model_a_delay_s: Option<f64>,
    /// Model B: largest busy share of each best-effort device with which real time keeps its MAC delay of this run.
    pub model_b_busy_ratio: Option<f64>,
    /// Model B: the mean number of busy best-effort devices.
    pub model_b_backlogged: Option<f64>,
    /// Model B: 1 where at least one best-effort device is busy on average, 0 below, where the method does not hold.
    pub model_b_valid: Option<f64>,
    /// Model B with (2) in the place of (8).
    pub model_b_with_2_busy_ratio: Option<f64>,
}

/// Measurements at the devices of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Devices {
    /// Number of devices.
    pub devices: u32,
    /// `p_on`: share of the time in which a device's MAC holds a packet, as the mean over the devices.
    pub busy_ratio: Option<f64>,
    /// Mean MAC delay of the devices' packets, those that were given up included.
    pub mac_delay_s: Option<f64>,
    /// Packets per second of a device, the mean.
    pub packets_per_second: Option<f64>,
}
