//! Tests of transmission times against the procedures of RFC 8985, section 6.2, segment by segment.

use super::*;
use proptest::prelude::*;

const SEGMENT: u64 = 4;

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The `k`-th segment.
fn segment(k: u64) -> Block {
    Block { start: SEGMENT * k, end: SEGMENT * (k + 1) }
}

/// State that the RFC keeps of a segment, and of the connection, walked over as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are the RFC's")]
struct Known {
    at: Instant,
    repeated: bool,
    lost: bool,
    acknowledged: bool,
    sacked: bool,
}

#[derive(Default)]
struct Reference {
    segments: Vec<Known>,
    una: usize,
    newest: Option<(Instant, u64, Duration)>,
    min_rtt: Option<Duration>,
    fack: u64,
    reordering: bool,
}

impl Reference {
    fn open(&self) -> impl Iterator<Item = (usize, &Known)> {
        self.segments.iter().enumerate().filter(|(_, known)| !known.acknowledged && !known.sacked)
    }

    /// The segments `from..to` are acknowledged, or SACKed.
    fn arrive(&mut self, (from, to): (usize, usize), sacked: bool, now: Instant) {
        let fack = self.fack;
        for k in from..to {
            let known = self.segments[k];
            (self.segments[k].sacked, self.segments[k].acknowledged) = (known.sacked || sacked, !sacked);
            if known.sacked || known.acknowledged {
                continue;
            }
            let (end, rtt) = (segment(k as u64).end, now.since(known.at));
            self.reordering |= !known.repeated && end < fack;
            self.fack = self.fack.max(end);
            if !known.repeated {
                self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
            } else if self.min_rtt.is_none_or(|least| rtt < least) {
                continue;
            }
            if self.newest.is_none_or(|(at, last, _)| (known.at, end) > (at, last)) {
                self.newest = Some((known.at, end, rtt));
            }
        }
    }

    fn window(&self, recovering: bool) -> Duration {
        let sacked = self.segments.iter().filter(|known| known.sacked && !known.acknowledged).count();
        let none = !self.reordering && (recovering || sacked >= 3);
        if none { Duration::ZERO } else { (self.min_rtt.unwrap_or_default() / 4).min(SRTT) }
    }

    fn detect(&mut self, now: Instant, recovering: bool) -> Found {
        let (mut found, window) = (Found::default(), self.window(recovering));
        let Some((newest, last, rtt)) = self.newest else { return found };
        for k in 0..self.segments.len() {
            let known = &mut self.segments[k];
            let passed_over = known.acknowledged || known.sacked || known.lost;
            if passed_over || (known.at, segment(k as u64).end) >= (newest, last) {
                continue;
            }
            let due = known.at + rtt + window;
            if due <= now {
                known.lost = true;
                found.repetition = found.repetition.max(known.repeated.then_some(known.at));
            } else {
                found.again = found.again.max(Some(due));
            }
        }
        found
    }

    fn time_out(&mut self, now: Instant) {
        let patience = self.newest.map_or(Duration::ZERO, |(_, _, rtt)| rtt) + self.window(true);
        let una = self.una;
        let overdue = |k: usize, known: &Known| k == una || known.at + patience <= now;
        for (k, known) in self.segments.iter_mut().enumerate() {
            known.lost |= !known.acknowledged && !known.sacked && overdue(k, known);
        }
    }
}

const SRTT: Duration = Duration::from_millis(40);

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Send(u8),
    RepeatLost,
    RepeatLast,
    Sack(usize, usize),
    Acknowledge(usize),
    Detect(bool),
    TimeOut,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u64..200).prop_map(Step::Wait),
        3 => (1u8..6).prop_map(Step::Send),
        3 => Just(Step::RepeatLost),
        1 => Just(Step::RepeatLast),
        4 => (0usize..12, 1usize..4).prop_map(|(above, count)| Step::Sack(above, count)),
        2 => (1usize..4).prop_map(Step::Acknowledge),
        4 => any::<bool>().prop_map(Step::Detect),
        1 => Just(Step::TimeOut),
    ]
}

fn apply(step: &Step, now: &mut Instant, rack: &mut Rack, reference: &mut Reference) {
    let count = reference.segments.len();
    let repeat = |rack: &mut Rack, reference: &mut Reference, k: usize, now: Instant| {
        rack.repeat(segment(k as u64), now);
        reference.segments[k] = Known { at: now, repeated: true, lost: false, ..reference.segments[k] };
    };
    match *step {
        Step::Wait(more) => *now += millis(more),
        Step::Send(more) => {
            for k in count..count + usize::from(more) {
                rack.send(segment(k as u64), *now);
                let known = Known { at: *now, repeated: false, lost: false, acknowledged: false, sacked: false };
                reference.segments.push(known);
            }
        }
        Step::RepeatLost => {
            let lost = reference.open().find(|(_, known)| known.lost).map(|(k, _)| k);
            assert_eq!(rack.lost(), lost.map(|k| segment(k as u64)));
            if let Some(k) = lost {
                repeat(rack, reference, k, *now);
            }
        }
        Step::RepeatLast => {
            let last = reference.open().last().map(|(k, _)| k).filter(|&k| k + 1 == count);
            assert_eq!(rack.last(), last.map(|k| segment(k as u64)));
            if let Some(k) = last {
                repeat(rack, reference, k, *now);
            }
        }
        Step::Sack(above, more) => {
            let from = (reference.una + 1 + above).min(count);
            let to = (from + more).min(count);
            rack.hear(SEGMENT * reference.una as u64, SEGMENT * count as u64, false);
            if from < to {
                rack.arrive(Block { start: segment(from as u64).start, end: segment(to as u64).start }, *now);
                reference.arrive((from, to), true, *now);
            }
        }
        Step::Acknowledge(more) => {
            let to = (reference.una + more).min(count);
            rack.hear(SEGMENT * to as u64, SEGMENT * count as u64, false);
            rack.acknowledge(SEGMENT * to as u64, *now);
            reference.arrive((reference.una, to), false, *now);
            reference.una = to;
        }
        Step::Detect(recovering) => {
            assert_eq!(rack.detect(*now, recovering, Some(SRTT)), reference.detect(*now, recovering));
        }
        Step::TimeOut => {
            rack.time_out(*now, Some(SRTT), false);
            reference.time_out(*now);
        }
    }
}

proptest! {
    #[test]
    fn losses_are_those_of_the_rfc(steps in prop::collection::vec(step(), 1..100)) {
        let (mut rack, mut reference, mut now) = (Rack::default(), Reference::default(), Instant::ZERO);
        for step in &steps {
            apply(step, &mut now, &mut rack, &mut reference);
            let flying = reference.open().filter(|(_, known)| !known.lost).count() as u64;
            prop_assert_eq!(rack.pipe(), SEGMENT * flying, "{:?}", step);
            let lost = reference.open().find(|(_, known)| known.lost).map(|(k, _)| segment(k as u64));
            prop_assert_eq!(rack.lost(), lost, "{:?}", step);
        }
    }

    #[test]
    fn no_bounds_of_blocks_break_the_sums(
        steps in prop::collection::vec((0u64..60, 1u64..20, 0u8..5), 1..60),
    ) {
        let (mut rack, mut now, mut una) = (Rack::default(), Instant::ZERO, 0);
        (0..16).for_each(|k| rack.send(segment(k), now));
        for (start, length, choice) in steps {
            now += millis(30);
            let block = Block { start: start.max(una), end: (start + length).clamp(una, 64) };
            match choice {
                0 => { rack.detect(now, false, Some(SRTT)); }
                1 => {
                    if let Some(lost) = rack.lost() {
                        rack.repeat(lost, now);
                    }
                }
                2 => { una = una.max(start / 4); rack.acknowledge(una, now); }
                3 => rack.time_out(now, Some(SRTT), start % 2 == 0),
                _ if block.start < block.end => rack.arrive(block, now),
                _ => {}
            }
            let open = |state| rack.sent.iter().filter(|sent| sent.state == state).map(|sent| sent.block.len()).sum::<u64>();
            prop_assert_eq!(rack.pipe(), open(State::Flying));
            prop_assert_eq!(open(State::Flying) + open(State::Lost) + open(State::Arrived), 64 - una);
            prop_assert_eq!(rack.arrived as usize, rack.sent.iter().filter(|sent| sent.state == State::Arrived).count());
        }
    }
}

#[test]
fn what_comes_twice_widens_the_window_once_a_round_trip_and_for_sixteen_recoveries() {
    let mut rack = Rack { reordering: true, min_rtt: Some(millis(40)), ..Rack::default() };
    let window = |rack: &Rack| rack.window(false, Some(millis(1000)));
    assert_eq!(window(&rack), millis(10));
    rack.hear(10, 100, true);
    rack.hear(99, 200, true);
    assert_eq!(window(&rack), millis(20), "once until what was sent then is acknowledged");
    rack.hear(100, 300, true);
    assert_eq!(window(&rack), millis(30));
    assert_eq!(rack.window(false, Some(millis(25))), millis(25), "no longer than the smoothed round trip");
    (0..15).for_each(|_| rack.recovered());
    assert_eq!(window(&rack), millis(30));
    rack.recovered();
    assert_eq!(window(&rack), millis(10));
    let mut in_order = Rack { reordering: false, min_rtt: Some(millis(40)), ..Rack::default() };
    in_order.hear(10, 100, true);
    assert_eq!(window(&in_order), millis(10), "where nothing ever came out of order, a timeout was too early");
}

#[test]
fn a_long_window_with_many_holes_costs_no_walk_over_it() {
    // Every second of 200 000 segments is lost; an implementation that walks the window for each of these calls would make
    // some 10^10 steps.
    let (mut rack, mut now) = (Rack::default(), Instant::ZERO);
    for k in 0..200_000 {
        now += Duration::from_micros(1);
        rack.send(segment(k), now);
    }
    for k in 0..100_000 {
        now += Duration::from_micros(1);
        rack.hear(0, SEGMENT * 200_000, false);
        rack.arrive(segment(2 * k + 1), now);
        rack.detect(now, true, None);
        assert_eq!(rack.lost(), Some(segment(0)));
    }
    for k in 0..100_000 {
        now += Duration::from_micros(1);
        let lost = rack.lost().unwrap();
        assert_eq!(lost, segment(2 * k));
        rack.repeat(lost, now);
    }
    for k in 0..100_000 {
        now += Duration::from_micros(1);
        rack.acknowledge(SEGMENT * 2 * (k + 1), now);
        rack.detect(now, true, None);
    }
    assert_eq!(rack.pipe(), 0);
}
