//! FQ-COBALT: the flow queues and the AQM of CAKE (Linux `sch_cake`, without a shaper). Each flow has a COBALT.
//!
//! COBALT is CoDel and BLUE. Its `CoDel` has one schedule for the first drop and all later drops. It counts back while
//! the wait is short instead of forgetting. BLUE drops at random. Its probability rises while the flow's packets
//! overflow the queue, and falls while the flow is empty: it acts on flows that ignore drops and marks. CAKE's shaper,
//! tins, fairness between hosts, set-associative hash and filter of acknowledgements are left out.

use super::codel::{self, Source};
use super::flow_queues::{FlowLaw, FlowQueues, Shape};
use crate::account::Waiting;
use crate::packet::{Ecn, Packet};
use control::Random;
use units::{Duration, Instant, Positive, with_defaults};

with_defaults! {
    /// FQ-COBALT.
    pub struct Params as "FqCobalt" {
        /// CoDel's interval, and twenty times its target. Default 100 ms.
        pub rtt: Positive<Duration> => Duration::from_millis(100),
    }
}

/// Flow queues as CAKE has them without a shaper.
const SHAPE: Shape = Shape { flows: 1_024, quantum: 1_514, drop_batch: 1 };
/// Steps by which BLUE's probability changes.
const INCREASE: f64 = 1.0 / 256.0;
const DECREASE: f64 = 1.0 / 4096.0;

/// Packets of each flow, with a COBALT for each flow.
pub(crate) type FqCobalt<P> = FlowQueues<P, Cobalt>;

#[derive(Clone, Debug)]
pub(crate) struct Cobalt {
    target: Duration,
    interval: Duration,
    random: Random,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    /// Number of drops and marks of the schedule. It determines the time to the next drop.
    count: u32,
    dropping: bool,
    /// Time of the next drop. While nothing is scheduled: the end of an interval without a drop.
    drop_next: Instant,
    /// BLUE's probability, 0 to 1, and the time of its last change.
    probability: f64,
    changed: Instant,
    /// True if the flow was found empty, and no packet has come since.
    empty: bool,
}

impl FlowLaw for Cobalt {
    type Params = Params;
    type State = State;

    fn new(params: &Params, seed: u64) -> Self {
        let interval = params.rtt.get();
        Self { target: interval / 20, interval, random: Random::new(seed) }
    }

    fn shape(_params: &Params) -> Shape {
        SHAPE
    }

    fn dequeue<P: Packet>(
        &mut self,
        state: &mut State,
        now: Instant,
        source: &mut impl Source<P>,
    ) -> Option<Waiting<P>> {
        loop {
            let Some(Waiting { mut packet, since }) = source.next() else {
                self.emptied(state, now);
                return None;
            };
            debug_assert!(since <= now, "it has arrived");
            self.relax(state, now);
            let is_due = self.is_due(state, now, now.since(since));
            let can_mark = packet.ecn() != Ecn::NotEct;
            if is_due && can_mark {
                packet.mark();
                source.marked(&packet);
            }
            // BLUE also drops what CoDel would mark: the flow does not react to marks.
            let drops = (is_due && !can_mark) | (state.probability > 0.0 && self.random.unit() < state.probability);
            if state.count == 0 {
                state.drop_next = now + self.interval;
            } else if now > state.drop_next && !drops {
                state.drop_next = now;
            }
            // The last packet of a flow is never dropped.
            if !drops || source.bytes() == 0 {
                return Some(Waiting { packet, since });
            }
            source.drop(packet);
        }
    }

    fn overflowed(&mut self, state: &mut State, now: Instant, _packets: u32) {
        if now.since(state.changed) > self.target {
            state.probability = (state.probability + INCREASE).min(1.0);
            state.changed = now;
        }
        debug_assert!((0.0..=1.0).contains(&state.probability) && state.changed <= now);
        state.dropping = true;
        state.drop_next = now;
        state.count = state.count.max(1);
    }
}

impl Cobalt {
    /// Advances the schedule. True if it marks or drops a packet with the wait `waited`.
    fn is_due(&self, state: &mut State, now: Instant, waited: Duration) -> bool {
        let mut due = state.count > 0 && now >= state.drop_next;
        let late = waited > self.target;
        if late && !state.dropping {
            let idle = state.count == 0 && now > state.drop_next;
            // After an interval without a packet the first wait counts from now, as in Linux.
            state.drop_next = if idle { now } else { codel::after(now, self.interval, state.count) };
        }
        state.dropping = late;
        if late {
            state.count = state.count.max(1);
            if due {
                state.count = state.count.saturating_add(1);
                state.drop_next = codel::after(state.drop_next, self.interval, state.count);
            }
            return due;
        }
        while due {
            state.count -= 1;
            state.drop_next = codel::after(state.drop_next, self.interval, state.count);
            due = state.count > 0 && now >= state.drop_next;
        }
        debug_assert!(!state.dropping);
        false
    }

    /// Records that the flow was served and is empty.
    fn emptied(&self, state: &mut State, now: Instant) {
        state.empty = true;
        state.dropping = false;
        if state.count > 0 && now >= state.drop_next {
            state.count -= 1;
            state.drop_next = codel::after(state.drop_next, self.interval, state.count);
        }
    }

    /// Records that an empty flow has packets again. BLUE's probability has fallen once in each `target` since.
    fn relax(&self, state: &mut State, now: Instant) {
        if std::mem::take(&mut state.empty) && state.probability > 0.0 {
            let steps = now.since(state.changed).div_floor(self.target);
            state.probability = (state.probability - DECREASE * steps as f64).max(0.0);
            state.changed += self.target * steps;
            debug_assert!((0.0..=1.0).contains(&state.probability) && state.changed <= now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disciplines::codel::tests::{Line, line as waiting};

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn law() -> Cobalt {
        Cobalt::new(&Params::default(), 3)
    }

    /// Takes a packet every 10 ms from `from` on; returns those dropped or marked, with the time.
    fn struck(state: &mut State, line: &mut Line, from: u64, until: u64) -> Vec<(u64, u32)> {
        let (mut law, mut seen) = (law(), Vec::new());
        for millis in (from..=until).step_by(10) {
            let before = (line.dropped.len(), line.marked.len());
            law.dequeue(state, at(millis), line);
            seen.extend(line.dropped[before.0..].iter().map(|&number| (millis, number)));
            seen.extend(line.marked[before.1..].iter().map(|&number| (millis, number)));
        }
        seen
    }

    #[test]
    fn drops_come_an_interval_after_the_wait_is_too_long_and_then_ever_closer() {
        let mut state = State::default();
        assert!(struck(&mut state, &mut waiting(1, at(0), Ecn::NotEct), 0, 0).is_empty());
        // Too long from 10 ms on: 110 ms, and 100/sqrt(2), 100/sqrt(3), 50, 100/sqrt(5) ms apart: 180.7, 238.4, 288.4, 333.2.
        // Each at the first dequeue after that.
        let mut line = waiting(100, at(0), Ecn::NotEct);
        assert_eq!(struck(&mut state, &mut line, 10, 340), [(110, 11), (190, 20), (240, 26), (290, 32), (340, 38)]);
        let mut state = State::default();
        struck(&mut state, &mut waiting(1, at(0), Ecn::NotEct), 0, 0);
        let mut line = waiting(100, at(0), Ecn::Ect1);
        assert_eq!(struck(&mut state, &mut line, 10, 200), [(110, 11), (190, 19)]);
        assert!(line.dropped.is_empty(), "they are marked");
    }

    #[test]
    fn after_an_idle_interval_a_long_wait_is_answered_by_the_second_packet() {
        let mut state = State::default();
        assert_eq!(struck(&mut state, &mut waiting(9, at(0), Ecn::NotEct), 500, 520), [(510, 2)]);
    }

    #[test]
    fn while_the_wait_is_short_the_schedule_counts_back() {
        let mut state = State { count: 4, dropping: true, drop_next: at(100), ..State::default() };
        // 150 (4 to 3: 100 + 100/sqrt(3) = 157.7), then 157.7 + 70.7 = 228.4 and 328.4 ms.
        for (millis, count) in [(90, 4), (150, 3), (158, 2), (228, 2), (229, 1), (320, 1), (329, 0)] {
            law().dequeue(&mut state, at(millis), &mut waiting(9, at(millis), Ecn::NotEct));
            assert_eq!((state.count, state.dropping), (count, false), "at {millis} ms");
        }
    }

    #[test]
    fn blue_rises_with_overflows_a_target_apart_and_falls_while_the_flow_is_empty() {
        let mut state = State::default();
        for millis in [10, 12, 15, 16, 30] {
            law().overflowed(&mut state, at(millis), 1);
        }
        assert!((state.probability - 3.0 / 256.0).abs() < 1e-12, "at 10, 16 and 30 ms");
        assert_eq!((state.count, state.drop_next), (1, at(30)));
        law().dequeue(&mut state, at(31), &mut waiting(0, at(0), Ecn::NotEct));
        law().dequeue(&mut state, at(47), &mut waiting(1, at(47), Ecn::NotEct));
        assert!((state.probability - 3.0 / 256.0 + 3.0 / 4096.0).abs() < 1e-12, "three targets later");
        let mut state = State { probability: 1.0, ..State::default() };
        let mut line = waiting(5, at(1), Ecn::Ect0);
        let left = law().dequeue(&mut state, at(1), &mut line).map(|waiting| waiting.packet.0);
        assert_eq!((left, line.dropped.len()), (Some(5), 4), "but never the last");
    }
}
