//! What others learn of governed queues and of stations: status, events, metrics, recordings.

pub mod ask;
pub mod events;
pub mod metrics;
pub mod recording;
pub mod serve;
pub mod stations;
pub mod status;
