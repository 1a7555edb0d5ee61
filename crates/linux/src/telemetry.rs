//! Status, events, metrics and recordings of governed queues, and readings of Wi-Fi stations.

pub mod air;
pub mod ask;
pub mod events;
pub mod metrics;
pub mod serve;
pub mod stations;
pub mod status;

/// One interval of a recording: what the controller measured, and its decision.
pub type Decision = control::Decision<Vec<control::Heard>>;
