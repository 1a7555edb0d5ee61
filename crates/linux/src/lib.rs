//! Live use: a Linux interface whose queue is measured and limited by the same controllers that are simulated.
//!
//! A [`Device`] measures a queue and sets its limit. Between the two [`control::Controller`] decides and knows nothing
//! about Linux. No packet passes through this crate: the kernel holds them.
//!
//! Folders are layers, each over those named before it: [`kernel`] (netlink and counters), [`device`] (one queue),
//! [`telemetry`] (status and metrics), [`admission`] and [`notes`] (messages between agents). Above them are [`agent`]
//! (the loop) and the findings of [`diagnose`]. `tests/circles.py` checks this order. Begin with [`agent`].
#![deny(clippy::print_stdout, clippy::print_stderr, reason = "they panic if nothing can be written; hosts print")]

pub mod admission;
pub mod agent;
pub mod device;
mod doctor;
mod error;
pub mod kernel;
pub mod notes;
pub mod telemetry;
pub mod trial;

pub use agent::detach::{Restored, detach};
pub use device::contract::{Beside, Capabilities, Device, Keeps, Own, Quality};
pub use device::fifo::{Fifo, Kind};
pub use device::looks::Looks;
pub use device::state::{Restorer, STATE_FOLDER, make_state_folder};
pub use device::txq::Txq;
pub use device::wish::{Backend, Place, Start, Wish, class, shown_place};
pub use doctor::{Diagnosis, Finding, Machine, bundle, diagnose};
pub use error::{Error, Taken, Unfit, Unforced, Unsupported};
