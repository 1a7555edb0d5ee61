//! What the kernel tells over netlink, and is told: interfaces, queue disciplines, Wi-Fi, routes.

pub(crate) mod netlink;
pub mod nl80211;
pub(crate) mod routes;
pub mod rtnetlink;
pub(crate) mod socket;
pub(crate) mod wire;

use rustix::time::{ClockId, clock_gettime};
use units::{Duration, Instant};

/// What a discipline counts. All but the backlog only grow, and wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that left; each segment of a large one counts.
    pub sent_packets: u64,
    /// Their bytes with link headers.
    pub sent_bytes: u64,
    /// Packets discarded. Wraps at 32 bits.
    pub dropped: u32,
    /// Packets that wait; a large one counts once.
    pub backlog_packets: u32,
    /// Bytes that wait, with link headers.
    pub backlog_bytes: u32,
}

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
