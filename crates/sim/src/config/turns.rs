//! The `[mac.turns]` table: turns in the order of the packets' age.

use serde::{Deserialize, Serialize};
use units::Duration;

/// Turns in the order of the packets' age, on top of the DCF or EDCA (T-MAC; see `docs/tmac.md`). A frame exchange is, where a
/// default is a multiple of it, that of a packet of 1500 B, or of the longest aggregate.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Turns {
    /// How a station learns whose turn it is.
    pub variant: TurnsVariant,
    /// So great a part of the stations that a request asks has to grant, the receiver among them: 0 to 1; 1 for strict order.
    /// `q` of the note.
    pub quorum: f64,
    /// After so many requests in vain a frame is sent by plain contention: 1 to 255. `K` of the note.
    pub attempts: u8,
    /// How long a refused station waits at most before it asks again; less, if a younger packet is told of. `T_req` of the note;
    /// default two frame exchanges.
    pub request_wait: Option<Duration>,
    /// How long a station defers for each older packet that it knows of; "0 s" for not at all. `T_frame` of the note; default
    /// one frame exchange.
    pub deferral: Option<Duration>,
    /// How long the key that a neighbour told counts. `T_exp` of the note; default ten frame exchanges.
    pub expiry: Option<Duration>,
    /// A neighbour is asked that was heard sending data or a request within this time. `T_act` of the note.
    pub activity: Duration,
    /// The most that are asked: the receiver and the strongest neighbours. 1 to 8.
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

/// How a station learns whose turn it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TurnsVariant {
    /// A request precedes data, and those that have no older packet grant it.
    #[default]
    Requests,
    /// From the keys that data and acknowledgements carry; there are no other frames.
    Table,
}
