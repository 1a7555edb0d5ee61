use super::*;
use units::{Bytes, Instant};

#[test]
fn a_transfer_arrives_once_and_ends() {
    let settings = Settings { segment: Bytes::new(100), ..Settings::default() };
    let (mut sender, mut receiver) = (Sender::new(&settings), Receiver::new(&settings));
    sender.supply(Some(12_345));
    sender.close();
    sender.open(Instant::ZERO);
    let mut arrived = 0;
    while !sender.done() {
        let mut moved = false;
        while let Some(segment) = sender.next(Instant::ZERO) {
            arrived += receiver.receive(Instant::ZERO, &segment, false);
            moved = true;
        }
        while let Some(segment) = receiver.next(Instant::ZERO) {
            sender.receive(Instant::ZERO, &segment);
        }
        assert!(moved, "neither end has anything to send");
    }
    assert_eq!(arrived, 12_345);
    assert_eq!(sender.counts().retransmits, 0);
}
