//! Settings of the discipline, in the terms of crate `queue`.

use crate::device::contract::LONGEST_INTERVAL;
use crate::device::wish::Wish;
use crate::error::{Error, Unfit};
use control::Limit;
use queue::{DisciplineName, End, MOST_PACKETS, Purge};
use units::{Bytes, Duration};

/// Limits of a queue with and without its agent, and how it drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// Hard limit. It is never exceeded, and it applies until [`Slot::set_limit`](super::Slot::set_limit).
    pub hard: Limit,
    /// Limit while no agent reports.
    pub fallback: Limit,
    /// End from which a packet is dropped when one arrives at a full queue.
    pub overflow: End,
    /// End from which packets are dropped when the limit is lowered.
    pub purge: Purge,
    /// Burst that may leave at once if the controller orders a rate.
    pub burst: Bytes,
}

/// Largest number of waiting packets under turns without a limit of the user's: time bounds each station's queue.
const ROOM: Limit = Limit::Packets(4_096);
/// Fall-back limit in packets: traffic continues, delayed by at most some tens of milliseconds at today's rates.
const FALLBACK_PACKETS: u32 = 100;

impl Mechanism {
    /// Returns the settings with which the discipline acts like crate `queue`.
    ///
    /// # Errors
    /// The discipline in the settings has a fixed limit.
    pub fn of(wish: &Wish) -> Result<Self, Error> {
        let settings = &wish.settings;
        let hard = if wish.is_unspecific() && wish.turns().is_some() { ROOM } else { settings.limit };
        let fallback = match hard {
            Limit::Packets(packets) => Limit::Packets(packets.min(FALLBACK_PACKETS)),
            Limit::Bytes(bytes) => Limit::Bytes(bytes.min(Bytes::new(u64::from(FALLBACK_PACKETS) * 1_500))),
        };
        let (overflow, purge) = match settings.discipline {
            DisciplineName::DropTail => (End::Tail, Purge::Tail),
            DisciplineName::DropHead | DisciplineName::Turns | DisciplineName::Biased => (End::Head, Purge::Head),
            discipline => return Err(Unfit::Discipline { discipline }.into()),
        };
        Ok(Self { hard, fallback, overflow, purge: settings.purge.unwrap_or(purge), burst: settings.burst() })
    }
}

/// Time without a report after which an agent counts as dead: it would have missed two of the longest intervals.
pub(super) const LONGEST_SILENCE: Duration = Duration::from_nanos(LONGEST_INTERVAL.as_nanos() / 2 * 5);

/// Returns the limits in packets and in bytes that apply if the controller's is `limit`, bounded by `hard`.
pub(super) fn limits(limit: Limit, hard: Limit) -> (u64, u64) {
    let (room, hard_bytes) = match hard {
        Limit::Packets(packets) => (packets.min(MOST_PACKETS), u64::MAX),
        Limit::Bytes(bytes) => (room(bytes), bytes.count()),
    };
    match limit {
        Limit::Packets(packets) => (packets.min(room).into(), hard_bytes),
        Limit::Bytes(bytes) => (room.into(), bytes.count().min(hard_bytes)),
    }
}

/// Returns how many packets of 40 B (IP and TCP headers alone) have this many bytes.
pub(super) fn room(bytes: Bytes) -> u32 {
    u32::try_from(bytes.count() / 40).unwrap_or(u32::MAX).clamp(1, MOST_PACKETS)
}
