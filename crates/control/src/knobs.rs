//! Settings ("knobs") of a stock Linux scheduler (mac80211 with airtime queue limits, AQL). They shorten a round of all
//! stations' turns, and bound the number of waiting packets.
//!
//! - *In flight*: each station may always have [`LOW`] of airtime below mac80211. While all stations together have less
//!   than [`THRESHOLD`], each may have [`HIGH`], a whole longest aggregate. Linux's defaults are 5, 12 and 24 ms. With
//!   a lower limit of zero (Linux 6.0 and later), a category's next round would begin only when nothing is in flight.
//!   With many stations a ping would then wait longer than with the defaults.
//! - *Waiting*: the phy's limit is the number of packets that leave within the target delay, or within two rounds if
//!   that is longer. If a longest wait is given, the limit is at most the packets that leave within it: aggregates then
//!   get shorter. A round is the sum of the turns of all stations with waiting packets. It includes preambles,
//!   contention, retransmissions and other senders.

use crate::Limit;
use units::{Bytes, Duration, Positive, Rate};

/// Airtime that each station may always have below mac80211.
pub const LOW: Duration = Duration::from_micros(2_500);
/// Airtime below mac80211 that a station never exceeds.
pub const HIGH: Duration = Duration::from_micros(5_000);
/// If all stations have more airtime than this below mac80211, each station may have only [`LOW`].
pub const THRESHOLD: Duration = Duration::from_micros(12_000);
/// Airtime of a turn: that of the longest aggregate.
const TURN: Duration = Duration::from_micros(3_600);
/// Target delay if no target is given.
pub const TARGET: Positive<Duration> = Positive::<Duration>::new(Duration::from_millis(100)).expect("above zero");
/// Time between two calls of `update` if there are few stations.
pub const EVERY: Duration = Duration::from_millis(100);
/// Number of stations that may be listed in [`EVERY`]. To list one costs the kernel some 60 000 instructions; a router
/// of 500 MHz shall spend at most 0.5 % of its time on forty stations.
const LISTED: usize = 3;

/// Smallest limit in packets. A smaller limit would shorten aggregates.
const LEAST: u32 = 32;
/// Number of rounds for which packets may always wait.
const ROUNDS: f64 = 2.0;
/// Time over which the rate, the number of stations and the wall time per airtime are averaged.
const AVERAGED: Duration = Duration::from_millis(200);
/// Wall time divided by expected airtime: its value before the first measurement, and its bounds.
const SURROUNDED: f64 = 1.2;
const LEAST_SURROUNDED: f64 = 1.0;
const MOST_SURROUNDED: f64 = 100.0;

/// Packets sent to a station in an interval, and whether more of them wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Station {
    /// Packets for this station that left mac80211's queues.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: Bytes,
    /// Bitrate of the last frame to the station, if it is known.
    pub rate: Option<Rate>,
    /// True if packets for the station wait at the end of the interval.
    pub waits: bool,
}

/// Moves a phy's limit. The same measurements give the same limits on every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Knobs {
    target: Duration,
    /// Longest wait of packets whatever the number of stations; `None` if it is not bounded.
    bulk: Option<Duration>,
    most: u32,
    /// Departure rate in packets per second. `None` until packets have waited for a whole interval.
    rate: Option<f64>,
    /// Average number of stations for which packets wait.
    stations: f64,
    /// Average of wall time divided by expected airtime.
    surrounded: f64,
    /// True if packets waited at the end of the last interval.
    waited: bool,
    /// Number of stations in the last list, with or without waiting packets.
    listed: usize,
}

impl Knobs {
    /// Starts with a target delay, a longest wait with many stations (`bulk`), and the limit `most` that the phy has,
    /// in packets. The limit stays `most` until packets have waited for an interval, and never exceeds `most`.
    pub fn new(target: Positive<Duration>, bulk: Option<Positive<Duration>>, most: u32) -> Self {
        let (target, bulk) = (target.get(), bulk.map(Positive::<Duration>::get));
        Self { target, bulk, most, rate: None, stations: 1.0, surrounded: SURROUNDED, waited: false, listed: 0 }
    }

    /// Returns the target delay.
    pub const fn target_delay(&self) -> Duration {
        self.target
    }

    /// Changes the target delay and the longest wait, and keeps all measurements.
    pub fn aim(&mut self, target: Positive<Duration>, bulk: Option<Positive<Duration>>) {
        (self.target, self.bulk) = (target.get(), bulk.map(Positive::<Duration>::get));
    }

    /// Learns from an interval, and returns the phy's limit from now on.
    ///
    /// Only intervals that begin and end with waiting packets measure the departure rate; in others the senders limit it.
    pub fn update(&mut self, length: Duration, served: impl IntoIterator<Item = Station>) -> Limit {
        let (mut packets, mut airtime, mut waiting) = (0.0, 0.0, 0_u32);
        let mut is_whole = true;
        self.listed = 0;
        for station in served {
            self.listed += 1;
            packets += station.packets as f64;
            waiting = waiting.saturating_add(u32::from(station.waits));
            match station.rate {
                Some(rate) if !rate.is_zero() => airtime += rate.time_for(station.bytes).as_secs_f64(),
                _ => is_whole &= station.bytes == Bytes::new(0),
            }
        }
        let wall = length.as_secs_f64();
        let waited = core::mem::replace(&mut self.waited, waiting > 0);
        if waited && waiting > 0 && wall > 0.0 {
            let weight = (wall / AVERAGED.as_secs_f64()).min(1.0);
            let moved = |mean: f64, seen: f64| mean + weight * (seen - mean);
            let seen = packets / wall;
            self.rate = Some(self.rate.map_or(seen, |rate| moved(rate, seen)));
            self.stations = moved(self.stations, waiting.into());
            if is_whole && airtime > 0.0 {
                let seen = (wall / airtime).clamp(LEAST_SURROUNDED, MOST_SURROUNDED);
                self.surrounded = moved(self.surrounded, seen);
            }
        }
        self.limit()
    }

    /// Returns the time until the next call. It grows with the number of stations, so that listing them stays cheap.
    pub fn every(&self) -> Duration {
        EVERY * self.listed.div_ceil(LISTED).max(1) as u64
    }

    /// Returns the time in which each station with waiting packets gets one turn.
    pub fn round(&self) -> Duration {
        Duration::from_secs_f64(self.stations * self.surrounded * TURN.as_secs_f64())
    }

    /// Returns the limit that holds now.
    pub fn limit(&self) -> Limit {
        let most = Limit::Packets(self.most);
        let Some(rate) = self.rate else { return most };
        let wait = self.target.as_secs_f64().max(ROUNDS * self.round().as_secs_f64());
        let wait = self.bulk.map_or(wait, |bulk| wait.min(bulk.as_secs_f64()));
        most.below((rate * wait).max(LEAST.into()))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn target(n: u64) -> Positive<Duration> {
        Positive::<Duration>::new(Duration::from_nanos(n)).unwrap()
    }

    /// 1500 B each, at 60 Mb/s: 200 us.
    fn busy(packets: u64) -> Station {
        Station { packets, bytes: Bytes::new(1_500) * packets, rate: Some(Rate::mbps(60)), waits: true }
    }

    #[test]
    fn before_packets_have_waited_for_an_interval_the_limit_stays() {
        let mut knobs = Knobs::new(target(50_000_000), None, 8_192);
        assert_eq!(knobs.update(EVERY, [Station { waits: false, ..busy(400) }]), Limit::Packets(8_192));
        assert_eq!(knobs.update(EVERY, [busy(400)]), Limit::Packets(8_192), "they wait only since a moment");
        // 4000 packets a second, 200 in 50 ms: two rounds of one station are shorter.
        assert_eq!(knobs.update(EVERY, [busy(400)]), Limit::Packets(200));
        // A second without transmissions says nothing about the link.
        assert_eq!(knobs.update(Duration::from_secs(1), [Station::default()]), Limit::Packets(200));
        assert_eq!(knobs.update(EVERY, [busy(1)]), Limit::Packets(200));
    }

    #[test]
    fn many_stations_have_two_rounds() {
        let mut knobs = Knobs::new(target(50_000_000), None, 8_192);
        // 40 stations, 10 packets each: 80 ms of airtime in 100 ms.
        for _ in 0..60 {
            knobs.update(EVERY, [busy(10); 40]);
        }
        // 40 turns of 3.6 ms, times 1.25.
        assert_eq!(knobs.round(), ms(180));
        // 4000 packets a second for 360 ms.
        assert_eq!(knobs.limit(), Limit::Packets(1_440));
        knobs.aim(target(1_000_000_000), None);
        assert_eq!((knobs.target_delay(), knobs.limit()), (ms(1_000), Limit::Packets(4_000)));
        // A longest wait bounds both: 400 packets leave in 100 ms, and fewer than an aggregate never wait.
        for (bulk, limit) in [(100, 400), (1, LEAST)] {
            knobs.aim(target(1_000_000_000), Positive::<Duration>::new(ms(bulk)));
            assert_eq!(knobs.limit(), Limit::Packets(limit));
        }
    }

    #[test]
    fn many_stations_are_listed_rarely() {
        let mut knobs = Knobs::new(TARGET, None, 8_192);
        for (stations, every) in [(0, 100), (1, 100), (3, 100), (4, 200), (40, 1_400)] {
            knobs.update(knobs.every(), vec![Station::default(); stations]);
            assert_eq!(knobs.every(), ms(every), "{stations}");
        }
    }

    #[test]
    fn a_link_that_slows_down_has_another_limit_within_four_intervals() {
        let mut knobs = Knobs::new(target(50_000_000), None, 8_192);
        for _ in 0..9 {
            knobs.update(EVERY, [busy(400)]);
        }
        // 400 packets a second: 20 in 50 ms, and 32 are the least.
        let slow = Station { packets: 40, bytes: Bytes::new(60_000), rate: Some(Rate::mbps(6)), waits: true };
        let limits: Vec<Limit> = (0..4).map(|_| knobs.update(EVERY, [slow])).collect();
        // 4000 to 2200, 1300, 850 and 625 packets a second.
        assert_eq!(limits, [110, 65, 43, 32].map(Limit::Packets));
    }

    #[test]
    fn without_a_bitrate_the_surroundings_are_assumed() {
        let mut knobs = Knobs::new(target(50_000_000), None, 8_192);
        for _ in 0..9 {
            knobs.update(EVERY, [busy(10), Station { rate: None, ..busy(10) }]);
        }
        assert_eq!(knobs.surrounded.to_bits(), SURROUNDED.to_bits());
    }

    #[test]
    fn a_limit_below_the_least_was_a_users_and_stays_the_most() {
        let mut knobs = Knobs::new(target(50_000_000), None, 7);
        for _ in 0..9 {
            assert_eq!(knobs.update(EVERY, [busy(400)]), Limit::Packets(7));
        }
    }

    fn any_station() -> impl Strategy<Value = Station> {
        (any::<u64>(), any::<u64>(), prop::option::of(any::<u64>()), any::<bool>()).prop_map(
            |(packets, bytes, rate, waits)| Station {
                packets,
                bytes: Bytes::new(bytes),
                rate: rate.map(Rate::bps),
                waits,
            },
        )
    }

    proptest! {
        #[test]
        fn limits_stay_within_their_bounds_and_grow_with_the_target(
            intervals in prop::collection::vec((any::<u64>(), prop::collection::vec(any_station(), 0..5)), 0..20),
            targets in [1_u64.., 1_u64..], bulk in prop::option::of(1_u64..), most: u32,
        ) {
            let [short, long] = [targets[0].min(targets[1]), targets[0].max(targets[1])];
            let mut both = [short, long].map(|nanos| Knobs::new(target(nanos), bulk.map(target), most));
            for (length, served) in intervals {
                let length = Duration::from_nanos(length);
                let [short, long] = both.each_mut().map(|knobs| knobs.update(length, served.iter().copied()).count());
                prop_assert!(short <= long);
                for limit in [short, long] {
                    prop_assert!((u64::from(LEAST.min(most))..=most.into()).contains(&limit), "{limit}");
                }
            }
        }
    }
}
