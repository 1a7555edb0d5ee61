//! The `[mac.turns]` table: turns in the order of the packets' age.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

/// T-MAC; see `docs/tmac.md`. The unit of default times is the exchange of 1500 B, or of the longest aggregate.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Turns {
    /// Source of a station's knowledge of turns.
    pub variant: TurnsVariant,
    /// Share of the asked stations, the receiver included, that have to grant a request (`q`): 0 to 1 (strict order).
    pub quorum: f64,
    /// Failed requests before plain contention (`K`): 1 to 255.
    pub attempts: u8,
    /// Longest wait after a refusal (`T_req`); shorter if a younger packet is announced. Default: two exchanges.
    pub request_wait: Option<Duration>,
    /// Deferral per older packet known (`T_frame`); "0 s" for none. Default: one exchange.
    pub deferral: Option<Duration>,
    /// Lifetime of a neighbour's key (`T_exp`). Default: ten exchanges.
    pub expiry: Option<Duration>,
    /// Time for which a neighbour is still asked after its last data or request (`T_act`).
    pub activity: Duration,
    /// Most stations asked: the receiver, then the strongest neighbours; 1 to 8.
    pub neighbours: u8,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            variant: TurnsVariant::default(),
            quorum: 0.5,
            attempts: 4,
            request_wait: None,
            deferral: None,
            expiry: None,
            activity: Duration::from_millis(100),
            neighbours: 8,
        }
    }
}

/// Source of a station's knowledge of turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnsVariant {
    /// A request precedes data; stations without an older packet grant it.
    #[default]
    Requests,
    /// Keys in data frames and ACKs; no further frames.
    Table,
}
