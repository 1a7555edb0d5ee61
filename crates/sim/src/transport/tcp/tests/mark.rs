//! Tests of explicit congestion notification (RFC 3168).

use super::trace::{plain, run, trace};
use crate::transport::tcp::*;
use queue::Ecn;
use units::Instant;

fn ecn() -> Settings {
    Settings { ecn: true, ..plain(Recovery::Sack, 8) }
}

#[test]
fn a_mark_halves_the_window_once_a_window_and_the_sender_says_so() {
    let sender = trace(ecn(), None)(&[
        ("syn-ack ece", "0 1 2 3 4 5 6 7"),
        // Eight were outstanding: four.
        ("ack 1 ece", "cwnd=4 ssthresh=4"),
        ("ack 4 ece", "cwnd=4"),
        ("ack 5", "8! cwnd=4"),
        // All that was outstanding then is acknowledged: the next mark counts.
        ("ack 8 ece", "9! cwnd=2 ssthresh=2"),
    ]);
    assert_eq!(sender.counts.marks, 2);
}

#[test]
fn a_loss_in_a_window_that_was_marked_reduces_it_no_further() {
    trace(ecn(), None)(&[
        ("syn-ack ece", "0 1 2 3 4 5 6 7"),
        ("ack 1 ece", "cwnd=4"),
        ("ack 1 sack 2", "cwnd=4"),
        ("ack 1 sack 2-3", "cwnd=4"),
        ("ack 1 sack 2-4", "r1 cwnd=4 ssthresh=4"),
    ]);
}

#[test]
fn without_the_receivers_consent_there_is_no_ecn() {
    run(ecn(), None, &[("open", "SYN"), ("syn-ack", "0 1 2 3 4 5 6 7"), ("ack 1 ece", "8 9 cwnd=9")]);
    run(plain(Recovery::Sack, 1), None, &[("open", "SYN"), ("syn-ack ece", "0"), ("ack 1 ece", "1 2 cwnd=2")]);
}

#[test]
fn only_new_data_may_be_marked() {
    let (mut sender, mut receiver) = (Sender::new(&ecn()), Receiver::new(&ecn()));
    sender.supply(None);
    sender.open(Instant::ZERO);
    let syn = sender.next(Instant::ZERO).unwrap();
    assert!(syn.ecn == Ecn::NotEct && syn.ece && syn.cwr);
    receiver.receive(Instant::ZERO, &syn, false);
    let answer = receiver.next(Instant::ZERO).unwrap();
    assert!(answer.ecn == Ecn::NotEct && answer.ece && !answer.cwr);
    sender.receive(Instant::ZERO, &answer);
    assert!(std::iter::from_fn(|| sender.next(Instant::ZERO)).all(|segment| segment.ecn == Ecn::Ect0));
    sender.expire(sender.deadline());
    assert_eq!(sender.next(Instant::ZERO).unwrap().ecn, Ecn::NotEct);
}

#[test]
fn a_receiver_echoes_a_mark_until_the_sender_has_reduced_its_window() {
    let mut receiver = Receiver::new(&ecn());
    let syn = Segment { syn: true, ece: true, cwr: true, ..Segment::default() };
    receiver.receive(Instant::ZERO, &syn, false);
    receiver.next(Instant::ZERO);
    let mut echoes = Vec::new();
    for (number, marked, cwr) in
        [(0, false, false), (2, true, false), (4, false, false), (6, false, true), (8, true, true)]
    {
        for offset in 0..2 {
            let start = 1 + 1000 * (number + offset);
            let data = Segment { start, length: 1000, ack: Some(1), cwr: cwr && offset == 0, ..Segment::default() };
            receiver.receive(Instant::ZERO, &data, marked && offset == 0);
        }
        echoes.push(receiver.next(Instant::ZERO).unwrap().ece);
    }
    assert_eq!(echoes, [false, true, true, false, true]);
}
