//! BQM at both ends (BQM thesis, chapter 3): Table 3.1 by traces, and what is reported.

use super::trace::{plain, run, trace};
use crate::config::bqm::{Threshold, WirelessLoss};
use crate::transport::tcp::*;
use units::{Bytes, Instant};

/// Segment `k` of a trace is packet `k + 1`: segments 1 and 9 have priority 0, segment 5 has 1, segments 3 and 7 have 2.
fn with(bqm: bqm::Settings) -> Settings {
    Settings { congestion: Congestion::Bqm, bqm: Some(bqm), ..plain(Recovery::NewReno, 16) }
}

/// Window and threshold after the loss of the first of sixteen segments with this report.
fn after(bqm: bqm::Settings, report: &str) -> (f64, f64) {
    // The receiver's window keeps back what fast recovery would let go.
    let settings = Settings { advertised_window: Bytes::new(16_000), ..with(bqm) };
    let third = format!("ack 0 {report}");
    let duplicates = [third.as_str(); 3];
    let mut steps = vec![("open", "SYN"), ("syn-ack", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15")];
    steps.extend([(duplicates[0], ""), (duplicates[1], ""), (duplicates[2], "r0")]);
    let sender = run(settings, None, &steps);
    // Fast recovery adds the three segments that have left the network.
    (sender.cwnd() as f64 / 1000.0 - 3.0, sender.ssthresh() as f64 / 1000.0)
}

#[test]
fn the_window_falls_as_table_3_1_says() {
    let bqm = bqm::Settings::default();
    let falls = [0, 1, 2, 3].map(|reached| after(bqm, &format!("report {reached}")));
    assert_eq!(falls, [(14.0, 14.0), (12.0, 12.0), (8.0, 8.0), (4.0, 4.0)]);
    let half = bqm::Settings { threshold: Threshold::Half, ..bqm };
    let falls = [0, 1, 2, 3].map(|reached| after(half, &format!("report {reached}")));
    assert_eq!(falls, [(14.0, 8.0), (12.0, 8.0), (8.0, 8.0), (4.0, 8.0)]);
}

#[test]
fn a_loss_that_is_not_by_congestion_takes_one_packet_or_none() {
    let bqm = bqm::Settings::default();
    let none = bqm::Settings { wireless_loss: WirelessLoss::None, ..bqm };
    // In slow start the threshold stays where it is: beyond all windows.
    let unbounded = u64::MAX as f64 / 1000.0;
    assert_eq!(after(bqm, "wireless"), (15.0, unbounded));
    assert_eq!(after(none, "wireless"), (16.0, unbounded));
}

#[test]
fn a_loss_without_a_report_counts_as_reno_has_it() {
    assert_eq!(after(bqm::Settings::default(), ""), (8.0, 8.0));
}

#[test]
fn a_recovery_ends_with_the_window_that_the_reaction_left() {
    let half = bqm::Settings { threshold: Threshold::Half, ..bqm::Settings::default() };
    trace(with(half), None)(&[
        ("syn-ack", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"),
        ("ack 0 report 0", ""),
        ("ack 0 report 0", ""),
        ("ack 0 report 0", "r0 16 cwnd=17"),
        ("ack 0 report 0", "17 cwnd=18"),
        // No more than what is outstanding and one (RFC 6582, 3.2).
        ("ack 16", "18 cwnd=3"),
    ]);
}

#[test]
fn one_duplicate_is_enough_for_a_packet_of_priority_0() {
    let single = bqm::Settings { single_duplicate: true, ..bqm::Settings::default() };
    let steps = [("open", "SYN"), ("syn-ack", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"), ("ack 1", "16 17")];
    let then = |settings, told, expected| {
        let mut steps = steps.to_vec();
        steps.push((told, expected));
        run(with(settings), None, &steps);
    };
    then(single, "ack 1 report 0", "r1 cwnd=15.875");
    then(bqm::Settings::default(), "ack 1 report 0", "cwnd=17");
    // Segment 0 has priority 3.
    let mut others = steps[..2].to_vec();
    others.push(("ack 0 report 0", "cwnd=16"));
    run(with(single), None, &others);
}

#[test]
fn packets_of_priority_0_are_repeated_at_once_after_several_losses() {
    // Segments 1, 5 and 9 are lost: the first partial acknowledgement shows it.
    let steps = |partial: &'static str, next: &'static str| {
        vec![
            ("open", "SYN"),
            ("syn-ack", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"),
            ("ack 1", "16 17"),
            ("ack 1 report 0", ""),
            ("ack 1 report 0", ""),
            ("ack 1 report 0", "r1"),
            ("ack 5 report 1", partial),
            ("ack 9 report 1", next),
        ]
    };
    let at_once = bqm::Settings { lowest_at_once: true, ..bqm::Settings::default() };
    run(with(at_once), None, &steps("r5 r9 r17 18", "r9 19"));
    run(with(bqm::Settings::default()), None, &steps("r5 18", "r9 19"));
    // A timeout ends it.
    let mut timed_out = steps("r5 r9 r17 18", "")[..7].to_vec();
    timed_out.push(("timer", "r5"));
    run(with(at_once), None, &timed_out);
}

/// A receiver that gets these segments of a connection; returns the report of its last acknowledgement.
fn reported(settings: &Settings, segments: &[u64]) -> Option<Report> {
    let mut receiver = Receiver::new(settings);
    receiver.receive(Instant::ZERO, &Segment { syn: true, ..Segment::default() }, false);
    receiver.next(Instant::ZERO);
    let answer = |segment: &u64| {
        let segment = Segment { start: 1 + 1000 * segment, length: 1000, ack: Some(1), ..Segment::default() };
        receiver.receive(Instant::ZERO, &segment, false);
        receiver.next(Instant::ZERO)
    };
    segments.iter().filter_map(answer).last().and_then(|answer| answer.report)
}

#[test]
fn a_receiver_reports_what_is_missing_below_the_highest_that_came() {
    let settings = with(bqm::Settings::default());
    let congestion = |reached| Some(Report::Congestion { reached });
    // Segment 1, of priority 0, is missing; then segment 5, of priority 1, too; then 3, 4 and 5 in a row.
    assert_eq!(reported(&settings, &[0, 2]), congestion(0));
    assert_eq!(reported(&settings, &[0, 2, 3, 4, 6]), congestion(1));
    // Of four missing ones, one of priority 0 in four is more than twice its share of an eighth.
    assert_eq!(reported(&settings, &[0, 2, 4, 6, 8]), congestion(2));
    assert_eq!(reported(&settings, &[0, 1, 2, 6]), congestion(3));
    // Segment 3 alone, and nothing where all is in order.
    assert_eq!(reported(&settings, &[0, 1, 2, 4]), Some(Report::Wireless));
    assert_eq!(reported(&settings, &[0, 1, 3, 2]), None);
    assert_eq!(reported(&Settings { congestion: Congestion::Reno, ..settings }, &[0, 2]), None);
}
