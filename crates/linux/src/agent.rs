//! The loop that joins devices to controllers, its configuration, and the privileges that the agent keeps.

pub mod config;
mod confine;
pub(crate) mod detach;
pub mod govern;
mod governor;
mod links;
mod manager;
mod needs;
mod pace;
pub(crate) mod patterns;
mod real_time;
mod reload;
pub mod signals;
pub mod trial;
mod wakes;

use crate::admission::Settings as Admission;
use crate::device::contract::Device;
use crate::device::wish::Wish;
use crate::telemetry::Decision;
use crate::telemetry::events::AgentEvent;
use crate::telemetry::status::Status;
use control::AnyController;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Callbacks of the program that embeds an agent.
pub trait Host {
    /// Called when the agent has attached to a queue; `remarks` are for the user.
    fn attached(&mut self, device: &dyn Device, controller: &AnyController, remarks: &[String]) {
        let _ = (device, controller, remarks);
    }

    /// Called at the end of each interval of a queue. `Break` ends the agent.
    fn decided(&mut self, status: &Status, decision: &Decision) -> ControlFlow<()>;

    /// Called for each event of a queue.
    fn happened(&mut self, event: &AgentEvent);

    /// Called on SIGHUP: returns the queues to govern from now on; `None` ends the agent.
    ///
    /// # Errors
    /// The new settings cannot be read; the message says why, and the agent continues with the old ones.
    fn reload(&mut self) -> Option<Result<Vec<Wish>, String>> {
        None
    }

    /// Called after each [`reload`](Self::reload). `applies` is true if the new settings apply, not the former ones.
    fn reloaded(&mut self, applies: bool) {
        let _ = applies;
    }

    /// Returns the settings of admission, and the folder of the socket for programs of this machine. Called at the
    /// start and after each [`reload`](Self::reload). `None`: the agent takes no part in admission.
    fn admission(&self) -> Option<(Admission, PathBuf)> {
        None
    }
}
