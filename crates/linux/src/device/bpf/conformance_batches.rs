//! A limit that falls far: the excess is discarded over several calls, so that no call takes long.

use super::conformance::{Decision, InKernel, Numbered, START, STEPS, draw};
use super::mechanism::Mechanism;
use control::{Limit, Measures};
use queue::{End, Purge};
use std::collections::VecDeque;
use units::{Bytes, Duration};

/// A small number, so that a call often has more to discard than this.
const AT_ONCE: usize = 5;

/// The rule of `fifo.h` for a limit in packets.
struct Plain {
    waiting: VecDeque<u64>,
    limit: usize,
    mechanism: Mechanism,
}

impl Plain {
    fn purge(&mut self, dropped: &mut Vec<u64>) {
        for _ in 0..AT_ONCE {
            if self.waiting.len() > self.limit {
                dropped.extend(match self.mechanism.purge {
                    Purge::None => None,
                    Purge::Head => self.waiting.pop_front(),
                    Purge::Tail => self.waiting.pop_back(),
                });
            }
        }
    }

    fn step(&mut self, comes: Option<Numbered>) -> Decision {
        let mut dropped = Vec::new();
        self.purge(&mut dropped);
        let Some(Numbered { number, .. }) = comes else { return (self.waiting.pop_front(), dropped) };
        if self.mechanism.overflow == End::Head && self.limit > 0 {
            for _ in 0..AT_ONCE {
                if self.waiting.len() >= self.limit {
                    dropped.extend(self.waiting.pop_front());
                }
            }
        }
        if self.waiting.len() < self.limit {
            self.waiting.push_back(number);
            (Some(number), dropped)
        } else {
            dropped.push(number);
            (None, dropped)
        }
    }
}

/// Returns how many calls had more to discard than a call may; `None` if programs cannot be loaded.
fn drive(mechanism: Mechanism, seed: u64) -> Option<u32> {
    let at_once = u32::try_from(AT_ONCE).unwrap();
    let mut kernel = InKernel::driven_by("step", Some(at_once), mechanism, Measures::default())?;
    let mut plain = Plain { waiting: VecDeque::new(), limit: 100, mechanism };
    let (mut state, mut now, mut put_off) = (seed, START, 0);
    for step in 0..STEPS {
        now += Duration::from_nanos(draw(&mut state, 1_000_000));
        if draw(&mut state, 40) == 0 {
            plain.limit = usize::try_from(draw(&mut state, 101)).unwrap();
            kernel.set_limit(Limit::Packets(u32::try_from(plain.limit).unwrap()), mechanism.hard);
        }
        let len = Bytes::new(40 + draw(&mut state, 1_461));
        let comes = (draw(&mut state, 4) > 0).then_some(Numbered { number: u64::from(step) + 1, len });
        put_off += u32::from(plain.waiting.len() > plain.limit + AT_ONCE);
        assert_eq!(kernel.step(comes, now), plain.step(comes), "{mechanism:?}, seed {seed}, step {step}");
        if draw(&mut state, 10) == 0 {
            let backlog = kernel.take_interval(now).backlog;
            assert_eq!(backlog.packets, plain.waiting.len() as u64, "{mechanism:?}, seed {seed}, step {step}");
        }
    }
    Some(put_off)
}

#[test]
fn a_limit_that_falls_far_holds_after_several_calls_of_a_few_discards_each() {
    let mut seed = 200;
    for overflow in [End::Tail, End::Head] {
        for purge in [Purge::None, Purge::Head, Purge::Tail] {
            seed += 1;
            let hard = Limit::Packets(100);
            let Some(put_off) =
                drive(Mechanism { hard, fallback: hard, overflow, purge, burst: queue::LONGEST_PACKET }, seed)
            else {
                eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
                return;
            };
            assert!(put_off > 0, "it never had more to discard");
        }
    }
}
