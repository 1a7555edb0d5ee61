//! What holds for every controller in the registry, whichever it is.

use control::{Controller, Count, Interval, Limit, LimitController, Name, Parameters, Stat};
use proptest::prelude::*;
use units::{Bytes, Duration};

#[test]
fn a_name_reads_as_it_is_written() {
    for name in Name::ALL {
        assert_eq!(name.to_string().parse(), Ok(*name));
        assert_eq!(serde_json::to_string(name).unwrap(), format!("\"{name}\""));
    }
    let error = "codel".parse::<Name>().unwrap_err().to_string();
    assert!(error.starts_with("no controller has this name; there are none, adth"), "{error}");
}

#[test]
fn the_constructor_builds_what_the_name_says() {
    for name in Name::ALL {
        let controller = Controller::new(*name, &Parameters::default(), Limit::Packets(1_000)).unwrap();
        assert_eq!(controller.name(), *name);
        assert!(!controller.interval().is_zero());
    }
}

#[test]
fn parameters_are_those_of_the_table_of_the_name() {
    let parameters: Parameters = serde_json::from_str(r#"{"adth":{"interval":"30 ms"}}"#).unwrap();
    let controller = Controller::new(Name::Adth, &parameters, Limit::Packets(1_000)).unwrap();
    assert_eq!(controller.interval(), Duration::from_millis(30));
    assert!(serde_json::from_str::<Parameters>(r#"{"none":{}}"#).is_err());
}

#[test]
fn an_interval_can_be_recorded_and_replayed() {
    let seen = Interval { length: Duration::from_nanos(100_000_001), backlog_max: 7, ..Interval::default() };
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<Interval>(&text).unwrap(), seen);
}

#[test]
fn a_recording_from_before_idle_time_was_measured_can_be_replayed() {
    let mut old = serde_json::to_value(Interval { backlog_max: 7, ..Interval::default() }).unwrap();
    let fields = old.as_object_mut().unwrap();
    for absent in ["idle", "busy"] {
        fields.remove(absent).unwrap();
    }
    assert!(!fields.contains_key("service_ewma"));
    assert_eq!(serde_json::from_value::<Interval>(old).unwrap(), Interval { backlog_max: 7, ..Interval::default() });
}

fn extreme() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>(), 0_u64..2_000]
}

fn any_stat() -> impl Strategy<Value = Stat> {
    (extreme(), extreme(), extreme(), extreme()).prop_map(|(n, mean, max, last)| Stat {
        n,
        mean: Duration::from_nanos(mean),
        max: Duration::from_nanos(max),
        last: Duration::from_nanos(last),
    })
}

fn any_count() -> impl Strategy<Value = Count> {
    (extreme(), extreme()).prop_map(|(packets, bytes)| Count { packets, bytes: Bytes::new(bytes) })
}

fn any_interval() -> impl Strategy<Value = Interval> {
    let counts = (any_count(), any_count(), any_count(), any_count());
    let stats = (any_stat(), any_stat(), any_stat(), any_stat());
    (extreme(), extreme(), counts, stats).prop_map(|(length, backlog_max, counts, stats)| {
        let (arrived, sent, dropped, backlog) = counts;
        let (service, departure_gap, sojourn, nodal) = stats;
        let (length, service_ewma) = (Duration::from_nanos(length), (service.n > 0).then_some(service.last));
        let (idle, busy) = (nodal.last, sojourn.last);
        Interval {
            length,
            arrived,
            sent,
            dropped,
            backlog,
            backlog_max,
            service,
            departure_gap,
            sojourn,
            nodal,
            service_ewma,
            idle,
            busy,
        }
    })
}

proptest! {
    #[test]
    fn no_input_panics_or_exceeds_the_hard_limit(
        intervals in prop::collection::vec(any_interval(), 1..20), hard: u32, in_bytes: bool,
    ) {
        let hard_bytes = Bytes::new(hard.into());
        let hard_limit = if in_bytes { Limit::Bytes(hard_bytes) } else { Limit::Packets(hard) };
        for name in Name::ALL {
            let mut controller = Controller::new(*name, &Parameters::default(), hard_limit).unwrap();
            for seen in &intervals {
                match controller.update(seen) {
                    Limit::Packets(packets) => prop_assert!(!in_bytes && packets <= hard),
                    Limit::Bytes(bytes) => prop_assert!(in_bytes && bytes <= hard_bytes),
                }
            }
        }
    }
}
