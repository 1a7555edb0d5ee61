//! Tests of Fig. 3 worked out by hand, and properties that hold for all measurements.

extern crate std;

use super::*;
use crate::{Count, Interval, Limit, Radio};
use proptest::prelude::*;
use std::format;
use std::string::ToString;
use units::Bytes;

/// A period of `millis` in which `bytes` left and `late` packets of the node were late.
fn seen(millis: u64, bytes: u64, late: u64) -> Seen<'static> {
    let sent = Count { packets: bytes.div_ceil(1_500), bytes: Bytes::new(bytes) };
    let queue = Interval { length: Duration::from_millis(millis), sent, ..Interval::default() };
    Seen { queue, radio: Some(Radio { late, ..Radio::default() }), heard: &[] }
}

fn swan(json: &str) -> SwanRate {
    SwanRate::new(&serde_json::from_str(json).unwrap(), &Limit::Packets(50).into()).unwrap()
}

/// Returns the rates in bit/s after each second of (bytes, late packets).
fn rates<const N: usize>(json: &str, seconds: [(u64, u64); N]) -> [u64; N] {
    let mut swan = swan(json);
    seconds.map(|(bytes, late)| swan.update(&seen(1_000, bytes, late)).rate.unwrap().as_bps())
}

#[test]
fn the_rate_grows_by_steps_and_is_cut_by_half() {
    let found = rates(
        "{}",
        [
            // Nothing was shaped: 1 Mb/s were sent, and the gap rule sets 1.1 Mb/s.
            (125_000, 0),
            // 1.1 Mb/s were sent: 1.1 Mb/s and 35 kb/s are below 1.21 Mb/s.
            (137_500, 0),
            // 1.135 Mb/s were sent, and one packet was late: half of it. The same holds for a hundred late packets.
            (141_875, 1),
            (70_937, 100),
            // No packet is late any more (S20): 283.75 kb/s and 35 kb/s are above 1.1 times 283.744 kb/s.
            (35_468, 0),
        ],
    );
    assert_eq!(found, [1_100_000, 1_135_000, 567_500, 283_750, 312_118]);
}

#[test]
fn the_gap_rule_holds_the_rate_near_what_is_sent() {
    // TCP sends 800 kb/s however much it is allowed: 880 kb/s. Where it falls to 400 kb/s with a late packet, half of
    // 880 is at the border; at 200 kb/s it is above.
    let found = rates("{}", [(100_000, 0), (100_000, 0), (100_000, 0), (50_000, 1), (25_000, 1), (12_500, 1)]);
    assert_eq!(found, [880_000, 880_000, 880_000, 440_000, 220_000, 110_000]);
    // With g = 50 %: 1.2 Mb/s, and a step above it.
    assert_eq!(rates(r#"{"gap":0.5}"#, [(100_000, 0), (150_000, 0), (100_000, 0)]), [1_200_000, 1_235_000, 1_200_000]);
}

#[test]
fn without_the_gap_rule_the_rate_runs_ahead() {
    let found = rates(r#"{"gap_rule":false}"#, [(100_000, 0), (100_000, 0), (100_000, 0), (0, 0), (0, 1)]);
    assert_eq!(found, [880_000, 915_000, 950_000, 985_000, 492_500]);
}

/// S11: with `a = 0`, `s = c` minus `a` is above zero, and `s = 0` for ever.
#[test]
fn a_silent_sender_keeps_the_floor_and_rises_from_it() {
    // 35 kb/s are 4375 B in a second: 38.5 kb/s, and so on, each a tenth more.
    let found = rates("{}", [(0, 0), (0, 0), (0, 3), (4_375, 0), (4_812, 0)]);
    assert_eq!(found, [35_000, 35_000, 35_000, 38_500, 42_345]);
    let found = rates(r#"{"floor":"5 kb/s","decrease":1.0}"#, [(0, 0), (12_500, 0), (12_500, 1), (625, 0)]);
    assert_eq!(found, [5_000, 40_000, 5_000, 5_500]);
}

/// S5: both units agree for T = 1 s only.
#[test]
fn a_step_is_for_a_second_or_for_a_period() {
    let after_two = |json| {
        let mut swan = swan(json);
        // 1 Mb/s in a tenth of a second.
        swan.update(&seen(100, 12_500, 0));
        swan.update(&seen(100, 13_750, 0)).rate.unwrap().as_bps()
    };
    assert_eq!(after_two(r#"{"interval":"100 ms"}"#), 1_103_500);
    assert_eq!(after_two(r#"{"interval":"100 ms","increase_per":"period"}"#), 1_135_000);
    // The floor is what a step adds.
    let floor = |json| swan(json).update(&seen(100, 0, 0)).rate.unwrap().as_bps();
    assert_eq!(floor(r#"{"interval":"100 ms"}"#), 3_500);
    assert_eq!(floor(r#"{"interval":"100 ms","increase_per":"period"}"#), 35_000);
    assert_eq!(floor(r#"{"interval":"100 us","increase":"1 b/s"}"#), 1, "not nothing");
}

#[test]
fn nothing_is_shaped_until_a_period_was_measured() {
    let mut swan = swan("{}");
    assert_eq!(swan.begin(), Limit::Packets(50).into());
    assert_eq!(swan.update(&seen(0, 125_000, 1)).rate, None, "no time has passed");
    let orders = swan.update(&seen(1_000, 125_000, 1));
    assert_eq!(orders.rate, Some(Rate::kbps(1_100)));
    assert_eq!(swan.update(&seen(0, 0, 9)), orders);
    assert_eq!(swan.begin(), orders);
}

#[test]
fn it_asks_for_packets_later_than_its_threshold() {
    let needs = swan(r#"{"mac_delay":"5 ms"}"#).needs();
    assert_eq!(needs.late_after, Some(Duration::from_millis(5)));
    assert_eq!((needs.interval, needs.sets), (Duration::from_secs(1), Sets::RATE));
    assert_eq!(needs.reads, Reads::COUNTS.and(Reads::LATE));
}

#[test]
fn parameters_that_may_behave_badly_are_warned_of() {
    let warning = |json| swan(json).warning().map(|warning| warning.to_string());
    assert_eq!(warning("{}"), None);
    assert_eq!(warning(r#"{"decrease":0.75,"gap":1}"#), None);
    assert!(warning(r#"{"decrease":1}"#).unwrap().starts_with("decrease takes the whole rate away"));
    assert!(warning(r#"{"gap":0.099}"#).unwrap().starts_with("gap is below 0.1"));
    assert_eq!(warning(r#"{"gap":0.02,"gap_rule":false}"#), None);
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let read = |json: &str| serde_json::from_str::<Params>(json).map_err(|error| error.to_string());
    assert_eq!(read("{}"), Ok(Params::default()));
    for (json, message) in [
        (r#"{"interval":"99 us"}"#, "it must be at least 100 us"),
        (r#"{"mac_delay":"0 s"}"#, "expected a duration above zero"),
        (r#"{"increase":"0 b/s"}"#, "expected a rate above zero"),
        (r#"{"decrease":0}"#, "expected a number above zero and at most 1"),
        (r#"{"decrease":50}"#, "expected a number above zero and at most 1"),
        (r#"{"gap":0}"#, "expected a number above zero"),
        (r#"{"gap":-0.1}"#, "expected a number above zero"),
        (r#"{"floor":"0 b/s"}"#, "expected a rate above zero"),
        (r#"{"increase_per":"hour"}"#, "unknown variant `hour`"),
        (r#"{"c":35}"#, "unknown field `c`"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(message), "{json}: {error}");
    }
}

proptest! {
    #[test]
    fn the_rate_is_between_the_floor_and_what_the_gap_allows(
        periods in prop::collection::vec((1_u64..10_000, 0_u64..10_000_000, 0_u64..3), 1..40),
        increase in 1_u64..1_000_000, decrease in 0.01_f64..=1.0, gap in 0.001_f64..2.0, floor in 1_u64..1_000_000,
    ) {
        let json = format!(
            r#"{{"increase":"{increase} b/s","decrease":{decrease},"gap":{gap},"floor":"{floor} b/s"}}"#
        );
        let mut swan = swan(&json);
        let mut before = None;
        for (millis, bytes, late) in periods {
            let rate = swan.update(&seen(millis, bytes, late)).rate.unwrap().as_bps();
            let highest = (bytes * 8_000) as f64 / millis as f64 * (1.0 + gap);
            prop_assert!(rate >= floor);
            prop_assert!(rate as f64 <= highest.max(floor as f64) + 1.0, "{} above {}", rate, highest);
            if let (Some(before), true) = (before, late > 0) {
                prop_assert!(rate <= floor.max(before), "{} after a late packet, {} before", rate, before);
            }
            before = Some(rate);
        }
    }

    #[test]
    fn more_sent_never_earns_a_lower_rate_and_a_late_packet_never_a_higher_one(
        first in 0_u64..1_000_000, bytes in 0_u64..1_000_000, more in 0_u64..1_000_000,
    ) {
        let after = |bytes, late| {
            let mut swan = swan("{}");
            swan.update(&seen(1_000, first, 0));
            swan.update(&seen(1_000, bytes, late)).rate.unwrap()
        };
        prop_assert!(after(bytes + more, 0) >= after(bytes, 0));
        prop_assert!(after(bytes, 1) <= after(bytes, 0));
    }
}
