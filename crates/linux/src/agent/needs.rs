//! What a controller asks of its host on a live queue: to be called, and a device that can serve it.

use crate::device::contract::Device;
use crate::error::{Error, Unfit};
use control::{AnyController, Controller as _};
use units::Duration;

/// How often what goes on is told where the controller never needs to be called.
const WITHOUT_CONTROLLER: Duration = Duration::from_secs(1);
/// Looks in an interval, where a queue must be looked at.
const LOOKS: u64 = 16;

/// Time between two calls of the controller.
pub(super) fn interval(controller: &AnyController) -> Duration {
    let interval = controller.needs().interval;
    if interval == Duration::MAX { WITHOUT_CONTROLLER } else { interval }
}

/// Time between two looks at a queue that is measured by looking: a sixteenth of the controller's interval, from 10 to
/// 50 ms. To wake up and look costs some 60 µs, nearly all of it the kernel's and hardly more with many queues: a hundred
/// a second take about half a percent of a core.
pub(super) fn look_every(controller: &AnyController) -> Duration {
    let part = Duration::from_nanos(interval(controller).as_nanos() / LOOKS);
    part.clamp(Duration::from_millis(10), Duration::from_millis(50))
}

/// Whether a controller can work with a device.
///
/// # Errors
/// It needs what is not measured there, or orders what is not possible.
pub(super) fn suits(controller: &AnyController, device: &dyn Device) -> Result<(), Error> {
    let able = device.capabilities();
    match controller.needs().obstacle(able.reads, able.sets) {
        None => Ok(()),
        Some(lacking) => Err(Unfit::Controller { controller: controller.name(), kind: able.kind, lacking }.into()),
    }
}
