//! CoDel's law (RFC 8289). If departing packets have waited longer than a target for a whole interval, packets are
//! dropped, until the sojourn time is below the target. The rate of drops grows with the square root of their number.
//!
//! The law holds no packets. Its host gives it the next packet, and drops packets that the law rejects. FQ-CoDel has
//! one law for each flow.

use crate::account::Waiting;
use crate::packet::{Ecn, Packet};
use units::{Bytes, Duration, Instant, Positive, with_defaults};

with_defaults! {
    /// CoDel with the parameter names of RFC 8289.
    pub struct Params as "Codel" {
        /// Acceptable standing wait (TARGET). Default 5 ms.
        pub target: Positive<Duration> => Duration::from_millis(5),
        /// Time above TARGET before the first drop, about the largest round-trip time (INTERVAL). Default 100 ms.
        pub interval: Positive<Duration> => Duration::from_millis(100),
        /// Backlog up to which no packet is dropped (MTU). Default 1514 B.
        pub mtu: Bytes = Bytes::new(1514),
        /// ECN marks instead of drops. Default false.
        pub ecn: bool,
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    /// Number of packets dropped since the dropping state began. It determines the time to the next drop.
    count: u32,
    /// Value of `count` when the last dropping state began.
    last_count: u32,
    dropping: bool,
    /// While packets wait longer than the target: when they will have done so for a whole interval.
    first_above: Option<Instant>,
    /// Time of the next drop, in the dropping state.
    drop_next: Instant,
}

impl State {
    /// Tells CoDel of congestion that it has not caused: packets were dropped because the queue was full.
    pub(crate) fn overflowed(&mut self, packets: u32) {
        self.count = self.count.saturating_add(packets);
    }
}

/// Source of the packets about which the law decides.
pub(crate) trait Source<P> {
    /// Removes and returns the next packet.
    fn next(&mut self) -> Option<Waiting<P>>;
    /// Returns the number of bytes behind the packet that was removed.
    fn bytes(&self) -> u64;
    /// Drops a packet that was removed.
    fn drop(&mut self, packet: P);
    /// Counts a packet that was removed and marked.
    fn marked(&mut self, packet: &P);
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    target: Duration,
    interval: Duration,
    mtu: u64,
    ecn: bool,
}

impl Law {
    pub(crate) fn new(params: &Params) -> Self {
        Self { target: params.target.get(), interval: params.interval.get(), mtu: params.mtu.count(), ecn: params.ecn }
    }

    /// Returns the next packet that is not dropped (RFC 8289, section 5.5). A packet that is marked instead of dropped
    /// is returned, as in Linux; the RFC leaves this open.
    pub(crate) fn dequeue<P: Packet>(
        &self,
        state: &mut State,
        now: Instant,
        source: &mut impl Source<P>,
    ) -> Option<Waiting<P>> {
        debug_assert!(!state.dropping || state.count > 0, "something was dropped");
        let (mut next, mut late) = self.judge(state, now, source);
        debug_assert!(next.is_some() || !late, "only a packet is late");
        if state.dropping {
            state.dropping = late;
            while state.dropping && now >= state.drop_next {
                state.count = state.count.saturating_add(1);
                let packet = next?;
                if let Some(marked) = self.mark(packet, source) {
                    state.drop_next = self.after(state.drop_next, state.count);
                    return Some(marked);
                }
                source.drop(packet.packet);
                (next, late) = self.judge(state, now, source);
                state.dropping = late;
                if late {
                    state.drop_next = self.after(state.drop_next, state.count);
                }
            }
        } else if late {
            let packet = next?;
            next = self.mark(packet, source);
            if next.is_none() {
                source.drop(packet.packet);
                (next, _) = self.judge(state, now, source);
            }
            self.begin(state, now);
        }
        next
    }

    /// Returns the next packet, and whether packets have waited too long for a whole interval.
    fn judge<P: Packet>(
        &self,
        state: &mut State,
        now: Instant,
        source: &mut impl Source<P>,
    ) -> (Option<Waiting<P>>, bool) {
        let next = source.next();
        let waited = next.map(|waiting| now.since(waiting.since));
        if waited.is_none_or(|waited| waited < self.target) || source.bytes() <= self.mtu {
            state.first_above = None;
            return (next, false);
        }
        let above = *state.first_above.get_or_insert(now + self.interval);
        debug_assert!(next.is_some());
        (next, now >= above)
    }

    /// Enters the dropping state. If the last dropping state ended a short time ago, its drop rate is used again.
    fn begin(&self, state: &mut State, now: Instant) {
        state.dropping = true;
        let dropped = state.count.saturating_sub(state.last_count);
        let recent = now.since(state.drop_next) < self.interval * 16;
        state.count = if dropped > 1 && recent { dropped } else { 1 };
        state.last_count = state.count;
        state.drop_next = self.after(now, state.count);
        debug_assert!(state.count > 0 && state.last_count == state.count);
        debug_assert!(state.drop_next >= now && state.drop_next <= now + self.interval);
    }

    fn after(&self, time: Instant, count: u32) -> Instant {
        after(time, self.interval, count)
    }

    fn mark<P: Packet>(&self, waiting: Waiting<P>, source: &mut impl Source<P>) -> Option<Waiting<P>> {
        let Waiting { mut packet, since } = waiting;
        if !self.ecn || packet.ecn() == Ecn::NotEct {
            return None;
        }
        packet.mark();
        source.marked(&packet);
        Some(Waiting { packet, since })
    }
}

/// Applies the control law: `time` plus an interval over the square root of `count`, rounded down to nanoseconds.
pub(super) fn after(time: Instant, interval: Duration, count: u32) -> Instant {
    let interval = u128::from(interval.as_nanos());
    let gap = (interval * interval / u128::from(count.max(1))).isqrt();
    time + Duration::from_nanos(u64::try_from(gap).expect("no longer than the interval"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A packet with its number and its ECN field.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Numbered(pub(crate) u32, Ecn);

    impl Packet for Numbered {
        fn len(&self) -> Bytes {
            Bytes::new(1000)
        }

        fn flow(&self) -> u64 {
            0
        }

        fn ecn(&self) -> Ecn {
            self.1
        }

        fn mark(&mut self) {
            self.1 = Ecn::Ce;
        }
    }

    /// Packets that arrived at the same moment.
    pub(crate) struct Line {
        pub(crate) packets: VecDeque<Waiting<Numbered>>,
        pub(crate) dropped: Vec<u32>,
        pub(crate) marked: Vec<u32>,
    }

    impl Source<Numbered> for Line {
        fn next(&mut self) -> Option<Waiting<Numbered>> {
            self.packets.pop_front()
        }

        fn bytes(&self) -> u64 {
            self.packets.len() as u64 * 1000
        }

        fn drop(&mut self, packet: Numbered) {
            self.dropped.push(packet.0);
        }

        fn marked(&mut self, packet: &Numbered) {
            self.marked.push(packet.0);
        }
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    pub(crate) fn line(packets: u32, since: Instant, ecn: Ecn) -> Line {
        let packets = (1..=packets).map(|number| Waiting { packet: Numbered(number, ecn), since }).collect();
        Line { packets, dropped: Vec::new(), marked: Vec::new() }
    }

    fn law(ecn: bool) -> Law {
        Law::new(&Params { ecn, ..Params::default() })
    }

    /// Takes a packet every 10 ms from 10 ms on; returns those dropped, with the time.
    fn drops(law: Law, state: &mut State, line: &mut Line, until: u64) -> Vec<(u64, u32)> {
        let mut drops = Vec::new();
        for millis in (10..=until).step_by(10) {
            let before = line.dropped.len();
            law.dequeue(state, at(millis), line);
            drops.extend(line.dropped[before..].iter().map(|&number| (millis, number)));
        }
        drops
    }

    #[test]
    fn drops_come_an_interval_over_the_root_of_their_number_apart() {
        let (mut state, mut line) = (State::default(), line(100, Instant::ZERO, Ecn::NotEct));
        // Too long from 10 ms on, for an interval at 110 ms. Then at 110 + 100, + 100/sqrt(2), + 100/sqrt(3), + 50,
        // + 100/sqrt(5) ms: 210, 280.7, 338.4, 388.4, 433.2; each at the first dequeue after that.
        let expected = [(110, 11), (210, 22), (290, 31), (340, 37), (390, 43), (440, 49)];
        assert_eq!(drops(law(false), &mut state, &mut line, 440), expected);
        assert_eq!((state.count, state.last_count), (6, 1));
        // The control law starts from the last planned drop, not from now: 433.167064 + 100/sqrt(6) ms.
        assert_eq!(state.drop_next.as_nanos() / 1000, 473_991);
    }

    #[test]
    fn a_wait_below_the_target_ends_the_dropping_state_and_a_recent_one_is_taken_up_again() {
        for (pause, count) in [(1_000, 5), (3_000, 1)] {
            let mut state = State::default();
            drops(law(false), &mut state, &mut line(100, Instant::ZERO, Ecn::NotEct), 440);
            // One that has just come.
            law(false).dequeue(&mut state, at(450), &mut line(9, at(446), Ecn::NotEct));
            assert!(!state.dropping && state.first_above.is_none());
            // 'now - drop_next' is below 16 intervals or not; five were dropped in the state that ended.
            let mut late = line(9, at(450), Ecn::NotEct);
            law(false).dequeue(&mut state, at(450 + pause), &mut late);
            assert!(late.dropped.is_empty(), "too long, but not yet for an interval");
            law(false).dequeue(&mut state, at(550 + pause), &mut late);
            assert_eq!((late.dropped.len(), state.count, state.last_count), (1, count, count));
            let gap = 100.0 / f64::from(count).sqrt();
            assert!((state.drop_next.since(at(550 + pause)).as_secs_f64() * 1e3 - gap).abs() < 1e-5);
        }
    }

    #[test]
    fn a_state_that_begins_again_takes_up_more_than_one_drop_within_sixteen_intervals() {
        let begun = |count, last_count, since: Duration| {
            let mut state = State { count, last_count, drop_next: at(1_000), ..State::default() };
            law(false).begin(&mut state, at(1_000) + since);
            state.count
        };
        let sixteen = Duration::from_millis(1_600);
        let just = sixteen.saturating_sub(Duration::from_nanos(1));
        assert_eq!((begun(7, 2, just), begun(7, 2, sixteen)), (5, 1), "less than sixteen intervals is recent");
        assert_eq!((begun(4, 2, just), begun(3, 2, just)), (2, 1), "a single drop says nothing of the rate");
        // Packets dropped because the queue was full are included.
        let mut state = State { count: 3, last_count: 2, drop_next: at(1_000), ..State::default() };
        state.overflowed(4);
        law(false).begin(&mut state, at(1_001));
        assert_eq!(state.count, 5);
    }

    #[test]
    fn when_several_drops_are_due_they_happen_at_once() {
        let (mut state, mut line) = (State::default(), line(100, Instant::ZERO, Ecn::NotEct));
        drops(law(false), &mut state, &mut line, 210);
        // Planned for 280.7, 338.4, 388.4 ms: due at 400 ms together.
        let left = law(false).dequeue(&mut state, at(400), &mut line).map(|waiting| waiting.packet.0);
        assert_eq!((&line.dropped[2..], left, state.count), (&[24, 25, 26][..], Some(27), 5));
    }

    #[test]
    fn marked_packets_leave_where_others_are_dropped() {
        let (mut state, mut line) = (State::default(), line(100, Instant::ZERO, Ecn::Ect0));
        assert!(drops(law(true), &mut state, &mut line, 440).is_empty());
        assert_eq!(line.marked, [11, 21, 29, 34, 39, 44], "at 110, 210, 290, 340, 390 and 440 ms");
        let mut line = self::line(100, Instant::ZERO, Ecn::NotEct);
        assert_eq!(drops(law(true), &mut State::default(), &mut line, 110), [(110, 11)], "these cannot be marked");
        let mut line = self::line(100, Instant::ZERO, Ecn::Ect0);
        assert_eq!(drops(law(false), &mut State::default(), &mut line, 110), [(110, 11)], "these must not be");
    }

    #[test]
    fn what_fits_into_one_frame_is_never_dropped() {
        // Each time the packet that leaves has waited for as long as the clock runs, and one is behind it: 1000 B, less
        // than the MTU. With two behind it, which is more, drops begin after an interval.
        for (packets, first_drop) in [(2, None), (3, Some(110))] {
            let mut state = State::default();
            let dropped_at = (10..=1_000).step_by(10).find(|&millis| {
                let mut line = line(packets, Instant::ZERO, Ecn::NotEct);
                law(false).dequeue(&mut state, at(millis), &mut line);
                !line.dropped.is_empty()
            });
            assert_eq!(dropped_at, first_drop, "{packets} packets");
        }
    }

    #[test]
    fn bytes_behind_count_as_one_frame_up_to_the_mtu_itself() {
        for (mtu, first_drop) in [(1_000, None), (999, Some(110))] {
            let law = Law::new(&Params { mtu: Bytes::new(mtu), ..Params::default() });
            let mut state = State::default();
            let dropped_at = (10..=1_000).step_by(10).find(|&millis| {
                let mut line = line(2, Instant::ZERO, Ecn::NotEct);
                law.dequeue(&mut state, at(millis), &mut line);
                !line.dropped.is_empty()
            });
            assert_eq!(dropped_at, first_drop, "an MTU of {mtu} B");
        }
    }

    #[test]
    fn a_wait_of_the_target_itself_is_too_long() {
        let target = Duration::from_millis(5);
        for (wait, first_drop) in [(target, Some(110)), (target.saturating_sub(Duration::from_nanos(1)), None)] {
            let mut state = State::default();
            let dropped_at = (10..=1_000).step_by(10).find(|&millis| {
                let mut line = line(9, at(millis), Ecn::NotEct);
                law(false).dequeue(&mut state, at(millis) + wait, &mut line);
                !line.dropped.is_empty()
            });
            assert_eq!(dropped_at, first_drop, "a wait of {wait}");
        }
    }
}
