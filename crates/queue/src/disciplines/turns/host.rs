//! What the law of `turns` and its host tell each other.

use super::Mark;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// What the host tells of its ports. A port has one station's packets in one access category.
pub trait Ports {
    /// True if packets wait at the port.
    fn waits(&self, port: usize) -> bool;
    /// True if thin packets (of flows that send little) wait at the port.
    fn has_thin(&self, port: usize) -> bool;
    /// True if the hardware can take one more of the port's packets.
    fn has_room(&self, port: usize) -> bool;
    /// Returns the longest turn that the port's station can have now.
    fn turn(&self, port: usize) -> Turn;
}

/// A turn: the longest aggregate that can be sent to a station. It ends when its airtime or its packets are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Airtime of the aggregate less that of a full packet, because the last packet may exceed the turn. If frames are
    /// not aggregated: at most a frame's airtime.
    pub airtime: Duration,
    /// Largest number of packets in the aggregate, however short they are.
    pub packets: u32,
}

/// A rule of the law that can be left out, to measure the rule's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TurnsRule"))]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Packets of flows that send little (thin) go before all turns.
    ThinFirst,
    /// A turn's packets are released together.
    WholeTurns,
    /// The bound on waiting counts own airtime, not wall time.
    OwnAir,
    /// Packets of two turns may always wait for a station; without the rule, packets of one turn.
    TwoTurns,
    /// A packet is dropped if more than two turns have waited for the target delay.
    Patience,
    /// A packet is dropped when another arrives, not when it leaves.
    Prediction,
    /// Waiting is bounded; without this rule each station has FQ-CoDel.
    Bound,
    /// Stations are charged for the frames that they send.
    ReceivedAirtime,
    /// Contention windows are wider while the access point has most of the medium, or if many stations send.
    WideWindow,
}

/// Bounds for packets that arrive at a port from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// A packet of a flow without waiting packets is thin if the flow's last packet came at least this time ago, times
    /// the number of the station's waiting flows. `None` while the station has no credit: no packet is thin then.
    pub gap: Option<Duration>,
    /// Largest number of bytes that may wait.
    pub most: Bytes,
    /// A packet is dropped if more than this number of bytes has waited for all of this time.
    pub patience: Option<(Bytes, Duration)>,
    /// If packets are dropped on departure: the longest wait of a packet while more than `most` bytes wait.
    pub longest: Option<Duration>,
    /// When ECN-capable packets are marked on departure.
    pub mark: Option<Mark>,
}
