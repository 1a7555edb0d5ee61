//! Tests of RACK-TLP (RFC 8985): losses and lost repetitions found by time, tail loss probes, and its timer.

use super::trace::{plain, run, trace};
use crate::config::LossDetection;
use crate::transport::tcp::*;

type Steps<'a> = &'a [(&'a str, &'a str)];

fn by_time(initial: u32) -> Settings {
    Settings { loss_detection: LossDetection::RackTlp, limited_transmit: true, ..plain(Recovery::Sack, initial) }
}

/// The handshake, of which the round-trip time of 100 ms is known, a first window of eight, and what follows.
fn eight(then: Steps) -> Sender {
    let first = [("open", "SYN deadline=1000"), ("syn-ack", "0 1 2 3 4 5 6 7 deadline=200")];
    run(by_time(8), None, &first.into_iter().chain(then.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn one_segment_that_came_shows_the_loss_of_those_before_it_after_a_quarter_of_the_round_trip() {
    eight(&[("ack 0 sack 1", "8 deadline=25"), ("timer", "r0 cwnd=4 ssthresh=4")]);
}

#[test]
fn three_segments_that_came_show_it_at_once() {
    eight(&[("ack 0 sack 1-3", "r0 cwnd=4")]);
}

#[test]
fn after_reordering_three_segments_are_not_enough() {
    let sender = eight(&[
        ("ack 0 sack 1", "8 deadline=25"),
        // It was late: what came first was sent after it.
        ("ack 2", "9 10 cwnd=9"),
        ("ack 2 sack 3-5", "11 12 13 deadline=25"),
    ]);
    assert_eq!(sender.counts.recoveries, 0);
}

#[test]
fn a_lost_repetition_is_repeated_and_halves_the_window_again() {
    let sender = eight(&[
        ("ack 0 sack 1-3", "r0 cwnd=4 ssthresh=4 deadline=1000"),
        ("ack 0 sack 1-4", "deadline=900"),
        ("ack 0 sack 1-5", "8"),
        ("ack 0 sack 1-6", "9"),
        ("ack 0 sack 1-7", "10 deadline=600"),
        // Segment 8 was sent after the repetition, which has not come. Two segments are still in the network.
        ("ack 0 sack 1-8", "cwnd=2 ssthresh=2"),
        ("ack 0 sack 1-9", "r0 deadline=1000"),
        ("ack 0 sack 1-10", "11"),
        ("ack 11", "12 cwnd=2"),
    ]);
    assert_eq!((sender.counts.timeouts, sender.counts.recoveries), (0, 1));
}

#[test]
fn only_a_repetition_of_the_first_segment_arms_the_timer_again() {
    for detection in [LossDetection::RackTlp, LossDetection::DuplicateAcks] {
        let settings = Settings { loss_detection: detection, ..by_time(10) };
        trace(settings, None)(&[
            ("syn-ack", "0 1 2 3 4 5 6 7 8 9"),
            ("ack 0 sack 4-6", "r0 r1 deadline=1000"),
            ("ack 0 sack 4-7", "r2 deadline=900"),
            ("ack 0 sack 4-8", "r3 deadline=800"),
            ("ack 1 sack 4-9", "10 11 deadline=1000"),
        ]);
    }
}

#[test]
fn where_nothing_comes_back_the_last_segment_is_sent_again_and_shows_the_others_losses() {
    let sender = trace(by_time(3), Some(3000))(&[
        ("syn-ack", "0 1 2 deadline=200"),
        ("timer", "r2 deadline=1000"),
        ("ack 0 sack 2", "r0 r1 cwnd=2"),
        ("ack 3", "deadline=never"),
    ]);
    assert_eq!((sender.counts.probes, sender.counts.timeouts, sender.counts.recoveries), (1, 0, 1));
}

#[test]
fn a_probe_is_of_new_data_if_there_are_any_whatever_the_window() {
    let sender = trace(by_time(2), None)(&[
        ("syn-ack", "0 1 deadline=200"),
        ("timer", "2 cwnd=2 deadline=1000"),
        // A round-trip time of 300 ms is news: the smoothed one is 125 ms.
        ("ack 3", "3 4 5 cwnd=3 deadline=250"),
    ]);
    assert_eq!((sender.counts.probes, sender.counts.retransmits), (1, 0));
}

#[test]
fn a_single_segment_is_given_the_time_of_a_delayed_acknowledgement() {
    run(by_time(1), Some(1000), &[("open", "SYN"), ("syn-ack", "0 deadline=400")]);
}

#[test]
fn a_probe_never_comes_after_the_timeout() {
    let settings = Settings { rto_min: units::Duration::from_millis(50), ..by_time(1) };
    // SRTT 100 ms, RTTVAR 50 ms: a timeout of 300 ms.
    run(settings, Some(1000), &[("open", "SYN"), ("syn-ack", "0 deadline=300"), ("timer", "r0 deadline=300")]);
}

#[test]
fn a_loss_that_only_the_probe_mended_is_a_sign_of_congestion_unless_both_came() {
    let last = |answer: &'static str, cwnd: &'static str| {
        trace(by_time(4), Some(4000))(&[
            ("syn-ack", "0 1 2 3 deadline=200"),
            ("ack 3", "deadline=400"),
            ("timer", "r3"),
            (answer, "deadline=never"),
            ("supply 1000", "4"),
            ("ack 5", cwnd),
        ]);
    };
    last("ack 4", "cwnd=2");
    last("ack 4 sack 3", "cwnd=4");
}

#[test]
fn a_timeout_repeats_what_is_overdue_and_leaves_the_rest_in_the_network() {
    eight(&[("timer", "8 deadline=1000"), ("timer", "r0 cwnd=1 ssthresh=4 deadline=2000"), ("ack 9", "9 10 cwnd=2")]);
}

#[test]
fn a_repetition_that_is_lost_again_after_a_timeout_begins_a_recovery() {
    let sender = eight(&[
        ("timer", "8"),
        ("timer", "r0 cwnd=1 ssthresh=4"),
        ("ack 1", "r1 r2 cwnd=2"),
        // Both were sent at once, and only the second has come.
        ("ack 1 sack 2", "r1 r3 cwnd=2 ssthresh=2"),
    ]);
    assert_eq!((sender.counts.timeouts, sender.counts.recoveries), (1, 1));
}
