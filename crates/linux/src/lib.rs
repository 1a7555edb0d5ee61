//! Live use: a Linux interface whose queue is measured and limited by the very controllers that are simulated.
//!
//! A [`Device`] joins what senses a queue to what moves its limit; [`control::Controller`] decides in between and knows
//! nothing of Linux. No packet passes through this crate: the kernel holds them.
#![deny(clippy::print_stdout, clippy::print_stderr, reason = "they panic where nothing can be written; hosts speak")]

pub mod agent;
pub mod agents;
mod backend;
#[cfg(feature = "bpf")]
pub mod bpf;
pub mod config;
mod confine;
mod device;
mod doctor;
mod driver;
mod estimate;
pub mod events;
mod fifo;
mod former;
pub mod govern;
mod links;
mod looks;
pub mod metrics;
mod netlink;
pub mod nl80211;
mod options;
pub mod recording;
pub mod rtnetlink;
pub mod serve;
mod state;
pub mod stations;
pub mod status;
mod txq;
mod wire;

pub use backend::{Attached, Backend, Wish, attach};
pub use confine::Keeps;
pub use device::{Capabilities, Device, Error, Quality};
pub use doctor::{Diagnosis, Finding, diagnose};
pub use fifo::{Fifo, Kind, Observed, Place, Start, class, detach, shown_place};
pub use looks::Looks;
pub use state::{Restorer, STATE_FOLDER, make_state_folder};
pub use txq::Txq;
