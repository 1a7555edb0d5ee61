//! Opening, closing, transfers of no octets, and the timers of the SYN (RFC 9293, 3.5; RFC 6298, 5.7; RFC 6928, section 2).

use super::trace::{plain, run, trace};
use crate::transport::tcp::*;
use units::{Bytes, Duration};

#[test]
fn a_transfer_is_opened_sent_and_closed() {
    let opened = [("close", ""), ("open", "SYN"), ("open", ""), ("syn-ack", "0 1 2:500.")];
    let closed = [("ack 2", ""), ("octet 2502", "deadline=never")];
    let sender = run(plain(Recovery::Sack, 3), Some(2500), &[&opened[..], &closed].concat());
    assert!(sender.done());
    assert_eq!(sender.counts, Counts::default());
}

#[test]
fn a_transfer_of_no_octets_is_a_fin_and_done_when_that_is_acknowledged() {
    let sender =
        run(plain(Recovery::Sack, 3), Some(0), &[("close", ""), ("open", "SYN"), ("syn-ack", "0:0."), ("octet 2", "")]);
    assert!(sender.done());
}

#[test]
fn a_connection_without_data_is_acknowledged_and_waits() {
    let sender = trace(plain(Recovery::Sack, 3), Some(0))(&[
        ("syn-ack", "ACK"),
        ("syn-ack", "ACK"),
        ("supply 1000", "0"),
        ("ack 1", ""),
        ("close", "1:0."),
    ]);
    assert!(!sender.done());
}

#[test]
fn a_syn_is_repeated_with_a_doubled_timeout() {
    let mut steps = vec![("open", "SYN deadline=1000"), ("timer", "SYN deadline=2000"), ("timer", "SYN deadline=4000")];
    // More than one SYN was lost: one segment, and three seconds for it.
    steps.extend([("timer", "SYN deadline=8000"), ("syn-ack", "0 cwnd=1 deadline=3000")]);
    run(plain(Recovery::Sack, 10), None, &steps);
}

#[test]
fn one_lost_syn_leaves_the_initial_window_as_it_is() {
    run(plain(Recovery::Sack, 2), None, &[("open", "SYN"), ("timer", "SYN"), ("syn-ack", "0 1 cwnd=2 deadline=3000")]);
}

#[test]
fn before_the_syn_is_answered_nothing_else_counts() {
    run(plain(Recovery::Sack, 2), None, &[("open", "SYN"), ("ack 0", ""), ("ack 7", ""), ("syn-ack", "0 1")]);
}

#[test]
fn a_receiver_repeats_its_syn_until_it_hears_of_the_sender() {
    let settings = plain(Recovery::Sack, 2);
    let mut receiver = Receiver::new(&settings);
    let mut sender = Sender::new(&settings);
    sender.open(units::Instant::ZERO);
    let syn = sender.next(units::Instant::ZERO).unwrap();
    receiver.receive(units::Instant::ZERO, &syn, false);
    let mut times = Vec::new();
    for _ in 0..3 {
        let answer = receiver.next(units::Instant::ZERO).unwrap();
        assert!(answer.syn && answer.ack == Some(1));
        times.push(receiver.deadline().as_nanos() / 1_000_000_000);
        receiver.expire(receiver.deadline());
    }
    assert_eq!(times, [1, 3, 7]);
    let data = Segment { start: 1, length: 1000, ack: Some(1), ..Segment::default() };
    assert_eq!(receiver.receive(units::Instant::ZERO, &data, false), 1000);
    assert!(!receiver.next(units::Instant::ZERO).unwrap().syn);
}

#[test]
fn headers_of_a_connection_have_the_sizes_of_real_ones() {
    let settings = Settings { advertised_window: Bytes::new(4_000_000), ..Settings::default() };
    let (mut sender, mut receiver) = (Sender::new(&settings), Receiver::new(&settings));
    let now = units::Instant::ZERO + Duration::from_millis(1);
    sender.supply(None);
    sender.open(now);
    let syn = sender.next(now).unwrap();
    receiver.receive(now, &syn, false);
    let syn_ack = receiver.next(now).unwrap();
    sender.receive(now, &syn_ack);
    let data: Vec<Segment> = std::iter::from_fn(|| sender.next(now)).collect();
    receiver.receive(now, &data[0], false);
    receiver.receive(now, &data[1], false);
    let ack = receiver.next(now).unwrap();
    receiver.receive(now, &data[3], false);
    let duplicate = receiver.next(now).unwrap();
    let sizes = [syn, syn_ack, data[0], ack, duplicate].map(|segment| segment.header().count());
    assert_eq!(sizes, [40, 40, 32, 32, 44]);
}
