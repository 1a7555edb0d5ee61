//! The queue of `turns`.

use crate::piece::{Piece, at, piece};
use crate::turns::{queue, us};
use queue::turns::Pace;
use units::{Bytes, Duration, Instant};

#[test]
fn alone_it_measures_its_rate_and_holds_what_leaves_within_the_target() {
    let mut queue = queue();
    let (mut most, mut dropped) = (0, 0);
    for tick in 0..4_000 {
        // Two packets each millisecond, of which one leaves.
        (0..2).for_each(|copy| queue.enqueue(at(tick), piece(7, copy), &mut |_| dropped += 1));
        if tick > 100 {
            most = most.max(queue.backlog().packets);
        }
        // Half of the packets are dropped at the head, so that those that leave have waited half as long.
        let waited = queue.take(at(tick), 0, &mut |_| ()).expect("packets wait").waited;
        assert!(tick < 200 || at(0) + waited <= at(26), "{waited:?}");
    }
    assert!((49..=51).contains(&most), "{most}");
    assert!((3_900..4_000).contains(&dropped), "{dropped}");
}

#[test]
fn a_flow_that_sends_less_than_its_share_goes_first_and_one_that_sends_more_does_not() {
    let mut queue = queue();
    let mut order = Vec::new();
    for tick in 0..100_u32 {
        let now = Instant::ZERO + us(1_000) * u64::from(tick);
        (0..2).for_each(|copy| queue.enqueue(now, piece(7, 2 * tick + copy), &mut |_| ()));
        // One flow sends each 10 ms, one each 2 ms. With 1.3 ms a packet and two senders a share is one in 2.6 ms.
        if tick % 10 == 0 {
            queue.enqueue(now, piece(8, tick), &mut |_| ());
        }
        order.push(queue.take(now, 0, &mut |_| ()).expect("packets wait").packet.flow);
    }
    assert!(order.iter().step_by(10).skip(1).all(|&flow| flow == 8), "{order:?}");
    assert_eq!(order.iter().filter(|&&flow| flow == 8).count(), 10);
}

/// Flows that each send less than their share send twice or four times of what leaves. Some of them share a bucket.
#[test]
fn however_many_flows_send_less_than_their_share_none_waits_longer_than_what_half_of_the_link_sends_in_the_target() {
    let all = [(100, 0, 1), (400, 0, 1), (1_700, 0, 1), (10_000, 0, 1), (1_700, 3, 1), (1_700, 0, 3), (1_700, 0, 10)];
    for ((flows, fat, burst), times) in all.into_iter().flat_map(|one| [(one, 2), (one, 4)]) {
        let (mut queue, mut most, mut longest) = (queue(), 0, Duration::ZERO);
        for tick in 0..40_000_u32 {
            let now = Instant::ZERO + us(1_000 / u64::from(times)) * u64::from(tick);
            queue.enqueue(now, piece(u64::from(tick % flows), tick), &mut |_| ());
            (0..fat).for_each(|other| queue.enqueue(now, piece(20_000 + other, tick), &mut |_| ()));
            for _ in 0..if tick % (times * burst) == times * burst - 1 { burst } else { 0 } {
                let waited = queue.take(now, 0, &mut |_| ()).expect("packets wait").waited;
                if tick > 1_000 {
                    (most, longest) = (most.max(queue.backlog().bytes.count()), longest.max(waited));
                }
            }
        }
        assert!(most <= 51_000, "{flows} flows: {most} B, of which a millisecond takes 1000");
        assert!(longest <= us(100_000), "{flows} flows, {times} times, {burst} at once: {longest:?}");
    }
}

#[test]
fn the_bound_takes_from_the_longest_of_many_flows() {
    let mut queue = queue();
    queue.set_pace(Pace { gap: None, most: Bytes::new(540_000), patience: None, longest: None, mark: None });
    // The longest comes last in the order of turns.
    let all = (0..500).chain([777; 40]).chain(0..30);
    let mut gone = Vec::new();
    for (number, flow) in (0..).zip(all) {
        queue.enqueue(Instant::ZERO, piece(flow, number), &mut |packet: Piece| gone.push(packet.flow));
    }
    assert_eq!(gone, [777; 30]);
    // Once it is no longer the longest, the next is found as its packets come.
    (0..20).for_each(|number| queue.enqueue(at(0), piece(888, number), &mut |packet: Piece| gone.push(packet.flow)));
    let count = |flow| gone.iter().filter(|&&other| other == flow).count();
    assert!(count(777) + count(888) == gone.len() && count(888) > 2, "{gone:?}");
}

#[test]
fn the_bound_takes_from_the_longest_flow() {
    let mut queue = queue();
    queue.set_pace(Pace { gap: None, most: Bytes::new(10_000), patience: None, longest: None, mark: None });
    let mut gone = Vec::new();
    for number in 0..9 {
        queue.enqueue(Instant::ZERO, piece(7, number), &mut |packet| gone.push((packet.flow, packet.number)));
    }
    for number in 0..3 {
        queue.enqueue(Instant::ZERO, piece(8, number), &mut |packet| gone.push((packet.flow, packet.number)));
    }
    assert_eq!(gone, [(7, 0), (7, 1)]);
    assert_eq!(queue.backlog().packets, 10);
    // Without prediction nothing is dropped on arrival, but on departure what has waited longer, while more bytes wait.
    let mut queue = self::queue();
    queue.set_pace(Pace { gap: None, most: Bytes::new(10_000), patience: None, longest: Some(us(20_000)), mark: None });
    (0..20).for_each(|number| queue.enqueue(at(u64::from(number)), piece(7, number), &mut |_| panic!("dropped")));
    let mut gone = Vec::new();
    let mut take = |now| queue.take(at(now), 0, &mut |packet: Piece| gone.push(packet.number)).unwrap().packet.number;
    assert_eq!([take(20), take(25), take(99), take(99)], [0, 5, 10, 11]);
    assert_eq!(gone, [1, 2, 3, 4, 6, 7, 8, 9]);
    // ACKs may wait ten times as long.
    let mut queue = self::queue();
    queue.set_pace(Pace { gap: None, most: Bytes::new(520), patience: None, longest: None, mark: None });
    let mut acks = 0;
    for number in 0..500 {
        queue.enqueue(at(0), Piece { bytes: 52, ..piece(7, number) }, &mut |_| acks += 1);
    }
    assert!((100..=110).contains(&queue.backlog().packets) && acks + queue.backlog().packets == 500, "{acks}");
}
