//! Frames: how nodes send, receive and aggregate them, and what becomes of them.

mod aggregate;
mod air;
mod bands;
pub(super) mod conventions;
mod sending;
mod shared;
mod station;
