//! Drives the mechanism in C and in crate `queue` side by side, and requires equal decisions and intervals.

use super::mechanism::Mechanism;
use super::reading::Reading;
use super::shared::{Measured, NO_AVERAGE, Settings};
use control::{Interval, Limit, Measures};
use libbpf_rs::{MapCore, MapFlags, MapHandle, Object, ObjectBuilder, ProgramInput};
use queue::{Completion, Departure, Ecn, End, FifoParams, Packet, Purge, Queue};
use units::{Bytes, Duration, Instant};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/conformance.bpf.o"));
pub(super) const STEPS: u32 = 4_000;
/// Weight of the newest packet, a multiple of 1/32768, so that it is exact on both sides.
pub(super) const WEIGHT: f64 = 655.0 / 32_768.0;
/// Largest difference of the averages. The mechanism in C rounds down by at most 1/256 ns for each packet, and with
/// this weight such errors add up to 1/256 ns divided by 0.02. At the end both sides round to whole numbers.
const AVERAGE_WITHIN_NANOS: u64 = 1;
/// Start of the queues: the C side reads time zero as 'never'.
pub(super) const START: Instant = Instant::from_nanos(1_000_000_000);

#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    pub(super) number: u64,
    pub(super) len: Bytes,
}

impl Packet for Numbered {
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
}

/// Result of a call: the packet that was kept or taken, and the dropped packets in order.
pub(super) type Decision = (Option<u64>, Vec<u64>);

/// The mechanism in C, in the kernel.
pub(super) struct InKernel {
    object: Object,
    pub(super) settings: Settings,
    reading: Reading,
}

impl InKernel {
    /// Loads the program; `None` if this user may not load programs.
    pub(super) fn new(mechanism: Mechanism, measures: Measures) -> Option<Self> {
        Self::driven_by("step", None, mechanism, measures)
    }

    /// Uses the program that takes one call, `step`, or the one that takes many, `steps`. A call discards at most
    /// `discards` packets for each of its reasons; `None`: any number.
    pub(super) fn driven_by(
        program: &str,
        at_once: Option<u32>,
        mechanism: Mechanism,
        measures: Measures,
    ) -> Option<Self> {
        Self::of(PROGRAM, program, at_once, mechanism, measures)
    }

    /// Like [`driven_by`](Self::driven_by), for another object.
    pub(super) fn of(
        object: &[u8],
        program: &str,
        at_once: Option<u32>,
        mechanism: Mechanism,
        measures: Measures,
    ) -> Option<Self> {
        let mut open = ObjectBuilder::default().open_memory(object).unwrap();
        // The verifier needs time for each program.
        for mut one in open.progs_mut() {
            let is_used = one.name() == program;
            one.set_autoload(is_used);
        }
        if let Some(most) = at_once {
            let mut constants = open.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".rodata")).unwrap();
            constants.initial_value_mut().unwrap()[..4].copy_from_slice(&most.to_ne_bytes());
        }
        let object = match open.load() {
            Ok(object) => object,
            Err(_) if !rustix::process::geteuid().is_root() => return None,
            Err(error) => panic!("{error:#}"),
        };
        let mut settings = Settings::new(mechanism, measures, START);
        settings.valid_until = u64::MAX;
        settings.epoch = 1;
        let seen = Measured { idle_since: START.as_nanos(), service_average: NO_AVERAGE, ..Measured::default() };
        let new = Self { object, settings, reading: Reading::new(START, &seen) };
        new.set("measured", &seen.to_bytes());
        new.write();
        Some(new)
    }

    /// Writes a map that has one element.
    pub(super) fn set(&self, map: &str, bytes: &[u8]) {
        self.map(map).update(&[0; 4], bytes, MapFlags::ANY).unwrap();
    }

    pub(super) fn map(&self, name: &str) -> MapHandle {
        let map = self.object.maps().find(|map| map.name() == name).unwrap();
        MapHandle::try_from(&map).unwrap()
    }

    pub(super) fn write(&self) {
        self.map("settings").update(&[0; 4], &self.settings.to_bytes(), MapFlags::ANY).unwrap();
    }

    pub(super) fn step(&self, comes: Option<Numbered>, now: Instant) -> Decision {
        self.step_by_credit(comes, now).0
    }

    /// Also returns true if a packet was released by credit.
    pub(super) fn step_by_credit(&self, comes: Option<Numbered>, now: Instant) -> (Decision, bool) {
        let packet = comes.map_or(0, |packet| packet.number);
        let len = comes.map_or(0, |packet| packet.len.count());
        let words = self.call([u64::from(comes.is_some()), now.as_nanos(), len, packet, 0, 0, 0, 0]);
        let [.., answer, dropped, below, _] = words;
        let numbers = if dropped > 0 { self.words("dropped") } else { Vec::new() };
        let decided = match comes {
            Some(_) => (answer != 0).then_some(packet),
            None => (answer != 0).then_some(answer),
        };
        ((decided, numbers[..usize::try_from(dropped).unwrap()].to_vec()), below != 0)
    }

    /// Completes a packet.
    pub(super) fn complete(&self, number: u64, now: Instant) {
        self.call([2, now.as_nanos(), 0, number, 0, 0, 0, 0]);
    }

    pub(super) fn call(&self, words: [u64; 8]) -> [u64; 8] {
        self.run("step", "call", &words);
        self.words("call").try_into().unwrap()
    }

    /// Runs a program on the contents of a map.
    pub(super) fn run(&self, program: &str, map: &str, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().copied().flat_map(u64::to_ne_bytes).collect();
        self.map(map).update(&[0; 4], &bytes, MapFlags::ANY).unwrap();
        let program = self.object.progs_mut().find(|one| one.name() == program).unwrap();
        assert_eq!(program.test_run(ProgramInput::default()).unwrap().return_value, 0);
    }

    /// Reads a map that has one element.
    pub(super) fn words(&self, map: &str) -> Vec<u64> {
        let bytes = self.map(map).lookup(&[0; 4], MapFlags::ANY).unwrap().unwrap();
        bytes.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
    }

    pub(super) fn set_limit(&mut self, limit: Limit, hard: Limit) {
        self.settings.set_limit(limit, hard);
        self.write();
    }

    pub(super) fn take_interval(&mut self, now: Instant) -> Interval {
        let bytes = self.map("measured").lookup(&[0; 4], MapFlags::ANY).unwrap().unwrap();
        let interval = self.reading.interval(now, &Measured::from_bytes(&bytes).unwrap(), self.settings.epoch);
        self.settings.epoch += 1;
        self.write();
        interval
    }
}

/// Crate `queue`'s queue, driven like one of the kernel. It applies a lower limit when the next packet arrives or
/// leaves. The MAC is done with a packet when it takes the next one.
pub(super) struct InRust {
    pub(super) queue: Queue<Numbered>,
    pub(super) limit: Option<Limit>,
    /// Time of the last departure and that packet's wait; `None` if the queue has been empty since.
    busy: Option<(Instant, Duration)>,
}

impl InRust {
    pub(super) fn new(mechanism: Mechanism, measures: Measures) -> Self {
        let Mechanism { hard, overflow, purge, .. } = mechanism;
        let mut queue = Queue::fifo(FifoParams { overflow, purge, limit: hard }).measuring(measures);
        queue.take_interval(START);
        Self { queue, limit: None, busy: None }
    }

    pub(super) fn step(&mut self, comes: Option<Numbered>, now: Instant) -> Decision {
        let mut dropped = Vec::new();
        let mut drop = |packet: Numbered| dropped.push(packet.number);
        if let Some(limit) = self.limit.take() {
            self.queue.set_limit(now, limit, &mut drop);
        }
        if self.queue.is_empty() {
            self.busy = None;
        }
        let Some(packet) = comes else {
            if let Some((departed, waited)) = self.busy {
                self.queue.completed(now, &Completion::of_one(waited, now.since(departed)));
            }
            let departure = self.queue.take(now, 0, &mut drop);
            self.busy = departure.filter(|_| !self.queue.is_empty()).map(|left| (now, left.waited));
            return (departure.map(|Departure { packet, .. }| packet.number), dropped);
        };
        self.queue.enqueue(now, packet, &mut drop);
        let kept = !dropped.contains(&packet.number);
        (kept.then_some(packet.number), dropped)
    }
}

/// Returns a number below `bound`, by `SplitMix64` (Steele, Lea, Flood 2014).
pub(super) fn draw(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) % bound
}

/// Returns a limit about as large as `hard`, in packets or bytes, and sometimes a very small one.
pub(super) fn some_limit(state: &mut u64) -> Limit {
    let packets = if draw(state, 4) == 0 { draw(state, 3) } else { draw(state, 80) };
    match draw(state, 2) {
        0 => Limit::Packets(u32::try_from(packets).unwrap()),
        _ => Limit::Bytes(Bytes::new(packets * 700)),
    }
}

pub(super) fn compare(kernel: &Interval, rust: &Interval, context: &str) {
    let nanos = |average: Option<Duration>| average.map_or(0, Duration::as_nanos);
    let (here, there) = (nanos(kernel.service_ewma), nanos(rust.service_ewma));
    assert!(here.abs_diff(there) <= AVERAGE_WITHIN_NANOS, "{context}: average {here} ns and {there} ns");
    assert_eq!(kernel, &Interval { service_ewma: kernel.service_ewma, ..*rust }, "{context}");
}

/// Returns the number of compared steps; `None` if programs cannot be loaded.
fn drive(mechanism: Mechanism, seed: u64) -> u32 {
    let measures = Measures { service_weight: Some(WEIGHT), idle_threshold: u32::try_from(seed % 3).unwrap() };
    let Some(mut kernel) = InKernel::new(mechanism, measures) else { return 0 };
    let mut rust = InRust::new(mechanism, measures);
    let mut state = seed;
    let mut now = START;
    for step in 0..STEPS {
        let context = format!("{mechanism:?}, seed {seed}, step {step}");
        if draw(&mut state, 8) > 0 {
            now += Duration::from_nanos(draw(&mut state, 3_000_000));
        }
        // The queue grows in some phases and shrinks in others.
        let arrivals = if step / 200 % 2 == 0 { 60 } else { 35 };
        match draw(&mut state, 100) {
            0..4 => {
                let limit = some_limit(&mut state);
                kernel.set_limit(limit, mechanism.hard);
                rust.limit = Some(limit);
            }
            4..8 => compare(&kernel.take_interval(now), &rust.queue.take_interval(now), &context),
            call => {
                let len = Bytes::new(40 + draw(&mut state, 1_461));
                let comes = (call < 8 + arrivals).then_some(Numbered { number: u64::from(step) + 1, len });
                assert_eq!(kernel.step(comes, now), rust.step(comes, now), "{context}");
            }
        }
    }
    STEPS
}

#[test]
fn the_mechanism_in_c_decides_and_measures_as_the_one_in_rust() {
    let mut seed = 0;
    let mut compared = 0;
    for hard in [Limit::Packets(100), Limit::Packets(7), Limit::Bytes(Bytes::new(20_000))] {
        for overflow in [End::Tail, End::Head] {
            for purge in [Purge::None, Purge::Head, Purge::Tail] {
                seed += 1;
                compared +=
                    drive(Mechanism { hard, fallback: hard, overflow, purge, burst: queue::LONGEST_PACKET }, seed);
            }
        }
    }
    if compared == 0 {
        eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
    } else {
        assert_eq!(compared, 18 * STEPS);
    }
}

#[test]
fn with_an_agent_that_is_silent_the_fall_back_limit_holds() {
    let mechanism = Mechanism {
        hard: Limit::Packets(100),
        fallback: Limit::Packets(3),
        overflow: End::Tail,
        purge: Purge::Head,
        burst: queue::LONGEST_PACKET,
    };
    let Some(mut kernel) = InKernel::new(mechanism, Measures::default()) else {
        eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
        return;
    };
    let silent_from = START + Duration::from_secs(1);
    kernel.settings.valid_until = silent_from.as_nanos();
    kernel.write();
    let packet = |number| Some(Numbered { number, len: Bytes::new(1_000) });
    for number in 1..=10 {
        assert_eq!(kernel.step(packet(number), START), (Some(number), vec![]));
    }
    assert_eq!(kernel.step(packet(11), silent_from), (None, vec![1, 2, 3, 4, 5, 6, 7, 11]));
    kernel.settings.alive(silent_from);
    kernel.write();
    assert_eq!(kernel.step(packet(12), silent_from), (Some(12), vec![]));
    assert_eq!(kernel.take_interval(silent_from).backlog.packets, 4);
}
