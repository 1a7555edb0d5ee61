//! Frames: transmission, reception, aggregation and outcome.

mod aggregate;
mod air;
pub(super) mod conventions;
mod downlink;
mod station;
mod uplink;
