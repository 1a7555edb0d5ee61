//! What `turns` measures of the medium: how many stations are busy, what its own air is worth in wall time, and how often
//! frames fail. Units are those of the law.

use units::{Duration, Instant};

/// One, as a ratio.
pub(super) const ONE: u64 = 1_024;
/// One, as a chance.
pub(super) const SURE: u64 = ONE * ONE;
/// Time over which the number of busy stations is averaged.
const STATIONS_OVER: Duration = Duration::from_millis(100);
/// Length of the windows in which the stretch is measured.
const WINDOW: Duration = Duration::from_millis(20);
/// Stretch below which, and above which no longer, the medium counts as the access point's own.
const OWN: (u64, u64) = (ONE * 3 / 2, ONE * 9 / 5);
/// The stretch and the length of a turn before anything was measured.
const STRETCH: u64 = ONE * 6 / 5;
pub(super) const TURN: Duration = Duration::from_micros(3_600);
/// The most that the stretch can be.
const STRETCHED: u64 = 100 * ONE;

/// Measurements of the medium.
#[derive(Clone, Debug, Default)]
pub(super) struct Medium {
    /// Number of stations with packets (n), averaged, in 1024ths, and when they were last counted.
    pub(super) stations: u64,
    counted: Instant,
    /// Wall time per estimated airtime while something is in flight (f), in 1024ths: what contention, preambles, other
    /// senders and repeats add.
    pub(super) stretch: u64,
    /// Length of a turn (a), averaged.
    pub(super) turn: Duration,
    /// Part of the frames to stations that answer that have no answer, averaged over 64, in 1024ths of 1024ths.
    pub(super) fails: u64,
    /// Airtime that is in flight in all categories.
    pub(super) pending: Duration,
    /// Since when, if any is.
    pub(super) since: Instant,
    /// Wall time and airtime of this window, and averages over the windows before.
    wall: Duration,
    done: Duration,
    all_wall: Duration,
    all_done: Duration,
    /// True if the medium counts as this sender's own.
    own: bool,
}

impl Medium {
    pub(super) fn new() -> Self {
        Self {
            stations: ONE,
            stretch: STRETCH,
            turn: TURN,
            fails: SURE / 10,
            all_wall: WINDOW,
            all_done: WINDOW * ONE / STRETCH,
            ..Self::default()
        }
    }

    /// Counts the stations with packets, in 1024ths.
    pub(super) fn count(&mut self, now: Instant, listed: u64) {
        let Medium { stations, counted, .. } = self;
        debug_assert!(*counted <= now, "time does not run back");
        let past = now.since(*counted).min(STATIONS_OVER).as_nanos();
        *counted = now;
        let step = listed.abs_diff(*stations).saturating_mul(past) / STATIONS_OVER.as_nanos();
        *stations = if listed > *stations { *stations + step } else { *stations - step };
    }

    /// True if it counts as this sender's own, and that is `allowed`.
    pub(super) fn is_own(&mut self, allowed: bool) -> bool {
        self.own = self.stretch < if self.own { OWN.1 } else { OWN.0 } && allowed;
        self.own
    }

    /// Time in which a station's share is worth this airtime.
    pub(super) fn time_for(&self, airtime: Duration) -> Duration {
        Duration::from_nanos(airtime.as_nanos().saturating_mul(self.stations.max(ONE)).div_ceil(ONE))
    }

    /// A station's share of a time.
    pub(super) fn share_of(&self, time: Duration) -> Duration {
        Duration::from_nanos(time.as_nanos().saturating_mul(ONE) / self.stations.max(ONE))
    }

    /// Wall time in which each of `senders` (in 1024ths, at least one) sends for this time.
    pub(super) fn wall_of(&self, airtime: Duration, senders: u64) -> Duration {
        let stretched = airtime.as_nanos().saturating_mul(self.stretch) / ONE;
        Duration::from_nanos(stretched.saturating_mul(senders.max(ONE)) / ONE)
    }

    /// Own airtime in this wall time.
    pub(super) fn air_of(&self, wall: Duration) -> Duration {
        Duration::from_nanos(wall.as_nanos().saturating_mul(ONE) / self.stretch)
    }

    /// The MAC has finished packets of this estimated airtime.
    pub(super) fn completed(&mut self, now: Instant, estimated: Duration) {
        debug_assert!(self.since <= now && self.pending >= estimated);
        self.done += estimated;
        self.wall += now.since(self.since);
        self.since = now;
        if self.wall < WINDOW {
            return;
        }
        // The ratio of the sums: a mean of ratios would count a window with little airtime as much as others.
        for (all, seen) in [(&mut self.all_wall, &mut self.wall), (&mut self.all_done, &mut self.done)] {
            *all = (*all * 4 + *seen) / 5;
            *seen = Duration::ZERO;
        }
        let ratio = self.all_wall.as_nanos().saturating_mul(ONE) / self.all_done.as_nanos().max(1);
        self.stretch = ratio.clamp(ONE, STRETCHED);
        debug_assert!(self.wall.is_zero() && self.done.is_zero());
    }
}
