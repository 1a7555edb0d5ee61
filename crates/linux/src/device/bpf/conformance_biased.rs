//! Drives biased queue management in C and in crate `queue` side by side, and requires equal decisions and intervals.

use super::conformance::{Decision, InKernel, START, STEPS, compare, draw, some_limit};
use super::mechanism::Mechanism;
use super::shared::BIASED;
use super::shared::{Measured, NO_AVERAGE};
use control::{Limit, Measures};
use queue::{DisciplineName, Ecn, End, Packet, Purge, Queue, Settings};
use units::{Bytes, Duration, Instant};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/biased_conformance.bpf.o"));
/// As in `biased.h`.
const PRIORITIES: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Biased {
    number: u64,
    len: Bytes,
    priority: u8,
}

impl Packet for Biased {
    fn len(&self) -> Bytes {
        self.len
    }

    fn flow(&self) -> u64 {
        0
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn mark(&mut self) {}

    fn discard_priority(&self) -> Option<u8> {
        Some(self.priority)
    }
}

fn kernel(hard: Limit) -> Option<InKernel> {
    let mechanism =
        Mechanism { hard, fallback: hard, overflow: End::Head, purge: Purge::Head, burst: queue::LONGEST_PACKET };
    let kernel = InKernel::of(PROGRAM, "step", None, mechanism, Measures::default())?;
    let seen = Measured { idle_since: START.as_nanos(), service_average: NO_AVERAGE, ..Measured::default() };
    kernel.set("measured", &Measured { discipline: BIASED, ..seen }.to_bytes());
    kernel.call([2, 0, 0, 0, 0, 0, 0, 0]);
    Some(kernel)
}

fn step(kernel: &InKernel, comes: Option<Biased>, now: Instant) -> Decision {
    let Biased { number, len, priority } = comes.unwrap_or(Biased { number: 0, len: Bytes::new(0), priority: 0 });
    let call = u64::from(comes.is_some());
    let words = kernel.call([call, now.as_nanos(), len.count(), number, 0, 0, priority.into(), 0]);
    let [_, _, _, _, answer, dropped, ..] = words;
    let numbers = if dropped > 0 { kernel.words("dropped") } else { Vec::new() };
    let decided = (answer != 0).then_some(if comes.is_some() { number } else { answer });
    (decided, numbers[..usize::try_from(dropped).unwrap()].to_vec())
}

/// The queue in Rust. It applies a lower limit when the next packet arrives or leaves.
struct InRust {
    queue: Queue<Biased>,
    limit: Option<Limit>,
}

impl InRust {
    fn step(&mut self, comes: Option<Biased>, now: Instant) -> Decision {
        let mut dropped = Vec::new();
        let mut drop = |packet: Biased| dropped.push(packet.number);
        if let Some(limit) = self.limit.take() {
            self.queue.set_limit(now, limit, &mut drop);
        }
        let Some(packet) = comes else {
            let left = self.queue.take(now, 0, &mut drop).map(|left| left.packet.number);
            return (left, dropped);
        };
        self.queue.enqueue(now, packet, &mut drop);
        let kept = !dropped.contains(&packet.number);
        (kept.then_some(packet.number), dropped)
    }
}

/// Returns the number of dropped packets; `None` if programs cannot be loaded.
fn drive(hard: Limit, seed: u64) -> Option<u64> {
    let mut kernel = kernel(hard)?;
    let settings = Settings { discipline: DisciplineName::Biased, limit: hard, ..Settings::default() };
    let mut queue = settings.build(1).unwrap().0;
    queue.take_interval(START);
    let mut rust = InRust { queue, limit: None };
    let (mut state, mut now, mut lost) = (seed, START, 0);
    for number in 1..=u64::from(STEPS) {
        let context = format!("{hard}, seed {seed}, step {number}");
        if draw(&mut state, 8) > 0 {
            now += Duration::from_nanos(draw(&mut state, 3_000_000));
        }
        // The queue grows in some phases and shrinks in others.
        let arrivals = if number / 200 % 2 == 0 { 60 } else { 35 };
        match draw(&mut state, 100) {
            0..4 => {
                let limit = some_limit(&mut state);
                kernel.set_limit(limit, hard);
                rust.limit = Some(limit);
            }
            4..8 => {
                let (mut here, there) = (kernel.take_interval(now), rust.queue.take_interval(now));
                // Another test compares what the mechanism does when a device takes packets.
                (here.service, here.departure_gap, here.nodal) = (there.service, there.departure_gap, there.nodal);
                compare(&here, &there, &context);
            }
            call => {
                let len = Bytes::new(40 + draw(&mut state, 1_461));
                let priority = u8::try_from(draw(&mut state, PRIORITIES)).unwrap();
                let comes = (call < 8 + arrivals).then_some(Biased { number, len, priority });
                let (here, there) = (step(&kernel, comes, now), rust.step(comes, now));
                lost += here.1.len() as u64;
                assert_eq!(here, there, "{context}");
            }
        }
    }
    Some(lost)
}

#[test]
fn biased_in_c_discards_and_measures_as_in_rust() {
    for (seed, hard) in [(1, Limit::Packets(100)), (2, Limit::Packets(7)), (3, Limit::Bytes(Bytes::new(20_000)))] {
        let Some(lost) = drive(hard, seed) else {
            eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
            return;
        };
        assert!(lost > 100, "{hard}: {lost}");
    }
}
