//! Tests of fast retransmit and recovery in three flavours, limited transmit, timeouts, and Karn's rule.

use super::trace::{plain, run, trace};
use crate::transport::tcp::sender::Sender;
use crate::transport::tcp::*;
use Recovery::{NewReno, Reno, Sack};

type Steps<'s> = &'s [(&'static str, &'static str)];

/// A trace that begins with the handshake and a first window of eight.
fn eight(recovery: Recovery) -> impl Fn(Steps) -> Sender {
    after(recovery, 8, "0 1 2 3 4 5 6 7")
}

fn ten(recovery: Recovery) -> impl Fn(Steps) -> Sender {
    after(recovery, 10, "0 1 2 3 4 5 6 7 8 9")
}

fn after(recovery: Recovery, initial: u32, window: &'static str) -> impl Fn(Steps) -> Sender {
    move |steps| run(plain(recovery, initial), None, &[&[("open", "SYN"), ("syn-ack", window)], steps].concat())
}

#[test]
fn without_sack_the_third_duplicate_repeats_the_first_segment_and_inflates_the_window() {
    for recovery in [Reno, NewReno] {
        let sender = eight(recovery)(&[
            ("ack 0", ""),
            ("ack 0", "cwnd=8"),
            ("ack 0", "r0 cwnd=7 ssthresh=4"),
            ("ack 0", "cwnd=8"),
            ("ack 0", "8 cwnd=9"),
            ("ack 0", "9 cwnd=10"),
            ("ack 0", "10 cwnd=11"),
            ("ack 8", "11 cwnd=4"),
        ]);
        assert_eq!((sender.counts.recoveries, sender.counts.retransmits), (1, 1));
    }
}

#[test]
fn with_sack_the_pipe_says_what_may_be_sent() {
    eight(Sack)(&[
        ("ack 0 sack 1", ""),
        ("ack 0 sack 1-2", ""),
        ("ack 0 sack 1-3", "r0 cwnd=4 ssthresh=4"),
        // In the pipe: r0, 5, 6, 7.
        ("ack 0 sack 1-4", ""),
        ("ack 0 sack 1-5", "8"),
        ("ack 0 sack 1-6", "9"),
        ("ack 0 sack 1-7", "10"),
        ("ack 8", "11 cwnd=4"),
    ]);
}

#[test]
fn reno_meets_two_losses_with_a_timeout() {
    eight(Reno)(&[
        ("ack 0", ""),
        ("ack 0", ""),
        ("ack 0", "r0"),
        ("ack 0", ""),
        ("ack 0", "8"),
        ("ack 0", "9"),
        // Recovery ends with the first new acknowledgement, and too few segments are on the way for another.
        ("ack 2", "cwnd=4 deadline=1000"),
        ("ack 2", ""),
        ("ack 2", ""),
        ("timer", "r2 cwnd=1 ssthresh=2"),
        ("ack 10", "10 11 cwnd=2"),
    ]);
}

#[test]
fn newreno_repeats_the_second_loss_on_a_partial_acknowledgement() {
    eight(NewReno)(&[
        ("ack 0", ""),
        ("ack 0", ""),
        ("ack 0", "r0"),
        ("ack 0", ""),
        ("ack 0", "8"),
        ("ack 0", "9 cwnd=10"),
        ("ack 2", "r2 10 cwnd=9"),
        ("ack 2", "11"),
        ("ack 2", "12"),
        ("ack 10", "13 cwnd=4"),
    ]);
}

#[test]
fn sack_repeats_two_losses_in_one_round_trip() {
    eight(Sack)(&[
        ("ack 0 sack 1", ""),
        ("ack 0 sack 3 1", ""),
        ("ack 0 sack 3-4 1", "r0 cwnd=4"),
        ("ack 0 sack 3-5 1", "r2"),
        ("ack 0 sack 3-6 1", "8"),
        ("ack 0 sack 3-7 1", "9"),
        ("ack 2 sack 3-7", "10"),
        ("ack 8", "11 cwnd=4"),
    ]);
}

#[test]
fn reno_meets_four_losses_with_go_back_n() {
    ten(Reno)(&[
        ("ack 0", ""),
        ("ack 0", ""),
        ("ack 0", "r0 cwnd=8"),
        ("ack 0", ""),
        ("ack 0", ""),
        ("ack 0", "10"),
        ("ack 1", "cwnd=5"),
        ("ack 1", ""),
        ("timer", "r1 cwnd=1 ssthresh=2.5"),
        ("ack 2", "r2 r3 cwnd=2"),
        ("ack 3", "r4 r5 cwnd=3"),
        ("ack 11", "11 12 13 14 cwnd=4"),
        // Duplicates that the needless repetitions cause start no fast retransmit.
        ("ack 11", ""),
        ("ack 11", ""),
        ("ack 11", "cwnd=4"),
    ]);
}

#[test]
fn newreno_repeats_one_of_four_losses_each_round_trip() {
    ten(NewReno)(&[
        ("ack 0", ""),
        ("ack 0", ""),
        ("ack 0", "r0 cwnd=8"),
        ("ack 0", ""),
        ("ack 0", ""),
        ("ack 0", "10 cwnd=11"),
        ("ack 1", "r1 11 cwnd=11"),
        ("ack 1", "12"),
        ("ack 2", "r2 13"),
        ("ack 2", "14"),
        ("ack 2", "15"),
        ("ack 3", "r3 16 cwnd=14"),
        ("ack 3", "17"),
        ("ack 3", "18"),
        ("ack 3", "19"),
        ("ack 16", "20 cwnd=5"),
    ]);
}

#[test]
fn sack_repeats_four_losses_in_one_round_trip() {
    ten(Sack)(&[
        ("ack 0 sack 4", ""),
        ("ack 0 sack 4-5", ""),
        ("ack 0 sack 4-6", "r0 r1 cwnd=5"),
        ("ack 0 sack 4-7", "r2"),
        ("ack 0 sack 4-8", "r3"),
        ("ack 0 sack 4-9", "10"),
        ("ack 1 sack 4-9", "11"),
        ("ack 2 sack 4-9", "12"),
        ("ack 3 sack 4-9", "13"),
        ("ack 10", "14 cwnd=5"),
    ]);
}

#[test]
fn many_octets_above_the_first_segment_show_its_loss_before_the_third_duplicate() {
    // Acknowledgements were lost: the first to come reports three segments (RFC 6675, section 5, step 2).
    eight(Sack)(&[("ack 0 sack 1-3", "r0 cwnd=4")]);
}

#[test]
fn a_lost_repetition_takes_a_timeout() {
    let sender = eight(Sack)(&[
        ("ack 0 sack 1", ""),
        ("ack 0 sack 1-2", ""),
        ("ack 0 sack 1-3", "r0 cwnd=4"),
        ("ack 0 sack 1-4", ""),
        ("ack 0 sack 1-5", "8"),
        ("ack 0 sack 1-6", "9"),
        ("ack 0 sack 1-7", "10"),
        ("ack 0 sack 1-8", "11"),
        ("ack 0 sack 1-9", "12"),
        ("ack 0 sack 1-10", "13"),
        // The threshold falls a second time (RFC 5681, 4.3); what was SACKed is not repeated.
        ("timer", "r0 cwnd=1 ssthresh=2 deadline=2000"),
        ("ack 11", "r11 r12 cwnd=2"),
        ("ack 13", "r13 14 15 cwnd=3"),
        ("ack 14", "16 cwnd=3"),
    ]);
    assert_eq!(sender.counts.timeouts, 1);
}

#[test]
fn without_new_data_a_doubtful_hole_is_repeated_and_then_the_last_once() {
    // Rules (3) and (4) of NextSeg; segments 0 and 4 are lost.
    trace(plain(Sack, 6), Some(6000))(&[
        ("syn-ack", "0 1 2 3 4 5"),
        ("ack 0 sack 1", ""),
        ("ack 0 sack 1-2", ""),
        ("ack 0 sack 1-3", "r0 cwnd=3"),
        ("ack 0 sack 5 1-3", "r4"),
        ("ack 4 sack 5", "r4"),
        ("ack 4 sack 5", ""),
        ("ack 6", "deadline=never"),
    ]);
}

#[test]
fn a_loss_at_the_end_is_rescued_after_the_first_repetition_has_arrived() {
    trace(plain(Sack, 6), Some(6000))(&[
        ("syn-ack", "0 1 2 3 4 5"),
        ("ack 0 sack 1", ""),
        ("ack 0 sack 1-2", ""),
        ("ack 0 sack 1-3", "r0"),
        ("ack 0 sack 1-4", ""),
        ("ack 5", "r5"),
        ("ack 6", "deadline=never"),
    ]);
}

#[test]
fn limited_transmit_keeps_a_small_window_out_of_a_timeout() {
    for recovery in [Reno, NewReno] {
        let settings = Settings { limited_transmit: true, ..plain(recovery, 3) };
        trace(settings, None)(&[
            ("syn-ack", "0 1 2"),
            ("ack 0", "3 cwnd=3"),
            ("ack 0", "4 cwnd=3"),
            // The two do not count for the threshold: three outstanding, and two is the least.
            ("ack 0", "r0 cwnd=5 ssthresh=2"),
            ("ack 0", "5 cwnd=6"),
            ("ack 5", "6 cwnd=2"),
        ]);
    }
    let settings = Settings { limited_transmit: true, ..plain(Sack, 3) };
    trace(settings, None)(&[
        ("syn-ack", "0 1 2"),
        ("ack 0 sack 1", "3"),
        ("ack 0 sack 1-2", "4"),
        ("ack 0 sack 1-3", "r0 cwnd=2 ssthresh=2"),
        ("ack 0 sack 1-4", "5"),
        ("ack 5", "6 cwnd=2"),
    ]);
}

#[test]
fn without_limited_transmit_a_window_of_three_waits_for_the_timer() {
    trace(plain(Sack, 3), None)(&[
        ("syn-ack", "0 1 2"),
        ("ack 0 sack 1", ""),
        ("ack 0 sack 1-2", "deadline=800"),
        ("timer", "r0 cwnd=1 ssthresh=2"),
        ("ack 3", "3 4 cwnd=2"),
    ]);
}

#[test]
fn newreno_restarts_the_timer_on_the_first_partial_acknowledgement_only() {
    ten(NewReno)(&[
        ("ack 0", ""),
        ("ack 0", ""),
        ("ack 0", "r0 deadline=1000"),
        ("ack 1", "r1 deadline=1000"),
        ("ack 2", "r2 deadline=900"),
    ]);
}

#[test]
fn newreno_needs_more_acknowledged_than_its_last_recovery_to_begin_another() {
    eight(NewReno)(&[
        ("ack 0", ""),
        ("ack 0", ""),
        ("ack 0", "r0"),
        ("ack 8", "8 9 cwnd=2"),
        ("ack 8", ""),
        ("ack 8", ""),
        ("ack 8", "cwnd=2"),
    ]);
}

#[test]
fn a_timeout_doubles_and_the_threshold_is_held() {
    eight(Sack)(&[
        ("timer", "r0 cwnd=1 ssthresh=4 deadline=2000"),
        ("timer", "r0 cwnd=1 ssthresh=4 deadline=4000"),
        // Karn: nothing is measured of what was repeated, and the back-off stays; then it ends.
        ("ack 8", "8 9 cwnd=2 deadline=4000"),
        ("ack 9", "10 11 cwnd=3 rto=1000"),
    ]);
}

#[test]
fn timestamps_measure_repetitions_too() {
    let settings = Settings { timestamps: true, ..plain(Sack, 1) };
    run(settings, None, &[("open", "SYN"), ("syn-ack", "0"), ("timer", "r0 rto=2000"), ("ack 1", "1 2 rto=1000")]);
}

#[test]
fn a_receiver_that_drops_what_it_had_reported_is_served_again() {
    trace(plain(Sack, 4), None)(&[
        ("syn-ack", "0 1 2 3"),
        ("ack 0 sack 1", ""),
        ("ack 1", "4 5"),
        ("timer", "r1"),
        ("ack 2", "r2 r3"),
    ]);
}

#[test]
fn nonsense_changes_nothing() {
    let sender = eight(Sack)(&[
        ("ack 9", ""),
        ("ack 0 sack 8 9-20", ""),
        ("ack 0 sack 0 7-30", ""),
        ("ack 0 sack 4-2", ""),
        ("ack 0 sack 900", ""),
        ("ack 0", ""),
        ("ack 0", "cwnd=8"),
    ]);
    assert_eq!(sender.counts.recoveries, 0);
}
