//! RED's law: arriving packets are dropped with a probability that grows with the average backlog.
//!
//! Floyd and Jacobson, Random early detection gateways for congestion avoidance (IEEE/ACM Transactions on Networking 1(4), 1993), with the
//! `gentle` slope; adaptive after Floyd, Gummadi and Shenker, Adaptive RED (2001), which this file calls ARED.

use super::early::{Law, Verdict};
use control::{Count, Invalid};
use units::{Bytes, Duration, Instant, Positive, Rate, Share, refuse_if, with_defaults};

with_defaults! {
    /// Adaptive RED; missing parameters follow from bandwidth and target delay (Floyd, Gummadi and Shenker, section 5).
    pub struct Params as "Red" {
        /// Link rate, for derived parameters and the idle average. Default 10 Mb/s.
        pub bandwidth: Positive<Rate> => Rate::mbps(10),
        /// Typical packet size, used like `bandwidth`. Default 1000 B.
        pub mean_pktsize: Positive<Bytes> => Bytes::new(1000),
        /// Target wait. Default 5 ms.
        pub target_delay: Positive<Duration> => Duration::from_millis(5),
        /// Average queue in packets above which drops begin. Default: half of the packets sent in the target delay, at
        /// least 5.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min_th: Option<Positive<f64>>,
        /// Average queue with drop probability `max_p` (1 at twice `max_th`). Default: three times `min_th`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_th: Option<Positive<f64>>,
        /// Weight of the newest sample. Default: 1 - exp(-1/C) for C packets sent per second.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub w_q: Option<Positive<Share>>,
        /// Initial drop probability at `max_th`. Default 0.02.
        pub max_p: Positive<Share> => 0.02,
        /// Adaptation of `max_p` to keep the average midway between the thresholds. Default true.
        pub adaptive: bool = true,
        /// Time between changes of `max_p`. Default 0.5 s.
        pub interval: Positive<Duration> => Duration::from_millis(500),
        /// ECN marks instead of drops, below an average of twice `max_th`. Default false.
        pub ecn: bool,
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Red {
    min_th: f64,
    max_th: f64,
    w_q: f64,
    /// Service time of a typical packet, in s.
    packet_time: f64,
    adaptive: bool,
    interval: Duration,
    ecn: bool,
    max_p: f64,
    average: f64,
    /// Number of packets that arrived since the last drop; -1 while the average is below the lower threshold.
    count: i64,
    /// Time at which the queue became empty, or at which a packet last arrived while it was empty.
    idle_since: Instant,
    next_move: Instant,
}

/// Bounds of `max_p` (ARED, section 4).
const LEAST_MAX_P: f64 = 0.01;
const MOST_MAX_P: f64 = 0.5;

impl Red {
    /// Moves the average towards the backlog; after an idle time, as if packets had found an empty queue meanwhile.
    fn average(&mut self, now: Instant, packets: u64) {
        if packets > 0 {
            self.average += self.w_q * (packets as f64 - self.average);
        } else {
            let missed = now.since(self.idle_since).as_secs_f64() / self.packet_time;
            self.average *= libm::pow(1.0 - self.w_q, missed);
            debug_assert!(now >= self.idle_since, "time does not run back");
            self.idle_since = now;
        }
        debug_assert!(self.average >= 0.0 && self.average.is_finite());
    }

    /// Moves `max_p` so that the average returns to the middle fifth between the thresholds (figure 4 of ARED).
    fn adapt(&mut self) {
        let spread = self.max_th - self.min_th;
        if self.average > self.min_th + 0.6 * spread && self.max_p <= MOST_MAX_P {
            self.max_p += (self.max_p / 4.0).min(0.01);
        } else if self.average < self.min_th + 0.4 * spread && self.max_p >= LEAST_MAX_P {
            self.max_p *= 0.9;
        }
        debug_assert!(self.max_p > 0.0 && self.max_p <= 1.0);
    }

    /// Returns the drop probability `p_b` for the present average.
    fn probability(&self) -> f64 {
        if self.average < self.max_th {
            self.max_p * (self.average - self.min_th) / (self.max_th - self.min_th)
        } else {
            self.max_p + (1.0 - self.max_p) * (self.average - self.max_th) / self.max_th
        }
    }
}

impl Law for Red {
    type Params = Params;

    fn new(params: &Params) -> Result<Self, Invalid> {
        // The time is at least a nanosecond.
        let packet_time = params.bandwidth.get().time_for(params.mean_pktsize.get()).as_secs_f64();
        let per_second = 1.0 / packet_time;
        let half_a_target = || params.target_delay.get().as_secs_f64() * per_second / 2.0;
        let min_th = params.min_th.map_or_else(|| half_a_target().max(5.0), Positive::<f64>::get);
        let max_th = params.max_th.map_or(3.0 * min_th, Positive::<f64>::get);
        let w_q = params.w_q.map_or_else(|| 1.0 - libm::exp(-1.0 / per_second), Positive::<Share>::get);
        refuse_if!(!(max_th > min_th && max_th.is_finite()), Err(Invalid::new("max_th", "must be above min_th")));
        Ok(Self {
            min_th,
            max_th,
            w_q,
            packet_time,
            adaptive: params.adaptive,
            interval: params.interval.get(),
            ecn: params.ecn,
            max_p: params.max_p.get(),
            average: 0.0,
            count: -1,
            idle_since: Instant::ZERO,
            next_move: Instant::ZERO + params.interval.get(),
        })
    }

    fn arrives(&mut self, now: Instant, waiting: Count, draw: impl FnOnce() -> f64) -> Verdict {
        self.average(now, waiting.packets);
        if self.adaptive && now >= self.next_move {
            self.adapt();
            self.next_move = now + self.interval;
        }
        if self.average < self.min_th {
            self.count = -1;
            return Verdict::Keep;
        }
        if self.average >= 2.0 * self.max_th {
            self.count = 0;
            return Verdict::Drop;
        }
        self.count += 1;
        let p_b = self.probability();
        debug_assert!(self.count >= 0 && (0.0..=1.0).contains(&p_b));
        // Drops are spaced evenly: the next one comes after 1 to 1/p_b packets.
        let room = 1.0 - self.count as f64 * p_b;
        if room > 0.0 && draw() >= p_b / room {
            return Verdict::Keep;
        }
        self.count = 0;
        if self.ecn { Verdict::Mark } else { Verdict::Drop }
    }

    fn overflows(&mut self) {
        self.count = 0;
    }

    fn leaves(&mut self, now: Instant, _: Duration, empty: bool) {
        if empty {
            debug_assert!(now >= self.idle_since, "time does not run back");
            self.idle_since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn count(packets: u64, bytes: u64) -> Count {
        Count { packets, bytes: Bytes::new(bytes) }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    fn share(number: f64) -> Positive<Share> {
        Positive::<Share>::new(number).unwrap()
    }

    fn red(params: &Params) -> Red {
        Red::new(params).unwrap()
    }

    #[test]
    fn parameters_follow_from_the_bandwidth_and_the_target_delay() {
        // 1250 packets a second: 5 ms are 6.25 of them, and half of that is below 5.
        let red = self::red(&Params::default());
        assert!(near(red.min_th, 5.0) && near(red.max_th, 15.0));
        assert!((red.w_q - 7.996_8e-4).abs() < 1e-8, "{}", red.w_q);
        // 100 Mb/s: 12500 packets a second, 62.5 within the target delay.
        let fast =
            self::red(&Params { bandwidth: Positive::<Rate>::new(Rate::mbps(100)).unwrap(), ..Params::default() });
        assert!(near(fast.min_th, 31.25) && near(fast.max_th, 93.75));
    }

    #[test]
    fn the_probability_rises_to_max_p_and_then_gently_to_one() {
        let mut red = self::red(&Params { max_p: share(0.1), ..Params::default() });
        for (average, expected) in [(5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0)] {
            red.average = average;
            assert!((red.probability() - expected).abs() < 1e-12, "{average}");
        }
        let arrives = |red: &mut Red, average| {
            (red.average, red.w_q) = (average, 0.0);
            red.arrives(at(1), count(10, 10_000), || 0.999_999)
        };
        assert_eq!([arrives(&mut red, 4.9), arrives(&mut red, 29.9)], [Verdict::Keep, Verdict::Keep]);
        assert_eq!(arrives(&mut red, 30.0), Verdict::Drop);
        assert_eq!((arrives(&mut red, 4.9), red.count), (Verdict::Keep, -1));
        assert_eq!((arrives(&mut red, 5.0), red.count), (Verdict::Keep, 0), "from the threshold on packets count");
    }

    #[test]
    fn the_average_follows_what_waits_and_falls_while_nothing_does() {
        let mut red = self::red(&Params { w_q: Some(share(0.25)), ..Params::default() });
        red.average(at(1), 8);
        red.average(at(2), 8);
        // 8/4; then 2 + 6/4.
        assert!(near(red.average, 3.5));
        red.leaves(at(10), Duration::ZERO, true);
        // 8 ms: ten packets of 0.8 ms that did not come.
        red.average(at(18), 0);
        assert!(near(red.average, 3.5 * 0.75_f64.powi(10)));
        red.average(at(18), 0);
        assert!(near(red.average, 3.5 * 0.75_f64.powi(10)), "no time has passed");
    }

    #[test]
    fn max_p_grows_by_sums_and_shrinks_by_factors_within_its_bounds() {
        let mut red = self::red(&Params { max_p: share(0.02), ..Params::default() });
        let mut after = |average, steps| {
            red.average = average;
            (0..steps).for_each(|_| red.adapt());
            red.max_p
        };
        // The middle fifth is 9 to 11.
        assert!(near(after(9.0, 1), 0.02) && near(after(11.0, 1), 0.02));
        assert!(near(after(11.1, 1), 0.025), "a quarter of it, where that is below 0.01");
        assert!(near(after(8.9, 1), 0.0225));
        assert!(after(100.0, 1_000) > 0.5 && after(100.0, 1) <= 0.51);
        let most = after(100.0, 1);
        assert!(near(after(8.9, 1), most * 0.9));
        let least = after(8.9, 1_000);
        assert!((0.009..0.01).contains(&least), "{least}");
    }

    #[test]
    fn max_p_moves_once_an_interval() {
        let mut red = self::red(&Params { w_q: Some(share(1.0)), ..Params::default() });
        for time in [1, 499, 500, 501, 999, 1_000] {
            red.arrives(at(time), count(100, 0), || 0.5);
        }
        assert!(near(red.max_p, 0.02 * 1.25 * 1.25));
        let mut fixed = self::red(&Params { adaptive: false, w_q: Some(share(1.0)), ..Params::default() });
        fixed.arrives(at(9_000), count(100, 0), || 0.5);
        assert!(near(fixed.max_p, 0.02));
    }

    #[test]
    fn drops_are_spaced_evenly() {
        // p_b = 0.1: uniform on 1 to 10 packets.
        let params = Params { max_p: share(0.2), adaptive: false, ..Params::default() };
        let fresh = Red { average: 10.0, w_q: 0.0, ..self::red(&params) };
        let until_dropped =
            |mut red: Red, draw: f64| (1..100).find(|_| red.arrives(at(1), count(10, 0), || draw) == Verdict::Drop);
        for (draw, packets) in [(0.0, 1), (0.099, 1), (0.999, 10)] {
            assert_eq!(until_dropped(fresh.clone(), draw), Some(packets), "{draw}");
        }
        assert_eq!(until_dropped(fresh.clone(), 0.5), Some(9), "0.1 / (1 - 0.8) is no more than 0.5");
        // A packet that finds no room is a drop too: nine later packets may follow it.
        let mut overflown = Red { count: 5, ..fresh };
        overflown.overflows();
        assert_eq!(until_dropped(overflown, 0.999), Some(9));
    }

    #[test]
    fn early_marks_take_the_place_of_drops_but_not_beyond_twice_the_threshold() {
        let mut red = self::red(&Params { ecn: true, w_q: Some(share(1.0)), ..Params::default() });
        assert_eq!(red.arrives(at(1), count(20, 0), || 0.0), Verdict::Mark);
        assert_eq!(red.arrives(at(1), count(30, 0), || 0.0), Verdict::Drop);
    }
}
