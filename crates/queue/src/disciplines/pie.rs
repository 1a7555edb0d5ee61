//! PIE's law (RFC 8033): arriving packets are dropped with a probability. A proportional-integral controller adjusts it
//! so that the sojourn time stays at a reference.
//!
//! The sojourn time is that of the packet that left last, measured by time stamps: one of the two ways of section 4.3.
//! The law has all of the RFC's core (section 4); of section 5 it has ECN (5.1), de-randomisation (5.4) and the cap on
//! the increase (5.5). PIE is never switched off (5.3).

use super::early::{Law, Verdict};
use control::{Count, Invalid};
use units::{Bytes, Duration, Instant, Positive, Share, Within, with_defaults};

with_defaults! {
    /// PIE with the parameter names of RFC 8033.
    pub struct Params as "Pie" {
        /// Reference wait (`QDELAY_REF`). Default 15 ms.
        pub qdelay_ref: Positive<Duration> => Duration::from_millis(15),
        /// Time between updates of the drop probability (`T_UPDATE`), at least 1 ms. Default 15 ms.
        pub t_update: Within<Duration, 1_000_000> => Duration::from_millis(15),
        /// Time without drops at the start of a burst (`MAX_BURST`). Default 150 ms.
        pub max_burst: Duration = Duration::from_millis(150),
        /// Weight of the deviation from the reference, in 1/s. Default 0.125.
        pub alpha: Positive<f64> => 0.125,
        /// Weight of the change since the last update, in 1/s. Default 1.25.
        pub beta: Positive<f64> => 1.25,
        /// Packet size; no packet is dropped while at most two such packets wait (`MEAN_PKTSIZE`). Default 1500 B.
        pub mean_pktsize: Bytes = Bytes::new(1500),
        /// Evenly spaced drops (section 5.4). Default true.
        pub derandomization: bool = true,
        /// Above 0.1 the drop probability grows by at most 0.02 per update (section 5.5). Default true.
        pub cap_drop_adjustment: bool = true,
        /// ECN marks instead of drops. Default false.
        pub ecn: bool,
        /// Probability above which ECN packets are dropped too. Default 0.1.
        pub mark_ecnth: Share => 0.1,
    }
}

#[derive(Clone, Copy, Debug)]
struct State {
    drop_prob: f64,
    /// Sojourn time at the last update.
    qdelay_old: Duration,
    burst_allowance: Duration,
}

#[derive(Clone, Debug)]
pub(crate) struct Pie {
    params: Params,
    state: State,
    /// Sojourn time of the packet that left last; zero if no packet was behind it.
    qdelay: Duration,
    /// Sum of the drop probabilities of the packets that arrived since the last drop.
    accu_prob: f64,
    next_update: Instant,
}

impl Pie {
    /// Makes missed updates. The law has no timer, and what these updates depend on has not changed meanwhile.
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now && self.next_update < Instant::NEVER {
            let before = self.state;
            self.update();
            self.next_update += self.params.t_update.get();
            let moved = before.drop_prob.to_bits() != self.state.drop_prob.to_bits()
                || before.qdelay_old != self.state.qdelay_old
                || before.burst_allowance != self.state.burst_allowance;
            if !moved {
                let more = now.since(self.next_update).div_floor(self.params.t_update.get());
                self.next_update += self.params.t_update.get() * more;
            }
        }
        debug_assert!(self.next_update > now || now == Instant::NEVER, "no update is due");
    }

    /// Updates the drop probability (section 4.2) and the burst allowance (section 4.4).
    fn update(&mut self) {
        let State { drop_prob, qdelay_old, burst_allowance } = &mut self.state;
        let Params { max_burst, .. } = self.params;
        let (alpha, beta) = (self.params.alpha.get(), self.params.beta.get());
        let (qdelay_ref, t_update) = (self.params.qdelay_ref.get(), self.params.t_update.get());
        let (now, old) = (self.qdelay.as_secs_f64(), qdelay_old.as_secs_f64());
        let mut p = (alpha * (now - qdelay_ref.as_secs_f64()) + beta * (now - old)) / divisor(*drop_prob);
        if self.params.cap_drop_adjustment && *drop_prob >= 0.1 {
            p = p.min(0.02);
        }
        let mut sum = *drop_prob + p;
        if self.qdelay.is_zero() && qdelay_old.is_zero() {
            sum *= 0.98;
        }
        *drop_prob = sum.clamp(0.0, 1.0);
        debug_assert!((0.0..=1.0).contains(drop_prob));
        *burst_allowance = burst_allowance.saturating_sub(t_update);
        // The probability is exactly zero if the clamp has set it to zero.
        if *drop_prob <= 0.0 && self.qdelay < qdelay_ref / 2 && *qdelay_old < qdelay_ref / 2 {
            *burst_allowance = max_burst;
        }
        *qdelay_old = self.qdelay;
        debug_assert!(self.state.burst_allowance <= max_burst);
    }

    /// True if an arriving packet must be dropped (section 4.1).
    fn drops(&mut self, bytes: u64, draw: impl FnOnce() -> f64) -> bool {
        let State { drop_prob, qdelay_old, burst_allowance } = self.state;
        if !burst_allowance.is_zero()
            || (qdelay_old < self.params.qdelay_ref.get() / 2 && drop_prob < 0.2)
            || bytes <= self.params.mean_pktsize.count().saturating_mul(2)
        {
            return false;
        }
        if self.params.derandomization {
            if drop_prob <= 0.0 {
                self.accu_prob = 0.0;
            }
            self.accu_prob += drop_prob;
            debug_assert!(self.accu_prob >= drop_prob);
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                return true;
            }
        }
        draw() < drop_prob
    }
}

impl Law for Pie {
    type Params = Params;

    fn new(params: &Params) -> Result<Self, Invalid> {
        Ok(Self {
            state: State { drop_prob: 0.0, qdelay_old: Duration::ZERO, burst_allowance: params.max_burst },
            qdelay: Duration::ZERO,
            accu_prob: 0.0,
            next_update: Instant::ZERO + params.t_update.get(),
            params: params.clone(),
        })
    }

    fn arrives(&mut self, now: Instant, waiting: Count, draw: impl FnOnce() -> f64) -> Verdict {
        self.catch_up(now);
        if !self.drops(waiting.bytes.count(), draw) {
            return Verdict::Keep;
        }
        debug_assert!(self.state.burst_allowance.is_zero(), "no drops in a burst");
        self.accu_prob = 0.0;
        let mild = self.state.drop_prob < self.params.mark_ecnth.get();
        if self.params.ecn && mild { Verdict::Mark } else { Verdict::Drop }
    }

    fn overflows(&mut self) {
        self.accu_prob = 0.0;
    }

    fn leaves(&mut self, now: Instant, waited: Duration, empty: bool) {
        self.catch_up(now);
        self.qdelay = if empty { Duration::ZERO } else { waited };
    }
}

/// Returns the factor that makes the controller slower while the probability is small (section 4.2).
fn divisor(drop_prob: f64) -> f64 {
    match drop_prob {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn millis(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn count(packets: u64, bytes: u64) -> Count {
        Count { packets, bytes: Bytes::new(bytes) }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    /// A law with no burst allowance left.
    fn pie(drop_prob: f64, qdelay: u64, qdelay_old: u64) -> Pie {
        let mut pie = Pie::new(&Params::default()).unwrap();
        pie.state = State { drop_prob, qdelay_old: millis(qdelay_old), burst_allowance: Duration::ZERO };
        pie.qdelay = millis(qdelay);
        pie
    }

    #[test]
    fn the_probability_moves_by_distance_and_change_over_its_divisor() {
        // alpha * (100 ms - 15 ms) + beta * (100 ms - 0) = 0.010625 + 0.125.
        let mut pie = pie(0.0, 100, 0);
        let mut expected = 0.135_625 / 2048.0;
        for divisor in [128.0, 32.0, 32.0, 32.0] {
            pie.update();
            assert!(near(pie.state.drop_prob, expected), "{} {expected}", pie.state.drop_prob);
            // From now on only the distance counts.
            expected += 0.010_625 / divisor;
        }
        pie.update();
        assert!(near(pie.state.drop_prob, expected));
    }

    #[test]
    fn the_divisors_are_those_of_the_rfc() {
        for (drop_prob, divided) in [
            (0.0, 2048.0),
            (9e-7, 2048.0),
            (1e-6, 512.0),
            (9e-6, 512.0),
            (1e-5, 128.0),
            (1e-4, 32.0),
            (1e-3, 8.0),
            (1e-2, 2.0),
            (0.09, 2.0),
            (0.1, 1.0),
            (1.0, 1.0),
        ] {
            assert!(near(divisor(drop_prob), divided), "{drop_prob}");
        }
    }

    #[test]
    fn the_probability_is_capped_decays_and_stays_a_probability() {
        let after = |mut pie: Pie| {
            pie.update();
            pie.state.drop_prob
        };
        assert!(near(after(pie(0.1, 100, 0)), 0.12), "no more than 0.02 at once");
        // (0.010625 + 0.125) / 2 more.
        assert!(near(after(pie(0.09, 100, 0)), 0.157_812_5), "a probability below 0.1 is not capped yet");
        assert!(near(after(pie(0.995, 100, 100)), 1.0));
        // alpha * -15 ms = -0.001875, and then the decay.
        assert!(near(after(pie(0.5, 0, 0)), (0.5 - 0.001_875) * 0.98));
        assert!(near(after(pie(0.5, 0, 5)), 0.5 - 0.001_875 - 1.25 * 0.005), "no decay yet");
        assert!(after(pie(0.0, 0, 0)) <= 0.0);
    }

    #[test]
    fn a_burst_is_let_through_until_its_allowance_is_used_up_and_again_when_congestion_has_gone() {
        let mut pie = Pie::new(&Params { derandomization: false, ..Params::default() }).unwrap();
        let arrives = |pie: &mut Pie, time| pie.arrives(at(time), count(100, 100_000), || 0.0);
        for time in (0..150).step_by(5) {
            pie.leaves(at(time), millis(500), false);
            assert_eq!(arrives(&mut pie, time), Verdict::Keep, "at {time} ms");
        }
        // The tenth update, at 150 ms, takes the last of it.
        assert_eq!(arrives(&mut pie, 150), Verdict::Drop);
        pie.leaves(at(151), Duration::ZERO, true);
        arrives(&mut pie, 60_000);
        assert_eq!(pie.state.burst_allowance, millis(150));
        assert!(pie.state.drop_prob <= 0.0);
    }

    #[test]
    fn the_burst_allowance_returns_at_a_probability_of_0_and_waits_below_half_the_reference() {
        let returns = |drop_prob, qdelay, qdelay_old| {
            let mut pie = pie(drop_prob, qdelay, qdelay_old);
            pie.params.qdelay_ref = Positive::<Duration>::new(millis(200)).unwrap();
            pie.update();
            pie.state.burst_allowance == millis(150)
        };
        assert!(returns(0.0, 99, 99));
        assert_eq!([returns(0.0, 100, 99), returns(0.0, 99, 100), returns(0.5, 99, 99)], [false; 3]);
    }

    #[test]
    fn a_short_wait_or_a_short_queue_is_left_alone() {
        let drops = |pie: &mut Pie, bytes| {
            pie.params.qdelay_ref = Positive::<Duration>::new(millis(16)).unwrap();
            pie.params.derandomization = false;
            pie.drops(bytes, || 0.0)
        };
        assert!(!drops(&mut pie(0.19, 0, 7), 9_000), "less than half the reference at a probability below 0.2");
        assert!(drops(&mut pie(0.2, 0, 7), 9_000) && drops(&mut pie(0.19, 0, 8), 9_000));
        assert!(!drops(&mut pie(0.5, 0, 100), 3_000) && drops(&mut pie(0.5, 0, 100), 3_001));
    }

    #[test]
    fn drops_are_neither_too_close_nor_too_far_apart() {
        let until_dropped = |draw: f64| {
            let mut pie = pie(0.1, 0, 100);
            (1..100).find(|_| pie.drops(9_000, || draw))
        };
        // The sum of the probabilities reaches 0.85 with the ninth packet and 8.5 with the 85th (or, rounded, the next).
        assert_eq!(until_dropped(0.0), Some(9));
        assert!(matches!(until_dropped(0.99), Some(85 | 86)));
        assert!(pie(0.85, 0, 100).drops(9_000, || 0.0), "0.85 with the first");
        // A packet that finds no room is a drop too.
        let mut pie = pie(0.1, 0, 100);
        assert!(!(1..=8).any(|_| pie.drops(9_000, || 0.0)));
        pie.overflows();
        assert_eq!((1..100).find(|_| pie.drops(9_000, || 0.0)), Some(9));
    }

    #[test]
    fn a_packet_is_dropped_with_the_probability() {
        let mut pie = pie(0.5, 0, 100);
        pie.params.derandomization = false;
        assert_eq!(
            [0.499_999, 0.5].map(|draw| pie.drops(9_000, || draw)),
            [true, false],
            "half of the draws on [0, 1)"
        );
    }

    #[test]
    fn marks_take_the_place_of_drops_while_the_probability_is_low() {
        let verdict = |drop_prob, ecn| {
            let mut pie = pie(drop_prob, 100, 100);
            (pie.params.ecn, pie.params.derandomization) = (ecn, false);
            pie.arrives(at(1), count(100, 100_000), || 0.0)
        };
        assert_eq!([verdict(0.09, true), verdict(0.1, true)], [Verdict::Mark, Verdict::Drop]);
        assert_eq!(verdict(0.09, false), Verdict::Drop);
    }

    #[test]
    fn updates_that_change_nothing_are_skipped_and_the_others_all_made() {
        // The probability rises from 0.3 to 1; or it stays at 0, for waits below the reference, while the burst allowance is
        // used up.
        let mut burst = pie(0.0, 10, 10);
        burst.state.burst_allowance = millis(150);
        for (mut lazy, drop_prob) in [(pie(0.3, 100, 100), 1.0), (burst, 0.0)] {
            let mut busy = lazy.clone();
            for update in 1..=10_000 {
                busy.catch_up(Instant::ZERO + millis(15) * update);
            }
            lazy.catch_up(Instant::ZERO + millis(150_000));
            assert_eq!(lazy.next_update, busy.next_update);
            for pie in [lazy, busy] {
                assert!(near(pie.state.drop_prob, drop_prob));
                assert_eq!(pie.state.burst_allowance, Duration::ZERO);
            }
        }
        // A thousand years and more.
        let mut pie = pie(1.0, 100, 100);
        pie.leaves(Instant::NEVER, Duration::MAX, false);
        assert_eq!(pie.arrives(Instant::NEVER, count(u64::MAX, u64::MAX), || 0.0), Verdict::Drop);
    }
}
