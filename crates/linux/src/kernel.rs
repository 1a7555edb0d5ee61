//! Netlink and clocks: interfaces, queue disciplines, Wi-Fi, routes.

pub(crate) mod connections;
pub(crate) mod debugfs;
pub(crate) mod echo;
pub(crate) mod named;
pub(crate) mod netlink;
pub mod nl80211;
pub mod routes;
pub mod rtnetlink;
pub(crate) mod socket;
pub mod wire;

use crate::error::Error;
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::thread::nanosleep;
use rustix::time::{ClockId, Timespec, clock_gettime};
use units::{Duration, Instant};

/// Implements `AsFd` for a type by one of its fields.
macro_rules! descriptor_of {
    ($type:ty, $field:tt) => {
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                std::os::fd::AsFd::as_fd(&self.$field)
            }
        }
    };
}
pub(crate) use descriptor_of;

pub(crate) fn random() -> Result<u64, Error> {
    let mut number = [0; 8];
    // The kernel returns this few bytes completely or not at all.
    getrandom(&mut number, GetRandomFlags::empty()).map_err(Error::kernel("take a random number"))?;
    Ok(u64::from_ne_bytes(number))
}

/// Counters of a queue discipline. All except the backlog only grow, until they wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets sent; a GSO packet counts as its number of segments.
    pub sent_packets: u64,
    /// Bytes sent, with link headers.
    pub sent_bytes: u64,
    /// Packets dropped. Wraps at 32 bits.
    pub dropped: u32,
    /// Packets waiting; a GSO packet counts as one.
    pub backlog_packets: u32,
    /// Bytes waiting, with link headers.
    pub backlog_bytes: u32,
}

/// Returns the time since the machine started without the time for which it slept: suspension adds nothing.
pub fn now() -> Instant {
    read(ClockId::Monotonic)
}

/// A bounded wait for a condition that has to be polled. A time bounds the wait, not a number of attempts: on a busy
/// machine an attempt and its pause take many times as long as elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    until: Instant,
    pause: Duration,
}

impl Patience {
    /// Starts the wait now.
    pub(crate) fn new(longest: Duration, pause: Duration) -> Self {
        Self { until: now() + longest, pause }
    }

    /// Pauses until the next attempt; returns false if the time is over.
    pub(crate) fn lasts(&self) -> bool {
        if now() >= self.until {
            return false;
        }
        // A signal may end the pause early, with no harm. Nanoseconds have 32 bits on some processors.
        if let Ok(pause) = Timespec::try_from(std::time::Duration::from_nanos(self.pause.as_nanos())) {
            let _ = nanosleep(&pause);
        }
        true
    }
}

/// Returns for how long the machine has slept since its start.
pub(crate) fn slept() -> Duration {
    let awake = now();
    read(ClockId::Boottime).since(awake)
}

fn read(clock: ClockId) -> Instant {
    let time = std::time::Duration::try_from(clock_gettime(clock)).expect("these clocks begin at zero");
    Instant::from_nanos(u64::try_from(time.as_nanos()).expect("fewer than 2^64 nanoseconds, 584 years"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_attempts_count_as_time_and_there_is_always_one() {
        let slow = Patience::new(Duration::ZERO, Duration::from_millis(20));
        let attempt = || slow.lasts();
        let patience = Patience::new(Duration::from_millis(60), Duration::from_millis(1));
        let mut attempts = 0;
        loop {
            attempts += 1;
            // The attempt takes 20 ms.
            Patience { until: Instant::NEVER, ..slow }.lasts();
            if !patience.lasts() {
                break;
            }
        }
        assert!(attempts <= 4 && !attempt(), "{attempts}");
    }
}
