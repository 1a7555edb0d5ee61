//! What others learn of governed queues and of stations: status, events, metrics, recordings.

pub mod ask;
pub mod events;
pub mod metrics;
pub mod serve;
pub mod stations;
pub mod status;

/// An interval of a recording: what a controller saw, and what it decided.
pub type Decision = control::Decision<Vec<control::Heard>>;
