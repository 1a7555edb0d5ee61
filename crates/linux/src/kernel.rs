//! Netlink and clocks: interfaces, queue disciplines, Wi-Fi, routes.

pub(crate) mod debugfs;
pub(crate) mod named;
pub(crate) mod netlink;
pub(crate) mod news;
pub mod nl80211;
pub mod routes;
pub mod rtnetlink;
pub(crate) mod socket;
pub(crate) mod wire;

use rustix::time::{ClockId, clock_gettime};
use units::{Duration, Instant};

/// Counters of a queue discipline. All except the backlog only grow, and wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets sent; each segment of a GSO packet counts.
    pub sent_packets: u64,
    /// Bytes sent, with link headers.
    pub sent_bytes: u64,
    /// Packets dropped. Wraps at 32 bits.
    pub dropped: u32,
    /// Packets waiting; a GSO packet counts once.
    pub backlog_packets: u32,
    /// Bytes waiting, with link headers.
    pub backlog_bytes: u32,
}

/// Returns the time since the machine started, without the time for which it slept, so that a suspended machine sees no
/// long interval.
pub fn now() -> Instant {
    read(ClockId::Monotonic)
}

/// Returns how long the machine has slept since it was started.
pub(crate) fn slept() -> Duration {
    let awake = now();
    read(ClockId::Boottime).since(awake)
}

fn read(clock: ClockId) -> Instant {
    let time = std::time::Duration::try_from(clock_gettime(clock)).expect("these clocks begin at zero");
    Instant::from_nanos(u64::try_from(time.as_nanos()).expect("fewer than 2^64 nanoseconds, 584 years"))
}
