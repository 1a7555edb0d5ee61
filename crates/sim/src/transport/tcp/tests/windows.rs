//! Tests of slow start, congestion avoidance, restart after idleness, and the receiver's window.

use super::trace::{plain, run, trace};
use crate::transport::tcp::*;
use units::{Bytes, Duration, Instant};

#[test]
fn slow_start_adds_a_segment_for_each_acknowledgement() {
    trace(plain(Recovery::Sack, 1), None)(&[
        ("syn-ack", "0 cwnd=1"),
        ("ack 1", "1 2 cwnd=2"),
        ("ack 2", "3 4 cwnd=3"),
        // A delayed acknowledgement of two segments still adds one (RFC 5681, 3.1, equation 2).
        ("ack 4", "5 6 7 cwnd=4"),
        // And one of half a segment, half.
        ("octet 4501", "8 cwnd=4.5"),
    ]);
}

#[test]
fn congestion_avoidance_adds_a_segment_for_each_window() {
    trace(plain(Recovery::Reno, 8), None)(&[
        ("syn-ack", "0 1 2 3 4 5 6 7"),
        ("timer", "r0 cwnd=1 ssthresh=4"),
        // The receiver had all but the first: slow start to the threshold.
        ("ack 8", "8 9 cwnd=2"),
        ("ack 10", "10 11 12 cwnd=3"),
        ("ack 13", "13 14 15 16 cwnd=4"),
        // Four segments acknowledged: five; then three and two of five: six.
        ("ack 15", "17 18 cwnd=4"),
        ("ack 17", "19 20 21 cwnd=5"),
        ("ack 20", "22 23 24 cwnd=5"),
        ("ack 22", "25 26 27 cwnd=6"),
    ]);
}

#[test]
fn slow_start_may_count_all_that_is_acknowledged_up_to_the_threshold() {
    let settings = Settings { slow_start: SlowStart::Bytes, ..plain(Recovery::Sack, 8) };
    trace(settings, None)(&[
        ("syn-ack", "0 1 2 3 4 5 6 7"),
        ("timer", "r0 cwnd=1 ssthresh=4"),
        // Of what was outstanding at the timeout, a segment an acknowledgement (RFC 3465, 2.3).
        ("ack 8", "8 9 cwnd=2"),
        // Two to the threshold at most; one that is beyond it counts for congestion avoidance.
        ("ack 10", "10 11 12 13 cwnd=4"),
        ("ack 13", "14 15 16 cwnd=4"),
        ("ack 14", "17 18 cwnd=5"),
    ]);
}

#[test]
fn what_was_sacked_before_does_not_let_the_window_grow() {
    for end in [RecoveryEnd::Threshold, RecoveryEnd::Counted, RecoveryEnd::News] {
        let settings = Settings { slow_start: SlowStart::Bytes, recovery_end: end, ..plain(Recovery::Sack, 8) };
        trace(settings, None)(&[
            ("syn-ack", "0 1 2 3 4 5 6 7"),
            ("ack 0 sack 1", ""),
            ("ack 0 sack 1-2", ""),
            ("ack 0 sack 1-3", "r0 cwnd=4 ssthresh=4"),
            ("ack 0 sack 1-4", ""),
            ("ack 0 sack 1-5", "8"),
            ("ack 0 sack 1-6", "9"),
            ("ack 0 sack 1-7", "10"),
            ("ack 0 sack 1-8", "11"),
            ("ack 0 sack 1-9", "12"),
            ("ack 0 sack 1-10", "13"),
            ("timer", "r0 cwnd=1 ssthresh=2"),
            // Ten of eleven segments were SACKed: one is news.
            ("ack 11", "r11 r12 cwnd=2"),
        ]);
    }
}

#[test]
fn the_end_of_a_recovery_may_count_what_it_acknowledges_and_what_was_counted_before() {
    for end in [RecoveryEnd::Threshold, RecoveryEnd::Counted, RecoveryEnd::News] {
        let settings = Settings { recovery_end: end, ..plain(Recovery::Sack, 8) };
        // The eight segments that the last acknowledgement covers are two windows of four; only the first of them is news.
        let more = if end == RecoveryEnd::Counted { "11 12 13 cwnd=6" } else { "11 cwnd=4" };
        let next = match end {
            RecoveryEnd::Threshold => ("ack 11", "12 13 14 cwnd=4"),
            RecoveryEnd::Counted => ("ack 11", "14 15 16 cwnd=6"),
            // Three and the one before are a window.
            RecoveryEnd::News => ("ack 11", "12 13 14 15 cwnd=5"),
        };
        let steps = [
            ("open", "SYN"),
            ("syn-ack", "0 1 2 3 4 5 6 7"),
            ("ack 0 sack 1", ""),
            ("ack 0 sack 1-2", ""),
            ("ack 0 sack 1-3", "r0 cwnd=4"),
            ("ack 0 sack 1-4", ""),
            ("ack 0 sack 1-5", "8"),
            ("ack 0 sack 1-6", "9"),
            ("ack 0 sack 1-7", "10"),
            ("ack 8", more),
            next,
        ];
        run(settings, None, &steps);
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    run(
        plain(Recovery::Sack, 4),
        Some(2000),
        &[("open", "SYN"), ("syn-ack", "0 1"), ("ack 2", "cwnd=4"), ("supply 1000", "2"), ("ack 3", "cwnd=4")],
    );
}

#[test]
fn a_sender_that_was_idle_for_longer_than_the_timeout_starts_anew() {
    let steps = [
        ("open", "SYN"),
        ("syn-ack", "0 1"),
        ("ack 1", "2 3 cwnd=3"),
        ("ack 2", "4 5 cwnd=4"),
        ("ack 6", "cwnd=4"),
        ("wait 800", "cwnd=4"),
        ("supply 1000", "6 cwnd=4"),
        ("ack 7", "cwnd=4"),
        ("wait 1000", ""),
        ("supply 9000", "7 8 cwnd=2"),
    ];
    run(plain(Recovery::Sack, 2), Some(6000), &steps);
}

#[test]
fn no_more_than_the_receivers_window_is_sent() {
    let settings = Settings { advertised_window: Bytes::new(2000), ..plain(Recovery::Sack, 10) };
    trace(settings, None)(&[
        ("syn-ack", "0 1"),
        // Half of the largest window may be sent, less not (RFC 9293, 3.8.6.2.1).
        ("octet 501", ""),
        ("octet 1001", "2"),
        ("ack 3", "3 4 cwnd=10"),
    ]);
}

#[test]
fn a_closed_window_is_probed_with_a_doubled_wait_until_it_opens() {
    let sender = trace(plain(Recovery::Sack, 2), None)(&[
        ("syn-ack window 1000", "0"),
        ("ack 1 window 0", "deadline=1000"),
        ("timer", "1:1 deadline=2000"),
        ("ack 1 window 0", "deadline=1900"),
        ("timer", "r1:1 deadline=4000"),
        ("ack 1 window 0", ""),
        ("ack 1 window 5000", "r1 2 deadline=1000"),
    ]);
    assert_eq!((sender.counts.timeouts, sender.counts.retransmits), (0, 0));
}

#[test]
fn a_probe_that_is_taken_moves_the_window() {
    trace(plain(Recovery::Sack, 2), Some(2000))(&[
        ("syn-ack window 0", "ACK deadline=1000"),
        ("timer", "0:1"),
        ("octet 2 window 0", ""),
        ("timer", "0:1"),
        ("octet 3 window 4000", "0 1:998"),
    ]);
}

#[test]
fn a_window_that_never_opens_is_probed_once_a_minute() {
    let settings = Settings { advertised_window: Bytes::new(0), ..plain(Recovery::Sack, 2) };
    let steps = [("open", "SYN"), ("syn-ack", "ACK"), ("timer", "0:1")].into_iter();
    let probes = std::iter::repeat_n(("timer", "r0:1"), 8).chain([("timer", "r0:1 deadline=60000")]);
    run(settings, None, &steps.chain(probes).collect::<Vec<_>>());
}

#[test]
fn at_most_two_handovers_are_below_tcp() {
    let settings = Settings { small_queue: Some(Duration::from_millis(8)), ..plain(Recovery::Sack, 40) };
    let mut sender = Sender::new(&settings);
    sender.supply(None);
    sender.open(Instant::ZERO);
    assert!(sender.next(Instant::ZERO).is_some_and(|syn| syn.syn));
    let now = Instant::ZERO + Duration::from_millis(100);
    let window = 1_000_000;
    sender.receive(now, &Segment { syn: true, ack: Some(1), window, ..Segment::default() });
    let sent = |sender: &mut Sender| std::iter::from_fn(|| sender.next(now)).filter(|one| one.length > 0).count();
    // In slow start 40 segments per 100 ms are paced at twice that: six whole segments in 8 ms.
    assert_eq!(sent(&mut sender), 12);
    assert!(sender.left(1000));
    assert_eq!(sent(&mut sender), 1);
    assert!(sender.left(1000) && !sender.left(1000));
    assert_eq!(sent(&mut sender), 2);
}
