//! Tests with values worked out by hand from Algorithm 1, and properties that hold for all measurements.

extern crate std;

use super::*;
use crate::Count;
use proptest::prelude::*;
use std::string::ToString;

fn millis(n: u64) -> Stat {
    let time = Duration::from_millis(n);
    Stat { n: 1, mean: time, max: time, last: time }
}

/// An interval of 100 ms in which 40 packets of 1000 B left: 400 000 B/s.
fn seen(sojourn_ms: u64, gap_ms: u64) -> Interval {
    Interval {
        length: Duration::from_millis(100),
        arrived: Count { packets: 60, bytes: Bytes::new(60_000) },
        sent: Count { packets: 40, bytes: Bytes::new(40_000) },
        sojourn: millis(sojourn_ms),
        departure_gap: millis(gap_ms),
        ..Interval::default()
    }
}

fn positive(time: Duration) -> Positive<Duration> {
    Positive::<Duration>::new(time).unwrap()
}

fn factor(number: f64) -> Positive<f64> {
    Positive::<f64>::new(number).unwrap()
}

fn adth(change: impl FnOnce(&mut Params)) -> Adth {
    let mut params = Params { phi_max: factor(2.0), ..Params::default() };
    change(&mut params);
    Adth::new(&params, &Limit::Packets(1_000).into()).unwrap()
}

#[test]
fn the_first_threshold_rests_on_the_measurements_alone() {
    // dq = 0.2 - 0.005 = 0.195 s; Lest = 0.195 * 400 = 78, although the packets were late.
    let mut adth = adth(|_| ());
    assert_eq!(adth.update(&seen(295, 5).into()).limit, Limit::Packets(78));
    assert!((adth.phi - 1.0).abs() < 1e-12);
}

#[test]
fn counts_that_contradict_each_other_measure_nothing() {
    let whole = seen(295, 5);
    for sent in [Count { packets: 0, ..whole.sent }, Count { bytes: Bytes::new(0), ..whole.sent }] {
        let mut adth = adth(|_| ());
        assert_eq!(adth.update(&Interval { sent, ..whole }.into()).limit, Limit::Packets(1_000), "{sent:?}");
        assert_eq!(adth.update(&whole.into()).limit, Limit::Packets(78), "the first threshold is still to come");
    }
}

#[test]
fn the_host_is_told_the_target() {
    let adth = adth(|params| params.target_delay = positive(Duration::from_millis(70)));
    assert_eq!(adth.target_delay(), Some(Duration::from_millis(70)));
}

#[test]
fn early_packets_raise_phi_by_half_the_error() {
    // Nodal delay 95 + 5 = 100 ms: beta = 0.5, phi = 1.25, then 1.5; 1.25 * 78 = 97.5 and 1.5 * 78 = 117.
    let mut adth = adth(|_| ());
    adth.update(&seen(95, 5).into());
    assert_eq!(adth.update(&seen(95, 5).into()).limit, Limit::Packets(97));
    assert!((adth.phi - 1.25).abs() < 1e-12);
    adth.update(&seen(95, 5).into());
    adth.update(&seen(95, 5).into());
    adth.update(&seen(95, 5).into());
    assert!((adth.phi - 2.0).abs() < 1e-12);
    adth.update(&seen(95, 5).into());
    assert!((adth.phi - 2.0).abs() < 1e-12, "held at phi_max");
}

#[test]
fn late_packets_lower_phi_by_the_whole_error() {
    // Nodal delay 245 + 5 = 250 ms: beta = -0.25, phi = 0.75, 0.5, 0.25, 0.1; 0.75 * 78 = 58.5, 0.1 * 78 = 7.8.
    let mut adth = adth(|_| ());
    adth.update(&seen(245, 5).into());
    assert_eq!(adth.update(&seen(245, 5).into()).limit, Limit::Packets(58));
    assert_eq!(adth.update(&seen(245, 5).into()).limit, Limit::Packets(39));
    adth.update(&seen(245, 5).into());
    assert_eq!(adth.update(&seen(245, 5).into()).limit, Limit::Packets(7));
    assert!((adth.phi - 0.1).abs() < 1e-12, "held at phi_min");
}

#[test]
fn exactly_on_target_counts_as_late_and_changes_nothing() {
    let mut adth = adth(|params| params.latch = true);
    adth.update(&seen(95, 5).into());
    assert_eq!(adth.update(&seen(195, 5).into()).limit, Limit::Packets(78));
    assert!((adth.phi - 1.0).abs() < 1e-12);
}

#[test]
fn a_mac_delay_above_the_target_leaves_the_least_limit() {
    assert_eq!(adth(|_| ()).update(&seen(10, 200).into()).limit, Limit::Packets(1), "dq = 0");
    let mut adth = adth(|params| params.limit_min = NonZeroU32::new(5).unwrap());
    assert_eq!(adth.update(&seen(10, 300).into()).limit, Limit::Packets(5), "dq < 0");
}

#[test]
fn nothing_known_means_the_hard_limit() {
    let mut adth = adth(|_| ());
    let quiet = Interval { arrived: Count::default(), ..seen(10, 5) };
    assert_eq!(adth.update(&quiet.into()).limit, Limit::Packets(1_000));
    let stuck = Interval { sent: Count::default(), ..seen(10, 5) };
    assert_eq!(adth.update(&stuck.into()).limit, Limit::Packets(1_000), "no 0/0 (A7)");
    adth.update(&seen(245, 5).into());
    assert!((adth.phi - 1.0).abs() < 1e-12, "the first valid sample comes only now (A4)");
}

#[test]
fn the_statistic_is_chosen() {
    let mut sample = seen(0, 0);
    sample.sojourn = Stat {
        n: 2,
        mean: Duration::from_millis(95),
        max: Duration::from_millis(245),
        last: Duration::from_millis(145),
    };
    sample.departure_gap = millis(5);
    for (statistic, phi) in [(Statistic::Mean, 1.25), (Statistic::Max, 0.75), (Statistic::Last, 1.125)] {
        let mut adth = adth(|params| params.statistic = statistic);
        adth.update(&sample.into());
        adth.update(&sample.into());
        assert!((adth.phi - phi).abs() < 1e-12, "{statistic:?}: {}", adth.phi);
    }
}

#[test]
fn the_latch_opens_at_the_first_late_packet() {
    let mut adth = adth(|params| params.latch = true);
    assert_eq!(adth.update(&seen(95, 5).into()).limit, Limit::Packets(1_000), "never late so far");
    assert_eq!(adth.update(&seen(95, 5).into()).limit, Limit::Packets(1_000));
    assert_eq!(adth.update(&seen(195, 5).into()).limit, Limit::Packets(78), "phi is 1.25, the largest estimate 78");
    let quiet = Interval { arrived: Count::default(), ..seen(10, 5) };
    assert_eq!(adth.update(&quiet.into()).limit, Limit::Packets(78), "does not return to the hard limit");
}

#[test]
fn a_limit_in_bytes_is_worked_out_in_bytes() {
    let mut adth = Adth::new(&Params::default(), &Limit::Bytes(Bytes::new(64_000)).into()).unwrap();
    // 0.195 s * 400 000 B/s = 78 000 B, above the hard limit; 0.1 s leaves 40 000 B; none left 1500 B.
    assert_eq!(adth.update(&seen(10, 5).into()).limit, Limit::Bytes(Bytes::new(64_000)));
    assert_eq!(adth.update(&seen(10, 100).into()).limit, Limit::Bytes(Bytes::new(40_000)));
    assert_eq!(adth.update(&seen(0, 200).into()).limit, Limit::Bytes(Bytes::new(1_500)));
}

#[test]
fn parameters_that_cannot_work_are_refused() {
    let refused = |change: fn(&mut Params)| {
        let mut params = Params::default();
        change(&mut params);
        Adth::new(&params, &Limit::Packets(9).into()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|p| p.target_delay = positive(Duration::from_micros(199))),
        "target_delay must be at least 200 us, because the interval is half of it"
    );
    assert_eq!(refused(|p| p.phi_min = factor(1.5)), "phi_min must not be above phi_max");
}

#[test]
fn a_file_is_refused_at_the_key() {
    let read = |json| serde_json::from_str::<Params>(json).map_err(|error| error.to_string());
    assert_eq!(read("{}"), Ok(Params::default()));
    assert_eq!(read(r#"{"interval":"50 ms"}"#).unwrap().interval, Period::new(Duration::from_millis(50)));
    for (json, message) in [
        (r#"{"target_delay":"0 s"}"#, "\"0 s\" is zero; expected a duration above zero"),
        (r#"{"interval":"99 us"}"#, "\"99 us\" is out of range; it must be at least 100 us"),
        (r#"{"limit_min":0}"#, "expected a nonzero u32"),
        (r#"{"phi_min":0.0}"#, "expected a number above zero"),
        (r#"{"phi_max":-1}"#, "expected a number above zero"),
        (r#"{"statistic":"median"}"#, "unknown variant `median`"),
        (r#"{"target":"1 s"}"#, "unknown field `target`"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(message), "{json}: {error}");
    }
}

fn any_stat() -> impl Strategy<Value = Stat> {
    (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(n, mean, max, last)| Stat {
        n,
        mean: Duration::from_nanos(mean),
        max: Duration::from_nanos(max),
        last: Duration::from_nanos(last),
    })
}

fn extreme() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>(), 0_u64..2_000]
}

proptest! {
    #[test]
    fn every_output_is_in_bounds(
        samples in prop::collection::vec((extreme(), extreme(), extreme(), extreme(), any_stat(), any_stat()), 1..20),
        target in 1_u64.., least in 1_u32.., most: u32, in_bytes: bool, latch: bool,
        (phi_min, phi_max) in (1e-9_f64..1e9, 1e-9_f64..1e9),
    ) {
        let hard_limit = if in_bytes { Limit::Bytes(Bytes::new(most.into())) } else { Limit::Packets(most) };
        let params = Params {
            target_delay: positive(Duration::from_nanos(target)),
            limit_min: NonZeroU32::new(least).unwrap(),
            phi_min: factor(phi_min.min(phi_max)),
            phi_max: factor(phi_min.max(phi_max)),
            latch,
            ..Params::default()
        };
        let mut adth = Adth::new(&params, &hard_limit.into()).unwrap();
        prop_assert!(!adth.needs().interval.is_zero());
        for (length, arrived, sent, bytes, sojourn, departure_gap) in samples {
            let limit = adth.update(&Interval {
                length: Duration::from_nanos(length),
                arrived: Count { packets: arrived, bytes: Bytes::new(arrived) },
                sent: Count { packets: sent, bytes: Bytes::new(bytes) },
                sojourn,
                departure_gap,
                ..Interval::default()
            }.into()).limit;
            match limit {
                Limit::Packets(n) => prop_assert!(!in_bytes && n <= most && n >= least.min(most)),
                Limit::Bytes(n) => {
                    let least = Bytes::new(1_500) * u64::from(least);
                    prop_assert!(in_bytes && n.count() <= most.into() && n >= least.min(Bytes::new(most.into())));
                }
            }
            prop_assert!(adth.phi.is_finite());
        }
    }
}
