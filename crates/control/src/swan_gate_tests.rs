//! Tests of a source's life by hand, and properties that hold for all inputs.

extern crate std;

use super::*;
use proptest::prelude::*;
use std::string::ToString;
use std::vec::Vec;

const fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

const VIDEO: Rate = Rate::kbps(200);

fn gate(json: &str) -> SwanGate {
    SwanGate::new(&serde_json::from_str(json).unwrap(), 1)
}

#[track_caller]
fn number(act: Act) -> u64 {
    let Act::Probe { number } = act else { panic!("{act:?} is no probe") };
    number
}

/// A flow that was admitted at 10 ms.
fn admitted(json: &str) -> SwanGate {
    let mut gate = gate(json);
    let probe = number(gate.open(ms(0), VIDEO));
    assert_eq!(gate.answered(ms(10), probe, VIDEO), Act::Admit);
    gate
}

#[test]
fn a_flow_is_admitted_if_each_node_of_the_path_can_admit_its_rate() {
    let mut gate = gate("{}");
    assert!(!gate.is_admitted() && gate.deadline() == Instant::NEVER);
    let probe = number(gate.open(ms(0), VIDEO));
    assert!(!gate.is_admitted() && gate.deadline() == ms(500));
    assert_eq!(gate.answered(ms(10), probe, VIDEO), Act::Admit, "exactly its rate");
    assert!(gate.is_admitted() && gate.deadline() == Instant::NEVER);
    assert!(gate.is_new(ms(10)) && gate.is_new(ms(10_009)) && !gate.is_new(ms(10_010)));
    for bottleneck in [Rate::bps(199_999), Rate::bps(0)] {
        let mut gate = self::gate("{}");
        let probe = number(gate.open(ms(0), VIDEO));
        assert_eq!(gate.answered(ms(10), probe, bottleneck), Act::Refuse);
        assert!(!gate.is_admitted() && !gate.is_new(ms(10)) && gate.deadline() == Instant::NEVER);
    }
}

#[test]
fn a_lost_probe_is_repeated_and_in_the_end_the_flow_is_refused() {
    let mut gate = gate("{}");
    let first = number(gate.open(ms(0), VIDEO));
    assert_eq!(gate.elapsed(ms(499)), Act::Keep);
    let second = number(gate.elapsed(ms(500)));
    assert_eq!(gate.deadline(), ms(1_000));
    // The answer to the first one is late.
    assert_eq!(gate.answered(ms(600), first, Rate::mbps(2)), Act::Keep);
    let third = number(gate.elapsed(ms(1_100)));
    assert!(first != second && second != third && gate.deadline() == ms(1_600));
    assert_eq!(gate.elapsed(ms(1_600)), Act::Refuse);
    assert_eq!((gate.deadline(), gate.elapsed(ms(9_000))), (Instant::NEVER, Act::Keep));
    assert_eq!(gate.answered(ms(9_000), third, Rate::mbps(2)), Act::Keep, "it has been given up");
    let mut gate = self::gate(r#"{"retries":0,"patience":"20 ms"}"#);
    gate.open(ms(0), VIDEO);
    assert_eq!(gate.elapsed(ms(20)), Act::Refuse);
}

#[test]
fn a_forged_answer_changes_nothing() {
    let mut gate = gate("{}");
    let probe = number(gate.open(ms(0), VIDEO));
    for forged in [0, 1, probe.wrapping_add(1), !probe] {
        assert_eq!(gate.answered(ms(1), forged, Rate::mbps(9)), Act::Keep);
        assert_eq!(gate.answered(ms(1), forged, Rate::bps(0)), Act::Keep);
    }
    assert_eq!(gate.answered(ms(2), probe, VIDEO), Act::Admit);
    // Nor does the answer to this probe a second time.
    assert_eq!(gate.answered(ms(3), probe, Rate::bps(0)), Act::Keep);
    assert!(gate.is_admitted());
}

#[test]
fn without_a_stagger_a_flow_that_is_to_regulate_probes_at_once() {
    let mut gate = admitted("{}");
    let probe = number(gate.regulated(ms(60_000)));
    assert!(gate.is_admitted(), "it goes on meanwhile");
    assert_eq!(gate.regulated(ms(60_001)), Act::Keep, "it has begun");
    assert_eq!(gate.answered(ms(60_010), probe, VIDEO), Act::Keep);
    assert!(gate.is_admitted() && !gate.is_new(ms(60_010)), "a second admission makes no new flow");
    let probe = number(gate.regulated(ms(60_020)));
    assert_eq!(gate.answered(ms(60_030), probe, Rate::kbps(100)), Act::Refuse);
    assert!(!gate.is_admitted());
    assert_eq!(gate.regulated(ms(60_040)), Act::Keep, "it is not real time any more");
}

#[test]
fn with_a_stagger_old_flows_wait_and_new_ones_do_not() {
    let mut new = admitted(r#"{"stagger":"7 s"}"#);
    number(new.regulated(ms(10_009)));
    let mut waits = Vec::new();
    for seed in 0..1_000 {
        let params = Params { stagger: Duration::from_secs(7), ..Params::default() };
        let mut old = SwanGate::new(&params, seed);
        let probe = number(old.open(ms(0), VIDEO));
        old.answered(ms(10), probe, VIDEO);
        assert_eq!(old.regulated(ms(60_000)), Act::Keep);
        assert_eq!(old.regulated(ms(60_001)), Act::Keep, "one wait is enough");
        let wait = old.deadline().since(ms(60_000));
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(7));
        waits.push(wait.as_secs_f64());
        assert_eq!(old.answered(ms(60_002), probe, Rate::bps(0)), Act::Keep, "no probe is under way");
        number(old.elapsed(old.deadline()));
        assert!(old.is_admitted() && old.deadline().since(ms(60_500)) == wait);
    }
    // Uniform: mean 3.5 s, deviation 7/sqrt(12) = 2.02 s; four deviations of the mean of 1000 are 0.256 s.
    let mean = waits.iter().sum::<f64>() / 1_000.0;
    assert!((mean - 3.5).abs() < 0.256, "{mean}");
}

#[test]
fn a_regulating_flow_whose_probes_are_lost_is_refused() {
    let mut gate = admitted(r#"{"retries":1}"#);
    number(gate.regulated(ms(20_000)));
    number(gate.elapsed(ms(20_500)));
    assert_eq!(gate.elapsed(ms(21_000)), Act::Refuse);
    assert!(!gate.is_admitted());
}

#[test]
fn another_rate_is_another_admission() {
    let mut gate = admitted("{}");
    let probe = number(gate.open(ms(1_000), Rate::mbps(1)));
    assert!(!gate.is_admitted());
    assert_eq!(gate.answered(ms(1_010), probe, VIDEO), Act::Refuse);
}

/// Section III-C: four sources probe at the same instant; there is room for one, and all four are admitted.
#[test]
fn simultaneous_probes_admit_more_than_there_is_room_for() {
    let mut gates = [1, 2, 3, 4].map(|seed| SwanGate::new(&Params::default(), seed));
    let probes: Vec<Act> = gates.iter_mut().map(|gate| gate.open(ms(0), VIDEO)).collect();
    for (gate, probe) in gates.iter_mut().zip(probes) {
        assert_eq!(gate.answered(ms(10), number(probe), VIDEO), Act::Admit);
    }
    // All are told to regulate, and each finds 600 kb/s too much: all stop, which is why regulation must be staggered.
    for gate in &mut gates {
        let probe = number(gate.regulated(ms(100)));
        assert_eq!(gate.answered(ms(110), probe, Rate::bps(0)), Act::Refuse);
    }
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let read = |json: &str| serde_json::from_str::<Params>(json).map_err(|error| error.to_string());
    assert_eq!(read("{}"), Ok(Params::default()));
    assert_eq!(read(r#"{"stagger":"0 s","new_for":"0 s"}"#).unwrap().new_for, Duration::ZERO);
    for (json, message) in [
        (r#"{"patience":"0 s"}"#, "expected a duration above zero"),
        (r#"{"retries":-1}"#, "expected u32"),
        (r#"{"wait":"7 s"}"#, "unknown field `wait`"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(message), "{json}: {error}");
    }
}

#[derive(Clone, Debug)]
enum Event {
    Open(u64),
    /// The answer to the probe that is the `n`-th newest, or a forged one.
    Answer {
        n: usize,
        forged: bool,
        bottleneck: u64,
    },
    Regulate,
    Wait,
    AtTheDeadline,
}

fn any_event() -> impl Strategy<Value = Event> {
    let rate = || prop_oneof![Just(0), Just(u64::MAX), 0_u64..400_000];
    let answer = (0_usize..3, any::<bool>(), rate());
    prop_oneof![
        1 => rate().prop_map(Event::Open),
        4 => answer.prop_map(|(n, forged, bottleneck)| Event::Answer { n, forged, bottleneck }),
        3 => Just(Event::Regulate),
        2 => Just(Event::Wait),
        3 => Just(Event::AtTheDeadline),
    ]
}

proptest! {
    #[test]
    fn only_a_sufficient_answer_to_the_last_probe_admits_and_probes_are_bounded(
        events in prop::collection::vec((any_event(), 0_u64..2_000_000_000), 1..80),
        stagger in 0_u64..8_000, retries in 0_u32..4, seed: u64,
    ) {
        let params = Params { retries, stagger: Duration::from_millis(stagger), ..Params::default() };
        let mut gate = SwanGate::new(&params, seed);
        let (mut now, mut rate, mut open, mut probes, mut asked) = (ms(0), 0, false, Vec::new(), 0_usize);
        for (event, later) in events {
            let (before, deadline) = (gate.is_admitted(), gate.deadline());
            let mut may_admit = false;
            let act = match event {
                Event::Open(wanted) => {
                    (rate, open, asked) = (wanted, true, asked + 1);
                    gate.open(now, Rate::bps(wanted))
                }
                Event::Answer { n, forged, bottleneck } => {
                    may_admit = n == 0 && !forged && bottleneck >= rate;
                    let number = probes.iter().rev().nth(n).copied().unwrap_or(seed);
                    gate.answered(now, if forged { number ^ 1 } else { number }, Rate::bps(bottleneck))
                }
                Event::Regulate => {
                    asked += 1;
                    gate.regulated(now)
                }
                Event::Wait => {
                    now += Duration::from_nanos(later);
                    gate.elapsed(now)
                }
                Event::AtTheDeadline => {
                    now = if deadline == Instant::NEVER { now } else { now.max(deadline) };
                    gate.elapsed(now)
                }
            };
            if let Act::Probe { number } = act {
                prop_assert!(open, "a source probes for what was wanted");
                probes.push(number);
                prop_assert_eq!(gate.deadline(), now + Duration::from_millis(500));
            }
            prop_assert!(probes.len() <= asked * (retries as usize + 1), "{} probes", probes.len());
            prop_assert!(act != Act::Admit || (may_admit && !before));
            prop_assert!(!gate.is_admitted() || before || act == Act::Admit);
            prop_assert!(act != Act::Refuse || !gate.is_admitted());
            prop_assert!(!gate.is_new(now) || gate.is_admitted());
        }
    }

    /// A source that asks gets an answer in time, whatever else happens.
    #[test]
    fn every_question_ends(retries in 0_u32..5, patience in 1_u64..5_000, stagger in 0_u64..10_000, seed: u64) {
        let patience = Positive::<Duration>::new(Duration::from_millis(patience)).unwrap();
        let params = Params { retries, patience, stagger: Duration::from_millis(stagger), new_for: Duration::ZERO };
        let mut gate = SwanGate::new(&params, seed);
        let probe = number(gate.open(ms(0), VIDEO));
        gate.answered(ms(0), probe, VIDEO);
        gate.regulated(ms(0));
        let mut now = ms(0);
        while gate.deadline() != Instant::NEVER {
            now = gate.deadline();
            gate.elapsed(now);
        }
        prop_assert!(!gate.is_admitted());
        let most = params.stagger + patience.get() * (u64::from(retries) + 1);
        prop_assert!(now.since(ms(0)) <= most, "{:?}", now);
    }
}
