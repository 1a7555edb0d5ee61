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
    let time = clock_gettime(clock);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    Instant::from_nanos(seconds * 1_000_000_000 + nanos)
}
