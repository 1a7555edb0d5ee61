//! `DualPI2` (RFC 9332, appendix A): a queue of low latency for packets of L4S, and a queue for all other packets. One
//! proportional-integral controller couples both.
//!
//! The controller derives a probability p' from the longer of the two queues' waits. A classic packet is dropped or
//! marked with probability p' squared. An L4S packet is marked with `coupling_factor` times p', and always if it waited
//! longer than a step. Where the RFC leaves a choice, the law follows Linux 6.17 (`sch_dualpi2`): random draws, a step,
//! weighted round robin, and no random drops while fewer than two packets wait.

use super::early::Verdict;
use crate::account::Waiting;
use crate::discipline::{Context, Discipline, LOOK_AHEAD, Purge, Setup};
use crate::packet::{Ecn, Packet};
use crate::pool::{Chain, Pool};
use control::{Invalid, Random};
use std::collections::VecDeque;
use units::{Duration, Instant, Positive, Share, Within, with_defaults};

with_defaults! {
    /// `DualPI2` (RFC 9332), with the parameter names of `tc`.
    pub struct Params as "DualPi2" {
        /// Reference wait. Default 15 ms.
        pub target: Positive<Duration> => Duration::from_millis(15),
        /// Time between updates, at least 1 ms. Default 16 ms.
        pub tupdate: Within<Duration, 1_000_000> => Duration::from_millis(16),
        /// Weight of the deviation from `target`, in 1/s. Default 0.16.
        pub alpha: Positive<f64> => 0.16,
        /// Weight of the wait's change, in 1/s. Default 3.2.
        pub beta: Positive<f64> => 3.2,
        /// Marking probability of L4S packets, divided by the base probability p': 1 to 255. Default 2.
        pub coupling_factor: Within<u32, 1, 255> => 2,
        /// Wait above which L4S is marked. Default 1 ms.
        pub step_thresh: Duration = Duration::from_millis(1),
        /// Share of bytes for classic traffic while both queues hold packets, from 0 to 1. Default 0.1.
        pub classic_protection: Share => 0.1,
        /// Drops in both queues once all L4S packets are marked. Default true.
        pub drop_on_overload: bool = true,
    }
}

/// Length of a full packet, in bytes. The probability applies only while at least two such packets wait behind one.
const MTU: u64 = 1_514;

#[derive(Clone, Copy, Debug)]
struct Controller {
    /// The base probability p', 0 to 1.
    probability: f64,
    /// Longest wait at the last update.
    qdelay: Duration,
    next_update: Instant,
}

/// The packets of both queues.
#[derive(Clone, Debug)]
pub(crate) struct DualPi2<P> {
    params: Params,
    controller: Controller,
    low_latency: Chain,
    classic: Chain,
    pool: Pool<P>,
    /// Packets that are already scheduled because the host has looked ahead, or that go first.
    passed: VecDeque<Waiting<P>>,
    /// Weighted bytes that the classic queue may still send; its turn lasts while they are above zero.
    credit: f64,
    purges: bool,
    random: Random,
}

impl<P: Packet> Discipline<P> for DualPi2<P> {
    type Params = Params;
    // It drops at the heads of two queues, which share no tail.
    const PURGES_TAIL: bool = false;

    fn new(params: &Params, setup: &Setup) -> Result<Self, Invalid> {
        let next_update = Instant::ZERO + params.tupdate.get();
        Ok(Self {
            controller: Controller { probability: 0.0, qdelay: Duration::ZERO, next_update },
            low_latency: Chain::EMPTY,
            classic: Chain::EMPTY,
            pool: Pool::new(),
            passed: VecDeque::new(),
            credit: first_credit(params),
            purges: setup.purge != Some(Purge::None),
            random: Random::new(setup.seed),
            params: params.clone(),
        })
    }

    fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
        self.catch_up(cx.now);
        let len = packet.len().count();
        if !cx.account.fits(len) {
            return cx.account.refuse(packet, cx.dropped);
        }
        let queue = if is_l4s(&packet) { &mut self.low_latency } else { &mut self.classic };
        queue.push(&mut self.pool, Waiting { packet, since: cx.now });
        cx.account.joins(cx.now, len);
        debug_assert_eq!(self.held(), cx.account.backlog().packets);
    }

    /// Drops the packet at the head of the queue with more bytes. If both are empty, drops the last scheduled packet.
    fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
        self.catch_up(cx.now);
        let Self { low_latency, classic, pool, passed, .. } = self;
        let (longer, other) =
            if low_latency.bytes > classic.bytes { (low_latency, classic) } else { (classic, low_latency) };
        let gone = longer.pop(pool).or_else(|| other.pop(pool)).or_else(|| passed.pop_back());
        let Waiting { packet, .. } = gone.expect("only a queue that holds something exceeds a limit");
        cx.account.discard(packet, cx.dropped);
    }

    fn put_first(&mut self, waiting: Waiting<P>) {
        self.catch_up(waiting.since);
        self.passed.push_front(waiting);
    }

    fn peek(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<&P> {
        while self.passed.len() <= index && index < LOOK_AHEAD {
            let next = self.next(cx)?;
            self.passed.push_back(next);
        }
        debug_assert_eq!(self.held(), cx.account.backlog().packets);
        self.passed.get(index).map(|waiting| &waiting.packet)
    }

    fn remove(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        if index == self.passed.len() {
            return self.next(cx);
        }
        self.peek(index, cx)?;
        self.catch_up(cx.now);
        self.passed.remove(index)
    }

    /// Discards packets above the limit after the limit has shrunk.
    fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
        while self.purges && cx.account.is_over() {
            self.make_way(cx);
        }
        debug_assert!(!self.purges || !cx.account.is_over(), "the limit holds");
        debug_assert_eq!(self.held(), cx.account.backlog().packets);
    }

    fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        cx.account.discard_where(&mut self.passed, unwanted, cx.dropped);
        let Self { low_latency, classic, pool, .. } = self;
        for queue in [low_latency, classic] {
            queue.discard_where(pool, unwanted, cx);
        }
        debug_assert_eq!(self.held(), cx.account.backlog().packets);
    }
}

impl<P: Packet> DualPi2<P> {
    /// Returns the number of packets in both queues.
    fn held(&self) -> u64 {
        u64::from(self.low_latency.packets + self.classic.packets) + self.passed.len() as u64
    }

    /// Returns the next packet that is not dropped. The classic queue's turn comes by weighted round robin.
    fn next(&mut self, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        self.catch_up(cx.now);
        loop {
            let [l4s, classic] = [&self.low_latency, &self.classic].map(|queue| queue.packets > 0);
            let takes_l4s = l4s && (!classic || self.credit <= 0.0);
            let queue = if takes_l4s { &mut self.low_latency } else { &mut self.classic };
            let Some(mut waiting) = queue.pop(&mut self.pool) else {
                self.credit = first_credit(&self.params);
                return None;
            };
            let len = waiting.packet.len().count();
            match self.judge(takes_l4s, waiting.packet.ecn(), cx.now.since(waiting.since)) {
                Verdict::Drop => {
                    cx.account.discard(waiting.packet, cx.dropped);
                    cx.account.settle(cx.now);
                    continue;
                }
                Verdict::Mark => {
                    waiting.packet.mark();
                    cx.account.marked(len);
                }
                Verdict::Keep => {}
            }
            if l4s && classic {
                let share = self.params.classic_protection.get();
                self.credit += len as f64 * if takes_l4s { share } else { share - 1.0 };
                debug_assert!(self.credit.is_finite());
            }
            return Some(waiting);
        }
    }

    /// Decides about a packet that was removed from a queue after the wait `waited`.
    fn judge(&mut self, l4s: bool, ecn: Ecn, waited: Duration) -> Verdict {
        let probability = self.controller.probability;
        let coupled = probability * f64::from(self.params.coupling_factor.get());
        let is_overloaded = coupled > 1.0;
        // As in Linux, the probability counts only if more waits behind this packet than a packet in service needs.
        let counts = self.low_latency.bytes + self.classic.bytes >= 2 * MTU;
        let mark = if ecn == Ecn::Ce { Verdict::Keep } else { Verdict::Mark };
        if !l4s {
            return match counts && self.happens(probability * probability) {
                true if is_overloaded || ecn == Ecn::NotEct => Verdict::Drop,
                true => mark,
                false => Verdict::Keep,
            };
        }
        if counts && is_overloaded && self.params.drop_on_overload && self.happens(probability * probability) {
            return Verdict::Drop;
        }
        let by_coupling = counts && self.happens(coupled);
        if by_coupling || waited > self.params.step_thresh { mark } else { Verdict::Keep }
    }

    fn happens(&mut self, probability: f64) -> bool {
        self.random.unit() < probability
    }

    /// Makes the updates that are due. There is no timer. Missed updates use the packets at the heads of the queues,
    /// which have not changed meanwhile.
    fn catch_up(&mut self, now: Instant) {
        if now < self.controller.next_update {
            return;
        }
        let Self { params, controller, low_latency, classic, pool, passed, .. } = self;
        let heads = [low_latency, classic].map(|queue| queue.first(pool)).into_iter().flatten();
        let oldest = heads.chain(passed.front()).map(|waiting| waiting.since).min();
        controller.catch_up(now, oldest, params);
        debug_assert!(self.controller.next_update > now || now == Instant::NEVER, "no update is due");
    }
}

impl Controller {
    /// Makes the updates up to `now`. `oldest`: arrival of the packet that has waited longest.
    fn catch_up(&mut self, now: Instant, oldest: Option<Instant>, params: &Params) {
        let period = params.tupdate.get();
        while self.next_update <= now && self.next_update < Instant::NEVER {
            let qdelay = oldest.map_or(Duration::ZERO, |since| self.next_update.since(since));
            let is_steady = self.update(qdelay, params);
            self.next_update += period;
            if is_steady {
                self.next_update += period * now.since(self.next_update).div_floor(period);
            }
        }
    }

    /// Updates the probability for this wait. True if neither a longer wait nor an empty queue would change it.
    fn update(&mut self, qdelay: Duration, params: &Params) -> bool {
        let [now, before, target] = [qdelay, self.qdelay, params.target.get()].map(units::Duration::as_secs_f64);
        let delta = params.alpha.get() * (now - target) + params.beta.get() * (now - before);
        // If its queue drops nothing, only the limit answers to a load that marks do not lower.
        let most = if params.drop_on_overload { 1.0 } else { 1.0 / f64::from(params.coupling_factor.get()) };
        self.probability = (self.probability + delta).clamp(0.0, most);
        debug_assert!((0.0..=1.0).contains(&self.probability));
        let is_idle = qdelay.is_zero() && self.qdelay.is_zero() && self.probability <= 0.0;
        self.qdelay = qdelay;
        is_idle || qdelay > params.target.get() && self.probability >= most
    }
}

/// Returns the credit with which the low-latency queue begins.
fn first_credit(params: &Params) -> f64 {
    MTU as f64 * (2.0 * params.classic_protection.get() - 1.0)
}

/// True if the packet belongs to L4S: ECT(1) or CE (RFC 9331, section 5.1).
fn is_l4s<P: Packet>(packet: &P) -> bool {
    matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    /// A packet of 1000 B.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Plain(Ecn);

    impl Packet for Plain {
        fn len(&self) -> Bytes {
            Bytes::new(1_000)
        }

        fn flow(&self) -> u64 {
            0
        }

        fn ecn(&self) -> Ecn {
            self.0
        }

        fn mark(&mut self) {
            self.0 = Ecn::Ce;
        }
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    fn controller(probability: f64, qdelay: u64) -> Controller {
        Controller { probability, qdelay: Duration::from_millis(qdelay), next_update: at(16) }
    }

    /// The shares of packets that are marked and dropped at this probability, with enough waiting behind them.
    fn shares(probability: f64, drop_on_overload: bool, l4s: bool, ecn: Ecn) -> [f64; 2] {
        let params = Params { drop_on_overload, ..Params::default() };
        let setup = Setup { purge: None, seed: 5 };
        let mut queue = DualPi2::<Plain>::new(&params, &setup).unwrap();
        queue.controller.probability = probability;
        queue.classic.bytes = 2 * MTU;
        let verdicts: Vec<_> = (0..100_000).map(|_| queue.judge(l4s, ecn, Duration::ZERO)).collect();
        [Verdict::Mark, Verdict::Drop].map(|one| verdicts.iter().filter(|&&seen| seen == one).count() as f64 / 1e5)
    }

    #[test]
    fn the_probability_moves_by_distance_and_change() {
        // 0.16 * (35 ms - 15 ms) + 3.2 * (35 ms - 5 ms) = 0.0032 + 0.096.
        let mut one = controller(0.1, 5);
        one.update(Duration::from_millis(35), &Params::default());
        assert!(near(one.probability, 0.1992), "{}", one.probability);
        // Now only the distance counts.
        one.update(Duration::from_millis(35), &Params::default());
        assert!(near(one.probability, 0.2024), "{}", one.probability);
        one.update(Duration::ZERO, &Params::default());
        assert!(near(one.probability, 0.2024 - 0.0024 - 0.112), "{}", one.probability);
        let highest = |drop_on_overload, coupling: u32| {
            let coupling_factor = Within::<u32, 1, 255>::new(coupling).unwrap();
            let mut one = controller(0.0, 0);
            one.update(Duration::from_secs(9), &Params { coupling_factor, drop_on_overload, ..Params::default() });
            one.probability
        };
        assert!(near(highest(true, 2), 1.0) && near(highest(false, 2), 0.5) && near(highest(false, 4), 0.25));
    }

    #[test]
    fn updates_see_the_packet_that_was_at_the_head_then() {
        // A packet has waited since 10 ms: 6 ms at the update at 16 ms, 22 ms at that at 32 ms.
        let mut one = controller(0.1, 0);
        one.catch_up(at(40), Some(at(10)), &Params::default());
        let [first, second] = [0.16 * -0.009 + 3.2 * 0.006, 0.16 * 0.007 + 3.2 * 0.016];
        assert!(near(one.probability, 0.1 + first + second), "{}", one.probability);
        assert_eq!((one.qdelay, one.next_update), (Duration::from_millis(22), at(48)));
    }

    #[test]
    fn updates_that_change_nothing_are_skipped_and_the_others_all_made() {
        for oldest in [None, Some(at(3))] {
            let [mut lazy, mut busy] = [controller(0.3, 40); 2];
            for update in 1..=20_000 {
                busy.catch_up(at(16 * update), oldest, &Params::default());
            }
            lazy.catch_up(at(16 * 20_000), oldest, &Params::default());
            assert!(near(lazy.probability, busy.probability));
            assert_eq!((lazy.qdelay, lazy.next_update), (busy.qdelay, busy.next_update));
        }
        // A thousand years and more.
        controller(0.3, 40).catch_up(Instant::NEVER, Some(at(3)), &Params::default());
    }

    #[test]
    fn classic_packets_meet_the_square_and_l4s_packets_the_multiple() {
        // 100 000 draws: a standard deviation of at most 0.0016.
        let close = |seen: [f64; 2], expected: [f64; 2]| {
            assert!(seen.iter().zip(expected).all(|(seen, expected)| (seen - expected).abs() < 0.008), "{seen:?}");
        };
        for probability in [0.1, 0.3, 0.5] {
            let square = probability * probability;
            close(shares(probability, true, false, Ecn::NotEct), [0.0, square]);
            close(shares(probability, true, false, Ecn::Ect0), [square, 0.0]);
            close(shares(probability, true, true, Ecn::Ect1), [2.0 * probability, 0.0]);
        }
        // Overload: both queues drop with the square, and what is left of L4S is marked.
        close(shares(0.7, true, false, Ecn::Ect0), [0.0, 0.49]);
        close(shares(0.7, true, true, Ecn::Ect1), [0.51, 0.49]);
        close(shares(0.5, false, true, Ecn::Ect1), [1.0, 0.0]);
        close(shares(0.5, true, true, Ecn::Ce), [0.0; 2]);
    }

    #[test]
    fn a_step_marks_l4s_packets_that_waited_and_little_behind_silences_the_probability() {
        let judge = |bytes, l4s, micros| {
            let mut queue = DualPi2::<Plain>::new(&Params::default(), &Setup { purge: None, seed: 0 }).unwrap();
            queue.controller.probability = 1.0;
            queue.classic.bytes = bytes;
            queue.judge(l4s, Ecn::Ect1, Duration::from_micros(micros))
        };
        assert_eq!([1_000, 1_001].map(|micros| judge(0, true, micros)), [Verdict::Keep, Verdict::Mark]);
        assert_eq!([3_027, 3_028].map(|bytes| judge(bytes, false, 0)), [Verdict::Keep, Verdict::Drop]);
    }
}
