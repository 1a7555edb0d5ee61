//! A station alone, told by hand what happens: 802.11b, 11 and 1 Mb/s, 1000 B of payload. Data last 966 us, ACK and CTS
//! 304, RTS 352; SIFS 10, slot 20, DIFS 50, EIFS 364, time-out 222, turn-around 5.

use super::*;
use crate::config::{Eifs, Radio, TimeoutDeferral};
use crate::engine::{Arena, Handle, Purpose, Stream};
use crate::radio::Timing;
use units::{Bytes, Duration, Instant};

const ME: u32 = 0;
const PEER: u32 = 1;
const OTHER: u32 = 2;

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

const fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn conventions() -> Conventions {
    Conventions {
        timing: Timing::new(&Radio::default()).expect("valid"),
        cw_min: 31,
        cw_max: 1023,
        short_retry_limit: 7,
        long_retry_limit: 4,
        rts_threshold: None,
        eifs: Eifs::BadFrame,
        timeout_deferral: TimeoutDeferral::None,
    }
}

/// Back-off is always zero: every moment follows from the standard's times.
fn without_backoff() -> Conventions {
    Conventions { cw_min: 0, cw_max: 0, ..conventions() }
}

fn packet() -> Handle {
    Arena::default().insert(())
}

fn data(from: u32, to: u32, reserves: u64) -> Frame {
    let kind = Kind::Data { packet: packet(), psdu: Bytes::new(1064) };
    Frame { kind, from, to, reserves: us(reserves), sequence: 1, retry: false }
}

fn control(kind: Kind, to: u32, reserves: u64) -> Frame {
    Frame { kind, ..data(PEER, to, reserves) }
}

struct Station {
    dcf: Dcf,
    rules: Conventions,
}

impl Station {
    fn new(rules: Conventions) -> Self {
        Self::with_seed(rules, 1)
    }

    fn with_seed(rules: Conventions, seed: u64) -> Self {
        Self { dcf: Dcf::new(ME, &rules, Stream::new(seed, "alone", Purpose::Backoff)), rules }
    }

    fn offer_to(&mut self, micros: u64, to: u32) {
        let job = Job::new(packet(), to, Bytes::new(1064), Duration::ZERO, at(micros));
        self.dcf.offer(at(micros), job, &self.rules);
    }

    fn offer(&mut self, micros: u64) {
        self.offer_to(micros, PEER);
    }

    fn busy(&mut self, micros: u64) {
        self.dcf.turned_busy(at(micros), &self.rules);
    }

    fn idle(&mut self, micros: u64) {
        self.dcf.turned_idle(at(micros), &self.rules);
    }

    /// A frame from the air, intact, after which the medium is idle.
    fn hears(&mut self, begin: u64, end: u64, frame: &Frame) -> Answer {
        self.busy(begin);
        let answer = self.dcf.received(at(end), frame, &self.rules);
        self.idle(end);
        answer
    }

    /// Something from the air that was not a frame for this radio.
    fn hears_bad(&mut self, begin: u64, end: u64, header_read: bool) -> Answer {
        self.busy(begin);
        let answer = self.dcf.spoilt(at(end), header_read, &self.rules);
        self.idle(end);
        answer
    }

    /// It sends at its deadline, which is at `micros`.
    fn sends_at(&mut self, micros: u64) -> Frame {
        assert_eq!(self.dcf.deadline, at(micros));
        match self.dcf.timer(at(micros), false, &self.rules) {
            Due::Send(frame) => {
                self.busy(micros);
                frame
            }
            due => panic!("{due:?}"),
        }
    }

    /// The frame that it sends ends.
    fn sent(&mut self, micros: u64, frame: &Frame) -> Option<Finished> {
        let finished = self.dcf.sent(at(micros), frame, &self.rules);
        self.idle(micros);
        finished
    }

    /// It sends at its deadline for `length`; when that was, and the frame.
    fn sends_for(&mut self, length: u64) -> (u64, Frame) {
        let start = self.deadline();
        let frame = self.sends_at(start);
        self.sent(start + length, &frame);
        (start, frame)
    }

    /// The response does not come, and at the deadline no frame is coming in.
    fn times_out(&mut self) -> Answer {
        match self.dcf.timer(self.dcf.deadline, false, &self.rules) {
            Due::Failed(answer) => answer,
            due => panic!("{due:?}"),
        }
    }

    fn deadline(&self) -> u64 {
        assert_ne!(self.dcf.deadline, Instant::NEVER, "nothing is due");
        self.dcf.deadline.as_nanos() / 1_000
    }

    fn is_silent(&self) -> bool {
        self.dcf.deadline == Instant::NEVER
    }

    /// A station that took a packet on a busy medium, idle from 1000 us; and its back-off, which is at least `least`.
    fn backing_off(least: u64) -> (Self, u64) {
        for seed in 0.. {
            let mut station = Self::with_seed(conventions(), seed);
            station.busy(0);
            station.offer(100);
            assert!(station.is_silent());
            station.idle(1_000);
            let slots = (station.deadline() - 1_050) / 20;
            if slots >= least {
                return (station, slots);
            }
        }
        unreachable!("some seed draws as many");
    }
}

#[test]
fn an_idle_medium_is_taken_at_once() {
    let mut station = Station::new(conventions());
    station.offer(1_000);
    let frame = station.sends_at(1_000);
    assert!(matches!(frame.kind, Kind::Data { .. }) && frame.to == PEER && !frame.retry);
    assert_eq!(frame.reserves, us(10 + 304));
    assert!(station.is_silent());
    assert!(station.sent(1_966, &frame).is_none());
    assert_eq!(station.deadline(), 1_966 + 222);
    let answer = station.hears(1_976, 2_280, &control(Kind::Ack, ME, 0));
    assert!(answer.finished.is_some_and(|finished| finished.delivered) && station.dcf.is_free());
}

#[test]
fn a_medium_that_has_just_turned_idle_is_taken_after_difs_without_backoff() {
    let mut station = Station::new(conventions());
    station.busy(0);
    station.idle(1_000);
    station.offer(1_020);
    assert_eq!(station.deadline(), 1_050);
    // Unless it turns busy first: then a back-off is due (10.3.4.2).
    station.busy(1_040);
    assert!(station.is_silent());
    station.idle(2_000);
    assert!(station.deadline() >= 2_050);
}

#[test]
fn a_backoff_freezes_and_goes_on() {
    // (turns busy after the end of DIFS, slots that count): a boundary within 5 us of the edge counts.
    for (edge, counted) in [(70, 3), (60, 3), (55, 3), (54, 2), (41, 2), (0, 0)] {
        let (mut station, slots) = Station::backing_off(5);
        station.busy(1_050 + edge);
        assert!(station.is_silent());
        station.idle(5_000);
        assert_eq!(station.deadline(), 5_050 + 20 * (slots - counted), "edge {edge}");
    }
    // Busy again before DIFS is over: nothing counts, as often as you like.
    let (mut station, slots) = Station::backing_off(5);
    for start in (1_049..2_000).step_by(49) {
        station.busy(start);
        station.idle(start);
    }
    assert_eq!(station.deadline(), 1_980 + 50 + 20 * slots);
}

#[test]
fn what_comes_within_the_turn_around_time_does_not_stop_a_transmission() {
    let (mut station, slots) = Station::backing_off(2);
    let end = 1_050 + 20 * slots;
    station.busy(end - 6);
    assert!(station.is_silent());
    station.idle(end);
    // One slot is left.
    let end = end + 50 + 20;
    station.busy(end - 5);
    station.sends_at(end);
}

#[test]
fn a_flicker_within_the_turn_around_time_does_not_stop_a_transmission_either() {
    let (mut station, slots) = Station::backing_off(2);
    let end = 1_050 + 20 * slots;
    station.busy(end - 4);
    station.idle(end - 3);
    assert_eq!(station.deadline(), end);
    station.busy(end - 2);
    station.sends_at(end);
}

#[test]
fn a_post_backoff_passes_whether_or_not_a_packet_waits() {
    for seed in 0..50 {
        let mut station = Station::with_seed(conventions(), seed);
        let done = |station: &mut Station| {
            station.offer(1_000);
            station.sends_for(966);
            station.hears(1_976, 2_280, &control(Kind::Ack, ME, 0));
        };
        done(&mut station);
        // The next packet comes at once.
        station.offer(2_280);
        let slots = (station.deadline() - 2_330) / 20;
        assert!(slots <= 31);
        // The same station, where it comes in the middle, and where part of the back-off has passed before a busy time.
        let mut late = Station::with_seed(conventions(), seed);
        done(&mut late);
        late.offer(2_330 + 35);
        assert_eq!(late.deadline(), (2_330 + 20 * slots).max(2_365), "{slots} slots");
        let mut frozen = Station::with_seed(conventions(), seed);
        done(&mut frozen);
        assert!(frozen.is_silent());
        frozen.busy(2_330 + 44);
        frozen.idle(3_000);
        frozen.offer(3_000);
        assert_eq!(frozen.deadline(), 3_050 + 20 * slots.saturating_sub(2), "{slots} slots");
        // And where it has long passed.
        let mut idle = Station::with_seed(conventions(), seed);
        done(&mut idle);
        idle.offer(9_000);
        assert_eq!(idle.deadline(), 9_000);
    }
}

#[test]
fn a_packet_that_finds_the_medium_busy_after_the_post_backoff_draws_a_new_one() {
    let mut drawn = 0;
    for seed in 0..20 {
        let mut station = Station::with_seed(conventions(), seed);
        station.offer(1_000);
        station.sends_for(966);
        station.hears(1_976, 2_280, &control(Kind::Ack, ME, 0));
        station.busy(9_000);
        station.offer(9_100);
        station.idle(10_000);
        drawn += (station.deadline() - 10_050) / 20;
    }
    assert!(drawn > 0);
}

#[test]
fn eifs_follows_what_the_convention_says() {
    // After: a frame with a wrong check sum, a frame lost in its header, a signal; and the first, then a good frame 300
    // us later.
    let expected = [
        (Eifs::BadFrame, [364, 50, 50, 350]),
        (Eifs::AnySignal, [364, 364, 364, 350]),
        (Eifs::AnySignalKept, [414, 414, 414, 414]),
        (Eifs::Never, [50, 50, 50, 350]),
    ];
    for (eifs, waits) in expected {
        for (case, wait) in waits.into_iter().enumerate() {
            let mut station = Station::new(Conventions { eifs, ..without_backoff() });
            match case {
                0 => drop(station.hears_bad(0, 1_000, true)),
                1 => drop(station.hears_bad(0, 1_000, false)),
                2 => {
                    station.busy(0);
                    station.dcf.noise(at(1_000), &station.rules);
                    station.idle(1_000);
                }
                _ => {
                    station.hears_bad(0, 1_000, true);
                    station.hears(1_010, 1_300, &control(Kind::Ack, OTHER, 0));
                }
            }
            station.offer(1_300);
            assert_eq!(station.deadline(), (1_000 + wait).max(1_300), "{eifs:?}, case {case}");
        }
    }
}

#[test]
fn a_transmission_of_its_own_ends_eifs() {
    let mut station = Station::new(without_backoff());
    station.hears_bad(0, 1_000, true);
    station.offer_to(1_000, BROADCAST);
    let frame = station.sends_at(1_364);
    assert!(station.sent(3_000, &frame).is_some_and(|finished| finished.delivered));
    station.offer(3_000);
    assert_eq!(station.deadline(), 3_050);
}

#[test]
fn a_frame_that_began_within_the_time_out_decides_at_its_end() {
    let ack = control(Kind::Ack, ME, 0);
    for case in 0..5 {
        let mut station = Station::new(without_backoff());
        station.offer(1_000);
        station.sends_for(966);
        station.busy(1_980);
        assert!(matches!(station.dcf.timer(at(2_188), true, &station.rules), Due::Wait));
        assert!(station.is_silent());
        let answer = match case {
            0 => station.dcf.received(at(2_284), &ack, &station.rules),
            1 => station.dcf.received(at(2_284), &control(Kind::Ack, OTHER, 0), &station.rules),
            2 => station.dcf.received(at(2_284), &control(Kind::Cts, ME, 0), &station.rules),
            3 => station.dcf.received(at(2_284), &data(PEER, ME, 314), &station.rules),
            _ => station.dcf.spoilt(at(2_284), true, &station.rules),
        };
        station.idle(2_284);
        assert_eq!(answer.failed, (case != 0).then_some(Unanswered::Data), "case {case}");
        assert_eq!(answer.finished.is_some(), case == 0, "case {case}");
        match case {
            0 => assert!(station.is_silent()),
            // The data in its place is acknowledged first.
            3 => assert_eq!(station.sends_at(2_294).kind, Kind::Ack),
            4 => assert!(station.sends_at(2_284 + 364).retry),
            _ => assert!(station.sends_at(2_284 + 50).retry),
        }
    }
}

#[test]
fn energy_without_a_header_does_not_end_the_wait_for_an_ack() {
    let mut station = Station::new(without_backoff());
    station.offer(1_000);
    station.sends_for(966);
    let answer = station.hears_bad(1_970, 2_100, false);
    assert!(answer.failed.is_none());
    assert_eq!(station.deadline(), 2_188);
    assert_eq!(station.times_out().failed, Some(Unanswered::Data));
    // DIFS has passed at the time-out: the slots, here none, count from it.
    assert_eq!(station.deadline(), 2_188);
    let rules = Conventions { timeout_deferral: TimeoutDeferral::Difs, ..without_backoff() };
    let mut station = Station::new(rules);
    station.offer(1_000);
    station.sends_for(966);
    station.times_out();
    assert_eq!(station.deadline(), 2_188 + 50);
}

#[test]
fn seven_attempts_without_rts_and_seven_at_the_rts() {
    for rts_threshold in [None, Some(Bytes::new(500))] {
        let mut station = Station::new(Conventions { rts_threshold, ..conventions() });
        station.offer(0);
        for attempt in 1..=7 {
            let (_, frame) = station.sends_for(966);
            assert_eq!(frame.kind == Kind::Rts, rts_threshold.is_some());
            assert_eq!(frame.sequence, 0);
            let answer = station.times_out();
            let expected = if rts_threshold.is_some() { Unanswered::Rts } else { Unanswered::Data };
            assert_eq!(answer.failed, Some(expected));
            assert_eq!(answer.finished.is_some(), attempt == 7, "attempt {attempt}");
            assert!(answer.finished.is_none_or(|finished| !finished.delivered));
        }
        assert!(station.dcf.is_free() && station.is_silent());
    }
}

#[test]
fn four_attempts_at_data_after_a_cts_and_the_two_counts_are_apart() {
    let mut station = Station::new(Conventions { rts_threshold: Some(Bytes::new(500)), ..conventions() });
    station.offer(0);
    for attempt in 1..=4 {
        // Two RTS in vain before the first three that are answered: six in all, one below the limit.
        for _ in 0..if attempt == 4 { 0 } else { 2 } {
            station.sends_for(352);
            assert!(station.times_out().finished.is_none());
        }
        let (start, rts) = station.sends_for(352);
        assert!(rts.kind == Kind::Rts && rts.reserves == us(30 + 304 + 966 + 304));
        let cts = control(Kind::Cts, ME, 1_290);
        assert!(station.hears(start + 362, start + 666, &cts).failed.is_none());
        let frame = station.sends_at(start + 676);
        assert_eq!((frame.reserves, frame.retry), (us(314), attempt > 1), "only data sent before carry the Retry bit");
        station.sent(start + 676 + 966, &frame);
        let answer = station.times_out();
        assert_eq!(answer.failed, Some(Unanswered::Data));
        assert_eq!(answer.finished.is_some(), attempt == 4, "attempt {attempt}");
    }
}

#[test]
fn data_no_longer_than_the_threshold_go_without_rts() {
    for (threshold, kind) in [(1_063, true), (1_064, false)] {
        let rules = Conventions { rts_threshold: Some(Bytes::new(threshold)), ..conventions() };
        let mut station = Station::new(rules);
        station.offer(1_000);
        assert_eq!(station.sends_at(1_000).kind == Kind::Rts, kind);
        let mut station = Station::new(Conventions { rts_threshold: Some(Bytes::new(0)), ..conventions() });
        station.offer_to(1_000, BROADCAST);
        assert!(matches!(station.sends_at(1_000).kind, Kind::Data { .. }), "a broadcast has no RTS");
    }
}

#[test]
fn the_window_doubles_with_each_failure_and_shrinks_after_the_last() {
    let mut largest = [0; 8];
    let mut after_success = 0;
    for seed in 0..400 {
        let mut station = Station::with_seed(conventions(), seed);
        station.offer(0);
        for most in &mut largest[1..7] {
            station.sends_for(966);
            let timeout = station.deadline();
            station.times_out();
            *most = (station.deadline() - timeout).div_euclid(20).max(*most);
        }
        station.sends_for(966);
        let timeout = station.deadline();
        assert!(station.times_out().finished.is_some());
        station.offer(timeout);
        largest[7] = (station.deadline() - timeout).div_euclid(20).max(largest[7]);
        // Twice in vain and then not.
        for _ in 0..2 {
            station.sends_for(966);
            station.times_out();
        }
        let (start, _) = station.sends_for(966);
        station.hears(start + 976, start + 1_280, &control(Kind::Ack, ME, 0));
        station.offer(start + 1_280);
        after_success = ((station.deadline() - start - 1_330) / 20).max(after_success);
    }
    let windows = [63, 127, 255, 511, 1023, 1023, 31];
    for (found, window) in largest[1..].iter().zip(windows) {
        // The largest of 400 draws lies in the upper twentieth, but for one case in 10^9.
        assert!((window * 19 / 20..=window).contains(found), "{largest:?}");
    }
    assert!((30..=31).contains(&after_success));
}

#[test]
fn a_frame_for_another_station_reserves_the_medium() {
    let mut station = Station::new(without_backoff());
    station.hears(0, 1_000, &data(PEER, OTHER, 314));
    station.offer(1_100);
    assert_eq!(station.deadline(), 1_314 + 50);
    // It only grows.
    station.hears(1_110, 1_120, &control(Kind::Ack, OTHER, 0));
    assert_eq!(station.deadline(), 1_314 + 50);
    station.hears(1_130, 1_140, &control(Kind::Cts, OTHER, 500));
    assert_eq!(station.deadline(), 1_640 + 50);
    // What is for this station reserves nothing against it.
    station.hears(1_150, 1_200, &control(Kind::Cts, ME, 5_000));
    assert_eq!(station.deadline(), 1_640 + 50);
}

#[test]
fn a_packet_that_comes_under_a_reservation_draws_a_backoff() {
    let drawn = (0..20).map(|seed| {
        let mut station = Station::with_seed(conventions(), seed);
        station.hears(0, 1_000, &data(PEER, OTHER, 1_000));
        // Idle for DIFS, but reserved (10.3.4.2: physical and virtual carrier sense).
        station.offer(1_500);
        (station.deadline() - 2_050) / 20
    });
    assert!(drawn.sum::<u64>() > 0);
}

#[test]
fn an_rts_is_answered_unless_the_medium_is_reserved_and_data_always_are() {
    let rts = control(Kind::Rts, ME, 1_604);
    let mut station = Station::new(conventions());
    station.hears(0, 352, &rts);
    let cts = station.sends_at(362);
    assert_eq!((cts.kind, cts.to, cts.reserves), (Kind::Cts, PEER, us(1_604 - 10 - 304)));
    let mut station = Station::new(conventions());
    station.hears(0, 352, &control(Kind::Rts, OTHER, 1_604));
    station.hears(600, 952, &rts);
    assert!(station.is_silent());
    assert!(station.hears(1_000, 1_900, &data(PEER, ME, 314)).takes);
    let ack = station.sends_at(1_910);
    assert_eq!((ack.kind, ack.to, ack.reserves), (Kind::Ack, PEER, Duration::ZERO));
    station.sent(2_214, &ack);
    // Reserved until 352 + 1604.
    station.hears(2_300, 2_652, &rts);
    assert_eq!(station.sends_at(2_662).kind, Kind::Cts);
}

#[test]
fn a_repetition_is_acknowledged_too() {
    let mut station = Station::new(conventions());
    for (begin, retry) in [(0, false), (2_000, true)] {
        let answer = station.hears(begin, begin + 966, &Frame { retry, ..data(PEER, ME, 314) });
        assert!(answer.takes, "whether it is a duplicate is for the receiver's memory to say");
        let ack = station.sends_at(begin + 976);
        assert!(station.sent(begin + 1_280, &ack).is_none());
    }
    assert!(station.is_silent());
}

#[test]
fn a_broadcast_is_taken_and_not_acknowledged() {
    let mut station = Station::new(conventions());
    assert!(station.hears(0, 966, &data(PEER, BROADCAST, 0)).takes);
    assert!(station.is_silent());
    assert!(!station.hears(1_000, 1_966, &data(PEER, OTHER, 314)).takes);
}

#[test]
fn a_response_goes_first_and_leaves_the_backoff_as_it_was() {
    let (mut station, slots) = Station::backing_off(5);
    station.hears(1_050 + 30, 2_100, &data(PEER, ME, 314));
    // The medium's edges before the response, and other noise, move nothing.
    station.busy(2_105);
    station.idle(2_107);
    let ack = station.sends_at(2_110);
    assert_eq!(ack.kind, Kind::Ack);
    assert!(station.sent(2_414, &ack).is_none());
    assert_eq!(station.deadline(), 2_414 + 50 + 20 * (slots - 1));
    assert!(matches!(station.sends_at(2_464 + 20 * (slots - 1)).kind, Kind::Data { .. }));
}

#[test]
fn a_packet_taken_while_a_response_is_owed_or_sent_draws_a_backoff() {
    for sending in [false, true] {
        let drawn = (0..20).map(|seed| {
            let mut station = Station::with_seed(conventions(), seed);
            station.hears(0, 1_000, &data(PEER, ME, 314));
            if !sending {
                station.offer(1_000);
            }
            let ack = station.sends_at(1_010);
            if sending {
                station.offer(1_100);
            }
            station.sent(1_314, &ack);
            (station.deadline() - 1_364) / 20
        });
        assert!(drawn.sum::<u64>() > 0);
    }
}

#[test]
fn after_a_response_on_a_medium_that_stays_busy_the_station_waits() {
    let (mut station, slots) = Station::backing_off(5);
    station.hears(1_060, 2_100, &data(PEER, ME, 314));
    let ack = station.sends_at(2_110);
    station.dcf.sent(at(2_414), &ack, &station.rules);
    assert!(station.is_silent(), "another signal is still there");
    station.idle(3_000);
    assert_eq!(station.deadline(), 3_050 + 20 * slots);
}

#[test]
fn an_rts_for_a_station_that_awaits_a_cts_fails_its_own_and_is_answered() {
    let rules = Conventions { rts_threshold: Some(Bytes::new(500)), ..without_backoff() };
    let mut station = Station::new(rules);
    station.offer(0);
    station.sends_for(352);
    let answer = station.hears(360, 712, &control(Kind::Rts, ME, 1_604));
    assert_eq!(answer.failed, Some(Unanswered::Rts));
    let cts = station.sends_at(722);
    assert_eq!(cts.kind, Kind::Cts);
    station.sent(1_026, &cts);
    assert_eq!(station.sends_at(1_076).kind, Kind::Rts);
}

#[test]
fn after_a_cts_data_follow_whatever_the_medium_does() {
    let rules = Conventions { rts_threshold: Some(Bytes::new(500)), ..conventions() };
    let mut station = Station::new(rules);
    station.offer(0);
    station.sends_for(352);
    station.hears(362, 666, &control(Kind::Cts, ME, 1_290));
    station.busy(668);
    station.idle(670);
    station.busy(671);
    assert!(matches!(station.sends_at(676).kind, Kind::Data { .. }));
}

#[test]
fn numbers_have_12_bits() {
    let mut station = Station::new(without_backoff());
    for n in 0..5_000_u64 {
        let start = (n + 1) * 10_000;
        station.offer_to(start, BROADCAST);
        let frame = station.sends_at(start);
        assert_eq!((u64::from(frame.sequence), frame.retry), (n % 4_096, false));
        station.sent(start + 1_504, &frame);
    }
}
