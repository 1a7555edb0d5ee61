//! Live use: a Linux interface whose queue is measured and limited by the very controllers that are simulated.
//!
//! A [`Device`] joins what senses a queue to what moves its limit; [`control::Controller`] decides in between and knows
//! nothing of Linux. No packet passes through this crate: the kernel holds them.
#![deny(clippy::print_stdout, clippy::print_stderr, reason = "they panic where nothing can be written; hosts speak")]

pub mod agent;
pub mod device;
mod doctor;
pub mod kernel;
pub mod telemetry;

pub use agent::confine::Keeps;
pub use device::backend::{Attached, Backend, Wish, attach};
pub use device::contract::{Capabilities, Device, Error, Quality};
pub use device::fifo::{Fifo, Kind, Observed, Place, Start, class, detach, shown_place};
pub use device::looks::Looks;
pub use device::state::{Restorer, STATE_FOLDER, make_state_folder};
pub use device::txq::Txq;
pub use doctor::{Diagnosis, Finding, diagnose};
