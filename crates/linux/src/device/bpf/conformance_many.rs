//! Compares the mechanism in C with crate `queue` for any number of packets: `make conformance`. It can be interrupted.

use super::conformance::{InKernel, InRust, Numbered, START, WEIGHT, compare, draw, some_limit};
use super::mechanism::Mechanism;
use super::mechanism::limits;
use control::{Limit, Measures};
use queue::{End, Purge};
use std::path::Path;
use units::{Bytes, Duration};

/// As in `conformance.bpf.c`: calls in a run, and words of a call.
const CALLS: u64 = 512;
const WORDS: usize = 8;
/// Number of calls in a piece. After each piece its seed and all counts are recorded.
const PIECE: u64 = 2_048 * CALLS;

/// Progress of the test in a file: the next piece's seed, the number of all calls, and of packets that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Progress {
    seed: u64,
    calls: u64,
    packets: u64,
}

impl Progress {
    fn read(file: &Path) -> Self {
        let Ok(text) = std::fs::read_to_string(file) else { return Self::default() };
        let numbers: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let [seed, calls, packets] = numbers.try_into().unwrap();
        Self { seed, calls, packets }
    }

    /// Writes the file completely or not at all.
    fn write(self, file: &Path) {
        let Self { seed, calls, packets } = self;
        let new = file.with_extension("new");
        std::fs::write(&new, format!("{seed} {calls} {packets}\n")).unwrap();
        std::fs::rename(new, file).unwrap();
    }
}

/// Returns the configuration that this seed selects.
fn mechanism(seed: u64) -> Mechanism {
    let mut rest = seed;
    let mut one_of = |count: u64| {
        let which = rest % count;
        rest /= count;
        usize::try_from(which).unwrap()
    };
    let hard = [Limit::Packets(100), Limit::Packets(7), Limit::Bytes(Bytes::new(20_000))][one_of(3)];
    let overflow = [End::Tail, End::Head][one_of(2)];
    let purge = [Purge::None, Purge::Head, Purge::Tail][one_of(3)];
    Mechanism { hard, fallback: hard, overflow, purge, burst: queue::LONGEST_PACKET }
}

/// Compares this many calls. Returns the number of packets that arrived; `None` if programs cannot be loaded.
fn piece(seed: u64, calls: u64) -> Option<u64> {
    let mechanism = mechanism(seed);
    let measures = Measures { service_weight: Some(WEIGHT), idle_threshold: u32::try_from(seed % 5).unwrap() };
    let mut kernel = InKernel::driven_by("steps", None, mechanism, measures)?;
    let mut rust = InRust::new(mechanism, measures);
    let (mut state, mut now, mut packets) = (seed, START, 0);
    let mut words = Vec::new();
    for round in 0..calls / CALLS {
        let mut expected = Vec::new();
        words.clear();
        // The queue grows in some rounds and shrinks in others.
        let arrivals = [45, 52, 70][usize::try_from(draw(&mut state, 3)).unwrap()];
        for _ in 0..CALLS {
            now += Duration::from_nanos(draw(&mut state, 3_000_000));
            let at = now.as_nanos();
            match draw(&mut state, 100) {
                0 => {
                    let limit = some_limit(&mut state);
                    let (in_packets, in_bytes) = limits(limit, mechanism.hard);
                    kernel.settings.set_limit(limit, mechanism.hard);
                    words.extend([3, at, in_bytes, in_packets, 0, 0, 0, 0]);
                    rust.limit = Some(limit);
                    expected.push((None, Vec::new()));
                }
                call if call < arrivals => {
                    packets += 1;
                    let packet = Numbered { number: packets, len: Bytes::new(40 + draw(&mut state, 1_461)) };
                    words.extend([1, at, packet.len.count(), packets, 0, 0, 0, 0]);
                    expected.push(rust.step(Some(packet), now));
                }
                _ => {
                    words.extend([0, at, 0, 0, 0, 0, 0, 0]);
                    expected.push(rust.step(None, now));
                }
            }
        }
        kernel.run("steps", "calls", &words);
        let (answers, numbers) = (kernel.words("calls"), kernel.words("dropped"));
        let context = format!("{mechanism:?}, seed {seed}, round {round}");
        for (call, (answer, expected)) in answers.chunks(WORDS).zip(&expected).enumerate() {
            let [kind, _, _, packet, answer, dropped, _, before] = *answer else { unreachable!() };
            let decided = match (kind, answer) {
                (_, 0) => None,
                (1, _) => Some(packet),
                _ => Some(answer),
            };
            let [from, to] = [before, before + dropped].map(|place| usize::try_from(place).unwrap());
            assert_eq!((decided, numbers[from..to].to_vec()), *expected, "{context}, call {call}");
        }
        compare(&kernel.take_interval(now), &rust.queue.take_interval(now), &context);
    }
    Some(packets)
}

/// Returns seconds since the machine started.
fn seconds() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::Monotonic).tv_sec
}

#[expect(clippy::disallowed_methods, reason = "settings of a test")]
fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: use `make conformance`"))
}

#[test]
fn some_combinations_of_settings_decide_alike_in_pieces() {
    // The seeds cover each limit, each end to purge, and both ends to drop from.
    let seeds = [0, 10, 17];
    let mut packets = 0;
    for seed in seeds {
        let Some(came) = piece(seed, 4 * CALLS) else {
            eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
            return;
        };
        packets += came;
    }
    assert!(packets > seeds.len() as u64 * CALLS, "{packets}");
}

#[test]
fn what_was_compared_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    assert_eq!(Progress::read(&file), Progress::default());
    let progress = Progress { seed: 7, calls: 3 * PIECE, packets: 1_000 };
    progress.write(&file);
    assert_eq!(Progress::read(&file), progress);
}

/// `CONFORMANCE_SECONDS` sets the duration, and `CONFORMANCE_STATE` the file with the progress.
#[test]
#[ignore = "takes as long as one likes: make conformance"]
fn as_many_packets_as_one_likes_are_decided_alike() {
    let (state, length) = (setting("CONFORMANCE_STATE"), setting("CONFORMANCE_SECONDS"));
    let file = Path::new(&state);
    let before = Progress::read(file);
    let mut now = before;
    let begin = seconds();
    let until = begin + length.parse::<i64>().unwrap();
    while seconds() < until {
        now.packets += piece(now.seed, PIECE).expect("to load a program into the kernel needs CAP_BPF");
        now.calls += PIECE;
        now.seed += 1;
        now.write(file);
    }
    let (packets, calls) = (now.packets - before.packets, now.calls - before.calls);
    let took = (seconds() - begin).max(1).unsigned_abs();
    println!("{packets} packets in {calls} calls, {took} s: {} packets a second", packets / took);
    println!("in total {} packets in {} calls, pieces 0 to {}", now.packets, now.calls, now.seed.saturating_sub(1));
}
