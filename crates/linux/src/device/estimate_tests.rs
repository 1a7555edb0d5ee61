use super::*;
use proptest::prelude::*;

const HEADER: u64 = 14;
const LENGTH: u64 = 1_000 + HEADER;

fn counters(sent: u64, dropped: u32, waiting: u32) -> Counters {
    Counters {
        sent_packets: sent,
        sent_bytes: sent * LENGTH,
        dropped,
        backlog_packets: waiting,
        backlog_bytes: waiting * u32::try_from(LENGTH).unwrap(),
    }
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn estimator(drops_at_head: bool, first: Counters) -> Estimator {
    let measures = Measures { service_weight: Some(0.5), idle_threshold: 0 };
    Estimator::new(measures, HEADER, drops_at_head, at(0), first)
}

#[test]
fn a_queue_that_stays_at_twenty_packets_and_serves_one_a_millisecond_delays_by_twenty() {
    let mut estimator = estimator(false, counters(0, 0, 20));
    for look in 1..=10 {
        estimator.look(at(10 * look), counters(10 * look, 3 * u32::try_from(look).unwrap(), 20));
    }
    let seen = estimator.take();
    assert_eq!(seen.length, Duration::from_millis(100));
    assert_eq!((seen.sent.packets, seen.dropped.packets, seen.arrived.packets), (100, 30, 130));
    assert_eq!((seen.sent.bytes, seen.dropped.bytes), (Bytes::new(100_000), Bytes::new(30_000)));
    assert_eq!(seen.sojourn.mean, Duration::from_millis(20));
    assert_eq!(seen.departure_gap.mean, Duration::from_millis(1));
    assert_eq!(seen.service_ewma, Some(Duration::from_millis(1)));
    assert_eq!((seen.idle, seen.busy), (Duration::ZERO, Duration::from_millis(100)));
    assert_eq!(seen.service, Stat::default(), "the kernel does not say when a packet is done with");
}

#[test]
fn packets_dropped_at_the_head_waited_too() {
    let mut estimator = estimator(true, counters(0, 0, 20));
    estimator.look(at(10), counters(10, 10, 20));
    assert_eq!(estimator.take().sojourn.mean, Duration::from_millis(10));
}

#[test]
fn a_gap_spans_looks_without_a_departure_and_none_spans_an_empty_queue() {
    let mut estimator = estimator(false, counters(0, 0, 2));
    estimator.look(at(10), counters(0, 0, 2));
    estimator.look(at(20), counters(1, 0, 1));
    assert_eq!(estimator.take().departure_gap.last, Duration::from_millis(20));
    estimator.look(at(30), counters(2, 0, 0));
    estimator.look(at(40), counters(2, 0, 1));
    estimator.look(at(50), counters(3, 0, 1));
    let seen = estimator.take();
    assert_eq!((seen.departure_gap.n, seen.departure_gap.last), (1, Duration::from_millis(10)));
    assert_eq!(seen.idle, Duration::from_millis(10), "half of each span beside the empty look");
}

#[test]
fn a_recreated_queue_counts_nothing_and_the_drop_counter_may_wrap() {
    let mut estimator = estimator(false, counters(1_000, u32::MAX, 0));
    estimator.look(at(10), counters(0, 4, 0));
    let seen = estimator.take();
    assert_eq!((seen.sent.packets, seen.dropped.packets), (0, 5));
}

proptest! {
    #[test]
    fn what_arrived_is_what_was_sent_dropped_or_waits(
        steps in proptest::collection::vec((0..50_u64, 0..50_u32, 0..50_u32, 0..20_u64), 1..40),
    ) {
        let first = counters(0, 0, 7);
        let mut estimator = estimator(false, first);
        let (mut now, mut sent, mut dropped) = (0, 0, 0);
        for (departures, drops, waiting, ms) in steps {
            (now, sent, dropped) = (now + ms, sent + departures, dropped + drops);
            estimator.look(at(now), counters(sent, dropped, waiting));
        }
        let seen = estimator.take();
        prop_assert_eq!((seen.sent.packets, seen.dropped.packets), (sent, u64::from(dropped)));
        let out = sent + u64::from(dropped) + seen.backlog.packets;
        prop_assert_eq!(seen.arrived.packets, out.saturating_sub(7));
        prop_assert_eq!(seen.idle + seen.busy, seen.length);
        prop_assert!(seen.sojourn.last <= seen.sojourn.max && seen.sojourn.mean <= seen.sojourn.max);
    }

    #[test]
    fn no_counters_make_it_panic(
        looks in proptest::collection::vec((any::<u64>(), any::<[u64; 2]>(), any::<[u32; 3]>()), 1..20),
    ) {
        let mut estimator = estimator(true, counters(0, 0, 0));
        for (nanos, [sent_packets, sent_bytes], [dropped, backlog_packets, backlog_bytes]) in looks {
            let counters = Counters { sent_packets, sent_bytes, dropped, backlog_packets, backlog_bytes };
            estimator.look(Instant::from_nanos(nanos), counters);
            let _ = estimator.take();
        }
    }
}
