//! What `turns` measures of the medium: the number of busy stations, the wall time that its own airtime takes (the
//! stretch), and the share of frames that fail. Units are those of [`Law`](super::Law).

use units::{Duration, Instant};

/// The ratio 1, in 1024ths.
pub(super) const ONE: u64 = 1_024;
/// The probability 1, in units of 1024^-2.
pub(super) const SURE: u64 = ONE * ONE;
/// Time over which the number of busy stations and the airtime of all other stations are averaged.
const AVERAGED_OVER: Duration = Duration::from_millis(100);
/// Length of the windows in which the stretch is measured.
const WINDOW: Duration = Duration::from_millis(20);
/// The stretch, and the length of a turn, before the first measurement.
const STRETCH: u64 = ONE * 6 / 5;
pub(super) const TURN: Duration = Duration::from_micros(3_600);
/// Time that a frame takes besides its airtime: access, preambles and ACK.
pub(super) const OVERHEAD: Duration = Duration::from_micros(300);
/// Largest share of time that frames take, overhead included. Collisions and longer contention take the rest.
const FRAMES: (u64, u64) = (3, 4);
/// Part of the airtime (an eighth) that is always left to stations that want more.
const LEAST: u64 = 8;
/// Largest value of the stretch.
const STRETCHED: u64 = 100 * ONE;

/// Measurements of the medium.
#[derive(Clone, Debug, Default)]
pub(super) struct Medium {
    /// Average number of stations with packets (n in `docs/turns.md`), in 1024ths, and the time of the last count.
    pub(super) stations: u64,
    counted: Instant,
    /// Average number of stations with packets that want more airtime than they have, in 1024ths.
    wanting: u64,
    /// Recent airtime, in both directions, of stations that do not want more.
    used: Duration,
    /// Wall time divided by estimated airtime while packets are in flight (f), in 1024ths. It includes contention,
    /// preambles, other senders and retransmissions.
    pub(super) stretch: u64,
    /// Average length of a turn (a).
    pub(super) turn: Duration,
    /// Share of frames to answering stations that get no answer, averaged over 64 frames, in units of 1024^-2.
    pub(super) fails: u64,
    /// Airtime in flight in all categories.
    pub(super) pending: Duration,
    /// Time since which airtime has been in flight, if any is.
    pub(super) since: Instant,
    /// Wall time, own estimated airtime, and airtime of frames to and from stations: first in this window, then
    /// averaged over earlier windows.
    wall: Duration,
    done: Duration,
    taken: Duration,
    all_wall: Duration,
    all_done: Duration,
    all_taken: Duration,
    /// True if no other network takes a part of the time. False while no frames are reported.
    pub(super) alone: bool,
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
            all_taken: WINDOW,
            ..Self::default()
        }
    }

    /// Counts the stations that have packets and those that want more, in 1024ths.
    pub(super) fn count(&mut self, now: Instant, [listed, wanting]: [u64; 2]) {
        let Self { stations, counted, used, .. } = self;
        debug_assert!(*counted <= now, "time does not run back");
        let past = now.since(*counted).min(AVERAGED_OVER).as_nanos();
        *counted = now;
        *used = used.saturating_sub(*used * past / AVERAGED_OVER.as_nanos());
        for (mean, seen) in [(stations, listed), (&mut self.wanting, wanting)] {
            let step = seen.abs_diff(*mean).saturating_mul(past) / AVERAGED_OVER.as_nanos();
            *mean = if seen > *mean { *mean + step } else { *mean - step };
        }
    }

    /// Counts airtime of a station that wants no more than it has.
    pub(super) fn uses(&mut self, airtime: Duration) {
        self.used = (self.used + airtime).min(AVERAGED_OVER);
    }

    /// Records that a frame to a station or from it was on the air for this time.
    pub(super) fn takes(&mut self, airtime: Duration) {
        if !self.pending.is_zero() {
            self.taken += airtime + OVERHEAD;
        }
    }

    /// Returns the part of the time, in 1024ths, that other networks leave: all of it if this cell's frames take as much
    /// as frames can.
    fn own_part(&self) -> u64 {
        part(self.all_taken * FRAMES.1, self.all_wall * FRAMES.0).min(ONE)
    }

    /// Returns a station's part of this time: of all of it if no other network takes a part, else of the own airtime.
    pub(super) fn earned_in(&self, time: Duration) -> u64 {
        let stretch = if self.alone { ONE } else { self.stretch };
        time.as_nanos().saturating_mul(ONE * ONE) / ((self.stations + ONE) * stretch)
    }

    /// The airtime that others leave is divided among the stations that want more, and this station, even if it
    /// `wants` no more. Returns their number and this airtime's share, in 1024ths.
    fn divides(&self, wants: bool) -> (u64, u64) {
        let air = self.own_part();
        let left = air.saturating_sub(part(self.used, AVERAGED_OVER)).max(air / LEAST).max(1);
        (if wants { self.wanting.max(ONE) } else { self.wanting + ONE }, left)
    }

    /// Returns the part of this time that the other stations leave to such a station.
    pub(super) fn left_of(&self, time: Duration, wants: bool) -> Duration {
        let (stations, left) = self.divides(wants);
        Duration::from_nanos(time.as_nanos().saturating_mul(left) / stations)
    }

    /// Returns the time in which the other stations leave this airtime to such a station.
    pub(super) fn time_for(&self, airtime: Duration, wants: bool) -> Duration {
        let (stations, left) = self.divides(wants);
        Duration::from_nanos(airtime.as_nanos().saturating_mul(stations).div_ceil(left))
    }

    /// Returns a station's share of a time.
    pub(super) fn share_of(&self, time: Duration) -> Duration {
        Duration::from_nanos(time.as_nanos().saturating_mul(ONE) / self.stations.max(ONE))
    }

    /// Returns the wall time in which each of `senders` (in 1024ths, at least one) sends for this time.
    pub(super) fn wall_of(&self, airtime: Duration, senders: u64) -> Duration {
        let stretched = airtime.as_nanos().saturating_mul(self.stretch) / ONE;
        Duration::from_nanos(stretched.saturating_mul(senders.max(ONE)) / ONE)
    }

    /// Returns the node's own airtime in this wall time.
    pub(super) fn air_of(&self, wall: Duration) -> Duration {
        Duration::from_nanos(wall.as_nanos().saturating_mul(ONE) / self.stretch)
    }

    /// Records that the MAC has finished packets of this estimated airtime.
    pub(super) fn completed(&mut self, now: Instant, estimated: Duration) {
        debug_assert!(self.since <= now && self.pending >= estimated);
        self.done += estimated;
        self.wall += now.since(self.since);
        self.since = now;
        if self.wall < WINDOW {
            return;
        }
        let reported = !self.taken.is_zero();
        // This is the ratio of the sums. A mean of ratios would weight a window with little airtime as much as others.
        let Self { wall, done, taken, all_wall, all_done, all_taken, .. } = self;
        for (all, seen) in [(all_wall, wall), (all_done, done), (all_taken, taken)] {
            *all = (*all * 4 + *seen) / 5;
            *seen = Duration::ZERO;
        }
        self.alone = reported && self.own_part() == ONE;
        let ratio = self.all_wall.as_nanos().saturating_mul(ONE) / self.all_done.as_nanos().max(1);
        self.stretch = ratio.clamp(ONE, STRETCHED);
        debug_assert!(self.wall.is_zero() && self.done.is_zero());
    }
}

/// Returns a part of a duration, in 1024ths.
fn part(part: Duration, of: Duration) -> u64 {
    part.as_nanos().saturating_mul(ONE) / of.as_nanos().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Of a second, rounded.
    fn percent(part: Duration) -> u64 {
        (part + Duration::from_millis(5)).as_nanos() / 10_000_000
    }

    /// A medium on which own frames and frames of stations take these parts of the time, in percent.
    fn medium(own: u64, stations: u64) -> Medium {
        let mut medium = Medium { pending: Duration::from_millis(own), ..Medium::new() };
        for window in 0..60 {
            medium.since = at(100 * window);
            medium.takes(Duration::from_millis(own));
            medium.takes(Duration::from_millis(stations));
            medium.completed(at(100 * window + 100), Duration::from_millis(own));
        }
        medium
    }

    #[test]
    fn those_that_want_more_divide_what_the_others_leave() {
        let second = Duration::from_secs(1);
        let mut medium = medium(50, 25);
        let parts = |medium: &Medium, wants| {
            let part = medium.left_of(second, wants);
            assert!(medium.time_for(part, wants).as_nanos().abs_diff(second.as_nanos()) < 100);
            percent(part)
        };
        assert_eq!([false, true].map(|wants| parts(&medium, wants)), [100, 100], "nobody else wants any");
        medium.count(at(6_000), [0, 0]);
        medium.count(at(6_100), [5 * ONE, 3 * ONE]);
        assert_eq!([false, true].map(|wants| parts(&medium, wants)), [25, 33]);
        medium.uses(Duration::from_millis(40));
        assert_eq!([false, true].map(|wants| parts(&medium, wants)), [15, 20], "the others have 40 %");
        medium.uses(second);
        assert_eq!([false, true].map(|wants| parts(&medium, wants)), [3, 4], "an eighth stays");
        medium.count(at(6_150), [5 * ONE, 3 * ONE]);
        assert_eq!(parts(&medium, true), 17, "half of it is forgotten after half of the time");
    }

    #[test]
    fn what_other_networks_take_is_not_left() {
        let second = Duration::from_secs(1);
        let left = |own, stations| percent(medium(own, stations).left_of(second, true));
        assert_eq!([left(60, 15), left(20, 10), left(1, 29)], [100, 41, 41]);
    }
}
