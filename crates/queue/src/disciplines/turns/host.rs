//! Values that the law of `turns` and its host exchange.

use super::Mark;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// Host's description of a port: one station's packets in one access category.
pub trait Ports {
    /// True if packets wait at the port.
    fn waits(&self, port: usize) -> bool;
    /// True if thin packets (of flows that send little) wait at the port.
    fn has_thin(&self, port: usize) -> bool;
    /// True if the hardware takes one more of the port's packets.
    fn has_room(&self, port: usize) -> bool;
    /// The longest turn of the port's station now.
    fn turn(&self, port: usize) -> Turn;
}

/// A turn: the longest aggregate that can be sent to a station. Ends when its airtime or its packets are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Airtime of the aggregate less a full packet, because the last packet exceeds it; at most a frame's airtime if
    /// frames are not aggregated.
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
    /// Two turns may always wait, instead of one.
    TwoTurns,
    /// A packet is dropped if more than two turns have waited for the target delay.
    Patience,
    /// Packets are dropped when others arrive, not when they leave.
    Prediction,
    /// The bound on waiting; without it each station has FQ-CoDel.
    Bound,
    /// Stations are charged for the frames that they send.
    ReceivedAirtime,
    /// The smallest contention window is 31 while the access point uses most of the time.
    WideWindow,
}

/// Bounds for packets that arrive at a port from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// A packet of a flow without waiting packets is thin if the preceding one came at least this time ago, times the
    /// number of the station's waiting flows. `None` while the station has no credit: then no packet is thin.
    pub gap: Option<Duration>,
    /// Largest number of bytes that may wait.
    pub most: Bytes,
    /// Number of bytes above which a packet is dropped, if more than these have waited for all of this time.
    pub patience: Option<(Bytes, Duration)>,
    /// If packets are dropped on departure: longest wait of a packet while more bytes wait than `most`.
    pub longest: Option<Duration>,
    /// Rule by which ECN-capable packets are marked on departure.
    pub mark: Option<Mark>,
}
