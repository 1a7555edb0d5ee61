//! Frames: transmission, reception, aggregation and outcome.

mod aggregate;
mod air;
mod bands;
pub(super) mod conventions;
mod downlink;
mod sending;
mod station;
mod uplink;
