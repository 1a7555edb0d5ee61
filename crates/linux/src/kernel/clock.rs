//! The kernel's clocks.

use rustix::time::{ClockId, clock_gettime};
use units::{Duration, Instant};

/// The time since the machine started, without the time that it slept: a suspended machine sees no long interval.
pub fn now() -> Instant {
    read(ClockId::Monotonic)
}

/// How long the machine has slept since it was started.
pub(crate) fn slept() -> Duration {
    let awake = now();
    read(ClockId::Boottime).since(awake)
}

fn read(clock: ClockId) -> Instant {
    let time = std::time::Duration::try_from(clock_gettime(clock)).expect("these clocks begin at zero");
    Instant::from_nanos(u64::try_from(time.as_nanos()).expect("fewer than 2^64 nanoseconds, 584 years"))
}
