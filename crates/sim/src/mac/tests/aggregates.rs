//! Tests of A-MPDU, A-MSDU and BlockAck by hand: 802.11n at 5 GHz, MCS 7, 20 MHz. A packet of 1000 B makes an MPDU of
//! 1066 B; a BlockAck lasts 68 us, an ACK 44; SIFS 16, slot 9, AIFS of best effort 43, time-out 45.

use super::super::reorder::Reorder;
use super::*;
use crate::config::Standard;
use proptest::prelude::*;
use std::collections::BTreeSet;

const BEST_EFFORT: u8 = 2;

pub(super) fn rules() -> Conventions {
    let basic_rate = Some(units::Rate::mbps(6));
    let radio = Radio { standard: Standard::N, mcs: Some(7), basic_rate, ..Radio::default() };
    let timing = Timing::new(&radio).expect("valid");
    let space = us(16 + 3 * 9);
    let none = Duration::ZERO;
    let access = Access { space, cw_min: 0, cw_max: 0, after_timeout: none, txop_limit: none };
    let aggregation = Aggregation { ampdu: Some(Bytes::new(65_535)), ..conventions().aggregation };
    Conventions { timing, access: [access; CATEGORIES], categories: 4, aggregation, ..conventions() }.agreed()
}

fn ht() -> Mode {
    Radio { standard: Standard::N, mcs: Some(7), ..Radio::default() }.data_mode().expect("valid")
}

/// Returns a station whose back-off is always zero, and which takes packets on request.
fn bench(rules: Conventions) -> Bench {
    bench_in(ht(), rules)
}

pub(super) fn bench_in(mode: Mode, rules: Conventions) -> Bench {
    let rules = rules.agreed();
    let station =
        Station::new(ME, Rates::fixed(vec![vec![mode]], Vec::new()), &rules, Stream::new(1, "alone", Purpose::BACKOFF));
    Bench { station, rules }
}

fn scoreboard(start: u16, arrived: u64) -> Scoreboard {
    let mut board = Scoreboard { start, ..Scoreboard::default() };
    (0..64).filter(|index| arrived >> index & 1 == 1).for_each(|index| board.arrived.set(index));
    board
}

pub(super) fn msdu(length: u64) -> Msdu {
    Msdu { packet: packet(), length: Bytes::new(length) }
}

impl Bench {
    /// Reaches the deadline; as many of `waiting` MSDUs of that length join as have room. Returns number and frame.
    pub(super) fn sends_with(&mut self, waiting: usize, length: u64) -> (u64, usize, Frame) {
        let micros = self.deadline();
        let now = at(micros);
        let Due::Begin(_) = self.station.timer(now, false, &self.rules) else { panic!("nothing begins") };
        let mut joined = 0;
        let mut assembly = self.station.assemble(now, &self.rules);
        if let Some(assembly) = &mut assembly {
            while joined < waiting
                && let Some(room) = self.station.held.room(assembly, Bytes::new(length), &self.rules)
            {
                self.station.held.join(assembly, room, msdu(length), &self.rules);
                joined += 1;
            }
        }
        let frame = self.station.begin(now, assembly, None, &self.rules);
        self.busy(micros);
        (micros, joined, frame)
    }

    /// Takes a packet at `micros` and sends it with `more` others; returns when the frame ends.
    fn sends_aggregate(&mut self, micros: u64, more: usize) -> (u64, Frame) {
        self.station.offer(at(micros), PEER, BEST_EFFORT, msdu(1_036), &self.rules);
        let (start, joined, frame) = self.sends_with(more, 1_036);
        assert_eq!(joined, more);
        self.ends(start, &frame)
    }

    fn ends(&mut self, start: u64, frame: &Frame) -> (u64, Frame) {
        let end = start + self.rules.timing.duration(frame.mode, frame.psdu(Bytes::new(0))).as_nanos() / 1_000;
        self.station.sent(at(end), frame, &self.rules);
        self.idle(end);
        (end, *frame)
    }

    /// Receives a BlockAck; returns the numbers of packets delivered and given up.
    fn block_ack(&mut self, end: u64, start: u16, arrived: u64) -> (usize, usize) {
        let frame = Frame { category: BEST_EFFORT, ..control(Kind::BlockAck { long: false }, ME, 0) };
        self.busy(end + 16);
        assert!(self.station.awaits_block_ack(&frame));
        self.station.block_ack_received(at(end + 84), frame.from, &scoreboard(start, arrived), &self.rules);
        self.idle(end + 84);
        self.done()
    }

    pub(super) fn done(&mut self) -> (usize, usize) {
        let mut done_with = Vec::new();
        std::mem::swap(&mut self.station.held.finished, &mut done_with);
        let delivered = done_with.iter().filter(|finished| finished.delivered).count();
        (delivered, done_with.len() - delivered)
    }

    pub(super) fn numbers(&self) -> Vec<u16> {
        self.station.held.mpdus().map(|mpdu| mpdu.sequence).collect()
    }

    /// Returns the frames on the air once the time-out has passed.
    fn after_timeout(&mut self) -> (u64, Frame) {
        let now = self.station.deadline;
        assert!(matches!(self.station.timer(now, false, &self.rules), Due::Failed(_)));
        let (start, joined, frame) = self.sends_with(0, 1_036);
        assert_eq!(joined, 0);
        (start, frame)
    }
}

#[test]
fn an_aggregate_has_delimiters_and_padding_and_reserves_its_block_ack() {
    let mut bench = bench(rules());
    bench.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(1_036), &bench.rules);
    let (start, joined, frame) = bench.sends_with(2, 1_036);
    // 4 + 1066 + 2 of padding, twice, and 4 + 1066.
    assert_eq!((start, joined, frame.kind), (1_000, 2, Kind::Aggregate { psdu: Bytes::new(3_214), frames: 3 }));
    assert_eq!(frame.reserves, us(16 + 68));
    // 16 + 8 * 3214 + 6 bits at 260 a symbol: 99 symbols behind 36 us.
    assert_eq!(bench.rules.timing.duration(frame.mode, frame.psdu(Bytes::new(0))), us(36 + 4 * 99));
    let lies =
        super::super::places(bench.station.held.in_flight()).map(|(start, length)| (start.count(), length.count()));
    assert_eq!(lies.collect::<Vec<_>>(), [(4, 1_066), (1_076, 1_066), (2_148, 1_066)]);
    let (end, _) = bench.ends(start, &frame);
    assert_eq!(bench.block_ack(end, 0, 0b111), (3, 0));
    assert_eq!(bench.station.contention.free(), 0b1111);
}

#[test]
fn one_frame_goes_without_delimiter_and_has_an_ack() {
    let mut bench = bench(rules());
    bench.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(1_036), &bench.rules);
    let (_, _, frame) = bench.sends_with(0, 0);
    assert!(matches!(frame.kind, Kind::Data { psdu, .. } if psdu == Bytes::new(1_066)));
    assert_eq!(frame.reserves, us(16 + 44));
}

#[test]
fn only_what_is_missing_is_sent_again_ahead_of_what_is_new() {
    let mut bench = bench(rules());
    let (end, _) = bench.sends_aggregate(1_000, 5);
    assert_eq!(bench.block_ack(end, 0, 0b10_1101), (4, 0));
    assert_eq!(bench.numbers(), [1, 4]);
    let (start, joined, frame) = bench.sends_with(2, 1_036);
    assert_eq!((start, joined), (end + 84 + 43, 2));
    assert_eq!((frame.sequence, bench.numbers()), (1, vec![1, 4, 6, 7]));
    let (end, _) = bench.ends(start, &frame);
    // The receiver's report may begin before or at the first of them.
    assert_eq!(bench.block_ack(end, 0, 0b1111_1111), (4, 0));
}

#[test]
fn a_frame_fails_seven_times_and_then_the_receiver_is_told_to_move_on() {
    let mut bench = bench(rules());
    let (end, _) = bench.sends_aggregate(1_000, 2);
    assert_eq!(bench.block_ack(end, 0, 0b110), (2, 0));
    // A frame alone is sent without aggregate; its ACK never comes.
    for attempt in 2..=7 {
        let (start, _, frame) = bench.sends_with(0, 0);
        assert!(matches!(frame.kind, Kind::Data { .. }) && frame.sequence == 0 && frame.retry, "attempt {attempt}");
        bench.ends(start, &frame);
        let now = bench.station.deadline;
        assert!(matches!(bench.station.timer(now, false, &bench.rules), Due::Failed(_)));
        assert_eq!(bench.done(), (0, usize::from(attempt == 7)));
    }
    let (start, _, frame) = bench.sends_with(3, 1_036);
    assert_eq!((frame.kind, bench.numbers()), (Kind::BlockAckReq { start: 3 }, vec![]));
    assert_eq!(frame.reserves, us(16 + 68));
    let (end, _) = bench.ends(start, &frame);
    assert_eq!(bench.block_ack(end, 3, 0), (0, 0));
    assert!(bench.is_silent() && bench.station.contention.free() == 0b1111);
}

#[test]
fn a_lost_block_ack_means_all_frames_again_or_a_request() {
    let mut again = bench(rules());
    again.sends_aggregate(1_000, 3);
    let (_, frame) = again.after_timeout();
    assert!(matches!(frame.kind, Kind::Aggregate { frames: 4, .. }) && frame.retry);
    let mut asks = rules();
    asks.aggregation.missed = MissedBlockAck::Request;
    asks.timing = Timing::new(&Radio { standard: Standard::N, mcs: Some(7), ..Radio::default() }).expect("valid");
    let mut asks = bench(asks);
    asks.sends_aggregate(1_000, 3);
    let (start, frame) = asks.after_timeout();
    assert_eq!((frame.kind, frame.mode.rate()), (Kind::BlockAckReq { start: 0 }, units::Rate::mbps(24)));
    let (end, _) = asks.ends(start, &frame);
    assert_eq!((asks.block_ack(end, 0, 0b1011), asks.numbers()), ((3, 0), vec![2]));
}

#[test]
fn a_request_that_is_never_answered_is_given_up_and_made_again_before_the_next_packet() {
    let mut asks = rules();
    asks.aggregation.missed = MissedBlockAck::Request;
    asks.short_retry_limit = 2;
    let mut bench = bench(asks);
    bench.sends_aggregate(1_000, 1);
    let (start, frame) = bench.after_timeout();
    bench.ends(start, &frame);
    let (start, frame) = bench.after_timeout();
    assert!(matches!(frame.kind, Kind::BlockAckReq { .. }));
    bench.ends(start, &frame);
    // Both frames have now failed once. They are sent again, not answered, asked about in vain, and given up.
    let (start, frame) = bench.after_timeout();
    assert!(matches!(frame.kind, Kind::Aggregate { frames: 2, .. }));
    bench.ends(start, &frame);
    for _ in 0..2 {
        let (start, frame) = bench.after_timeout();
        assert!(matches!(frame.kind, Kind::BlockAckReq { .. }));
        bench.ends(start, &frame);
    }
    let now = bench.station.deadline;
    assert!(matches!(bench.station.timer(now, false, &bench.rules), Due::Failed(_)));
    assert_eq!(bench.done(), (0, 2));
    // The receiver may wait for them.
    let (_, _, frame) = bench.sends_with(0, 0);
    assert_eq!(frame.kind, Kind::BlockAckReq { start: 2 });
}

#[test]
fn an_rts_without_cts_counts_for_all_frames_that_it_announced() {
    let mut bench = bench(Conventions { rts_threshold: Some(Bytes::new(0)), ..rules() });
    bench.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(1_036), &bench.rules);
    let (mut start, _, mut frame) = bench.sends_with(3, 1_036);
    for attempt in 1..=7 {
        assert_eq!((frame.kind, bench.numbers().len()), (Kind::Rts, 4), "attempt {attempt}");
        bench.ends(start, &frame);
        if attempt < 7 {
            // Only the next frames of the queue may join those that were announced before.
            let now = bench.station.deadline;
            let Due::Failed(answer) = bench.station.timer(now, false, &bench.rules) else { panic!("no CTS comes") };
            let announced = answer.announced.expect("data were announced");
            assert_eq!((announced.to, announced.category, answer.report), (PEER, BEST_EFFORT, None));
            (start, _, frame) = bench.sends_with(0, 0);
        }
    }
    let now = bench.station.deadline;
    assert!(matches!(bench.station.timer(now, false, &bench.rules), Due::Failed(_)));
    assert_eq!(bench.done(), (0, 4));
}

#[test]
fn by_its_lifetime_a_frame_of_aggregates_has_as_many_attempts_as_fit() {
    let mut by_age = rules();
    by_age.aggregation.lifetime = Some(Duration::from_millis(500));
    let mut bench = bench(by_age);
    bench.sends_aggregate(1_000, 3);
    let first = bench.station.deadline;
    for attempt in 0.. {
        let now = bench.station.deadline;
        let over = now >= first + Duration::from_millis(500);
        let Due::Failed(_) = bench.station.timer(now, false, &bench.rules) else { panic!("no BlockAck comes") };
        let done = bench.done();
        if over {
            assert!(attempt > 100 && done == (0, 4), "{done:?} after {attempt} attempts");
            break;
        }
        assert_eq!(done, (0, 0), "attempt {attempt}");
        let (start, _, frame) = bench.sends_with(0, 0);
        assert!(matches!(frame.kind, Kind::Aggregate { frames: 4, .. }));
        bench.ends(start, &frame);
    }
    // A frame that is sent alone has its attempts.
    let (start, _, frame) = bench.sends_with(0, 0);
    assert!(matches!(frame.kind, Kind::BlockAckReq { start: 4 }));
    let (end, _) = bench.ends(start, &frame);
    bench.block_ack(end, 4, 0);
}

#[test]
fn no_more_than_64_frames_are_outstanding_and_numbers_wrap() {
    let mut bench = bench(rules());
    let mut start = 1_000;
    let mut first = 0_u16;
    // 64 frames of 102 B at a time, until the sequence numbers have wrapped.
    for round in 0..66 {
        bench.station.offer(at(start), PEER, BEST_EFFORT, msdu(72), &bench.rules);
        let (begin, joined, frame) = bench.sends_with(100, 72);
        assert_eq!((joined, frame.sequence), (63, first), "round {round}");
        let (end, _) = bench.ends(begin, &frame);
        if round == 64 {
            // All but the first arrive: no new frame fits into the window.
            assert_eq!(bench.block_ack(end, first, !1), (63, 0));
            let (begin, joined, frame) = bench.sends_with(100, 72);
            assert_eq!((joined, frame.sequence), (0, first));
            let (end, _) = bench.ends(begin, &frame);
            bench.busy(end + 16);
            bench.station.received(at(end + 60), &control(Kind::Ack, ME, 0), &bench.rules);
            bench.idle(end + 60);
            assert_eq!(bench.done(), (1, 0));
            start = end + 500;
        } else {
            assert_eq!(bench.block_ack(end, first, u64::MAX), (64, 0));
            start = end + 500;
        }
        first = (first + 64) % 4_096;
    }
}

#[test]
fn an_aggregate_keeps_to_its_limits() {
    let joined = |change: fn(&mut Conventions), length| {
        let mut rules = rules();
        change(&mut rules);
        let mut bench = bench(rules);
        bench.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(length), &bench.rules);
        let (_, joined, frame) = bench.sends_with(100, length);
        (joined + 1, bench.rules.timing.duration(frame.mode, frame.psdu(Bytes::new(0))))
    };
    // 4 ms: 991 symbols of 260 bits hold 30 subframes of 1072 B, but the next would need 4052 us.
    assert_eq!(joined(|_| (), 1_036), (30, us(36 + 4 * 990)));
    assert_eq!(joined(|rules| rules.aggregation.frames = 8, 1_036).0, 8);
    assert_eq!(joined(|rules| rules.aggregation.ampdu = Some(Bytes::new(3_214)), 1_036).0, 3);
    assert_eq!(joined(|rules| rules.aggregation.ampdu = Some(Bytes::new(3_213)), 1_036).0, 2);
    // With a TXOP of 1 ms the data and their BlockAck are over in time, with RTS and CTS before them too.
    let (frames, lasts) = joined(|rules| rules.access[2].txop_limit = us(1_000), 1_036);
    assert!(lasts + us(84) <= us(1_000) && frames == 6, "{frames} frames, {lasts}");
    let (frames, lasts) = joined(
        |rules| {
            rules.access[2].txop_limit = us(1_000);
            rules.rts_threshold = Some(Bytes::new(0));
        },
        1_036,
    );
    assert_eq!((frames, lasts), (5, us(52)), "the RTS is sent first");
}

#[test]
fn packets_in_an_a_msdu_share_a_frame() {
    let mut rules = rules();
    rules.aggregation.ampdu = None;
    rules.aggregation.amsdu = Some(Bytes::new(3_839));
    let mut alone = bench(rules.clone());
    alone.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(1_037), &alone.rules);
    let (_, joined, frame) = alone.sends_with(9, 1_037);
    // Two subframes of 14 + 1037 B padded to 1052, one without padding: 3155 B, and 30 B around it.
    assert_eq!(joined, 2);
    assert!(matches!(frame.kind, Kind::Data { psdu, .. } if psdu == Bytes::new(3_185)));
    // Within an A-MPDU a frame has at most 4095 B: the fourth packet begins the second frame.
    rules.aggregation.ampdu = Some(Bytes::new(8_000));
    rules.aggregation.amsdu = Some(Bytes::new(7_935));
    let mut within = bench(rules);
    within.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(1_037), &within.rules);
    let (_, joined, frame) = within.sends_with(5, 1_037);
    assert_eq!(joined, 5);
    // 4 + 3185 + 3 of padding, and 4 + 3185.
    assert_eq!(frame.kind, Kind::Aggregate { psdu: Bytes::new(6_381), frames: 2 });
}

#[test]
fn the_rts_threshold_is_held_against_the_whole_aggregate() {
    let mut rules = rules();
    rules.rts_threshold = Some(Bytes::new(3_000));
    let mut bench = bench(rules);
    bench.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(1_036), &bench.rules);
    let (start, joined, rts) = bench.sends_with(2, 1_036);
    assert_eq!((joined, rts.kind), (2, Kind::Rts));
    // SIFS, CTS of 44 us, SIFS, 432 us of data, SIFS, BlockAck.
    assert_eq!(rts.reserves, us(16 + 44 + 16 + 432 + 16 + 68));
    let (end, _) = bench.ends(start, &rts);
    bench.hears(end + 16, end + 60, &control(Kind::Cts, ME, 0));
    let (start, joined, frame) = bench.sends_with(9, 1_036);
    assert_eq!(
        (start, joined, frame.psdu(Bytes::new(0))),
        (end + 76, 0, Bytes::new(3_214)),
        "what was announced is sent"
    );
}

#[test]
fn a_cts_to_itself_reserves_the_exchange() {
    let mut bench = bench(Conventions { cts_to_self: true, ..rules() });
    bench.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(1_036), &bench.rules);
    let (start, _, cts) = bench.sends_with(0, 0);
    assert_eq!((cts.kind, cts.to, cts.from), (Kind::Cts, ME, ME));
    // 1066 B: 33 symbols.
    assert_eq!(cts.reserves, us(16 + 36 + 4 * 33 + 16 + 44));
    let (end, _) = bench.ends(start, &cts);
    let (start, _, frame) = bench.sends_with(0, 0);
    assert!(start == end + 16 && matches!(frame.kind, Kind::Data { .. }));
}

/// Receives a frame with this number; returns the numbers that are passed on.
fn passed_on(reorder: &mut Reorder, held: &mut Arena<u16>, sequence: u16) -> Vec<u16> {
    use super::super::Arrival;
    let mut out = Vec::new();
    let drain = |reorder: &mut Reorder, held: &mut Arena<u16>, out: &mut Vec<u16>| {
        while let Some(handle) = reorder.release() {
            out.push(held.remove(handle));
        }
    };
    reorder.arrives(sequence);
    drain(reorder, held, &mut out);
    match reorder.classify(sequence) {
        Arrival::Next => out.push(sequence),
        Arrival::Later => {
            let handle = held.insert(sequence);
            reorder.hold(sequence, Some(handle));
        }
        Arrival::Duplicate => {}
    }
    drain(reorder, held, &mut out);
    out
}

#[test]
fn a_request_releases_what_waits_behind_a_hole() {
    let (mut reorder, mut held) = (Reorder::new(64), Arena::default());
    assert_eq!(passed_on(&mut reorder, &mut held, 0), [0]);
    assert!(passed_on(&mut reorder, &mut held, 2).is_empty() && passed_on(&mut reorder, &mut held, 4).is_empty());
    assert_eq!(reorder.scoreboard, scoreboard(0, 0b1_0101));
    reorder.forget_before(3);
    let mut out = Vec::new();
    while let Some(handle) = reorder.release() {
        out.push(held.remove(handle));
    }
    assert_eq!(out, [2]);
    assert_eq!(reorder.scoreboard, scoreboard(3, 0b10));
    assert_eq!(passed_on(&mut reorder, &mut held, 3), [3, 4]);
    // An old request does not move the window back, and an old frame is a duplicate.
    reorder.forget_before(1);
    assert!(passed_on(&mut reorder, &mut held, 2).is_empty());
    assert_eq!(passed_on(&mut reorder, &mut held, 5), [5]);
}

#[test]
fn a_frame_beyond_the_window_moves_it() {
    let (mut reorder, mut held) = (Reorder::new(64), Arena::default());
    assert!(passed_on(&mut reorder, &mut held, 1).is_empty());
    assert!(passed_on(&mut reorder, &mut held, 63).is_empty());
    // 64 makes 1 the first of the window; 66 leaves 2 behind.
    assert_eq!(passed_on(&mut reorder, &mut held, 64), [1]);
    assert!(passed_on(&mut reorder, &mut held, 66).is_empty());
    assert_eq!(reorder.scoreboard, scoreboard(3, 1 << 60 | 1 << 61 | 1 << 63));
}

proptest! {
    /// For any sender that keeps to its window, whatever it repeats or gives up, each frame that arrives is passed on
    /// once and in order.
    #[test]
    fn frames_are_passed_on_once_and_in_order(luck in prop::collection::vec((any::<bool>(), any::<bool>()), 1..3_000)) {
        let (mut reorder, mut held) = (Reorder::new(64), Arena::default());
        // The long numbers keep the order plain after the 12 bits have wrapped.
        let (mut next, mut outstanding, mut arrived, mut out) = (0_u64, Vec::new(), BTreeSet::new(), Vec::new());
        let number = |long: u64| u16::try_from(long % 4_096).expect("12 bits");
        for (lost, gives_up) in luck {
            while outstanding.first().is_none_or(|&first: &u64| next - first < 64) && outstanding.len() < 9 {
                outstanding.push(next);
                next += 1;
            }
            let pick = outstanding.len() / 2;
            let long = outstanding[if lost { pick } else { 0 }];
            if !lost || pick % 2 == 0 {
                arrived.insert(long);
                out.extend(passed_on(&mut reorder, &mut held, number(long)));
                outstanding.retain(|&other| other != long);
            }
            if gives_up && !outstanding.is_empty() {
                outstanding.remove(0);
                let start = outstanding.first().copied().unwrap_or(next);
                reorder.forget_before(number(start));
                while let Some(handle) = reorder.release() {
                    out.push(held.remove(handle));
                }
            }
        }
        let expected: Vec<u16> = arrived.iter().map(|&long| number(long)).collect();
        let waiting = reorder.held().count();
        prop_assert_eq!(out.len() + waiting, arrived.len());
        prop_assert_eq!(&out[..], &expected[..out.len()]);
        prop_assert_eq!(held.live(), waiting);
    }

    /// Values looked up once per aggregate equal those computed for each length.
    #[test]
    fn no_frame_up_to_the_longest_is_over_too_late(
        standard in prop::sample::select(&[Standard::B, Standard::G, Standard::N]),
        rts_threshold in prop::option::of((0_u64..3_000).prop_map(Bytes::new)),
        cts_to_self in any::<bool>(),
        (psdu, micros) in (0_u64..6_000, 0_u64..20_000),
    ) {
        let timing = Timing::new(&Radio { standard, ..Radio::default() }).expect("valid");
        let rules = Conventions { timing, rts_threshold, cts_to_self, ..rules() };
        let (psdu, time, mode) = (Bytes::new(psdu), us(micros), rules.timing.basic);
        let lasts = rules.timing.duration(mode, psdu);
        // The announcement takes time of the TXOP, not of the longest aggregate.
        let in_time = lasts <= rules.aggregation.duration && rules.announcement(mode, psdu) + lasts <= time;
        prop_assert!(psdu.count() == 0 || in_time == (psdu <= rules.longest(mode, time)));
    }

    /// Frames in a row, each at this distance after the expected number, perhaps after a BlockAckReq.
    #[test]
    fn frames_in_a_row_are_noted_as_if_they_came_one_by_one(
        rows in prop::collection::vec((prop_oneof![4 => Just(0_u16), 1 => 0_u16..4_096], 1_u16..=64, 0..6), 1..60),
    ) {
        let (mut in_rows, mut held_in_rows) = (Reorder::new(64), Arena::default());
        let (mut one_by_one, mut held) = (Reorder::new(64), Arena::default());
        let (mut expected, in_order) = (0, rows.iter().all(|&(ahead, ..)| ahead == 0));
        for (ahead, frames, forgets) in rows {
            let first = (expected + ahead) % 4_096;
            let row = (0..frames).map(|frame| (first + frame) % 4_096);
            for (reorder, held) in [(&mut in_rows, &mut held_in_rows), (&mut one_by_one, &mut held)] {
                if forgets == 0 {
                    reorder.forget_before(first);
                }
                while let Some(handle) = reorder.release() {
                    held.remove(handle);
                }
            }
            let out: Vec<u16> = row.clone().flat_map(|number| passed_on(&mut one_by_one, &mut held, number)).collect();
            if in_rows.passes(first, frames) {
                prop_assert_eq!(row.collect::<Vec<_>>(), out);
            } else {
                let out_of_rows: Vec<u16> =
                    row.flat_map(|number| passed_on(&mut in_rows, &mut held_in_rows, number)).collect();
                prop_assert_eq!(out_of_rows, out);
                prop_assert!(!in_order, "nothing is in the way");
            }
            prop_assert_eq!(format!("{in_rows:?}"), format!("{one_by_one:?}"));
            expected = (first + frames) % 4_096;
        }
    }
}
