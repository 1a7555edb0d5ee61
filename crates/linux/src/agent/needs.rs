//! What a controller needs from a live queue: how often it is called, and a device that can serve it.

use crate::device::contract::{Device, LONGEST_INTERVAL};
use crate::device::radio::Radiometer;
use crate::device::wish::Wish;
use crate::error::{Error, Unfit};
use control::{AnyController, Controller as _, Reads, Sets};
use queue::Settings;
use units::Duration;

/// Time between two reports if the controller never needs to be called.
const WITHOUT_CONTROLLER: Duration = Duration::from_secs(1);
/// Readings per interval of a queue that is measured by polling.
const LOOKS: u64 = 16;

/// Returns the time between two calls of the controller.
pub(super) fn interval(controller: &AnyController) -> Duration {
    let interval = controller.needs().interval;
    if interval == Duration::MAX { WITHOUT_CONTROLLER } else { interval }
}

/// Builds the controller of an interface's queue. `seed` sets its random draws. Errors: the controller's parameters are
/// invalid, it is called too rarely, or it needs notes, which are off.
pub(super) fn controller(device: &str, settings: &Settings, seed: u64, notes: bool) -> Result<AnyController, Error> {
    let invalid = |invalid| Unfit::Parameters { device: device.into(), invalid };
    let controller = settings.build_controller(seed).map_err(invalid)?;
    has_notes(&controller, notes)?;
    let interval = interval(&controller);
    if interval > LONGEST_INTERVAL {
        let (device, controller, longest) = (device.into(), controller.name(), LONGEST_INTERVAL);
        return Err(Unfit::Interval { device, controller, interval, longest }.into());
    }
    Ok(controller)
}

/// Returns the time between two readings of a queue that is measured by polling: a sixteenth of the controller's
/// interval, from 10 to 50 ms. A wake-up costs about 60 µs, nearly all in the kernel, for any number of queues. A
/// hundred per second take about half a percent of a core.
pub(super) fn look_every(controller: &AnyController) -> Duration {
    let part = Duration::from_nanos(interval(controller).as_nanos() / LOOKS);
    part.clamp(Duration::from_millis(10), Duration::from_millis(50))
}

/// True if a queue separates real-time packets: the user asks for it, or the controller governs one of the two classes,
/// or it orders notes. Notes must not wait in the queue that they describe.
pub(super) fn classes(wish: &Wish, controller: &AnyController) -> bool {
    let needs = controller.needs();
    wish.classes
        || wish.real_time.is_some()
        || needs.reads.any_of(Reads::OVERHEARD)
        || needs.sets.any_of(Sets::RATE.and(Sets::MARK).and(Sets::NOTE))
}

/// Opens the radio of the interface, if the controller reads it. Errors: no interface, or the kernel does not answer.
pub(super) fn radio(controller: &AnyController, index: u32) -> Result<Option<Box<Radiometer>>, Error> {
    if !controller.needs().reads.any_of(Radiometer::READS) {
        return Ok(None);
    }
    Ok(Radiometer::open(index)?.map(Box::new))
}

/// Returns remarks on those radio readings of the controller that are only estimated.
pub(super) fn estimated(controller: &AnyController, device: &dyn Device) -> Vec<String> {
    let of_device = device.capabilities().estimates.iter().filter(|(of, _)| Reads::RADIO.contains(*of));
    let all = Radiometer::ESTIMATES.iter().chain(of_device);
    all.filter(|(of, _)| controller.needs().reads.contains(*of)).map(|(_, how)| (*how).to_owned()).collect()
}

/// Checks that notes are on if the controller needs them.
fn has_notes(controller: &AnyController, notes: bool) -> Result<(), Error> {
    let needs = controller.needs();
    let needs_notes = needs.reads.any_of(Reads::NOTES) || needs.sets.any_of(Sets::NOTE);
    if needs_notes && !notes { Err(Unfit::Notes { controller: controller.name() }.into()) } else { Ok(()) }
}

/// Checks that a device and its interface's radio suit a controller; the agent itself provides notes. Errors: the
/// controller needs a quantity that is not measured, or gives an order that the device cannot carry out.
pub(super) fn suits(controller: &AnyController, device: &dyn Device, radio: Option<&Radiometer>) -> Result<(), Error> {
    let able = device.capabilities();
    let reads = able.reads.and(radio.map_or(Reads::NONE, Radiometer::reads)).and(Reads::NOTES);
    match controller.needs().obstacle(reads, able.sets.and(Sets::NOTE)) {
        None => Ok(()),
        Some(lacking) => Err(Unfit::Controller { controller: controller.name(), kind: able.kind, lacking }.into()),
    }
}
