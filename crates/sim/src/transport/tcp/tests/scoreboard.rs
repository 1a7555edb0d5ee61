//! Tests of the scoreboard against the definitions of RFC 6675, section 4, octet by octet.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const SEGMENT: u64 = 4;

/// State that the RFC keeps: each octet's.
#[derive(Default)]
struct Octets {
    una: u64,
    nxt: u64,
    sacked: BTreeSet<u64>,
    high_rxt: u64,
    timed_out_to: u64,
}

impl Octets {
    /// `IsLost`, and all that was outstanding at a timeout.
    fn is_lost(&self, number: u64) -> bool {
        let above: Vec<u64> = self.sacked.iter().copied().filter(|&octet| octet > number).collect();
        let ranges = above.iter().enumerate().filter(|&(i, octet)| i == 0 || above[i - 1] + 1 != *octet).count();
        ranges >= 3 || above.len() as u64 > 2 * SEGMENT || number < self.timed_out_to
    }

    fn holes(&self) -> impl Iterator<Item = u64> + '_ {
        (self.una..self.nxt).filter(|octet| !self.sacked.contains(octet))
    }

    fn pipe(&self) -> u64 {
        self.holes().map(|octet| u64::from(!self.is_lost(octet)) + u64::from(octet < self.high_rxt)).sum()
    }

    fn next_lost(&self) -> Option<u64> {
        self.holes().find(|&octet| octet >= self.high_rxt && self.is_lost(octet))
    }

    fn next_doubtful(&self) -> Option<u64> {
        let highest = *self.sacked.last()?;
        self.holes().find(|&octet| octet >= self.high_rxt && octet < highest)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send(u64),
    Acknowledge(u64),
    Mark(u64, u64),
    Repeat,
    Begin,
    TimeOut,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1u64..12).prop_map(Step::Send),
        2 => (0u64..20).prop_map(Step::Acknowledge),
        6 => (0u64..60, 0u64..10).prop_map(|(from, length)| Step::Mark(from, length)),
        3 => Just(Step::Repeat),
        1 => Just(Step::Begin),
        1 => Just(Step::TimeOut),
    ]
}

fn apply(step: &Step, board: &mut Scoreboard, octets: &mut Octets) {
    match *step {
        Step::Send(more) => {
            octets.nxt += more;
            board.sent(octets.nxt);
        }
        Step::Acknowledge(more) => {
            octets.una = (octets.una + more).min(octets.nxt);
            octets.sacked.retain(|&octet| octet >= octets.una);
            octets.high_rxt = octets.high_rxt.max(octets.una);
            octets.timed_out_to = octets.timed_out_to.max(octets.una);
            board.acknowledge(octets.una);
        }
        Step::Mark(from, length) => {
            // The lowest octet is never SACKed by an honest receiver.
            let block = Block { start: octets.una + 1 + from, end: octets.una + 1 + from + length };
            let before = octets.sacked.len();
            if block.end <= octets.nxt {
                octets.sacked.extend(block.start..block.end);
            }
            assert_eq!(board.mark(block), octets.sacked.len() > before);
        }
        Step::Repeat => {
            if let Some(hole) = board.lost_hole(u64::MAX) {
                let block = Block { start: hole.start, end: hole.end.min(hole.start + SEGMENT) };
                octets.high_rxt = block.end;
                board.repeat(block);
            }
        }
        Step::Begin => {
            octets.high_rxt = octets.una;
            board.begin_recovery();
        }
        Step::TimeOut => {
            (octets.high_rxt, octets.timed_out_to) = (octets.una, octets.nxt);
            // A receiver that reports the octet that it waits for has gone back on its word.
            if octets.sacked.contains(&octets.una) {
                octets.sacked.clear();
            }
            board.time_out();
        }
    }
}

proptest! {
    #[test]
    fn sums_are_those_of_the_octets(steps in prop::collection::vec(step(), 1..80)) {
        let (mut board, mut octets) = (Scoreboard::new(SEGMENT), Octets::default());
        for step in &steps {
            apply(step, &mut board, &mut octets);
            prop_assert_eq!(board.flight(), octets.nxt - octets.una);
            prop_assert_eq!(board.pipe(), octets.pipe(), "pipe");
            prop_assert_eq!(board.lost_hole(u64::MAX).map(|hole| hole.start), octets.next_lost(), "rule (1)");
            prop_assert_eq!(board.doubtful_hole().map(|hole| hole.start), octets.next_doubtful(), "rule (3)");
            if octets.holes().next() == Some(octets.una) {
                prop_assert_eq!(board.first_is_lost(), octets.is_lost(octets.una));
            }
            let last = board.sacked.descending().next().map_or(octets.nxt, |range| range.end);
            prop_assert!(last <= octets.nxt);
        }
    }
}

#[test]
fn the_last_hole_ends_below_the_highest_octet_that_is_sacked() {
    let mut board = Scoreboard::new(10);
    board.sent(100);
    board.acknowledge(20);
    board.begin_recovery();
    board.acknowledge(40);
    board.mark(Block { start: 92, end: 100 });
    board.mark(Block { start: 50, end: 86 });
    assert_eq!(board.rescue(), Some(Block { start: 86, end: 92 }));
    assert_eq!(board.rescue(), None, "once a recovery");
}

#[test]
fn marks_are_forgotten_at_a_timeout_where_the_receiver_went_back_on_them() {
    let mut board = Scoreboard::new(10);
    board.sent(100);
    board.mark(Block { start: 10, end: 30 });
    board.time_out();
    assert_eq!(board.lost_hole(u64::MAX), Some(Block { start: 0, end: 10 }), "marks stay");
    board.acknowledge(10);
    // The next octet is reported and yet not acknowledged.
    board.time_out();
    assert_eq!(board.lost_hole(u64::MAX), Some(Block { start: 10, end: 100 }));
}

#[test]
fn a_long_window_with_many_holes_costs_no_walk_over_it() {
    // Every second of 200 000 segments is lost; an implementation that walks the window for each of these calls would make
    // some 10^10 steps.
    let mut board = Scoreboard::new(1000);
    board.sent(200_000_000);
    for k in 0..100_000 {
        board.mark(Block { start: 2000 * k + 1000, end: 2000 * k + 2000 });
        assert!(board.pipe() <= board.flight());
    }
    for k in 0..100_000 {
        if let Some(hole) = board.lost_hole(u64::MAX) {
            board.repeat(hole);
        }
        board.acknowledge(2000 * k + 2000);
    }
    assert_eq!(board.pipe(), 0);
}
