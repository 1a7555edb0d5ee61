//! Tests with values worked out by hand from Algorithm 2 and section 3 of the document, and properties that hold for
//! all measurements.

extern crate std;

use super::*;
use crate::Interval;
use proptest::prelude::*;
use std::string::ToString;
use units::Bytes;

fn above_zero(number: f64) -> Positive<f64> {
    Positive::<f64>::new(number).unwrap()
}

fn number(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

fn alt(change: impl FnOnce(&mut Params), hard_limit: Limit) -> Result<Alt, Invalid> {
    let mut params = Params { initial: NonZeroU32::new(100), ..Params::default() };
    change(&mut params);
    Alt::new(&params, &hard_limit.into())
}

fn seen(idle_ms: u64, busy_ms: u64) -> Interval {
    let (idle, busy) = (Duration::from_millis(idle_ms), Duration::from_millis(busy_ms));
    Interval { length: idle + busy, idle, busy, ..Interval::default() }
}

#[test]
fn a_host_that_knows_the_link_says_where_to_begin_unless_the_parameters_do() {
    let busy = seen(0, 1_000);
    let mut free = alt(|p| p.initial = None, Limit::Packets(1_000)).unwrap();
    free.update(&busy.into());
    assert!(free.begin_from(Limit::Packets(120)));
    assert_eq!((free.begin().limit, free.update(&busy.into()).limit), (Limit::Packets(120), Limit::Packets(119)));
    assert!(free.begin_from(Limit::Packets(1)) && free.begin().limit == Limit::Packets(5), "within its bounds");
    let mut told = alt(|p| p.initial = NonZeroU32::new(300), Limit::Packets(1_000)).unwrap();
    assert!(!told.begin_from(Limit::Packets(120)));
    assert_eq!(told.update(&busy.into()).limit, Limit::Packets(299));
    let mut bytes = alt(|p| p.initial = None, Limit::Bytes(Bytes::new(1_500_000))).unwrap();
    assert!(bytes.begin_from(Limit::Bytes(Bytes::new(15_000))));
    assert_eq!(bytes.begin().limit, Limit::Bytes(Bytes::new(15_000)));
}

#[test]
fn the_size_grows_with_idle_time_and_shrinks_with_busy_time() {
    let mut alt = alt(|_| (), Limit::Packets(2_000)).unwrap();
    assert_eq!(alt.update(&seen(1_000, 0).into()).limit, Limit::Packets(110), "at most 10 packets a second up");
    assert_eq!(alt.update(&seen(0, 1_000).into()).limit, Limit::Packets(109), "at most 1 packet a second down");
    // 109 + 10 * 0.25 - 0.75 = 110.75: a packet is taken while 110 wait.
    assert_eq!(alt.update(&seen(250, 750).into()).limit, Limit::Packets(111));
    // The fraction is kept: 110.75 - 0.75 = 110.
    assert_eq!(alt.update(&seen(0, 750).into()).limit, Limit::Packets(110));
    // At rest where a_1 t_i = b_1 t_b, a link busy for 1 / (1 + b/a) = 10/11 of the time (equation (2)).
    assert_eq!(alt.update(&seen(100, 1_000).into()).limit, Limit::Packets(110));
}

#[test]
fn the_size_stays_within_its_limits() {
    let mut alt = alt(|p| (p.q_min, p.q_max) = (number(98), number(105)), Limit::Packets(2_000)).unwrap();
    assert_eq!(alt.update(&seen(1_000, 0).into()).limit, Limit::Packets(105));
    assert_eq!(alt.update(&seen(0, 9_000).into()).limit, Limit::Packets(98));
    assert_eq!(
        alt.update(&seen(200, 0).into()).limit,
        Limit::Packets(100),
        "nothing is remembered of what was cut off"
    );
}

#[test]
fn the_hard_limit_is_never_left_behind() {
    let mut alt = alt(|p| p.initial = None, Limit::Packets(50)).unwrap();
    assert_eq!(alt.update(&seen(9_000, 0).into()).limit, Limit::Packets(50));
    assert_eq!(alt.update(&seen(0, 1_000).into()).limit, Limit::Packets(49), "not 1600 - 1");
    let mut tiny = super::tests::alt(|_| (), Limit::Packets(3)).unwrap();
    assert_eq!(tiny.update(&seen(0, 9_000).into()).limit, Limit::Packets(3), "below q_min");
}

#[test]
fn the_largest_size_is_the_first() {
    let mut alt = Alt::new(&Params::default(), &Limit::Packets(2_000).into()).unwrap();
    assert_eq!(alt.update(&Interval::default().into()).limit, Limit::Packets(1_600));
}

#[test]
fn a_limit_in_bytes_counts_full_packets() {
    let mut alt = alt(|_| (), Limit::Bytes(Bytes::new(200_000))).unwrap();
    assert_eq!(alt.update(&seen(1_000, 0).into()).limit, Limit::Bytes(Bytes::new(165_000)), "110 times 1500 B");
    assert_eq!(alt.update(&seen(9_000, 0).into()).limit, Limit::Bytes(Bytes::new(200_000)));
}

#[test]
fn it_asks_for_its_threshold_and_for_no_average() {
    let alt = alt(|p| p.idle_threshold = 2, Limit::Packets(9)).unwrap();
    assert_eq!(alt.needs().measures, Measures { service_weight: None, idle_threshold: 2 });
    assert_eq!(alt.needs().interval, Duration::from_secs(1));
    assert_eq!(alt.target_delay(), None);
    assert_eq!(alt.begin().limit, Limit::Packets(9), "its default is the largest");
}

#[test]
fn steps_outside_the_stable_range_are_warned_of() {
    let warning =
        |a1, b1| alt(|p| (p.a1, p.b1) = (above_zero(a1), above_zero(b1)), Limit::Packets(9)).unwrap().warning();
    assert_eq!(warning(10.0, 1.0), None);
    assert_eq!(warning(10.999, 1.0), None);
    let said = warning(11.0, 1.0).unwrap().to_string();
    assert!(said.starts_with("a1 is not below 10 + b1: ") && said.contains("equation (9)"), "{said}");
    assert_eq!(warning(100.0, 1.0).unwrap().parameter, "a1".into());
    assert_eq!(warning(100.0, 91.0), None);
}

#[test]
fn parameters_that_cannot_work_are_refused() {
    let refused = |change: fn(&mut Params)| alt(change, Limit::Packets(9)).unwrap_err().to_string();
    assert_eq!(refused(|p| p.q_min = number(1_601)), "q_min must not be above q_max");
    assert_eq!(refused(|p| p.initial = Some(number(4))), "initial must be from q_min to q_max");
    assert_eq!(refused(|p| p.initial = Some(number(1_601))), "initial must be from q_min to q_max");
    let read = |json| serde_json::from_str::<Params>(json).map_err(|error| error.to_string());
    assert_eq!(read("{}"), Ok(Params::default()));
    assert_eq!(read(r#"{"idle_threshold":0}"#), Ok(Params::default()));
    for (json, message) in [
        (r#"{"a1":0}"#, "expected a number above zero"),
        (r#"{"b1":-1}"#, "expected a number above zero"),
        (r#"{"interval":"99 us"}"#, "\"99 us\" is out of range; it must be at least 100 us"),
        (r#"{"q_min":0}"#, "expected a nonzero u32"),
        (r#"{"initial":0}"#, "expected a nonzero u32"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(message), "{json}: {error}");
    }
}

proptest! {
    #[test]
    fn every_limit_is_in_bounds(
        times in prop::collection::vec((any::<u64>(), any::<u64>()), 1..20),
        (a1, b1) in (1e-9_f64..1e300, 1e-9_f64..1e300),
        (low, high, initial) in (1_u32.., 1_u32.., 1_u32..), hard: u32, in_bytes: bool,
    ) {
        let hard_limit = if in_bytes { Limit::Bytes(Bytes::new(hard.into())) } else { Limit::Packets(hard) };
        let (q_min, q_max) = (low.min(high), low.max(high));
        let params = Params {
            a1: above_zero(a1),
            b1: above_zero(b1),
            q_min: number(q_min),
            q_max: number(q_max),
            initial: NonZeroU32::new(initial.clamp(q_min, q_max)),
            ..Params::default()
        };
        let mut alt = Alt::new(&params, &hard_limit.into()).unwrap();
        for (idle, busy) in times {
            let (idle, busy) = (Duration::from_nanos(idle), Duration::from_nanos(busy));
            match alt.update(&Interval { idle, busy, ..Interval::default() }.into()).limit {
                Limit::Packets(n) => prop_assert!(!in_bytes && n <= hard.min(q_max) && n >= hard.min(q_min)),
                Limit::Bytes(n) => {
                    let least = (Bytes::new(1_500) * u64::from(q_min)).min(Bytes::new(hard.into()));
                    prop_assert!(in_bytes && n.count() <= hard.into() && n >= least);
                }
            }
        }
    }
}
