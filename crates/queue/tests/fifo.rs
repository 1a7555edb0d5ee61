//! Each dropping and measuring rule alone, and then all of them compared with a naive model.

use crate::piece::{Piece, at, piece};
use control::{Count, Limit, Stat};
use proptest::prelude::*;
use queue::{Batch as _, Completion, Departure, End, FifoParams, Purge, Queue};
use std::collections::VecDeque;
use units::{Bytes, Duration};

/// A packet of this number and size.
fn numbered(number: u32, bytes: u64) -> Piece {
    Piece { bytes, ..piece(0, number) }
}

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn fifo(end: End, limit: Limit) -> Queue<Piece> {
    let purge = if end == End::Head { Purge::Head } else { Purge::Tail };
    Queue::fifo(FifoParams { overflow: end, purge, limit })
}

/// Enqueues a packet of 100 B and returns the numbers of those dropped.
fn put(fifo: &mut Queue<Piece>, now: u64, number: u32) -> Vec<u32> {
    put_sized(fifo, now, number, 100)
}

fn put_sized(fifo: &mut Queue<Piece>, now: u64, number: u32, bytes: u64) -> Vec<u32> {
    let mut dropped = Vec::new();
    fifo.enqueue(at(now), numbered(number, bytes), &mut |packet| dropped.push(packet.number));
    dropped
}

fn take(fifo: &mut Queue<Piece>, now: u64) -> Option<u32> {
    fifo.take(at(now), 0, &mut |_| unreachable!("nothing is dropped at the head"))
        .map(|departure| departure.packet.number)
}

fn shrink(fifo: &mut Queue<Piece>, now: u64, limit: Limit) -> Vec<u32> {
    let mut dropped = Vec::new();
    fifo.set_limit(at(now), limit, &mut |packet| dropped.push(packet.number));
    dropped
}

#[test]
fn packets_leave_in_order_of_arrival() {
    let mut fifo = fifo(End::Tail, Limit::Packets(3));
    for number in 1..=3 {
        assert!(put(&mut fifo, u64::from(number), number).is_empty());
    }
    assert_eq!(fifo.take(at(10), 0, &mut |_| ()), Some(Departure { packet: numbered(1, 100), waited: millis(9) }));
    assert_eq!(take(&mut fifo, 10), Some(2));
    assert_eq!(take(&mut fifo, 10), Some(3));
    assert_eq!(take(&mut fifo, 10), None);
    assert!(fifo.is_empty());
}

#[test]
fn a_queue_of_one_never_shows_two() {
    let mut fifo = fifo(End::Head, Limit::Packets(1));
    for number in 0..5 {
        put(&mut fifo, 0, number);
    }
    assert_eq!(fifo.backlog_level(at(1)).max, 1);
    assert_eq!(fifo.take_interval(at(1)).backlog_max, 1);
    assert_eq!(take(&mut fifo, 1), Some(4));
}

#[test]
fn an_urgent_packet_goes_first_and_the_tail_makes_way() {
    let mut fifo = fifo(End::Head, Limit::Packets(2));
    put(&mut fifo, 0, 1);
    put(&mut fifo, 0, 2);
    let mut dropped = Vec::new();
    fifo.enqueue_first(at(1), numbered(3, 100), &mut |packet| dropped.push(packet.number));
    assert_eq!((dropped, fifo.backlog().packets), (vec![2], 2));
    assert_eq!((take(&mut fifo, 2), take(&mut fifo, 3), take(&mut fifo, 4)), (Some(3), Some(1), None));
    let totals = fifo.totals();
    assert_eq!((totals.arrived.packets, totals.sent.packets, totals.dropped.packets), (3, 2, 1));
    // A packet that fits nowhere does not drive others out.
    let mut bytes = self::fifo(End::Tail, Limit::Bytes(Bytes::new(100)));
    put(&mut bytes, 0, 1);
    bytes.enqueue_first(at(1), numbered(2, 101), &mut |packet| assert_eq!(packet.number, 2));
    assert_eq!(take(&mut bytes, 2), Some(1));
}

#[test]
fn packets_are_taken_out_wherever_they_wait() {
    let mut fifo = fifo(End::Tail, Limit::Packets(5));
    (1..=5).for_each(|number| {
        put(&mut fifo, 0, number);
    });
    let mut dropped = Vec::new();
    fifo.discard_where(at(1), &mut |packet| packet.number % 2 == 1, &mut |packet| dropped.push(packet.number));
    assert_eq!((dropped, fifo.backlog().packets, fifo.backlog().bytes), (vec![1, 3, 5], 2, Bytes::new(200)));
    assert_eq!((take(&mut fifo, 2), take(&mut fifo, 3), take(&mut fifo, 4)), (Some(2), Some(4), None));
    assert_eq!(fifo.totals().dropped.packets, 3);
}

#[test]
fn sojourn_is_the_time_in_the_queue() {
    let mut fifo = fifo(End::Tail, Limit::Packets(9));
    put(&mut fifo, 0, 1);
    put(&mut fifo, 2, 2);
    take(&mut fifo, 4);
    take(&mut fifo, 10);
    let expected = Stat { n: 2, mean: millis(6), max: millis(8), last: millis(8) };
    assert_eq!(fifo.take_interval(at(10)).sojourn, expected);
}

#[test]
fn a_gap_counts_only_if_the_queue_was_never_empty_in_between() {
    let mut fifo = fifo(End::Tail, Limit::Packets(9));
    put(&mut fifo, 0, 1);
    put(&mut fifo, 0, 2);
    take(&mut fifo, 1); // the first departure has none before it
    take(&mut fifo, 4); // 3 ms, the queue held packet 2; now it is empty
    put(&mut fifo, 5, 3);
    put(&mut fifo, 5, 4);
    take(&mut fifo, 50); // not counted: empty from 4 to 5 ms
    take(&mut fifo, 55); // 5 ms
    let gap = fifo.take_interval(at(60)).departure_gap;
    assert_eq!(gap, Stat { n: 2, mean: millis(4), max: millis(5), last: millis(5) });
}

#[test]
fn a_gap_spans_intervals_but_not_a_purge_to_nothing() {
    let mut fifo = fifo(End::Tail, Limit::Packets(9));
    for number in 0..4 {
        put(&mut fifo, 0, number);
    }
    take(&mut fifo, 1);
    fifo.take_interval(at(2));
    take(&mut fifo, 4);
    assert_eq!(fifo.take_interval(at(5)).departure_gap.last, millis(3));
    shrink(&mut fifo, 6, Limit::Packets(0));
    shrink(&mut fifo, 6, Limit::Packets(9));
    put(&mut fifo, 6, 5);
    take(&mut fifo, 7);
    assert_eq!(fifo.take_interval(at(8)).departure_gap.n, 0);
}

#[test]
fn a_queue_of_one_that_drops_its_head_is_never_empty() {
    let mut fifo = fifo(End::Head, Limit::Packets(2));
    put(&mut fifo, 0, 1);
    put(&mut fifo, 0, 2);
    take(&mut fifo, 1);
    shrink(&mut fifo, 1, Limit::Packets(1));
    put(&mut fifo, 2, 3);
    take(&mut fifo, 5);
    assert_eq!(
        fifo.take_interval(at(5)).departure_gap,
        Stat { n: 1, mean: millis(4), max: millis(4), last: millis(4) }
    );
}

#[test]
fn service_and_nodal_delay_come_from_completions() {
    let mut fifo = fifo(End::Tail, Limit::Packets(9));
    fifo.completed(at(1), &Completion::of_one(millis(10), millis(2)));
    fifo.completed(at(1), &Completion::of_one(millis(20), millis(6)));
    let interval = fifo.take_interval(at(1));
    assert_eq!(interval.service, Stat { n: 2, mean: millis(4), max: millis(6), last: millis(6) });
    assert_eq!(interval.nodal, Stat { n: 2, mean: millis(19), max: millis(26), last: millis(26) });
}

#[test]
fn an_interval_covers_what_happened_since_the_last() {
    let mut fifo = fifo(End::Tail, Limit::Packets(3));
    for number in 0..4 {
        put(&mut fifo, 1, number);
    }
    take(&mut fifo, 2);
    let first = fifo.take_interval(at(100));
    let packets = |packets| Count { packets, bytes: Bytes::new(100 * packets) };
    assert_eq!(first.length, millis(100));
    assert_eq!(
        (first.arrived, first.sent, first.dropped, first.backlog),
        (packets(4), packets(1), packets(1), packets(2))
    );
    assert_eq!(first.backlog_max, 3);
    let second = fifo.take_interval(at(150));
    assert_eq!(second.length, millis(50));
    assert_eq!(
        (second.arrived, second.sent, second.dropped, second.backlog),
        (packets(0), packets(0), packets(0), packets(2))
    );
    assert_eq!((second.backlog_max, second.sojourn), (2, Stat::default()));
}

#[test]
fn levels_are_weighted_by_time_and_restart() {
    let mut fifo = fifo(End::Tail, Limit::Packets(10));
    put(&mut fifo, 10, 1);
    put(&mut fifo, 10, 2);
    shrink(&mut fifo, 20, Limit::Packets(4));
    take(&mut fifo, 30);
    let backlog = fifo.backlog_level(at(40));
    assert!((backlog.mean - (2.0 * 20.0 + 10.0) / 40.0).abs() < 1e-12);
    assert_eq!((backlog.min, backlog.max, backlog.last), (0, 2, 1));
    let limit = fifo.limit_level(at(40));
    assert!((limit.mean - 7.0).abs() < 1e-12);
    assert_eq!((limit.min, limit.max, limit.last), (4, 10, 4));
    fifo.restart_statistics(at(40));
    assert_eq!((fifo.backlog_level(at(50)).max, fifo.limit_level(at(50)).max), (1, 4));
    let waiting = Count { packets: 1, bytes: Bytes::new(100) };
    assert_eq!((fifo.totals().arrived, fifo.totals().sent), (waiting, Count::default()));
    assert_eq!(fifo.take_interval(at(50)).sent.packets, 1, "the controller's interval goes on");
}

#[test]
fn the_limit_in_bytes_has_its_level_in_bytes() {
    let fifo = fifo(End::Tail, Limit::Bytes(Bytes::new(64_000)));
    assert_eq!(fifo.limit_level(at(1)).last, 64_000);
}

#[test]
fn a_plain_queue_lets_packets_pass_while_one_waits_and_the_next_has_room() {
    let mut fifo = fifo(End::Tail, Limit::Packets(2));
    assert!(!fifo.lets_pass(Bytes::new(100)), "nothing waits");
    put(&mut fifo, 0, 1);
    put(&mut fifo, 0, 2);
    assert!(fifo.lets_pass(Bytes::new(100)));
    shrink(&mut fifo, 1, Limit::Packets(1));
    assert!(fifo.lets_pass(Bytes::new(100)));
    shrink(&mut fifo, 1, Limit::Bytes(Bytes::new(99)));
    assert!(!fifo.lets_pass(Bytes::new(100)));
    fifo = self::fifo(End::Tail, Limit::Packets(2));
    put(&mut fifo, 0, 1);
    shrink(&mut fifo, 1, Limit::Packets(0));
    assert_eq!(fifo.in_line().count(), 0);
}

proptest! {
    #[test]
    fn packets_that_pass_are_measured_as_if_each_were_taken_and_the_next_enqueued(
        (before, waiting, packets) in (0_u32..3, 1_u32..4, 1_u32..70),
        threshold in 0_u32..5,
        (left, now, after) in (0_u64..9, 10_u64..20, 20_u64..30),
    ) {
        let measures = control::Measures { service_weight: None, idle_threshold: threshold };
        let queue = || {
            let mut queue = fifo(End::Tail, Limit::Packets(9)).measuring(measures);
            (0..before).for_each(|number| assert!(put(&mut queue, left, number).is_empty()));
            queue.take_interval(at(9));
            (0..before.min(2)).for_each(|_| assert!(take(&mut queue, 9).is_some()));
            (0..before.saturating_sub(2)).for_each(|_| assert!(take(&mut queue, now).is_some()));
            (0..waiting).for_each(|number| assert!(put(&mut queue, now, number).is_empty()));
            queue
        };
        let (mut each, mut all) = (queue(), queue());
        for number in 0..packets {
            prop_assert_eq!(take(&mut each, now), Some(number));
            prop_assert!(put(&mut each, now, waiting + number).is_empty());
        }
        prop_assert!(all.lets_pass(Bytes::new(100)));
        all.pass(at(now), Bytes::new(100), packets.into());
        prop_assert_eq!(all.in_line().count(), waiting as usize);
        prop_assert_eq!(each.totals(), all.totals());
        prop_assert_eq!(each.backlog_level(at(after)), all.backlog_level(at(after)));
        prop_assert!(take(&mut each, after).is_some() && take(&mut all, after).is_some());
        prop_assert_eq!(each.take_interval(at(after)), all.take_interval(at(after)));
    }

    #[test]
    fn completions_are_measured_one_by_one_or_together(packets in 1_u32..70, weighs in any::<bool>()) {
        let measures = control::Measures { service_weight: weighs.then_some(0.1), idle_threshold: 0 };
        let queue = || {
            let mut queue = fifo(End::Tail, Limit::Packets(9)).measuring(measures);
            queue.completed(at(5), &Completion::of_one(millis(1), millis(3)));
            queue
        };
        let (mut each, mut all) = (queue(), queue());
        (0..packets).for_each(|_| each.completed(at(9), &Completion::of_one(millis(2), millis(6))));
        all.completed(at(9), &Completion { waited: millis(2), service: millis(6), packets });
        prop_assert_eq!(each.take_interval(at(10)), all.take_interval(at(10)));
    }
}

/// The same queue written without care for speed.
struct Model {
    overflow: End,
    purge: Purge,
    hard: Limit,
    limit: Limit,
    waiting: VecDeque<Piece>,
    dropped: Vec<Piece>,
}

impl Model {
    fn bytes(&self) -> u64 {
        self.waiting.iter().map(|packet| packet.bytes).sum()
    }

    fn over(&self) -> bool {
        match self.limit {
            Limit::Packets(packets) => self.waiting.len() > packets as usize,
            Limit::Bytes(bytes) => self.bytes() > bytes.count(),
        }
    }

    fn discard(&mut self, end: End) {
        let gone = match end {
            End::Head => self.waiting.pop_front(),
            End::Tail => self.waiting.pop_back(),
        };
        self.dropped.extend(gone);
    }

    /// Puts the packet in and removes what is too much; a packet that is too large even alone is the only one removed.
    fn enqueue(&mut self, packet: Piece) {
        let before = std::mem::take(&mut self.waiting);
        self.waiting.push_back(packet);
        let alone_too_much = self.over();
        self.waiting = before;
        self.waiting.push_back(packet);
        if alone_too_much || self.overflow == End::Tail {
            if self.over() {
                self.discard(End::Tail);
            }
            return;
        }
        while self.over() {
            self.discard(End::Head);
        }
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = match (limit, self.hard) {
            (Limit::Packets(asked), Limit::Packets(hard)) => Limit::Packets(asked.min(hard)),
            (Limit::Bytes(asked), Limit::Bytes(hard)) => Limit::Bytes(asked.min(hard)),
            (limit, _) => limit,
        };
        let end = match self.purge {
            Purge::Head => End::Head,
            Purge::Tail => End::Tail,
            Purge::None => return,
        };
        while self.over() {
            self.discard(end);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Put(u64),
    Take,
    Limit(u32),
    Interval,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (40_u64..300).prop_map(Step::Put),
        4 => Just(Step::Take),
        2 => (0_u32..15).prop_map(Step::Limit),
        1 => Just(Step::Interval),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 0..200)
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![Just(End::Head), Just(End::Tail)]
}

fn purge() -> impl Strategy<Value = Purge> {
    prop_oneof![Just(Purge::Head), Just(Purge::Tail), Just(Purge::None)]
}

proptest! {
    #[test]
    fn the_queue_does_what_the_model_does(
        overflow in end(), purge in purge(), hard in 1_u32..12, in_bytes: bool, steps in steps(),
    ) {
        let limit = |n: u32| if in_bytes { Limit::Bytes(Bytes::new(100 * u64::from(n))) } else { Limit::Packets(n) };
        let hard = limit(hard);
        let mut fifo = Queue::fifo(FifoParams { overflow, purge, limit: hard });
        let mut model = Model { overflow, purge, hard, limit: hard, waiting: VecDeque::new(), dropped: Vec::new() };
        let mut dropped = Vec::new();
        for (i, step) in (0_u32..).zip(steps) {
            let now = at(i.into());
            match step {
                Step::Put(bytes) => {
                    fifo.enqueue(now, numbered(i, bytes), &mut |packet| dropped.push(packet));
                    model.enqueue(numbered(i, bytes));
                }
                Step::Take => {
                    let expected = model.waiting.pop_front();
                    let left = fifo.take(now, 0, &mut |_| ());
                    prop_assert_eq!(left.map(|departure| departure.packet), expected);
                    if let Some(Departure { packet, waited }) = left {
                        prop_assert_eq!(waited, millis(u64::from(i - packet.number)));
                    }
                }
                Step::Limit(n) => {
                    fifo.set_limit(now, limit(n), &mut |packet| dropped.push(packet));
                    model.set_limit(limit(n));
                }
                Step::Interval => prop_assert_eq!(fifo.take_interval(now).backlog, fifo.backlog()),
                Step::Restart => fifo.restart_statistics(now),
            }
            prop_assert_eq!(&dropped, &model.dropped);
            prop_assert_eq!(fifo.limit(), model.limit);
            let backlog = fifo.backlog();
            prop_assert_eq!(backlog, Count { packets: model.waiting.len() as u64, bytes: Bytes::new(model.bytes()) });
            prop_assert!(purge == Purge::None || !model.over());
            let totals = fifo.totals();
            prop_assert_eq!(totals.arrived.packets, totals.sent.packets + totals.dropped.packets + backlog.packets);
            prop_assert_eq!(totals.arrived.bytes, totals.sent.bytes + totals.dropped.bytes + backlog.bytes);
        }
    }
}

proptest! {
    #[test]
    fn a_packet_that_passes_is_one_that_was_enqueued_and_taken(
        steps in prop::collection::vec((0_u64..20, 1_u64..400, 0_u8..4), 1..60),
        limit in prop_oneof![(0_u32..4).prop_map(Limit::Packets), (0_u64..500).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes)))],
    ) {
        let [mut passed, mut stored] = [(); 2].map(|()| fifo(End::Tail, limit));
        let mut now = 0;
        for (number, (span, bytes, what)) in (0..).zip(steps) {
            now += span;
            match what {
                0 => prop_assert_eq!(take(&mut passed, now), take(&mut stored, now)),
                1 => prop_assert_eq!(put_sized(&mut passed, now, number, bytes), put_sized(&mut stored, now, number, bytes)),
                2 => prop_assert_eq!(passed.take_interval(at(now)), stored.take_interval(at(now))),
                _ => {
                    let idle = stored.is_empty();
                    let passes = passed.pass_idle(at(now), Bytes::new(bytes));
                    if passes {
                        prop_assert!(put_sized(&mut stored, now, number, bytes).is_empty() && idle);
                        prop_assert_eq!(take(&mut stored, now), Some(number));
                    } else {
                        prop_assert!(!idle || !put_sized(&mut fifo(End::Tail, limit), now, number, bytes).is_empty());
                    }
                }
            }
            prop_assert_eq!(passed.backlog(), stored.backlog());
            prop_assert_eq!(passed.backlog_level(at(now)), stored.backlog_level(at(now)));
        }
        prop_assert_eq!(passed.totals(), stored.totals());
    }
}
