//! The loop that joins devices to controllers, its configuration, and what it keeps of its powers.

pub mod config;
mod confine;
pub(crate) mod detach;
pub mod govern;
mod governor;
mod links;
mod needs;
mod pace;
pub mod signals;
mod wakes;

use crate::admission::Settings as Admission;
use crate::device::contract::Device;
use crate::device::wish::Wish;
use crate::telemetry::Decision;
use crate::telemetry::events::AgentEvent;
use crate::telemetry::status::Status;
use control::AnyController;
use std::ops::ControlFlow;

/// Whoever runs an agent: is told, and asked.
pub trait Host {
    /// A queue was taken up, with what a user should know of that.
    fn attached(&mut self, device: &dyn Device, controller: &AnyController, remarks: &[String]) {
        let _ = (device, controller, remarks);
    }

    /// An interval of a queue has ended. To break off ends the agent.
    fn decided(&mut self, status: &Status, decision: &Decision) -> ControlFlow<()>;

    /// Something happened to a queue.
    fn happened(&mut self, event: &AgentEvent);

    /// SIGHUP: what is wanted from now on; `None` ends the agent.
    ///
    /// # Errors
    /// Why what is wanted cannot be read; all goes on as it is.
    fn reload(&mut self) -> Option<Result<Vec<Wish>, String>>;

    /// How the agent takes part in admission; asked at the start and after each [`reload`](Self::reload). None: it does not.
    fn admission(&self) -> Option<Admission> {
        None
    }
}
