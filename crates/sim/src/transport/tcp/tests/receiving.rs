//! Acknowledgements of a receiver, and their contents (RFC 5681, 4.2; RFC 2018, section 4; RFC 7323, 4.3).

use super::trace::plain;
use crate::transport::tcp::*;
use units::{Duration, Instant};

/// A receiver after the handshake that takes segments by number and shows its output.
struct Desk {
    receiver: Receiver,
    now: Instant,
}

impl Desk {
    fn new(settings: &Settings) -> Self {
        let mut receiver = Receiver::new(settings);
        receiver.receive(Instant::ZERO, &Segment { syn: true, ..Segment::default() }, false);
        receiver.next(Instant::ZERO);
        Self { receiver, now: Instant::ZERO }
    }

    /// Delivers segment `number`; returns the acknowledgements, as `3` or `3 sack 5 7-8`, or nothing.
    fn data(&mut self, number: u64) -> String {
        let segment = Segment { start: 1 + 1000 * number, length: 1000, ack: Some(1), ..Segment::default() };
        self.receiver.receive(self.now, &segment, false);
        self.answers()
    }

    fn answers(&mut self) -> String {
        let answers = std::iter::from_fn(|| self.receiver.next(self.now));
        answers.map(|segment| describe(&segment)).collect::<Vec<_>>().join(", ")
    }
}

fn describe(segment: &Segment) -> String {
    let mut text = ((segment.ack.unwrap() - 1) / 1000).to_string();
    let blocks = segment.sacks.blocks().iter().map(|block| {
        let [first, last] = [(block.start - 1) / 1000, (block.end - 1) / 1000 - 1];
        if first == last { format!(" {first}") } else { format!(" {first}-{last}") }
    });
    let blocks: String = blocks.collect();
    if !blocks.is_empty() {
        text += " sack";
    }
    text + &blocks
}

#[test]
fn every_second_segment_is_acknowledged_at_once_and_a_single_one_after_the_delay() {
    let mut desk = Desk::new(&plain(Recovery::Sack, 10));
    assert_eq!(desk.data(0), "");
    assert_eq!(desk.receiver.deadline(), Instant::ZERO + Duration::from_millis(200));
    assert_eq!(desk.data(1), "2");
    assert_eq!(desk.receiver.deadline(), Instant::NEVER);
    assert_eq!(desk.data(2), "");
    desk.receiver.expire(Instant::ZERO + Duration::from_millis(199));
    assert_eq!(desk.answers(), "");
    desk.now = desk.receiver.deadline();
    desk.receiver.expire(desk.now);
    assert_eq!(desk.answers(), "3");
    assert_eq!(desk.receiver.deadline(), Instant::NEVER);
}

#[test]
fn without_a_delay_every_segment_is_acknowledged() {
    let settings = Settings { delayed_ack: Duration::ZERO, ..plain(Recovery::Sack, 10) };
    let mut desk = Desk::new(&settings);
    assert_eq!([desk.data(0), desk.data(1), desk.data(2)], ["1", "2", "3"]);
}

#[test]
fn segments_of_a_burst_have_one_acknowledgement_at_its_end() {
    let settings = Settings { ack_burst: Some(Duration::from_micros(10)), ..plain(Recovery::Sack, 10) };
    let mut desk = Desk::new(&settings);
    assert_eq!([0, 1, 2, 3].map(|number| desk.data(number)), ["", "", "", ""]);
    desk.now = desk.receiver.deadline();
    assert_eq!(desk.now, Instant::ZERO + Duration::from_micros(10));
    desk.receiver.expire(desk.now);
    assert_eq!(desk.answers(), "4");
    // A single one waits for the delay, one out of order does not wait.
    assert_eq!(desk.data(4), "");
    assert_eq!(desk.receiver.deadline(), desk.now + Duration::from_millis(200));
    assert_eq!(desk.data(6), "5 sack 6");
}

#[test]
fn segments_out_of_order_repeated_or_filling_a_hole_are_acknowledged_at_once() {
    let mut desk = Desk::new(&plain(Recovery::NewReno, 10));
    assert_eq!(desk.data(2), "0");
    assert_eq!(desk.data(4), "0");
    assert_eq!(desk.data(0), "1");
    assert_eq!(desk.data(0), "1");
    assert_eq!(desk.data(1), "3");
    assert_eq!(desk.data(3), "5");
    assert_eq!(desk.data(5), "");
}

#[test]
fn sack_blocks_come_with_the_latest_first() {
    let mut desk = Desk::new(&plain(Recovery::Sack, 10));
    assert_eq!(desk.data(2), "0 sack 2");
    assert_eq!(desk.data(4), "0 sack 4 2");
    assert_eq!(desk.data(6), "0 sack 6 4 2");
    assert_eq!(desk.data(3), "0 sack 2-4 6");
    assert_eq!(desk.data(8), "0 sack 8 2-4 6");
    assert_eq!(desk.data(10), "0 sack 10 8 2-4 6");
    // A fifth: the oldest of four falls out.
    assert_eq!(desk.data(12), "0 sack 12 10 8 2-4");
    assert_eq!(desk.data(0), "1 sack 12 10 8 2-4");
    assert_eq!(desk.data(1), "5 sack 12 10 8");
}

#[test]
fn beside_timestamps_there_is_room_for_three_blocks() {
    let settings = Settings { timestamps: true, ..plain(Recovery::Sack, 10) };
    let mut desk = Desk::new(&settings);
    for number in [2, 4, 6] {
        desk.data(number);
    }
    assert_eq!(desk.data(8), "0 sack 8 6 4");
}

#[test]
fn the_stamp_echoed_is_that_of_the_first_segment_not_yet_acknowledged() {
    let settings = Settings { timestamps: true, ..plain(Recovery::Sack, 10) };
    let mut desk = Desk::new(&settings);
    let mut echo = |number: u64, stamp: u64| {
        let stamp = Some(Instant::from_nanos(stamp));
        let segment = Segment { start: 1 + 1000 * number, length: 1000, ack: Some(1), stamp, ..Segment::default() };
        desk.receiver.receive(Instant::ZERO, &segment, false);
        desk.receiver.next(Instant::ZERO).map(|answer| answer.echo.unwrap().as_nanos())
    };
    // Delayed: the first of two (RFC 7323, 4.3, case A).
    assert_eq!([echo(0, 10), echo(1, 11)], [None, Some(10)]);
    // Before a hole (case B) the same; and when it is filled (case C), the segment that filled it.
    assert_eq!([echo(3, 13), echo(4, 14), echo(2, 15)], [Some(10), Some(10), Some(15)]);
}

#[test]
fn octets_beyond_the_window_are_refused() {
    let settings = Settings { advertised_window: units::Bytes::new(1500), ..plain(Recovery::NewReno, 10) };
    let mut desk = Desk::new(&settings);
    let data = |start, length| Segment { start, length, ack: Some(1), ..Segment::default() };
    assert_eq!(desk.receiver.receive(Instant::ZERO, &data(1, 2000), false), 1500);
    assert_eq!(desk.receiver.receive(Instant::ZERO, &data(3001, 1), false), 0);
    assert_eq!(desk.receiver.next(Instant::ZERO).unwrap().ack, Some(1501));
}
