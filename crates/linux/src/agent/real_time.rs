//! A second controller of a queue. It governs real-time packets, by marking them.

use crate::agent::needs::{self, interval, suits};
use crate::device::contract::Device;
use crate::device::wish::Wish;
use crate::error::{Error, Unfit};
use control::{AnyController, Controller as _, Lacking, Mark, Seen, Sets};
use units::{Duration, Instant, Rate};

/// An interval that ends later than this plus one interval is skipped: it describes no present queue.
pub(super) const LATE: Duration = Duration::from_millis(250);

pub(super) struct RealTime {
    controller: AnyController,
    next: Instant,
}

impl RealTime {
    /// Builds the requested real-time controller, if any. `first` is the controller of the queue itself. Errors: the
    /// controller's parameters are invalid, it is called too rarely, it needs notes, it orders anything but marks, or
    /// both controllers order marks.
    pub(super) fn new(wish: &Wish, first: &AnyController, now: Instant) -> Result<Option<Self>, Error> {
        let Some(settings) = &wish.real_time else { return Ok(None) };
        let controller = needs::controller(&wish.place.device, settings, 0, false)?;
        if let Some(order) = controller.needs().sets.without(Sets::MARK).next() {
            let (kind, lacking) = ("a real-time queue", Lacking::Setting(order));
            return Err(Unfit::Controller { controller: controller.name(), kind, lacking }.into());
        }
        if first.needs().sets.any_of(Sets::MARK) {
            let (kind, lacking) = ("a queue with a controller for real-time packets", Lacking::Setting("ECN marks"));
            return Err(Unfit::Controller { controller: first.name(), kind, lacking }.into());
        }
        Ok(Some(Self { next: now + interval(&controller), controller }))
    }

    /// Checks that this controller can work with a device. Errors: the controller needs a measurement or gives an order
    /// that the device does not support.
    pub(super) fn suits(&self, device: &dyn Device) -> Result<(), Error> {
        suits(&self.controller, device, None)
    }

    pub(super) fn name(&self) -> control::Name {
        self.controller.name()
    }

    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Returns the rate that can still be admitted, if the controller reports it.
    pub(super) fn available(&self) -> Option<Rate> {
        self.controller.available()
    }

    /// Decides if it is due, and returns what is to be marked then. An interval that ends later than [`LATE`] is skipped.
    /// Errors: as for [`Device::take_interval`].
    pub(super) fn work(&mut self, device: &mut dyn Device, now: Instant) -> Result<Option<Mark>, Error> {
        if now < self.next {
            return Ok(None);
        }
        let interval = interval(&self.controller);
        let is_late = now.since(self.next) > interval.max(LATE);
        self.next = (self.next + interval).max(now);
        let Some((queue, beside)) = device.take_real_time(now)? else { return Ok(None) };
        let seen = Seen { queue, radio: Some(beside.radio(None)), heard: &[] };
        Ok((!is_late).then(|| self.controller.update(&seen).mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::rtnetlink::ROOT;
    use crate::{Place, STATE_FOLDER};
    use control::Name;
    use queue::Settings;

    fn built(first: Name, second: Name) -> Result<Option<RealTime>, Error> {
        let settings = |controller| Settings { controller, ..Settings::default() };
        let place = Place { device: "eth0".into(), parent: ROOT, state_folder: STATE_FOLDER.into() };
        let wish = Wish { real_time: Some(settings(second)), ..Wish::new(place, settings(first)) };
        RealTime::new(&wish, &wish.settings.build_controller(0).unwrap(), Instant::ZERO)
    }

    #[test]
    fn one_that_orders_only_marks_is_taken_beside_one_that_orders_none() {
        let (rate, mark) = (Name::SwanRate, Name::SwanMark);
        assert_eq!(built(rate, mark).unwrap().unwrap().name(), mark);
        let refused = |first, second| built(first, second).err().unwrap().to_string();
        assert!(refused(mark, rate).contains("which a real-time queue cannot apply"), "{}", refused(mark, rate));
        assert!(refused(mark, mark).contains("with a controller for real-time"), "{}", refused(mark, mark));
    }
}
