//! Tests of Prague: the ends count marks, and the sender reacts to their share.

use super::trace::{plain, trace};
use crate::transport::tcp::*;
use queue::Ecn;
use units::Instant;

fn prague() -> Settings {
    Settings { congestion: Congestion::Prague, ecn: true, ..plain(Recovery::Sack, 8) }
}

#[test]
fn marks_reduce_the_window_by_half_their_average_share_once_a_round_trip() {
    let sender = trace(prague(), None)(&[
        ("syn-ack ece", "0 1 2 3 4 5 6 7"),
        // One segment more in slow start, and the average begins at 1: half of 9. Then it is 1 + (1/2 - 1) / 16.
        ("ack 2 marked 1", "cwnd=4.5 ssthresh=4.5"),
        // The same round trip: growth alone, by 1000 * 1000 / 4500 for the one that was not marked.
        ("ack 4 marked 2", "cwnd=4.722"),
        ("ack 6 marked 4", "8 9 cwnd=4.722"),
        // The next one: 4722 + 211 and, with the fractions before it, 4934; times 1 - 0.96875 / 2.
        ("ack 8 marked 5", "cwnd=2.544 ssthresh=2.544"),
    ]);
    assert_eq!((sender.counts.marks, sender.counts.halvings), (2, 1));
}

#[test]
fn a_loss_halves_the_window_whatever_marks_have_done() {
    trace(prague(), None)(&[
        ("syn-ack ece", "0 1 2 3 4 5 6 7"),
        ("ack 1 marked 1", "cwnd=4 ssthresh=4"),
        ("ack 1 sack 2", "cwnd=4"),
        ("ack 1 sack 2-3", "cwnd=4"),
        ("ack 1 sack 2-4", "r1 cwnd=2 ssthresh=2"),
        // In the recovery marks are counted but reduce nothing more.
        ("ack 8 marked 3", "8 9 cwnd=2"),
    ]);
}

#[test]
fn an_echo_of_another_kind_of_ecn_and_a_count_that_falls_change_nothing() {
    trace(prague(), None)(&[
        ("syn-ack ece", "0 1 2 3 4 5 6 7"),
        ("ack 4 marked 2", "cwnd=4.5"),
        ("ack 5 marked 1", "8 cwnd=4.722"),
        ("ack 8 ece marked 2", "9 10 11 12 cwnd=5.357"),
    ]);
}

#[test]
fn a_receiver_counts_the_octets_that_arrive_marked_and_echoes_nothing() {
    let (mut sender, mut receiver) = (Sender::new(&prague()), Receiver::new(&prague()));
    sender.supply(None);
    sender.open(Instant::ZERO);
    let syn = sender.next(Instant::ZERO).unwrap();
    receiver.receive(Instant::ZERO, &syn, false);
    let answer = receiver.next(Instant::ZERO).unwrap();
    assert_eq!([syn.ecn, answer.ecn], [Ecn::NotEct; 2]);
    sender.receive(Instant::ZERO, &answer);
    let mut counts = Vec::new();
    for (number, segment) in std::iter::from_fn(|| sender.next(Instant::ZERO)).enumerate() {
        assert_eq!(segment.ecn, Ecn::Ect1);
        receiver.receive(Instant::ZERO, &segment, number % 3 == 1);
        let acks = std::iter::from_fn(|| receiver.next(Instant::ZERO));
        counts.extend(acks.map(|ack| (ack.marked, ack.ece, ack.header().count())));
    }
    assert_eq!(counts, [1000, 1000, 2000, 3000].map(|marked| (marked, false, 20)));
    sender.expire(sender.deadline());
    assert_eq!(
        sender.next(Instant::ZERO).map(|again| again.ecn),
        Some(Ecn::Ect1),
        "what is repeated can be marked too"
    );
}
