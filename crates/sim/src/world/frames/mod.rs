//! Frames: transmission, reception, aggregation and outcome.

mod aggregate;
mod air;
mod bands;
pub(super) mod conventions;
mod sending;
mod shared;
mod station;
