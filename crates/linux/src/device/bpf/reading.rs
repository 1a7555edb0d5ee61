//! Differences between two readings of the discipline's counters.

use super::shared::{Measured, NO_AVERAGE};
use crate::device::contract::Beside;
use control::{Count, Interval, Stat};
use units::{Bytes, Duration, Instant};

/// The last reading, at which the next interval begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    at: Instant,
    seen: Measured,
    idle: u64,
}

impl Reading {
    /// Reads the present counters of a queue.
    pub(super) fn new(at: Instant, seen: &Measured) -> Self {
        Self { at, seen: *seen, idle: idle(seen, at) }
    }

    /// Returns what was counted outside the queue since the last reading. `epoch`: as in [`interval`](Self::interval).
    pub(super) fn beside(&self, seen: &Measured, epoch: u64) -> Beside {
        let hops = if seen.epoch == epoch { seen.hops_max } else { 0 };
        let counted = |one: fn(&Measured) -> u64| one(seen).wrapping_sub(one(&self.seen));
        Beside {
            late: counted(|is| is.late_packets),
            real_time: Bytes::new(counted(|is| is.real_time_bytes)),
            real_time_new: Bytes::new(counted(|is| is.real_time_new_bytes)),
            hops: u8::try_from(hops).unwrap_or(u8::MAX),
            class: None,
        }
    }

    /// Returns the interval between the last reading and this one, which becomes the last. `epoch` is the settings'
    /// epoch since the last reading: maxima of an older epoch belong to an earlier interval.
    pub(super) fn interval(&mut self, now: Instant, seen: &Measured, epoch: u64) -> Interval {
        let next = Self::new(now, seen);
        let length = now.since(self.at);
        let idle = Duration::from_nanos(next.idle.wrapping_sub(self.idle)).min(length);
        let is_moved = seen.epoch == epoch;
        let max = |nanos: u64| if is_moved { nanos } else { 0 };
        let counted = |one: fn(&Measured) -> u64| one(seen).wrapping_sub(one(&self.seen));
        let service = stat(
            counted(|is| is.service_count),
            counted(|is| is.service_sum),
            max(seen.service_max),
            seen.service_last,
        );
        let interval = Interval {
            length,
            arrived: count(counted(|is| is.arrived_packets), counted(|is| is.arrived_bytes)),
            sent: count(counted(|is| is.sent_packets), counted(|is| is.sent_bytes)),
            dropped: count(counted(|is| is.dropped_packets), counted(|is| is.dropped_bytes)),
            backlog: count(seen.backlog_packets, seen.backlog_bytes),
            backlog_max: if is_moved { seen.backlog_max } else { seen.backlog_packets },
            service,
            departure_gap: service,
            sojourn: stat(
                counted(|is| is.sojourn_count),
                counted(|is| is.sojourn_sum),
                max(seen.sojourn_max),
                seen.sojourn_last,
            ),
            nodal: stat(
                counted(|is| is.service_count),
                counted(|is| is.nodal_sum),
                max(seen.nodal_max),
                seen.nodal_last,
            ),
            service_ewma: (seen.service_count > 0 && seen.service_average != NO_AVERAGE)
                .then(|| Duration::from_nanos((seen.service_average + 128) >> 8)),
            idle,
            busy: length.saturating_sub(idle),
        };
        *self = next;
        interval
    }
}

/// Returns the idle time since the queue was installed.
fn idle(seen: &Measured, now: Instant) -> u64 {
    let going_on = if seen.idle_since == 0 { 0 } else { now.as_nanos().saturating_sub(seen.idle_since) };
    seen.idle_sum.wrapping_add(going_on)
}

fn count(packets: u64, bytes: u64) -> Count {
    Count { packets, bytes: Bytes::new(bytes) }
}

fn stat(n: u64, sum: u64, max: u64, last: u64) -> Stat {
    let time = |nanos| if n == 0 { Duration::ZERO } else { Duration::from_nanos(nanos) };
    Stat { n, mean: time(sum / n.max(1)), max: time(max), last: time(last) }
}
