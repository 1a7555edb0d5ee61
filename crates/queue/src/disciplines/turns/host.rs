//! What the law of `turns` and its host tell each other.

use super::Mark;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// Host's description of a port: one station's packets in one access category.
pub trait Ports {
    /// True if packets wait there.
    fn waits(&self, port: usize) -> bool;
    /// True if thin packets wait there.
    fn has_thin(&self, port: usize) -> bool;
    /// True if the hardware takes one more of its packets.
    fn has_room(&self, port: usize) -> bool;
    /// The longest turn of its station now.
    fn turn(&self, port: usize) -> Turn;
}

/// A turn: the longest aggregate that can be sent to a station. It ends when either is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Airtime of the aggregate less a full packet, since the last one exceeds it; any time up to that of a frame if frames
    /// are not aggregated.
    pub airtime: Duration,
    /// Packets for which the aggregate has room, however short they are.
    pub packets: u32,
}

/// A rule of the law that can be left out, to measure what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TurnsRule"))]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Thin packets before all turns.
    ThinFirst,
    /// Turns pass whole.
    WholeTurns,
    /// The bound in own air, else in wall time.
    OwnAir,
    /// Two turns always stay, else one.
    TwoTurns,
    /// A packet is dropped where more than two turns have waited for all of the target.
    Patience,
    /// Drops on arrival, else on departure.
    Prediction,
    /// The bound, else FQ-CoDel per station.
    Bound,
    /// Airtime charged for received frames.
    ReceivedAirtime,
    /// The contention window of 31.
    WideWindow,
}

/// Bounds for the packets of a port that arrive from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// A packet of a flow of which none waits is thin if the one before it came so long ago, times the number of the
    /// station's flows that wait. None while the station has no credit: then none is thin.
    pub gap: Option<Duration>,
    /// Most bytes that may wait.
    pub most: Bytes,
    /// If more than these bytes have waited for all of this time, a packet is dropped.
    pub patience: Option<(Bytes, Duration)>,
    /// If packets are dropped on departure: longest wait of a packet while more bytes wait than `most`.
    pub longest: Option<Duration>,
    /// Rule by which ECN-capable packets are marked on departure.
    pub mark: Option<Mark>,
}
