//! The `[consumption]` table: what a node draws, by what its radio does.

use serde::{Deserialize, Serialize};
use units::{Power, Rate};

/// What a node's radio draws by what it does. With this table the joules of every node with a radio are counted; `[node.consumption]`
/// overrides it key by key, or counts them at that node alone. The defaults are those of Espressif's ESP32 data sheet, "Current
/// consumption depending on RF modes", at 3.3 V. See `docs/energy.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Consumption {
    /// While the node sends, except at the low level. Default, by the modulation of the frame: 792 mW for DSSS and CCK (802.11b,
    /// 240 mA), 627 mW for OFDM (802.11a and g, 190 mA), 594 mW for HT (802.11n, 180 mA).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmit: Option<Power>,
    /// While others keep the medium busy here, whether the node decodes a frame or only senses energy. Default 330 mW (100 mA).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive: Option<Power>,
    /// While the medium is idle here. Default 313.5 mW (95 mA).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<Power>,
    /// While the radio dozes: the medium is idle here, and the MAC has no packet to send. It wakes without delay for its own
    /// packets and for every frame that comes, as none can: the least that dozing can cost. Left out, it never dozes. The
    /// ESP32's light sleep draws 2.64 mW (0.8 mA).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doze: Option<Power>,
    /// The low transmission level, for controllers that choose between it and the usual, high one. With the DCF, one queue, and
    /// without rate control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<LowLevel>,
}

/// How the node sends at its low level. Other nodes hear its frames as those of the high level: with a power lowered by as much
/// as the slower mode needs less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LowLevel {
    /// Rate of data frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_rate: Option<Rate>,
    /// 802.11n: modulation and coding scheme of data frames, instead of `data_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcs: Option<u8>,
    /// What the node draws while it sends a data frame at this level.
    pub transmit: Power,
}

impl Consumption {
    /// These keys, and those of `shared` where they are absent.
    pub(crate) fn over(&self, shared: &Self) -> Self {
        Self {
            transmit: self.transmit.or(shared.transmit),
            receive: self.receive.or(shared.receive),
            listen: self.listen.or(shared.listen),
            doze: self.doze.or(shared.doze),
            low: self.low.clone().or_else(|| shared.low.clone()),
        }
    }
}
