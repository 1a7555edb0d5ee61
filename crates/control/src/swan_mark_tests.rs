//! Tests of the average and the hysteresis worked out by hand, and properties that hold for all measurements.

extern crate std;

use super::*;
use crate::{Interval, Limit, Radio};
use proptest::prelude::*;
use std::string::ToString;
use std::vec::Vec;

/// An interval of 100 ms with this much real-time traffic heard, part of it newly admitted.
fn heard(kbps: u64, new: u64) -> Seen<'static> {
    let queue = Interval { length: Duration::from_millis(100), ..Interval::default() };
    let bytes = |kbps| Bytes::new(kbps * 100 / 8);
    let radio = Radio { real_time: bytes(kbps), real_time_new: bytes(new), ..Radio::default() };
    Seen { queue, radio: Some(radio), heard: &[] }
}

fn seeded(json: &str, seed: u64) -> SwanMark {
    let site = Site { hard_limit: Limit::Packets(50), seed };
    SwanMark::new(&serde_json::from_str(json).unwrap(), &site).unwrap()
}

fn swan(json: &str) -> SwanMark {
    seeded(json, 1)
}

/// Returns the marks after each of `tenths` of a second with this traffic.
fn marks(swan: &mut SwanMark, tenths: usize, kbps: u64, new: u64) -> Vec<Mark> {
    (0..tenths).map(|_| swan.update(&heard(kbps, new)).mark).collect()
}

#[test]
fn what_is_available_is_the_admission_rate_less_the_average() {
    let mut swan = swan("{}");
    let kbps = |swan: &SwanMark| swan.available().unwrap().as_bps() / 1_000;
    assert_eq!(kbps(&swan), 2_000);
    // A quarter of the difference each time: 0.1 s / (0.3 s + 0.1 s). 0.4, 0.7, 0.925 Mb/s.
    for left in [1_600, 1_300, 1_075] {
        swan.update(&heard(1_600, 0));
        assert_eq!(kbps(&swan), left);
    }
    marks(&mut swan, 50, 2_400, 0);
    assert_eq!(kbps(&swan), 0);
    // An interval of twice the length moves it by 0.2 / 0.5.
    let mut swan = self::swan("{}");
    let mut seen = heard(2_000, 0);
    seen.queue.length = Duration::from_millis(200);
    swan.update(&seen);
    assert_eq!(kbps(&swan), 1_600, "1 Mb/s over 200 ms");
}

/// 4 Mb/s (1 - 0.75^n) is above 3.5 Mb/s from n = 8 on: 3.4661, then 3.5995.
#[test]
fn marking_begins_above_the_threshold_and_ends_below_the_admission_rate() {
    let mut swan = swan(r#"{"regulation":"source"}"#);
    assert_eq!(marks(&mut swan, 8, 4_000, 0), [[Mark::None; 7].as_slice(), &[Mark::All]].concat());
    // Between the two rates marking goes on, here down to 2.1 Mb/s ...
    assert_eq!(marks(&mut swan, 50, 2_100, 0), [Mark::All; 50]);
    // ... and ends below 2 Mb/s: 1.9 + 0.2 * 0.75^n is 2.0125, then 1.984.
    assert_eq!(marks(&mut swan, 4, 1_900, 0), [Mark::All, Mark::All, Mark::None, Mark::None]);
    // Between the rates marking does not begin (S13, S15).
    assert_eq!(marks(&mut swan, 100, 3_499, 0), [Mark::None; 100]);
}

#[test]
fn a_set_stays_for_its_time_and_then_comes_another() {
    let mut swan = swan("{}");
    let first = marks(&mut swan, 8, 4_000, 0)[7];
    let Mark::Set { of: 8, index: first } = first else { panic!("{first:?}") };
    let mut before = first;
    for turn in 0..40 {
        // The first mark of the first set was given already.
        let rest = marks(&mut swan, 9, 4_000, 0);
        assert_eq!(rest, [Mark::Set { of: 8, index: before }; 9], "turn {turn}");
        let Mark::Set { of: 8, index } = swan.update(&heard(4_000, 0)).mark else { panic!("no set") };
        assert!(index < 8 && index != before, "{index} after {before}");
        before = index;
    }
}

#[test]
fn every_set_has_its_turn_and_the_seed_decides_which() {
    let turns = |seed| {
        let mut swan = seeded(r#"{"set_time":"100 ms"}"#, seed);
        marks(&mut swan, 4_000, 4_000, 0).split_off(7)
    };
    assert_eq!(turns(7), turns(7));
    assert_ne!(turns(7), turns(8));
    let turns = turns(7);
    for index in 0..8 {
        let count = turns.iter().filter(|mark| **mark == Mark::Set { of: 8, index }).count();
        // 3993 turns, 499 each; four deviations are below 4 * sqrt(499) = 89.
        assert!(count.abs_diff(499) < 89, "set {index}: {count}");
    }
    let mut alone = swan(r#"{"sets":1,"set_time":"100 ms"}"#);
    assert_eq!(marks(&mut alone, 20, 4_000, 0)[8..], [Mark::Set { of: 1, index: 0 }; 12]);
}

#[test]
fn newly_admitted_flows_come_first_while_they_are_heard() {
    let all_new = Mark::NewOfSet { of: 1, index: 0 };
    let mut swan = swan("{}");
    assert_eq!(marks(&mut swan, 12, 4_000, 200)[7..], [all_new; 5]);
    assert!(matches!(swan.update(&heard(4_000, 0)).mark, Mark::Set { of: 8, .. }));
    assert_eq!(swan.update(&heard(4_000, 1)).mark, all_new);
    let after = |json| marks(&mut self::swan(json), 8, 4_000, 200)[7];
    assert!(matches!(after(r#"{"new_first":"set"}"#), Mark::NewOfSet { of: 8, .. }));
    assert!(matches!(after(r#"{"new_first":"never"}"#), Mark::Set { of: 8, .. }));
    assert_eq!(after(r#"{"regulation":"source"}"#), Mark::All, "their sources know");
}

#[test]
fn no_time_is_no_news() {
    let mut swan = swan("{}");
    marks(&mut swan, 8, 4_000, 0);
    let (orders, available) = (swan.begin(), swan.available());
    let mut seen = heard(0, 100);
    seen.queue.length = Duration::ZERO;
    assert_eq!((swan.update(&seen), swan.available()), (orders, available));
    assert_ne!(orders.mark, Mark::None);
    // Without a radio nothing is heard.
    seen.queue.length = Duration::from_secs(10);
    assert_eq!(swan.update(&Seen { radio: None, ..seen }).mark, Mark::None);
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let crossed = serde_json::from_str(r#"{"admission_rate":"4 Mb/s"}"#).unwrap();
    let refused = SwanMark::new(&crossed, &Limit::Packets(9).into()).unwrap_err().to_string();
    assert_eq!(refused, "admission_rate must not be above threshold_rate");
    let read = |json: &str| serde_json::from_str::<Params>(json).map_err(|error| error.to_string());
    assert_eq!(read("{}"), Ok(Params::default()));
    for (json, message) in [
        (r#"{"admission_rate":"0 b/s"}"#, "expected a rate above zero"),
        (r#"{"threshold_rate":"0 b/s"}"#, "expected a rate above zero"),
        (r#"{"interval":"99 us"}"#, "it must be at least 100 us"),
        (r#"{"memory":"0 s"}"#, "expected a duration above zero"),
        (r#"{"sets":0}"#, "expected a nonzero u8"),
        (r#"{"sets":256}"#, "expected a nonzero u8"),
        (r#"{"set_time":"0 s"}"#, "expected a duration above zero"),
        (r#"{"regulation":"swan3"}"#, "unknown variant `swan3`"),
        (r#"{"new_first":true}"#, "expected"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(message), "{json}: {error}");
    }
}

proptest! {
    #[test]
    fn it_marks_exactly_within_the_hysteresis(
        traffic in prop::collection::vec((0_u64..6_000, 0_u64..2), 1..200), sets in 1_u8.., seed: u64,
    ) {
        let mut swan = seeded(&std::format!(r#"{{"sets":{sets},"set_time":"200 ms"}}"#), seed);
        let (mut rho, mut marking) = (0.0, false);
        for (kbps, new) in traffic {
            // Whole bytes were heard.
            let bps = (kbps * 100 / 8 * 80) as f64;
            rho += (bps - rho) * 0.25;
            // At the border itself the last digit may decide either way.
            prop_assume!((rho - 2e6).abs() > 1e-3 && (rho - 3.5e6).abs() > 1e-3);
            marking = if marking { rho >= 2e6 } else { rho > 3.5e6 };
            let orders = swan.update(&heard(kbps, new * kbps));
            prop_assert_eq!(orders.mark != Mark::None, marking, "{}", rho);
            if let Mark::Set { of, index } = orders.mark {
                prop_assert!(of == sets && index < sets);
            }
            prop_assert_eq!(orders.limit, Limit::Packets(50));
            let available = swan.available().unwrap().as_bps() as f64;
            prop_assert!((available - (2e6 - rho).max(0.0)).abs() <= 1.001, "{} beside {}", available, rho);
        }
    }
}
