//! A notation for traces after packetdrill's idea: input of a sender on the left, its expected output on the right.
//!
//! Segments are named by their numbers, from 0: segment `k` has the octets `1 + 1000 k` to `1000 (k + 1)`.
//!
//! | told | meaning |
//! |---|---|
//! | `open` | the application opens the connection |
//! | `syn-ack` | the receiver's SYN |
//! | `ack 3` | everything below segment 3 is acknowledged, `ack 3 sack 5 7-9`: with these segments, the latest block first |
//! | `ack 3 window 0`, `ack 3 ece` | with this window, in octets; with a mark |
//! | `ack 3 marked 2` | and two segments in all arrived marked, by the receiver's count |
//! | `ack 3 report 1`, `ack 3 wireless` | with this report of losses: congestion up to priority 1; none |
//! | `timer` | the deadline comes |
//! | `wait 300` | so many milliseconds pass |
//! | `supply 1500`, `close` | the application has more data; it has no more |
//!
//! | put out | meaning |
//! |---|---|
//! | `SYN`, `ACK` | segments without data |
//! | `4`, `r4` | segment 4, for the first time or again |
//! | `4:500` | its first 500 octets |
//! | `4.`, `4!` | with FIN; with CWR |
//! | `cwnd=4.5` | then the congestion window, in segments; `ssthresh=`, `rto=` (in ms) and `deadline=` (ms from now, or `never`) likewise |
//!
//! Each segment comes 100 ms after the step before.

use crate::config::LossDetection;
use crate::transport::tcp::*;
use std::collections::BTreeSet;
use units::{Bytes, Duration, Instant};

pub(super) const SEGMENT: u64 = 1000;

/// Settings of a trace: segments of 1000 octets, no timestamps, an initial window of `initial` segments; losses are counted,
/// and slow start counts acknowledgements.
pub(super) fn plain(recovery: Recovery, initial: u32) -> Settings {
    Settings {
        segment: Bytes::new(SEGMENT),
        recovery,
        loss_detection: LossDetection::DuplicateAcks,
        slow_start: SlowStart::Acks,
        initial_window: initial,
        timestamps: false,
        limited_transmit: false,
        ..Settings::default()
    }
}

/// Runs a trace of a sender that has `supply` octets, without end for `None`.
pub(super) fn run(settings: Settings, supply: Option<u64>, steps: &[(&str, &str)]) -> Sender {
    let mut trace = Trace::new(settings);
    trace.sender.supply(supply);
    for (number, (told, expected)) in steps.iter().enumerate() {
        let checks: Vec<&str> = expected.split_whitespace().filter(|word| word.contains('=')).collect();
        let mut seen = trace.step(told);
        seen.extend(checks.iter().map(|check| trace.state(check.split('=').next().unwrap())));
        assert_eq!(seen.join(" "), *expected, "step {number}: {told}");
    }
    trace.sender
}

/// The same after `open`, with the steps as the only argument of what is returned, so that a long list stands by itself.
pub(super) fn trace(settings: Settings, supply: Option<u64>) -> impl FnOnce(&[(&str, &str)]) -> Sender {
    move |steps| run(settings, supply, &[&[("open", "SYN")], steps].concat())
}

struct Trace {
    sender: Sender,
    settings: Settings,
    now: Instant,
    sent: BTreeSet<u64>,
}

impl Trace {
    fn new(settings: Settings) -> Self {
        Self { sender: Sender::new(&settings), settings, now: Instant::ZERO, sent: BTreeSet::new() }
    }

    fn step(&mut self, told: &str) -> Vec<String> {
        let words: Vec<&str> = told.split_whitespace().collect();
        match words[..] {
            ["open"] => self.sender.open(self.now),
            ["close"] => self.sender.close(),
            ["supply", octets] => self.sender.supply(Some(octets.parse().unwrap())),
            ["wait", millis] => self.now += Duration::from_millis(millis.parse().unwrap()),
            ["timer"] => {
                self.now = self.sender.deadline();
                self.sender.expire(self.now);
            }
            _ => self.segment(&words),
        }
        let segments: Vec<Segment> = std::iter::from_fn(|| self.sender.next(self.now)).collect();
        segments.iter().map(|segment| self.describe(segment)).collect()
    }

    fn segment(&mut self, words: &[&str]) {
        let sent = self.now;
        self.now += Duration::from_millis(100);
        let stamped = self.settings.timestamps;
        let mut segment = Segment {
            start: 1,
            ack: Some(1),
            window: self.settings.advertised_window.count(),
            stamp: stamped.then_some(self.now),
            echo: stamped.then_some(sent),
            ..Segment::default()
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "syn-ack" => (segment.syn, segment.start) = (true, 0),
                "ack" => segment.ack = Some(1 + SEGMENT * words.next().unwrap().parse::<u64>().unwrap()),
                "octet" => segment.ack = words.next().unwrap().parse().ok(),
                "window" => segment.window = words.next().unwrap().parse().unwrap(),
                "ece" => segment.ece = true,
                "marked" => segment.marked = SEGMENT * words.next().unwrap().parse::<u64>().unwrap(),
                "wireless" => segment.report = Some(Report::Wireless),
                "report" => {
                    let reached = words.next().unwrap().parse().unwrap();
                    segment.report = Some(Report::Congestion { reached });
                }
                "sack" => {}
                range => segment.sacks.push(block(range)),
            }
        }
        self.sender.receive(self.now, &segment);
    }

    fn describe(&mut self, segment: &Segment) -> String {
        if segment.length == 0 && !segment.fin {
            return if segment.syn { "SYN".into() } else { "ACK".into() };
        }
        let again = if self.sent.insert(segment.start) { "" } else { "r" };
        let number = (segment.start - 1) / SEGMENT;
        let part = if u64::from(segment.length) == SEGMENT { String::new() } else { format!(":{}", segment.length) };
        let fin = if segment.fin { "." } else { "" };
        let cwr = if segment.cwr { "!" } else { "" };
        format!("{again}{number}{part}{fin}{cwr}")
    }

    fn state(&self, name: &str) -> String {
        let segments = |octets: u64| octets as f64 / SEGMENT as f64;
        let millis = |time: Duration| time.as_nanos() as f64 / 1e6;
        if name == "deadline" && self.sender.deadline() == Instant::NEVER {
            return "deadline=never".into();
        }
        let value = match name {
            "cwnd" => segments(self.sender.cwnd()),
            "ssthresh" => segments(self.sender.ssthresh()),
            "rto" => millis(self.sender.timeout()),
            "deadline" => millis(self.sender.deadline().since(self.now)),
            _ => panic!("no such state: {name}"),
        };
        format!("{name}={value}")
    }
}

/// `5` or `5-8`, both ends included.
fn block(range: &str) -> Block {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let [first, last] = [first, last].map(|number| number.parse::<u64>().unwrap());
    Block { start: 1 + SEGMENT * first, end: 1 + SEGMENT * (last + 1) }
}
