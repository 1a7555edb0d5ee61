//! Live use: a Linux interface whose queue is measured and limited by the very controllers that are simulated.
//!
//! A [`Device`] joins what senses a queue to what moves its limit; [`control::Controller`] decides in between and knows
//! nothing of Linux. No packet passes through this crate: the kernel holds them.

#[cfg(feature = "bpf")]
pub mod bpf;
mod device;

pub use device::{Capabilities, Device, Error, Quality};
