//! Measurements made only on a controller's request: average service time and idle time.

use crate::piece::{Piece, piece};
use control::{Limit, Measures};
use proptest::prelude::*;
use queue::{Completion, End, FifoParams, Purge, Queue};
use units::{Duration, Instant};

fn micros(n: u64) -> Duration {
    Duration::from_micros(n)
}

fn at(n: u64) -> Instant {
    Instant::ZERO + micros(n)
}

fn queue(limit: u32, overflow: End, measures: Measures) -> Queue<Piece> {
    let purge = if overflow == End::Head { Purge::Head } else { Purge::Tail };
    Queue::fifo(FifoParams { overflow, purge, limit: Limit::Packets(limit) }).measuring(measures)
}

fn averaging(weight: f64) -> Queue<Piece> {
    queue(9, End::Tail, Measures { service_weight: Some(weight), idle_threshold: 0 })
}

fn ignoring(idle_threshold: u32) -> Queue<Piece> {
    queue(3, End::Tail, Measures { service_weight: None, idle_threshold })
}

fn put(queue: &mut Queue<Piece>, now: u64) {
    queue.enqueue(at(now), piece(0, 0), &mut |_| ());
}

fn take(queue: &mut Queue<Piece>, now: u64) {
    queue.take(at(now), 0, &mut |_| ()).expect("a packet waits");
}

#[test]
fn a_queue_that_nobody_watches_measures_from_when_someone_does() {
    let mut queue = ignoring(0).unwatched();
    put(&mut queue, 0);
    take(&mut queue, 5);
    queue.completed(at(9), &Completion::of_one(micros(5), micros(4)));
    queue.watch(at(10));
    put(&mut queue, 12);
    take(&mut queue, 15);
    queue.completed(at(18), &Completion::of_one(micros(3), micros(3)));
    let interval = queue.take_interval(at(20));
    assert_eq!((interval.length, interval.idle, interval.arrived.packets), (micros(10), micros(7), 1));
    assert_eq!((interval.sojourn.n, interval.sojourn.max), (1, micros(3)));
    assert_eq!((interval.service.n, interval.nodal.max), (1, micros(6)));
}

#[test]
fn the_first_service_time_sets_the_average_and_each_later_one_moves_it_by_its_weight() {
    let mut queue = averaging(0.25);
    assert_eq!(queue.take_interval(at(0)).service_ewma, None);
    queue.completed(at(1_000), &Completion::of_one(micros(0), micros(400)));
    assert_eq!(queue.take_interval(at(1_000)).service_ewma, Some(micros(400)));
    queue.completed(at(2_000), &Completion::of_one(micros(0), micros(800)));
    queue.completed(at(4_000), &Completion::of_one(micros(0), micros(100)));
    // 0.75 * 400 + 0.25 * 800 = 500, and 0.75 * 500 + 0.25 * 100 = 400.
    assert_eq!(queue.take_interval(at(4_000)).service_ewma, Some(micros(400)));
    assert_eq!(queue.take_interval(at(9_000)).service_ewma, Some(micros(400)), "kept while nothing is served");
}

#[test]
fn a_thousand_packets_weigh_0_632_with_the_documents_weight() {
    let mut queue = averaging(0.001);
    queue.completed(at(10), &Completion::of_one(micros(0), micros(0)));
    for n in 1..=1_000 {
        queue.completed(at(10 + 100_000 * n), &Completion::of_one(micros(0), micros(100_000)));
    }
    // 1 - 0.999^1000 = 0.63230 (B4).
    let mean = queue.take_interval(at(200_000_000)).service_ewma.unwrap();
    assert!((mean.as_secs_f64() - 0.063_230_5).abs() < 1e-7, "{mean}");
}

#[test]
fn packets_of_one_frame_share_its_time() {
    // Four frames of four packets, 800 us each, end to end: 200 us a packet.
    let mut queue = averaging(1e-6);
    queue.completed(at(200), &Completion::of_one(micros(0), micros(200)));
    for frame in 1..=4 {
        for _ in 0..4 {
            queue.completed(at(200 + 800 * frame), &Completion::of_one(micros(0), micros(800)));
        }
    }
    let mean = queue.take_interval(at(4_000)).service_ewma.unwrap();
    assert_eq!(mean, micros(200));
}

#[test]
fn a_packet_that_needs_two_frames_counts_once_for_each_moment() {
    // Two packets share the first frame; one fails and shares the second with a third packet.
    let mut queue = averaging(0.5);
    queue.completed(at(800), &Completion::of_one(micros(0), micros(800)));
    queue.completed(at(1_600), &Completion::of_one(micros(0), micros(1_600)));
    assert_eq!(queue.take_interval(at(1_600)).service_ewma, Some(micros(800)), "800, then 800 more");
    queue.completed(at(1_600), &Completion::of_one(micros(0), micros(800)));
    assert_eq!(queue.take_interval(at(1_600)).service_ewma, Some(micros(400)), "the third adds nothing");
}

#[test]
fn no_average_is_kept_unasked() {
    let mut queue = ignoring(0);
    queue.completed(at(1_000), &Completion::of_one(micros(0), micros(400)));
    assert_eq!(queue.take_interval(at(1_000)).service_ewma, None);
}

#[test]
fn packets_that_a_lower_limit_discards_no_longer_wait() {
    let mut queue = ignoring(1);
    put(&mut queue, 100);
    put(&mut queue, 100);
    queue.set_limit(at(400), Limit::Packets(1), &mut |_| ());
    queue.discard_where(at(500), &mut |_| true, &mut |_| ());
    let seen = queue.take_interval(at(1_000));
    assert_eq!((seen.idle, seen.busy), (micros(700), micros(300)));
}

proptest! {
    #[test]
    fn idle_time_is_the_time_with_at_most_the_threshold_waiting(
        steps in prop::collection::vec((0_u64..500, 0_u8..5), 1..200), threshold in 0_u32..4, head: bool,
    ) {
        let overflow = if head { End::Head } else { End::Tail };
        let mut queue = queue(5, overflow, Measures { service_weight: None, idle_threshold: threshold });
        let (mut now, mut idle, mut length) = (0, 0, 0);
        for (wait, what) in steps {
            now += wait;
            length += wait;
            if queue.backlog().packets <= threshold.into() {
                idle += wait;
            }
            match what {
                0 | 1 => put(&mut queue, now),
                2 => drop(queue.take(at(now), 0, &mut |_| ())),
                3 => queue.set_limit(at(now), Limit::Packets(1 + u32::try_from(wait % 5).unwrap()), &mut |_| ()),
                _ => {
                    let seen = queue.take_interval(at(now));
                    prop_assert_eq!((seen.length, seen.idle, seen.busy), (micros(length), micros(idle), micros(length - idle)));
                    (idle, length) = (0, 0);
                }
            }
        }
    }
}
