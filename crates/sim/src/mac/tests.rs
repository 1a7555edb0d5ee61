//! A station driven by hand: 802.11b, 11 and 1 Mb/s, 1000 B of payload. Data last 966 us, ACK and CTS 304, RTS 352;
//! SIFS 10, slot 20, DIFS 50, EIFS 364, time-out 222, turn-around 5.

use super::*;
use crate::config::{AnswerRts, Eifs, FirstAccess, MissedBlockAck, Ofdma, Preamble, Radio, WindowReset};
use crate::engine::{Arena, Handle, Purpose, Stream};
use crate::radio::{DsssRate, Format, Mode, Timing};
use units::{Bytes, Duration, Instant};

mod access;
mod aggregates;
mod choices;
mod exchange;
mod tmac;
mod wide;

const ME: u32 = 0;
const PEER: u32 = 1;
const OTHER: u32 = 2;
const MODE: Mode = Mode::Dsss { rate: DsssRate::K11000, preamble: Preamble::Long };

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

const fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn conventions() -> Conventions {
    let timing = Timing::new(&Radio::default()).expect("valid");
    let none = Duration::ZERO;
    let access = Access { space: timing.difs, cw_min: 31, cw_max: 1023, after_timeout: none, txop_limit: none };
    let aggregation = Aggregation {
        ampdu: None,
        frames: 64,
        duration: Duration::from_millis(4),
        amsdu: None,
        missed: MissedBlockAck::Retransmit,
        lifetime: None,
    };
    Conventions {
        timing,
        access: [access; CATEGORIES],
        categories: 1,
        short_retry_limit: 7,
        long_retry_limit: 4,
        rts_threshold: None,
        cts_to_self: false,
        aggregation,
        ofdma: Ofdma::Off,
        power_save: false,
        mu_edca: None,
        bandwidth: None,
        of_dsss: None,
        agreements: [Agreement::NONE; 3],
        old: Agreement::NONE,
        formats: Vec::new(),
        newest: Format::Ht,
        eifs: Eifs::BadFrame,
        first_access: FirstAccess::Immediate,
        answer_rts: AnswerRts::UnlessReserved,
        window_reset: WindowReset::RetryLimit,
        tmac: None,
        key: Bytes::new(0),
    }
    .agreed()
}

/// Returns conventions with a back-off of zero: every moment follows from the standard's times.
fn without_backoff() -> Conventions {
    let mut rules = conventions();
    rules.access = rules.access.map(|access| Access { cw_min: 0, cw_max: 0, ..access });
    rules
}

fn packet() -> Handle {
    Arena::default().insert(())
}

fn data(from: u32, to: u32, reserves: u64) -> Frame {
    let kind = Kind::Data { packet: packet(), psdu: Bytes::new(1064) };
    Frame { kind, from, to, category: 0, mode: MODE, reserves: us(reserves), sequence: 1, retry: false }
}

fn control(kind: Kind, to: u32, reserves: u64) -> Frame {
    Frame { kind, ..data(PEER, to, reserves) }
}

/// What the station returned for its calls.
#[derive(Debug)]
struct Told {
    takes: bool,
    duplicate: bool,
    failed: Option<Unanswered>,
    finished: Option<Finished>,
}

/// A station and the conventions that it follows.
struct Bench {
    station: Station,
    rules: Conventions,
}

impl Bench {
    fn new(rules: Conventions) -> Self {
        Self::with_seed(rules, 1)
    }

    fn with_seed(rules: Conventions, seed: u64) -> Self {
        Self {
            station: Station::new(
                ME,
                Rates::fixed(vec![vec![MODE]], Vec::new()),
                &rules,
                Stream::new(seed, "alone", Purpose::BACKOFF),
            ),
            rules,
        }
    }

    fn offer_to(&mut self, micros: u64, to: u32) {
        let msdu = Msdu { packet: packet(), length: Bytes::new(1036) };
        self.station.offer(at(micros), to, 0, msdu, &self.rules);
    }

    fn offer(&mut self, micros: u64) {
        self.offer_to(micros, PEER);
    }

    fn busy(&mut self, micros: u64) {
        self.station.turned_busy(at(micros), &self.rules);
    }

    fn idle(&mut self, micros: u64) {
        self.station.turned_idle(at(micros), &self.rules);
    }

    /// Receives an intact frame, after which the medium is idle.
    fn hears(&mut self, begin: u64, end: u64, frame: &Frame) -> Told {
        self.busy(begin);
        let answer = self.station.received(at(end), frame, &self.rules);
        self.idle(end);
        self.told(answer)
    }

    /// Receives a signal that was not a frame for this radio.
    fn hears_bad(&mut self, begin: u64, end: u64, header_read: bool) -> Told {
        self.busy(begin);
        let answer = self.station.spoilt(at(end), header_read, &self.rules);
        self.idle(end);
        self.told(answer)
    }

    /// Lets the station send at its deadline, `micros`.
    fn sends_at(&mut self, micros: u64) -> Frame {
        assert_eq!(self.station.deadline, at(micros));
        match self.station.timer(at(micros), false, &self.rules) {
            Due::Send(frame) => {
                self.busy(micros);
                frame
            }
            Due::Begin(_) => {
                let frame = self.station.begin(at(micros), None, None, &self.rules);
                self.busy(micros);
                frame
            }
            due => panic!("{due:?}"),
        }
    }

    fn told(&mut self, answer: Answer) -> Told {
        let Answer { takes, duplicate, failed, .. } = answer;
        let mut done_with = Vec::new();
        std::mem::swap(&mut self.station.held.finished, &mut done_with);
        let finished = done_with.pop();
        assert!(done_with.is_empty(), "one packet at a time");
        Told { takes, duplicate, failed, finished }
    }

    /// Ends the frame that the station sends.
    fn sent(&mut self, micros: u64, frame: &Frame) -> Option<Finished> {
        self.station.sent(at(micros), frame, &self.rules);
        self.idle(micros);
        self.told(Answer::default()).finished
    }

    /// Lets the station send at its deadline for `length`; returns the time and the frame.
    fn sends_for(&mut self, length: u64) -> (u64, Frame) {
        let start = self.deadline();
        let frame = self.sends_at(start);
        self.sent(start + length, &frame);
        (start, frame)
    }

    /// Lets the response fail to come: at the deadline no frame is being received.
    fn times_out(&mut self) -> Told {
        match self.station.timer(self.station.deadline, false, &self.rules) {
            Due::Failed(answer) => self.told(answer),
            due => panic!("{due:?}"),
        }
    }

    fn deadline(&self) -> u64 {
        assert_ne!(self.station.deadline, Instant::NEVER, "nothing is due");
        self.station.deadline.as_nanos() / 1_000
    }

    fn is_free(&self) -> bool {
        self.station.contention.free() == 1
    }

    fn is_silent(&self) -> bool {
        self.station.deadline == Instant::NEVER
    }

    /// Returns a station that took a packet on a busy medium, idle from 1000 us, and its back-off of at least `least`.
    fn backing_off(least: u64) -> (Self, u64) {
        for seed in 0.. {
            let mut bench = Self::with_seed(conventions(), seed);
            bench.busy(0);
            bench.offer(100);
            assert!(bench.is_silent());
            bench.idle(1_000);
            let slots = (bench.deadline() - 1_050) / 20;
            if slots >= least {
                return (bench, slots);
            }
        }
        unreachable!("some seed draws as many");
    }
}

#[test]
fn an_idle_medium_is_taken_at_once() {
    let mut bench = Bench::new(conventions());
    bench.offer(1_000);
    let frame = bench.sends_at(1_000);
    assert!(matches!(frame.kind, Kind::Data { .. }) && frame.to == PEER && !frame.retry);
    assert_eq!(frame.reserves, us(10 + 304));
    assert!(bench.is_silent());
    assert!(bench.sent(1_966, &frame).is_none());
    assert_eq!(bench.deadline(), 1_966 + 222);
    let answer = bench.hears(1_976, 2_280, &control(Kind::Ack, ME, 0));
    assert!(answer.finished.is_some_and(|finished| finished.delivered) && bench.is_free());
}

#[test]
fn a_medium_that_has_just_turned_idle_is_taken_after_difs_without_backoff() {
    let mut bench = Bench::new(conventions());
    bench.busy(0);
    bench.idle(1_000);
    bench.offer(1_020);
    assert_eq!(bench.deadline(), 1_050);
    // Unless the medium becomes busy first: then a back-off is due (10.3.4.2).
    bench.busy(1_040);
    assert!(bench.is_silent());
    bench.idle(2_000);
    assert!(bench.deadline() >= 2_050);
}

#[test]
fn a_backoff_freezes_and_goes_on() {
    // (turns busy after the end of DIFS, slots that count): a boundary within 5 us of the edge counts.
    for (edge, counted) in [(70, 3), (60, 3), (55, 3), (54, 2), (41, 2), (0, 0)] {
        let (mut bench, slots) = Bench::backing_off(5);
        bench.busy(1_050 + edge);
        assert!(bench.is_silent());
        bench.idle(5_000);
        assert_eq!(bench.deadline(), 5_050 + 20 * (slots - counted), "edge {edge}");
    }
    // Busy again before DIFS is over: nothing counts, however often this happens.
    let (mut bench, slots) = Bench::backing_off(5);
    for start in (1_049..2_000).step_by(49) {
        bench.busy(start);
        bench.idle(start);
    }
    assert_eq!(bench.deadline(), 1_980 + 50 + 20 * slots);
}

#[test]
fn what_comes_within_the_turn_around_time_does_not_stop_a_transmission() {
    let (mut bench, slots) = Bench::backing_off(2);
    let end = 1_050 + 20 * slots;
    bench.busy(end - 6);
    assert!(bench.is_silent());
    bench.idle(end);
    // One slot is left.
    let end = end + 50 + 20;
    bench.busy(end - 5);
    bench.sends_at(end);
}

#[test]
fn a_flicker_within_the_turn_around_time_does_not_stop_a_transmission_either() {
    let (mut bench, slots) = Bench::backing_off(2);
    let end = 1_050 + 20 * slots;
    bench.busy(end - 4);
    bench.idle(end - 3);
    assert_eq!(bench.deadline(), end);
    bench.busy(end - 2);
    bench.sends_at(end);
}

#[test]
fn a_post_backoff_passes_whether_or_not_a_packet_waits() {
    for seed in 0..50 {
        let mut bench = Bench::with_seed(conventions(), seed);
        let done = |bench: &mut Bench| {
            bench.offer(1_000);
            bench.sends_for(966);
            bench.hears(1_976, 2_280, &control(Kind::Ack, ME, 0));
        };
        done(&mut bench);
        // The next packet arrives at once.
        bench.offer(2_280);
        let slots = (bench.deadline() - 2_330) / 20;
        assert!(slots <= 31);
        // The same station, where the packet arrives in the middle, and where part of the back-off passed before.
        let mut late = Bench::with_seed(conventions(), seed);
        done(&mut late);
        late.offer(2_330 + 35);
        assert_eq!(late.deadline(), (2_330 + 20 * slots).max(2_365), "{slots} slots");
        let mut frozen = Bench::with_seed(conventions(), seed);
        done(&mut frozen);
        assert!(frozen.is_silent());
        frozen.busy(2_330 + 44);
        frozen.idle(3_000);
        frozen.offer(3_000);
        assert_eq!(frozen.deadline(), 3_050 + 20 * slots.saturating_sub(2), "{slots} slots");
        // And where the back-off has long passed.
        let mut idle = Bench::with_seed(conventions(), seed);
        done(&mut idle);
        idle.offer(9_000);
        assert_eq!(idle.deadline(), 9_000);
    }
}

#[test]
fn a_packet_that_finds_the_medium_busy_after_the_post_backoff_draws_a_new_one() {
    let mut drawn = 0;
    for seed in 0..20 {
        let mut bench = Bench::with_seed(conventions(), seed);
        bench.offer(1_000);
        bench.sends_for(966);
        bench.hears(1_976, 2_280, &control(Kind::Ack, ME, 0));
        bench.busy(9_000);
        bench.offer(9_100);
        bench.idle(10_000);
        drawn += (bench.deadline() - 10_050) / 20;
    }
    assert!(drawn > 0);
}

#[test]
fn a_failure_doubles_the_window_and_adds_one() {
    for (cw_min, cw_max, windows) in [
        (31, 1_023, &[31, 63, 127, 255, 511, 1_023, 1_023][..]),
        (15, 1_023, &[15, 31, 63, 127, 255, 511, 1_023, 1_023]),
        // A largest window that is not a power of two less one, and a smallest window of zero.
        (7, 50, &[7, 15, 31, 50, 50]),
        (0, 3, &[0, 1, 3, 3]),
    ] {
        let mut rules = conventions();
        rules.access = rules.access.map(|access| Access { cw_min, cw_max, ..access });
        let mut station = Bench::new(rules).station;
        for &window in windows {
            assert_eq!(station.contention.contenders[0].cw, window, "from {cw_min} to {cw_max}");
            station.contention.widen(0);
        }
    }
}

#[test]
fn eifs_follows_what_the_convention_says() {
    // After these: a frame with a wrong checksum, a frame lost in its header, a signal; and the first of them, then a
    // good frame 300 us later.
    let expected = [
        (Eifs::BadFrame, [364, 50, 50, 350]),
        (Eifs::AnySignal, [364, 364, 364, 350]),
        (Eifs::AnySignalKept, [414, 414, 414, 414]),
        (Eifs::Never, [50, 50, 50, 350]),
    ];
    for (eifs, waits) in expected {
        for (case, wait) in waits.into_iter().enumerate() {
            let mut bench = Bench::new(Conventions { eifs, ..without_backoff() });
            match case {
                0 => drop(bench.hears_bad(0, 1_000, true)),
                1 => drop(bench.hears_bad(0, 1_000, false)),
                2 => {
                    bench.busy(0);
                    bench.station.contention.noise(at(1_000), &bench.rules);
                    bench.idle(1_000);
                }
                _ => {
                    bench.hears_bad(0, 1_000, true);
                    bench.hears(1_010, 1_300, &control(Kind::Ack, OTHER, 0));
                }
            }
            bench.offer(1_300);
            assert_eq!(bench.deadline(), (1_000 + wait).max(1_300), "{eifs:?}, case {case}");
        }
    }
}

#[test]
fn a_transmission_of_its_own_ends_eifs() {
    let mut bench = Bench::new(without_backoff());
    bench.hears_bad(0, 1_000, true);
    bench.offer_to(1_000, BROADCAST);
    let frame = bench.sends_at(1_364);
    assert!(bench.sent(3_000, &frame).is_some_and(|finished| finished.delivered));
    bench.offer(3_000);
    assert_eq!(bench.deadline(), 3_050);
}
