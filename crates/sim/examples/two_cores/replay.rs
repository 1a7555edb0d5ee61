//! Replays plans, and how long two threads take to wait for each other.

use crate::{Piece, Plan, REPETITIONS, steps};
use std::hint::{black_box, spin_loop};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::time::Instant;

/// Of a listener.
#[derive(Clone, Default)]
#[repr(align(128))]
struct StandIn([u64; 16]);

impl StandIn {
    /// Something passes, which takes so many multiplications.
    fn hear(&mut self, now: u64, power: u64, length: u32) -> u64 {
        let [mixed, energy, .., last, busy] = &mut self.0;
        for _ in 0..length {
            *mixed = (*mixed ^ now ^ *mixed >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        *energy = energy.wrapping_add(power);
        *busy += u64::from(*energy & 1 << 20 != 0);
        *last = now;
        *mixed
    }
}

/// One thread's work on a piece.
fn work(plan: &Plan, half: usize, passage: u32, listeners: Range<u32>, stand_ins: &mut [StandIn], length: u32) -> u64 {
    let (at, from) = plan.passages[passage as usize];
    let links = &plan.links[half][from as usize][listeners.start as usize..listeners.end as usize];
    links.iter().fold(0, |_, &(to, delay)| stand_ins[to as usize].hear(at + delay, delay, length))
}

/// One thread does all. Returns the time in nanoseconds and what the stand-ins have in the end.
pub(crate) fn replay_alone(plan: &Plan, length: u32) -> (f64, Vec<u64>) {
    let mut stand_ins = vec![StandIn::default(); plan.links[0].len()];
    let start = Instant::now();
    for Piece { passage, listeners, .. } in &plan.pieces[0] {
        work(plan, 0, *passage, listeners.clone(), &mut stand_ins, length);
    }
    (start.elapsed().as_nanos() as f64, stand_ins.iter().map(|stand_in| stand_in.0[0]).collect())
}

/// Two threads do it, and wait for each other at the end of each round. Returns the same.
pub(crate) fn replay_together(plan: &Plan, length: u32) -> (f64, Vec<u64>) {
    let [asked, done] = [Counter::default(), Counter::default()];
    let queue: Vec<[AtomicU32; 3]> = plan.pieces[1].iter().map(|_| Default::default()).collect();
    let answers: Vec<AtomicU64> = plan.pieces[1].iter().map(|_| AtomicU64::default()).collect();
    let mut stand_ins = [0, 1].map(|_| vec![StandIn::default(); plan.links[0].len()]);
    let [mine, others] = &mut stand_ins;
    let second = || {
        done.set(1);
        let mut place = 0;
        while place < queue.len() {
            let handed = asked.wait_for(place + 1);
            for (words, answer) in queue[place..handed].iter().zip(&answers[place..handed]) {
                let [passage, first, end] = words.each_ref().map(|word| word.load(Relaxed));
                answer.store(work(plan, 1, passage, first..end, others, length), Relaxed);
            }
            place = handed;
            // One more than the pieces: the first count says that the thread runs.
            done.set(place + 1);
        }
    };
    let time = std::thread::scope(|scope| {
        scope.spawn(second);
        done.wait_for(1);
        let start = Instant::now();
        for [own, handed] in plan.rounds() {
            for (words, Piece { passage, listeners, .. }) in
                queue[handed.clone()].iter().zip(&plan.pieces[1][handed.clone()])
            {
                words
                    .iter()
                    .zip([*passage, listeners.start, listeners.end])
                    .for_each(|(word, value)| word.store(value, Relaxed));
            }
            asked.set(handed.end);
            for Piece { passage, listeners, .. } in &plan.pieces[0][own] {
                work(plan, 0, *passage, listeners.clone(), mine, length);
            }
            done.wait_for(handed.end + 1);
            black_box(answers[handed].iter().map(|answer| answer.load(Relaxed)).max());
        }
        start.elapsed().as_nanos() as f64
    });
    // Each node is a listener of one thread alone.
    (time, mine.iter().zip(others.iter()).map(|(mine, other)| mine.0[0] ^ other.0[0]).collect())
}

/// A counter that shares no cache line with another.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

impl Counter {
    fn set(&self, to: usize) {
        self.0.store(to as u64, Release);
    }

    fn wait_for(&self, least: usize) -> usize {
        loop {
            let count = self.0.load(Acquire) as usize;
            if count >= least {
                return count;
            }
            spin_loop();
        }
    }
}

/// The length with which a stand-in takes as long as an event.
pub(crate) fn calibrated(plan: &Plan, event: f64) -> u32 {
    let once = |length| replay_alone(plan, length).0 / steps(&plan.pieces[0]) as f64;
    let least = |length| (0..REPETITIONS).map(|_| once(length)).fold(f64::INFINITY, f64::min);
    (1..64).find(|&length| least(length) >= event).unwrap_or(64)
}

/// How long it takes two threads to wait for each other once, in nanoseconds.
pub(crate) fn meeting_time() -> f64 {
    const TIMES: usize = 1000;
    let meet = |mine: &Counter, other: &Counter| {
        for round in 1..=TIMES {
            mine.set(round);
            other.wait_for(round);
        }
    };
    let once = || {
        let [mine, other] = [Counter::default(), Counter::default()];
        std::thread::scope(|scope| {
            scope.spawn(|| meet(&other, &mine));
            other.wait_for(1);
            let start = Instant::now();
            meet(&mine, &other);
            start.elapsed().as_nanos() as f64 / TIMES as f64
        })
    };
    (0..REPETITIONS * 10).map(|_| once()).fold(f64::INFINITY, f64::min)
}
