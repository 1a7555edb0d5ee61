//! The hidden pair beside a Monte Carlo of the same rules, event by event.

mod draws;

use draws::Draws;
use theory::Error;
use theory::hidden::{Outcome, Pair, saturation};
use units::{Bytes, Duration};

#[derive(Clone, Copy)]
enum State {
    /// Slots count from `from`, in ns.
    Counting {
        from: u64,
    },
    /// Hears the ACK.
    Frozen,
    Sending {
        until: u64,
        clean: bool,
    },
    /// Its ACK comes.
    Answered,
}

#[derive(Clone, Copy)]
struct Station {
    state: State,
    stage: u32,
    counter: u64,
}

/// In the order in which they are taken at the same instant: a frame that begins as another ends does not overlap it,
/// and one that begins with the ACK was not stopped by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(usize),
    Start(usize),
    AckBegins,
    AckEnds,
}

struct Play<'a> {
    pair: &'a Pair,
    draws: Draws,
    stations: [Station; 2],
    /// From the end of a clean frame to the end of its ACK: when the ACK begins, and whether it has.
    ack: Option<(u64, bool)>,
    attempts: u64,
    successes: u64,
    given_up: u64,
}

impl Play<'_> {
    fn next(&self) -> (u64, Event) {
        let of = |index: usize| match self.stations[index].state {
            State::Counting { from } => {
                Some((from + self.stations[index].counter * self.pair.slot.as_nanos(), Event::Start(index)))
            }
            State::Sending { until, .. } => Some((until, Event::End(index))),
            State::Frozen | State::Answered => None,
        };
        let ack = self.ack.map(|(begins, begun)| {
            if begun { (begins + self.pair.ack.as_nanos(), Event::AckEnds) } else { (begins, Event::AckBegins) }
        });
        [of(0), of(1), ack].into_iter().flatten().min().expect("somebody always waits or sends")
    }

    fn draw(&mut self, index: usize, stage: u32) {
        let window = (0..stage).fold(self.pair.cw_min, |cw, _| (2 * cw + 1).min(self.pair.cw_max));
        self.stations[index].stage = stage;
        self.stations[index].counter = self.draws.slots(window);
    }

    fn take(&mut self, now: u64, event: Event) {
        match event {
            Event::Start(index) => {
                self.attempts += 1;
                let mut mine = self.ack.is_none();
                if let State::Sending { clean, .. } = &mut self.stations[1 - index].state {
                    (*clean, mine) = (false, false);
                }
                self.stations[index].state = State::Sending { until: now + self.pair.frame.as_nanos(), clean: mine };
            }
            Event::End(index) => {
                if matches!(self.stations[index].state, State::Sending { clean: true, .. }) {
                    self.successes += 1;
                    self.stations[index].state = State::Answered;
                    self.ack = Some((now + self.pair.sifs.as_nanos(), false));
                    return;
                }
                let next = self.stations[index].stage + 1;
                let given_up = self.pair.attempts == Some(next);
                self.given_up += u64::from(given_up);
                self.draw(index, if given_up { 0 } else { next.min(16) });
                self.stations[index].state = State::Counting { from: now + self.pair.timeout.as_nanos() };
            }
            Event::AckBegins => {
                self.ack = Some((now, true));
                for station in &mut self.stations {
                    if let State::Counting { from } = station.state {
                        station.counter -= now.saturating_sub(from) / self.pair.slot.as_nanos();
                        station.state = State::Frozen;
                    }
                }
            }
            Event::AckEnds => {
                self.ack = None;
                for index in 0..2 {
                    match self.stations[index].state {
                        State::Answered => self.draw(index, 0),
                        State::Frozen => {}
                        State::Counting { .. } | State::Sending { .. } => continue,
                    }
                    self.stations[index].state = State::Counting { from: now + self.pair.difs.as_nanos() };
                }
            }
        }
    }
}

/// Plays `events` of the pair.
fn play(pair: &Pair, events: u32) -> Outcome {
    let first = |counter| Station { state: State::Counting { from: 0 }, stage: 0, counter };
    let (draws, stations) = (Draws(0x9E37_79B9_7F4A_7C15), [first(0), first(1)]);
    let mut play = Play { pair, draws, stations, ack: None, attempts: 0, successes: 0, given_up: 0 };
    let mut now = 0;
    for _ in 0..events {
        let (at, event) = play.next();
        now = at;
        play.take(now, event);
    }
    let (successes, given_up) = (play.successes as f64, play.given_up as f64);
    let successes_per_second = successes / (now as f64 / 1e9);
    Outcome {
        success_probability: successes / play.attempts as f64,
        drop_probability: given_up / (given_up + successes),
        successes_per_second,
        throughput_bps: successes_per_second * pair.payload.bits() as f64,
    }
}

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// 802.11b, frames of `micros`, ACK of 304 us, time-out SIFS + slot + 192 us.
fn dsss(micros: u64) -> Pair {
    let (slot, sifs, difs, frame) = (us(20), us(10), us(50), us(micros));
    let (ack, timeout, payload) = (us(304), us(222), Bytes::new(1000));
    Pair { cw_min: 31, cw_max: 1023, attempts: Some(7), slot, frame, sifs, ack, difs, timeout, payload }
}

/// 802.11a, frames of `micros`, ACK of 28 us, time-out SIFS + slot + 25 us.
fn ofdm(micros: u64) -> Pair {
    let (slot, sifs, difs, frame) = (us(9), us(16), us(34), us(micros));
    let (ack, timeout, payload) = (us(28), us(50), Bytes::new(1000));
    Pair { cw_min: 15, cw_max: 1023, attempts: Some(7), slot, frame, sifs, ack, difs, timeout, payload }
}

/// The chain is exact: the tolerances are the statistics of some 600,000 frames, four deviations and more.
fn agree(what: &str, pair: &Pair) {
    let solved = saturation(pair).expect("the pair is within the ranges");
    let played = play(pair, 2_000_000);
    println!("{what}: {solved:?}\n{:width$}  {played:?}", "", width = what.len());
    let success = solved.success_probability - played.success_probability;
    let dropped = solved.drop_probability - played.drop_probability;
    let throughput = solved.throughput_bps / played.throughput_bps - 1.0;
    assert!(success.abs() < 0.005, "{what}: success is off by {success}");
    assert!(dropped.abs() < 0.005, "{what}: drops are off by {dropped}");
    assert!(throughput.abs() < 0.008, "{what}: throughput is off by {throughput}");
}

#[test]
fn dsss_frames() {
    // With the standard's 7 attempts it agrees as well, but takes four times as long.
    agree("802.11b, 966 us, 5 times", &Pair { attempts: Some(5), ..dsss(966) });
    agree("802.11b, 400 us, CW 127", &Pair { cw_max: 127, attempts: Some(4), ..dsss(400) });
}

#[test]
fn ofdm_frames() {
    agree("802.11a, 180 us, 4 times", &Pair { attempts: Some(4), ..ofdm(180) });
    agree("802.11a, 248 us, CW 255", &Pair { cw_max: 255, attempts: None, ..ofdm(248) });
}

#[test]
fn one_window() {
    agree("802.11a, CW 63 once", &Pair { cw_min: 63, cw_max: 63, attempts: Some(1), ..ofdm(180) });
}

#[test]
fn windows_shorter_than_a_frame_hardly_ever_succeed() {
    // At most 15 slots of 20 us, and a time-out of 222: no gap is as long as a frame of 966, whatever is drawn.
    let pair = Pair { cw_min: 15, cw_max: 15, ..dsss(966) };
    let solved = saturation(&pair).unwrap();
    assert!(solved.success_probability < 1e-6 && solved.drop_probability > 1.0 - 1e-6, "{solved:?}");
}

#[test]
fn very_wide_windows_are_two_senders_that_hardly_meet() {
    // Mean gap 1023 / 2 slots: a frame meets another that starts within a frame before or after it.
    let solved = saturation(&Pair { cw_min: 1023, attempts: Some(1), ..ofdm(100) }).unwrap();
    let cycle = 1023.0 / 2.0 * 9.0 + 178.0;
    let expected = 1.0 - 2.0 * 100.0 / cycle;
    assert!((solved.success_probability - expected).abs() < 0.01, "{solved:?} beside {expected}");
}

#[test]
fn what_cannot_be_solved_is_refused() {
    assert_eq!(saturation(&Pair { cw_min: 0, ..ofdm(180) }), Err(Error::Windows));
    assert_eq!(saturation(&Pair { attempts: Some(0), ..ofdm(180) }), Err(Error::Attempts));
    assert_eq!(saturation(&Pair { slot: Duration::ZERO, ..ofdm(180) }), Err(Error::Times));
    assert_eq!(saturation(&Pair { frame: Duration::MAX, ..ofdm(180) }), Err(Error::Times));
    assert_eq!(saturation(&Pair { timeout: us(300), ..ofdm(180) }), Err(Error::Short));
    assert_eq!(saturation(&Pair { frame: Duration::from_nanos(180_001), ..ofdm(180) }), Err(Error::States));
    assert!(Error::States.to_string().contains("states"));
}
