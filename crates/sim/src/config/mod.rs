//! The tables of a scenario that the simulator itself understands: a description of a network.
//!
//! These structs are the scenario's format (their documentation becomes `docs/scenario` and the JSON Schema) and the
//! library's interface at once. Reading them from a file, sweeps and claims belong to the crates above.

/// A table with its own keys, and the keys of a second table where it has none.
macro_rules! over {
    ($own:expr, $shared:expr; $($key:ident)+ $(; $table:ident: $value:expr)?) => {
        Self { $($key: $own.$key.or($shared.$key),)+ $($table: $value)? }
    };
}

/// Keys of a table, each with whether the table has it.
macro_rules! given {
    ($table:expr; $($key:ident)+) => {
        [$((stringify!($key), $table.$key.is_some())),+]
    };
}

mod attachment;
pub mod bqm;
mod class;
mod mac;
mod marks;
mod mobility;
mod network;
mod nodes;
mod radio;
mod routing;
mod tcp;
mod traffic;
mod wired;

pub use attachment::Attachment;
pub use bqm::Bqm;
pub use class::{Category, Class, Dscp};
pub(crate) use given;
pub use mac::{
    Access, Aggregation, AnswerRts, Bandwidth, Contention, Edca, Eifs, FirstAccess, HardwareQueue, HardwareQueuePer,
    Lifetime, Mac, MissedBlockAck, MostBytes, MuEdca, Ofdma, RateAlgorithm, RateControl, RtsThreshold, TimeoutDeferral,
    Turns, TurnsVariant, WindowReset,
};
pub use marks::Marks;
pub use mobility::{Mobility, MobilityModel, Place, Speeds, WalkStart, Waypoint};
pub use network::{Network, Record};
pub use nodes::{
    CategoryQueues, ClassQueues, Consumption, LowLevel, Mac80211, Move, Node, Placement, PowerSave, PullLoop, Queues,
    Roaming, Role, Shape, TurnsScheduler,
};
pub use radio::{
    BProtection, Capture, ChannelWidth, ErrorModel, Errors, ExtendedRange, Fading, FadingModel, Fec, GuardInterval,
    PacketPadding, Preamble, Propagation, Radio, Rooms, Standard,
};
pub use routing::{
    Aodv, Dsr, DsrProfile, ErrorsTo, Protocol, RepairBy, RepairWithin, ReplyWait, Route, Routing, RoutingPriority,
};
pub use tcp::{Congestion, FriendlyGrowth, LossDetection, Recovery, RecoveryEnd, RttSamples, SlowStart, Tcp};
pub use traffic::{
    Admission, Flow, HopRange, LengthRange, Lengths, Load, LoadRange, Refused, Spread, Step, Traffic, TrafficKind,
    Transport,
};
pub use wired::{RateStep, Wired};
