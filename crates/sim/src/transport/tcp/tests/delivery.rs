//! Tests of rate samples, with times in milliseconds and segments of 1000 octets.

use super::*;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn block(first: u64, last: u64) -> Block {
    Block { start: 1 + 1000 * first, end: 1 + 1000 * (last + 1) }
}

/// Ten segments, one per millisecond.
fn ten() -> Delivery {
    let mut delivery = Delivery::default();
    (0..10).for_each(|number| delivery.send(block(number, number), at(number)));
    delivery
}

#[test]
fn a_rate_is_per_the_longer_of_the_times_of_sending_and_of_acknowledging() {
    let mut delivery = ten();
    delivery.arrive(block(0, 0), at(100));
    let first = delivery.sample(at(100)).unwrap();
    let interval = Duration::from_millis(100);
    let expected = Sample { prior_delivered: 0, delivered: 1000, interval, limited: false, rtt: Some(interval) };
    assert_eq!(first, expected);
    // The rest at once, compressed: sent within 9 ms, but all were sent before the first acknowledgement.
    delivery.arrive(block(1, 9), at(101));
    delivery.acknowledge(block(9, 9).end);
    let sample = delivery.sample(at(101)).unwrap();
    assert_eq!(
        (sample.delivered, sample.interval, sample.rtt),
        (10_000, Duration::from_millis(101), Some(Duration::from_millis(92)))
    );
    assert!(delivery.sent.is_empty() && delivery.sample(at(102)).is_none());
    // From here a burst is acknowledged faster than it was sent.
    (10..20).for_each(|number| delivery.send(block(number, number), at(200 + 30 * (number - 10))));
    delivery.arrive(block(10, 10), at(460));
    delivery.sample(at(460));
    delivery.arrive(block(11, 19), at(480));
    assert_eq!(delivery.sample(at(480)).unwrap().interval, Duration::from_millis(280));
}

#[test]
fn the_segment_sent_last_gives_the_sample_and_a_repetition_no_round_trip() {
    let mut delivery = ten();
    delivery.arrive(block(9, 9), at(90));
    delivery.sample(at(90));
    delivery.send(block(0, 0), at(95));
    delivery.arrive(block(0, 8), at(190));
    let sample = delivery.sample(at(190)).unwrap();
    // Sent again when one segment had arrived, at 90 ms.
    assert_eq!((sample.prior_delivered, sample.delivered, sample.rtt), (1000, 9000, None));
    assert_eq!(sample.interval, Duration::from_millis(100));
}

#[test]
fn what_is_sent_without_enough_data_is_marked_until_that_is_delivered() {
    let mut delivery = ten();
    delivery.limit(10_000);
    delivery.send(block(10, 10), at(20));
    let limited = (0..12).map(|number| {
        if number == 11 {
            delivery.send(block(11, 11), at(200));
        }
        delivery.arrive(block(number, number), at(100 + number));
        delivery.sample(at(300)).unwrap().limited
    });
    assert_eq!(limited.collect::<Vec<_>>(), [[false; 10].as_slice(), &[true, false]].concat());
}
