//! Values within bounds: which are valid, and the messages about the others.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use units::{Bytes, Duration, Length, Positive, Rate, Share, Within};

type Period = Within<Duration, 100_000>;
type Quantum = Within<Bytes, 256>;
type Flows = Within<u32, 1, 65_536>;
type Spared = Within<u32, 0, 1_000>;

fn refusal<T: DeserializeOwned + std::fmt::Debug>(json: &str) -> String {
    match serde_json::from_str::<T>(json) {
        Ok(read) => panic!("{json} was read as {read:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn only_what_is_within_its_bounds_can_be_built() {
    let nanosecond = Duration::from_nanos(1);
    assert_eq!(Positive::<Duration>::new(nanosecond).map(Positive::<Duration>::get), Some(nanosecond));
    assert_eq!(Positive::<Duration>::new(Duration::ZERO), None);
    assert_eq!(Positive::<Rate>::new(Rate::bps(0)), None);
    for length in [0.0, -1.0, f64::NAN] {
        assert_eq!(Positive::<Length>::new(Length::metres(length)), None, "{length}");
    }
    for number in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Positive::<f64>::new(number), None, "{number}");
    }
    assert_eq!(Positive::<f64>::new(f64::MAX).map(Positive::<f64>::get), Some(f64::MAX));
    let below = Duration::from_nanos(99_999);
    assert_eq!((Period::new(below), Period::new(below + nanosecond).is_some()), (None, true));
    assert_eq!([0, 1, 65_536, 65_537].map(|n| Flows::new(n).is_some()), [false, true, true, false]);
    assert_eq!([0, 1_000, 1_001].map(|n| Spared::new(n).map(Spared::get)), [Some(0), Some(1_000), None]);
    assert_eq!(Quantum::new(Bytes::new(255)), None);
}

#[test]
fn a_share_has_both_ends_and_a_positive_one_only_the_upper() {
    for (number, share, positive) in [
        (0.0, true, false),
        (f64::MIN_POSITIVE, true, true),
        (1.0, true, true),
        (1.000_001, false, false),
        (-0.1, false, false),
        (f64::NAN, false, false),
        (f64::INFINITY, false, false),
    ] {
        assert_eq!(Share::new(number).is_some(), share, "{number}");
        assert_eq!(Positive::<Share>::new(number).is_some(), positive, "{number}");
    }
}

#[test]
fn a_wrong_value_is_refused_with_what_was_expected() {
    for (error, message) in [
        (refusal::<Positive<Duration>>("\"0 s\""), "\"0 s\" is zero; expected a duration above zero"),
        (refusal::<Positive<Length>>("\"-2 m\""), "\"-2 m\" is negative; expected a length above zero"),
        (refusal::<Positive<Duration>>("5"), "5 has no unit; write a duration as text with a unit: \"250 us\""),
        (refusal::<Option<Positive<Duration>>>("\"0 s\""), "\"0 s\" is zero; expected a duration above zero"),
        (refusal::<Positive<f64>>("0.0"), "invalid value: floating point `0.0`, expected a number above zero"),
        (refusal::<Positive<f64>>("-1"), "invalid value: floating point `-1.0`, expected a number above zero"),
        (refusal::<Share>("1.5"), "invalid value: floating point `1.5`, expected a number from 0 to 1"),
        (refusal::<Positive<Share>>("2"), "floating point `2.0`, expected a number above zero and at most 1"),
        (refusal::<Period>("\"99.999 us\""), "\"99.999 us\" is out of range; it must be at least 100 us"),
        (refusal::<Quantum>("\"255 B\""), "\"255 B\" is out of range; it must be at least 256 B"),
        (refusal::<Flows>("0"), "0 is out of range; it must be from 1 to 65536"),
        (refusal::<Spared>("1001"), "1001 is out of range; it must be at most 1000"),
    ] {
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_value_is_written_as_what_it_bounds() {
    #[derive(serde::Serialize, Deserialize, Debug, PartialEq)]
    struct Settings {
        target: Positive<Duration>,
        weight: Positive<Share>,
        flows: Flows,
    }

    let json = r#"{"target":"5 ms","weight":0.25,"flows":1024}"#;
    let settings: Settings = serde_json::from_str(json).unwrap();
    assert_eq!((settings.target.get(), settings.flows.get()), (Duration::from_millis(5), 1_024));
    assert_eq!(serde_json::to_string(&settings).unwrap(), json);
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_has_the_bounds() {
    use serde_json::json;

    fn schema<T: schemars::JsonSchema>() -> serde_json::Value {
        schemars::SchemaGenerator::default().subschema_for::<T>().to_value()
    }

    let positive = json!({ "$ref": "#/$defs/Duration", "pattern": "^\\+?[0-9.]*[1-9]" });
    assert_eq!((schema::<Positive<Duration>>(), schema::<Period>()), (positive.clone(), positive));
    assert_eq!(schema::<Positive<f64>>(), json!({ "type": "number", "format": "double", "exclusiveMinimum": 0 }));
    assert_eq!(schema::<Share>(), json!({ "type": "number", "format": "double", "minimum": 0, "maximum": 1 }));
    assert_eq!(schema::<Positive<Share>>()["exclusiveMinimum"], 0);
    assert_eq!((schema::<Flows>()["minimum"].clone(), schema::<Flows>()["maximum"].clone()), (json!(1), json!(65_536)));
}
