//! Drives the shares of classes in C and in Rust side by side, requires equal decisions, and counts real-time bytes.

use super::conformance::{InKernel, STEPS, draw};
use super::mechanism::Mechanism;
use control::{Limit, Measures};
use queue::{End, Purge};

const MECHANISM: Mechanism = Mechanism {
    hard: Limit::Packets(9),
    fallback: Limit::Packets(9),
    overflow: End::Tail,
    purge: Purge::Tail,
    burst: queue::LONGEST_PACKET,
};
// The same value as in `share.h`.
const BURST: u64 = 16_384;
const BEST_EFFORT: u64 = 7;
const REAL_TIME: u64 = 8;
const SIGNALLING: u64 = 9;

/// The rules of `share.h`.
#[derive(Default)]
struct Shares {
    signalling: u64,
    real_time: u64,
    room: u64,
    used: u64,
}

impl Shares {
    fn leaves(&mut self, call: u64, len: u64) -> bool {
        self.room = BURST.min(self.room + len * self.signalling / 256);
        if call == REAL_TIME {
            self.used = self.used.min(BURST) + len;
        }
        self.used = self.used.saturating_sub(len * self.real_time / 256);
        self.used <= BURST
    }

    fn comes(&mut self, len: u64) -> bool {
        let fits = len <= self.room;
        self.room -= if fits { len } else { 0 };
        fits
    }
}

fn kernel(signalling: u64, real_time: u64) -> Option<InKernel> {
    let mut kernel = InKernel::new(MECHANISM, Measures::default())?;
    (kernel.settings.signalling_share, kernel.settings.real_time_share) = (signalling, real_time);
    kernel.write();
    Some(kernel)
}

#[test]
fn shares_in_c_decide_as_in_rust() {
    for (seed, signalling, real_time) in [(1, 13, 192), (2, 0, 0), (3, 256, 255), (4, 100, 64)] {
        let Some(kernel) = kernel(signalling, real_time) else {
            eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
            return;
        };
        let mut rust = Shares { signalling, real_time, ..Shares::default() };
        let (mut state, mut waits) = (seed, 0);
        for step in 0..STEPS {
            let call = BEST_EFFORT + draw(&mut state, 3);
            // Some packets are large and split by the network card.
            let most = if draw(&mut state, 20) == 0 { 65_536 } else { 1_500 };
            let len = 1 + draw(&mut state, most);
            let there = if call == SIGNALLING { rust.comes(len) } else { rust.leaves(call, len) };
            let here = kernel.call([call, 0, len, 0, 0, 0, 0, 0])[4] != 0;
            assert_eq!(here, there, "seed {seed}, step {step}");
            waits += u32::from(!here);
        }
        assert!(waits > STEPS / 100, "seed {seed}: {waits}");
    }
}

#[test]
fn of_a_link_that_both_want_real_time_gets_its_share_whatever_it_had_before() {
    let Some(kernel) = kernel(13, 192) else {
        eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
        return;
    };
    let leaves = |call, len| kernel.call([call, 0, len, 0, 0, 0, 0, 0])[4] != 0;
    // If no other packets wait, real time has the whole link.
    let mut goes_first = (0..1_000).fold(true, |_, _| leaves(REAL_TIME, 1_500));
    let (mut first, mut other) = (0, 0);
    for _ in 0..10_000 {
        let (call, len, sum) = if goes_first { (REAL_TIME, 200, &mut first) } else { (BEST_EFFORT, 1_500, &mut other) };
        goes_first = leaves(call, len);
        *sum += len;
    }
    let share = f64::from(u32::try_from(first).unwrap()) / f64::from(u32::try_from(first + other).unwrap());
    assert!((share - 0.75).abs() < 0.005, "{share}");
}
