//! A controller that governs a queue of the discipline, driven by the test.

use super::{MECHANISM, install, now};
use control::{AnyController, Controller as _, Interval, Limit, Name, Parameters};
use linux::device::bpf::{Discipline, Slot};
use units::{Duration, Instant};

pub(super) struct Governor {
    slot: Slot,
    controller: AnyController,
    next: Instant,
    seen: Interval,
    limit: Limit,
}

impl Governor {
    /// Installs our queue on an interface. Commands are done when it returns: the clock runs evenly from here.
    pub(super) fn new(discipline: &Discipline, name: Name, parameters: &Parameters, interface: &str) -> Self {
        let controller = AnyController::new(name, parameters, &MECHANISM.hard.into()).unwrap();
        let mut slot = discipline.free_slot(MECHANISM, controller.needs().measures, now()).unwrap();
        install(&mut slot, interface);
        // The kernel's own packets on a new interface are not counted.
        slot.take_interval(now()).unwrap();
        Self { slot, controller, next: now(), seen: Interval::default(), limit: MECHANISM.hard }
    }

    fn interval(&self) -> Duration {
        self.controller.needs().interval.min(Duration::from_secs(1))
    }

    /// Time of the next decision.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// The last decision.
    pub(super) fn limit(&self) -> Limit {
        self.limit
    }

    /// Decides if it is time to; returns what was seen then.
    pub(super) fn turn(&mut self) -> Option<Interval> {
        if self.next > now() {
            return None;
        }
        let interval = self.slot.take_interval(now()).unwrap();
        self.add(&interval);
        self.limit = self.controller.update(&interval.into()).limit;
        self.slot.set_limit(self.limit).unwrap();
        self.next = now() + self.interval();
        Some(interval)
    }

    /// Sums of everything seen until now.
    pub(super) fn seen(mut self) -> Interval {
        let last = self.slot.take_interval(now()).unwrap();
        self.add(&last);
        self.seen
    }

    fn add(&mut self, interval: &Interval) {
        self.seen.arrived.packets += interval.arrived.packets;
        self.seen.sent.packets += interval.sent.packets;
        self.seen.dropped.packets += interval.dropped.packets;
        self.seen.backlog = interval.backlog;
        self.seen.backlog_max = self.seen.backlog_max.max(interval.backlog_max);
    }
}
