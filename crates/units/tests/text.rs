//! Reading and printing: exact values, round trips, and messages that state what to do.

use proptest::prelude::*;
use serde::Deserialize;
use units::{Bytes, Decibels, Duration, Frequency, Length, ParseError, Power, Rate, Speed};

fn complaint<T: std::str::FromStr<Err = ParseError>>(text: &str) -> String {
    match text.parse::<T>() {
        Ok(_) => panic!("{text:?} was read"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn decimals_are_read_exactly() {
    assert_eq!("1.8 Mb/s".parse(), Ok(Rate::bps(1_800_000)));
    assert_eq!("1.8Mbit/s".parse(), Ok(Rate::bps(1_800_000)));
    assert_eq!("1.000000001 s".parse(), Ok(Duration::from_nanos(1_000_000_001)));
    assert_eq!("0.1 h".parse(), Ok(Duration::from_secs(360)));
    assert_eq!("1.5 min".parse(), Ok(Duration::from_secs(90)));
    assert_eq!("9 us".parse(), Ok(Duration::from_micros(9)));
    assert_eq!("9 \u{b5}s".parse(), Ok(Duration::from_micros(9)));
    assert_eq!("9 \u{3bc}s".parse(), Ok(Duration::from_micros(9)));
    assert_eq!("1.50000000000000000000000000000000 ms".parse(), Ok(Duration::from_micros(1_500)));
    assert_eq!("-0 s".parse(), Ok(Duration::ZERO));
    assert_eq!("+5 ms".parse(), Ok(Duration::from_millis(5)));
    assert_eq!("64 kB".parse(), Ok(Bytes::new(64_000)));
    assert_eq!("0.5 KiB".parse(), Ok(Bytes::new(512)));
    assert_eq!("0.00000095367431640625 MiB".parse(), Ok(Bytes::new(1)));
    assert_eq!("2.412 GHz".parse(), Ok(Frequency::hertz(2_412_000_000)));
    assert_eq!("18446744073.709551615 s".parse(), Ok(Duration::MAX));
}

#[test]
fn radio_quantities_are_read() {
    assert_eq!("30 m".parse(), Ok(Length::metres(30.0)));
    assert_eq!("-30 cm".parse(), Ok(Length::metres(-0.3)));
    assert_eq!("1.5 km".parse(), Ok(Length::metres(1_500.0)));
    assert_eq!("72 km/h".parse(), Ok(Speed::metres_per_second(20.0)));
    assert_eq!("1.5m/s".parse(), Ok(Speed::metres_per_second(1.5)));
    assert_eq!("-82 dBm".parse(), Ok(Power::dbm(-82.0)));
    assert_eq!("-3dB".parse(), Ok(Decibels::new(-3.0)));
    assert!(("100 mW".parse::<Power>().unwrap().as_dbm() - 20.0).abs() < 1e-12);
    assert!(("1 W".parse::<Power>().unwrap().as_dbm() - 30.0).abs() < 1e-12);
}

#[test]
fn a_readable_unit_is_printed() {
    assert_eq!(Duration::from_micros(1_500).to_string(), "1.5 ms");
    assert_eq!(Duration::from_secs(100).to_string(), "100 s");
    assert_eq!(Duration::from_nanos(1_000_000_001).to_string(), "1.000000001 s");
    assert_eq!(Duration::ZERO.to_string(), "0 s");
    assert_eq!(Rate::kbps(1_800).to_string(), "1.8 Mb/s");
    assert_eq!(Bytes::new(1_518).to_string(), "1518 B");
    assert_eq!(Bytes::new(64_000).to_string(), "64 kB");
    assert_eq!(Frequency::hertz(2_412_000_000).to_string(), "2.412 GHz");
    assert_eq!(Length::metres(0.3).to_string(), "0.3 m");
    assert_eq!(Power::dbm(-82.5).to_string(), "-82.5 dBm");
}

#[test]
fn messages_say_what_to_write() {
    let examples = r#"write a number and a unit: "250 us", "5 ms", "10 s""#;
    for text in ["50", "", "ms", ".5 ms", "5. ms", "1.2.3 s", "--5 s", "5 ", " 5 ms"] {
        assert_eq!(complaint::<Duration>(text), format!("{text:?} is not a duration; {examples}"));
    }
    assert_eq!(
        complaint::<Duration>("5 kg"),
        r#""5 kg" has an unknown unit "kg"; a duration is written with ns, us, ms, s, min or h"#
    );
    assert_eq!(
        complaint::<Rate>("2 Mbps"),
        r#""2 Mbps" has an unknown unit "Mbps"; a rate is written with b/s, kb/s, Mb/s or Gb/s"#
    );
    assert_eq!(complaint::<Duration>("-5 ms"), r#""-5 ms" is negative; a duration is zero or more"#);
    assert_eq!(
        complaint::<Duration>("6000000 h"),
        r#""6000000 h" is too large; a duration is at most 18446744073.709551615 s"#
    );
    assert_eq!(complaint::<Duration>("0.5 ns"), r#""0.5 ns" is too precise; a duration is a whole number of ns"#);
    assert_eq!(complaint::<Power>("0 mW"), r#""0 mW" is not above zero, as a power in watts must be"#);
    assert_eq!(complaint::<Speed>("-5 m/s"), r#""-5 m/s" is negative; a speed is zero or more"#);
    let long = format!("{} s", "9".repeat(60));
    assert!(complaint::<Duration>(&long).ends_with("is too large; a duration is at most 18446744073.709551615 s"));
    assert!(complaint::<Length>(&format!("{} m", "9".repeat(400))).ends_with("is too large"));
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(deserialize_with = "units::positive")]
    span: Duration,
    #[serde(default, deserialize_with = "units::positive")]
    range: Option<Length>,
}

fn read(json: &str) -> Result<Settings, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn files_hold_text_with_a_unit() {
    assert_eq!(serde_json::to_string(&Duration::from_millis(5)).unwrap(), r#""5 ms""#);
    assert_eq!(read(r#"{"span":"5 ms"}"#).unwrap().span, Duration::from_millis(5));
    assert_eq!(read(r#"{"span":"5 ms","range":"3 m"}"#).unwrap().range, Some(Length::metres(3.0)));
    let bare = read(r#"{"span":5}"#).unwrap_err();
    assert!(
        bare.starts_with(r#"5 has no unit; write a duration as text with a unit: "250 us", "5 ms", "10 s""#),
        "{bare}"
    );
    let list = read(r#"{"span":[]}"#).unwrap_err();
    assert!(list.contains(r#"expected a duration such as "250 us""#), "{list}");
}

#[test]
fn zero_is_refused_where_asked() {
    let zero = read(r#"{"span":"0 s"}"#).unwrap_err();
    assert!(zero.starts_with(r#""0 s" is zero; expected a duration above zero"#), "{zero}");
    let negative = read(r#"{"span":"1 s","range":"-2 m"}"#).unwrap_err();
    assert!(negative.starts_with(r#""-2 m" is negative; expected a length above zero"#), "{negative}");
}

proptest! {
    #[test]
    fn integers_round_trip(n: u64, shift in 0_u32..64) {
        let n = n >> shift;
        prop_assert_eq!(Duration::from_nanos(n).to_string().parse(), Ok(Duration::from_nanos(n)));
        prop_assert_eq!(Rate::bps(n).to_string().parse(), Ok(Rate::bps(n)));
        prop_assert_eq!(Bytes::new(n).to_string().parse(), Ok(Bytes::new(n)));
        prop_assert_eq!(Frequency::hertz(n).to_string().parse(), Ok(Frequency::hertz(n)));
    }

    #[test]
    fn floats_round_trip(x in proptest::num::f64::NORMAL | proptest::num::f64::ZERO | proptest::num::f64::SUBNORMAL) {
        prop_assert_eq!(Length::metres(x).to_string().parse(), Ok(Length::metres(x)));
        prop_assert_eq!(Speed::metres_per_second(x.abs()).to_string().parse(), Ok(Speed::metres_per_second(x.abs())));
        prop_assert_eq!(Power::dbm(x).to_string().parse(), Ok(Power::dbm(x)));
        prop_assert_eq!(Decibels::new(x).to_string().parse(), Ok(Decibels::new(x)));
    }

    #[test]
    fn no_text_panics(any in ".*", near in "[-+]?[0-9.]{0,45} ?(ns|us|ms|s|min|h|MiB|kb/s|GHz|dBm|mW|cm|km|dB|µ)?") {
        for text in [any.as_str(), near.as_str()] {
            let faults = [
                text.parse::<Duration>().err(), text.parse::<Rate>().err(), text.parse::<Bytes>().err(),
                text.parse::<Frequency>().err(), text.parse::<Length>().err(), text.parse::<Power>().err(),
                text.parse::<Decibels>().err(),
            ];
            for fault in faults.into_iter().flatten() {
                prop_assert!(fault.to_string().contains(" is ") || fault.to_string().contains(" has "));
            }
        }
    }
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_has_the_pattern_and_examples() {
    let schema = schemars::schema_for!(Duration);
    assert_eq!(schema.get("type").unwrap(), "string");
    assert_eq!(schema.get("pattern").unwrap(), "^\\+?[0-9]+(\\.[0-9]+)? *(ns|us|\u{b5}s|\u{3bc}s|ms|s|min|h)$");
    assert_eq!(schema.get("examples").unwrap()[1], "5 ms");
    let schema = schemars::schema_for!(Length);
    assert_eq!(schema.get("pattern").unwrap(), "^[-+]?[0-9]+(\\.[0-9]+)? *(cm|m|km)$");
}

#[test]
fn nothing_is_left_where_more_bytes_are_taken_than_there_are() {
    assert_eq!(Bytes::new(128) - Bytes::new(46), Bytes::new(82));
    assert_eq!(Bytes::new(46) - Bytes::new(128), Bytes::new(0));
}
