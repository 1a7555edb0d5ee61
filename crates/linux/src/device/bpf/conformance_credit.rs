//! Drives release by credit in C and in Rust, and requires equal decisions and intervals.

use super::Credit;
use super::conformance::{Decision, InKernel, Numbered, START, STEPS, WEIGHT, compare, draw, some_limit};
use super::mechanism::Mechanism;
use control::{Interval, Limit, Measures, Stat};
use libbpf_rs::ObjectBuilder;
use queue::{End, FifoParams, Purge, Queue};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant};

/// Number of entries for packets below, as in `flight.h`.
const MOST_BELOW: usize = 1_024;
const CREDIT: Credit = Credit {
    packets: 6,
    time: Duration::from_millis(8),
    expiry: Duration::from_millis(40),
    look_every: Duration::from_millis(1),
};

const MECHANISM: Mechanism = Mechanism {
    hard: Limit::Packets(60),
    fallback: Limit::Packets(60),
    overflow: End::Tail,
    purge: Purge::Tail,
    burst: queue::LONGEST_PACKET,
};

/// A packet that was handed to the device.
#[derive(Clone, Copy, Debug)]
struct Below {
    number: u64,
    arrived: Instant,
    handed: Instant,
    /// Instant of the packet's completion, and its service time.
    done: Option<(Instant, Duration)>,
}

/// Crate `queue`'s queue above a device that can hold several packets.
struct InRust {
    queue: Queue<Numbered>,
    limit: Option<Limit>,
    credit: Credit,
    below: VecDeque<Below>,
    /// Number of packets below that are not completed.
    open: u32,
    lost: u32,
    completed_at: Instant,
    pace: u64,
    sojourns: Vec<Duration>,
    services: Vec<Duration>,
    average: Option<f64>,
}

impl InRust {
    fn new(mechanism: Mechanism, measures: Measures, credit: Credit) -> Self {
        let Mechanism { hard, overflow, purge, .. } = mechanism;
        let mut queue = Queue::fifo(FifoParams { overflow, purge, limit: hard }).measuring(measures);
        queue.take_interval(START);
        let (below, sojourns, services) = Default::default();
        let (open, lost, pace, average) = (0, 0, 0, None);
        Self { queue, limit: None, credit, below, open, lost, completed_at: START, pace, sojourns, services, average }
    }

    fn apply_limit(&mut self, now: Instant, dropped: &mut Vec<u64>) {
        if let Some(limit) = self.limit.take() {
            self.queue.set_limit(now, limit, &mut |packet: Numbered| dropped.push(packet.number));
        }
    }

    fn comes(&mut self, packet: Numbered, now: Instant) -> Decision {
        let mut dropped = Vec::new();
        self.apply_limit(now, &mut dropped);
        self.queue.enqueue(now, packet, &mut |packet: Numbered| dropped.push(packet.number));
        let kept = !dropped.contains(&packet.number);
        (kept.then_some(packet.number), dropped)
    }

    fn taken(&mut self, now: Instant) -> Decision {
        let mut dropped = Vec::new();
        self.apply_limit(now, &mut dropped);
        self.settle(now);
        self.settle(now);
        if self.is_used() {
            return (None, dropped);
        }
        let Some(left) = self.queue.take(now, 0, &mut |packet: Numbered| dropped.push(packet.number)) else {
            return (None, dropped);
        };
        let arrived = Instant::from_nanos(now.as_nanos() - left.waited.as_nanos());
        self.below.push_back(Below { number: left.packet.number, arrived, handed: now, done: None });
        self.open += 1;
        (Some(left.packet.number), dropped)
    }

    fn is_used(&self) -> bool {
        let airtime = Duration::from_nanos(self.pace) * u64::from(self.open);
        let is_slow = self.pace == 0 || airtime >= self.credit.time;
        self.below.len() >= MOST_BELOW || self.open >= 2 && (self.open >= self.credit.packets || is_slow)
    }

    fn settle(&mut self, now: Instant) {
        let Some(oldest) = self.below.front().copied() else { return };
        if let Some((done, service)) = oldest.done {
            self.sojourns.push(done.since(oldest.arrived) - service);
            self.services.push(service);
            let nanos = service.as_nanos();
            self.pace = if self.pace == 0 { nanos + 1 } else { self.pace - self.pace / 8 + nanos / 8 };
            #[expect(clippy::cast_precision_loss, reason = "milliseconds")]
            let new = nanos as f64;
            self.average = Some(self.average.map_or(new, |average| average + WEIGHT * (new - average)));
        } else if self.below.len() < MOST_BELOW && now.since(oldest.handed) < self.credit.expiry {
            return;
        } else {
            self.open -= 1;
            self.lost += 1;
        }
        self.below.pop_front();
    }

    fn complete(&mut self, index: usize, now: Instant) {
        let below = &mut self.below[index];
        if below.done.is_none() {
            let head_since = below.handed.max(self.completed_at);
            below.done = Some((now, now.since(head_since)));
            self.completed_at = now;
            self.open -= 1;
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds")]
    fn take_interval(&mut self, now: Instant) -> Interval {
        let nodal: Vec<Duration> = self.sojourns.iter().zip(&self.services).map(|(&one, &two)| one + two).collect();
        let (sojourn, service) = (stat(&self.sojourns), stat(&self.services));
        self.sojourns.clear();
        self.services.clear();
        Interval {
            sojourn,
            service,
            departure_gap: service,
            nodal: stat(&nodal),
            service_ewma: self.average.map(|average| Duration::from_nanos((average + 0.5) as u64)),
            ..self.queue.take_interval(now)
        }
    }
}

fn stat(times: &[Duration]) -> Stat {
    let sum: Duration = times.iter().copied().sum();
    let n = times.len() as u64;
    let (max, last) = (times.iter().max().copied(), times.last().copied());
    Stat { n, mean: sum / n.max(1), max: max.unwrap_or_default(), last: last.unwrap_or_default() }
}

/// Returns the number of compared steps, if programs can be loaded. Credit is used up and some completions are missing.
fn drive(mechanism: Mechanism, seed: u64) -> u32 {
    let measures = Measures { service_weight: Some(WEIGHT), idle_threshold: 1 };
    let Some(mut kernel) = InKernel::new(mechanism, measures) else { return 0 };
    kernel.settings.set_credit(Some(CREDIT));
    kernel.write();
    let mut rust = InRust::new(mechanism, measures, CREDIT);
    let (mut state, mut now, mut held) = (seed, START, 0);
    for step in 0..STEPS {
        let context = format!("{mechanism:?}, seed {seed}, step {step}");
        now += Duration::from_nanos(draw(&mut state, 1_500_000));
        match draw(&mut state, 100) {
            0..3 => {
                let limit = some_limit(&mut state);
                kernel.set_limit(limit, mechanism.hard);
                rust.limit = Some(limit);
            }
            3..6 => compare(&kernel.take_interval(now), &rust.take_interval(now), &context),
            6..40 => {
                let packet = Numbered { number: u64::from(step) + 1, len: Bytes::new(40 + draw(&mut state, 1_461)) };
                assert_eq!(kernel.step_by_credit(Some(packet), now).0, rust.comes(packet, now), "{context}");
            }
            40..70 => {
                let (decision, _) = kernel.step_by_credit(None, now);
                assert_eq!(decision, rust.taken(now), "{context}");
                held += u32::from(decision.0.is_none() && !rust.queue.is_empty());
            }
            // The packet may be completed already; some packets never are.
            _ if rust.below.is_empty() => {}
            _ => {
                let among = if draw(&mut state, 4) == 0 { rust.below.len() as u64 } else { 1 };
                let index = usize::try_from(draw(&mut state, among)).unwrap();
                if !rust.below[index].number.is_multiple_of(13) {
                    kernel.complete(rust.below[index].number, now);
                    rust.complete(index, now);
                }
            }
        }
    }
    assert!(held > STEPS / 100 && rust.lost > 10, "{held} times held, {} lost", rust.lost);
    STEPS
}

/// Two aggregates of 802.11ax have 512 packets, or more if a driver puts several packets into each MPDU.
#[test]
fn more_than_two_of_the_longest_aggregates_may_be_below_and_each_is_known_when_it_is_done() {
    const BELOW: u32 = 960;
    let measures = Measures { service_weight: Some(WEIGHT), idle_threshold: 1 };
    let Some(mut kernel) = InKernel::new(MECHANISM, measures) else {
        eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
        return;
    };
    let credit = Credit { packets: BELOW, time: Duration::from_secs(10), expiry: Duration::from_secs(10), ..CREDIT };
    kernel.settings.set_credit(Some(credit));
    kernel.write();
    let mut rust = InRust::new(MECHANISM, measures, credit);
    let (mut number, mut now) = (0, START);
    // Three rounds use entries again. In the first, two packets show how long one takes.
    for round in 0..4 {
        let before = number;
        loop {
            number += 1;
            now += Duration::from_micros(1);
            let packet = Numbered { number, len: Bytes::new(1_500) };
            assert_eq!(kernel.step_by_credit(Some(packet), now).0, rust.comes(packet, now));
            let (decision, _) = kernel.step_by_credit(None, now);
            assert_eq!(decision, rust.taken(now), "packet {number}");
            if decision.0.is_none() {
                break;
            }
        }
        assert_eq!(rust.open, if round == 0 { 2 } else { BELOW }, "after {before} packets");
        while rust.open > 0 {
            now += Duration::from_micros(1);
            let index = rust.below.iter().position(|below| below.done.is_none()).unwrap();
            kernel.complete(rust.below[index].number, now);
            rust.complete(index, now);
        }
    }
    compare(&kernel.take_interval(now), &rust.take_interval(now), "at the end");
    assert_eq!(rust.lost, 0);
}

#[test]
fn release_by_credit_in_c_decides_and_measures_as_in_rust() {
    let mut compared = 0;
    for (seed, overflow, purge) in [(101, End::Tail, Purge::Tail), (102, End::Head, Purge::Head)] {
        let hard = Limit::Packets(60);
        compared += drive(Mechanism { hard, fallback: hard, overflow, purge, burst: queue::LONGEST_PACKET }, seed);
    }
    if compared == 0 {
        eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
    } else {
        assert_eq!(compared, 2 * STEPS);
    }
}

#[test]
fn times_of_a_completion_are_read_after_it_is_known_to_be_whole() {
    const DISCIPLINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sluice.bpf.o"));
    /// An atomic comparison and exchange of `done` in `struct flight`; it is fully ordered (RFC 9669, section 5.3).
    const ORDERED: (u8, i32, i16) = (0xdb, 0xf1, 48);
    let object = ObjectBuilder::default().open_memory(DISCIPLINE).unwrap();
    let dequeue = object.progs().find(|program| program.name() == "sluice_dequeue").unwrap();
    let ordered = dequeue.insns().iter().filter(|one| (one.code, one.imm, one.off) == ORDERED).count();
    // A call may take two packets out of the account, and each needs one.
    assert_eq!(ordered, 2);
}

#[test]
fn marks_are_siphash_of_the_packets_number() {
    let Some(mut kernel) = InKernel::new(MECHANISM, Measures::default()) else {
        eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
        return;
    };
    // Key, message of eight bytes and answer of the reference implementation.
    let (key, message, answer) =
        ([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908], 0x0706_0504_0302_0100, 0x93f5_f579_9a93_2462);
    [kernel.settings.key_first, kernel.settings.key_second] = key;
    kernel.write();
    let mark = kernel.call([6, 0, 0, message, 0, 0, 0, 0])[4];
    assert_eq!(mark, 0x51c0 << 48 | answer >> 26 << 10 | message & 1_023);
}

#[test]
fn with_an_agent_that_is_silent_packets_leave_without_credit() {
    let Some(mut kernel) = InKernel::new(MECHANISM, Measures::default()) else {
        eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
        return;
    };
    let silent_from = START + Duration::from_secs(1);
    kernel.settings.set_credit(Some(CREDIT));
    kernel.settings.valid_until = silent_from.as_nanos();
    kernel.write();
    for number in 1..=10 {
        kernel.step_by_credit(Some(Numbered { number, len: Bytes::new(1_000) }), START);
    }
    let leaves = |now| {
        let ((number, _), is_below) = kernel.step_by_credit(None, now);
        (number, is_below)
    };
    // While nothing is known of the device, two packets may leave, and no more.
    assert_eq!([START; 3].map(leaves), [(Some(1), true), (Some(2), true), (None, false)]);
    assert_eq!([silent_from; 3].map(leaves), [(Some(3), false), (Some(4), false), (Some(5), false)]);
}
