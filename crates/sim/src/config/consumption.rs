//! The `[consumption]` table: a node's power draw by the state of its radio.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Power, Rate};

/// Power that radios draw by state, to count joules. `[node.consumption]` overrides it key by key; without it, only
/// that node is counted (`docs/energy.md`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Consumption {
    /// Power while sending at the high level. Default 792 mW (DSSS and CCK), 627 mW (OFDM) or 594 mW (HT).
    pub transmit: Option<Power>,
    /// Power while others keep the medium busy. Default 330 mW.
    pub receive: Option<Power>,
    /// Power while the medium is idle. Default 313.5 mW.
    pub listen: Option<Power>,
    /// Power while the medium is idle and the MAC has no packet, or with `power_save` while asleep. ESP32 light sleep:
    /// 2.64 mW. Default: never.
    pub doze: Option<Power>,
    /// Low level: rate and power, for controllers that choose. Needs the DCF, one queue and no rate control.
    pub low: Option<LowLevel>,
}

/// The low transmission level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LowLevel {
    /// Rate of data frames.
    pub data_rate: Option<Rate>,
    /// 802.11n: MCS of data frames, instead of `data_rate`.
    pub mcs: Option<u8>,
    /// Power while sending a data frame at this level.
    pub transmit: Power,
}

impl Consumption {
    /// These keys, and the keys of `shared` where they are absent.
    pub(crate) fn over(&self, shared: &Self) -> Self {
        over! { self, shared; transmit receive listen doze low }
    }
}
