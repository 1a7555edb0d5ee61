//! Limits of a queue and their written form.

use core::fmt;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};
use units::Bytes;

/// Limit of a queue. In files a limit is a number of packets, `1000`, or a size as text, `"64 kB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Largest number of packets.
    Packets(u32),
    /// Largest number of bytes.
    Bytes(Bytes),
}

impl Limit {
    /// True if the limit is zero, so that no packet may wait.
    pub const fn is_zero(self) -> bool {
        match self {
            Self::Packets(packets) => packets == 0,
            Self::Bytes(bytes) => bytes.count() == 0,
        }
    }

    /// Returns the limit at which a drop-tail queue of this hard limit accepts a packet while fewer than `packets`
    /// wait. A fraction is rounded up. If the limit is in bytes, each packet counts as 1500 B.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    pub(crate) fn below(self, packets: f64) -> Self {
        let floor = packets as u32;
        let whole = floor.saturating_add(u32::from(f64::from(floor) < packets));
        match self {
            Self::Packets(most) => Self::Packets(whole.min(most)),
            Self::Bytes(most) => Self::Bytes((Bytes::new(1_500) * u64::from(whole)).min(most)),
        }
    }

    /// Returns the number of packets or bytes.
    pub const fn count(self) -> u64 {
        match self {
            Self::Packets(packets) => packets as u64,
            Self::Bytes(bytes) => bytes.count(),
        }
    }

    /// Returns the smaller of two limits in the same unit, or this limit if the units differ.
    pub(crate) fn smaller(self, other: Self) -> Self {
        match (self, other) {
            (Self::Packets(one), Self::Packets(other)) => Self::Packets(one.min(other)),
            (Self::Bytes(one), Self::Bytes(other)) => Self::Bytes(one.min(other)),
            _ => self,
        }
    }

    /// Converts this hard limit to packets, of 1500 bytes each.
    pub(crate) fn in_packets(self) -> f64 {
        match self {
            Self::Packets(packets) => f64::from(packets),
            Self::Bytes(bytes) => bytes.count() as f64 / 1_500.0,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Packets(packets) => packets.serialize(serializer),
            Self::Bytes(bytes) => bytes.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherForm;

        impl Visitor<'_> for EitherForm {
            type Value = Limit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of packets such as 1000, or a size such as \"64 kB\"")
            }

            fn visit_u64<E: Error>(self, packets: u64) -> Result<Limit, E> {
                let refuse = |_| E::invalid_value(Unexpected::Unsigned(packets), &self);
                u32::try_from(packets).map(Limit::Packets).map_err(refuse)
            }

            fn visit_i64<E: Error>(self, packets: i64) -> Result<Limit, E> {
                let refuse = |_| E::invalid_value(Unexpected::Signed(packets), &self);
                u32::try_from(packets).map(Limit::Packets).map_err(refuse)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Limit, E> {
                if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(E::custom(
                        "a number of packets is written without quotes; a size has a unit, as \"64 kB\"",
                    ));
                }
                text.parse().map(Limit::Bytes).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(EitherForm)
    }
}

#[cfg(feature = "schema")]
mod schema {
    extern crate alloc;

    use super::Limit;
    use alloc::borrow::Cow;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use units::Bytes;

    impl JsonSchema for Limit {
        fn schema_name() -> Cow<'static, str> {
            "Limit".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "description": "A number of packets, or a size such as \"64 kB\".",
                "anyOf": [
                    { "type": "integer", "minimum": 1, "maximum": u32::MAX },
                    generator.subschema_for::<Bytes>(),
                ],
            })
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::ToString;

    fn read(json: &str) -> Result<Limit, std::string::String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_limit_says_what_it_holds_in_its_own_unit_and_in_packets() {
        let bytes = |bytes| Limit::Bytes(Bytes::new(bytes));
        for (limit, count, packets) in [
            (Limit::Packets(0), 0, 0.0),
            (Limit::Packets(7), 7, 7.0),
            (bytes(0), 0, 0.0),
            (bytes(4_500), 4_500, 3.0),
            (bytes(750), 750, 0.5),
        ] {
            assert_eq!((limit.count(), limit.is_zero()), (count, count == 0), "{limit}");
            assert!((limit.in_packets() - packets).abs() < 1e-12, "{limit}");
        }
    }

    #[test]
    fn the_smaller_limit_is_that_of_the_same_unit() {
        let (packets, bytes) = (Limit::Packets, |bytes| Limit::Bytes(Bytes::new(bytes)));
        assert_eq!((packets(3).smaller(packets(2)), packets(2).smaller(packets(3))), (packets(2), packets(2)));
        assert_eq!((bytes(3).smaller(bytes(2)), bytes(2).smaller(bytes(3))), (bytes(2), bytes(2)));
        assert_eq!((packets(3).smaller(bytes(2)), bytes(3).smaller(packets(2))), (packets(3), bytes(3)));
    }

    #[test]
    fn a_limit_is_a_number_of_packets_or_a_size() {
        assert_eq!(read("1000"), Ok(Limit::Packets(1000)));
        assert_eq!(read("\"64 kB\""), Ok(Limit::Bytes(Bytes::new(64_000))));
        for limit in [Limit::Packets(7), Limit::Bytes(Bytes::new(1_500))] {
            assert_eq!(read(&serde_json::to_string(&limit).unwrap()), Ok(limit));
        }
    }

    #[test]
    fn what_else_could_be_meant_is_said() {
        let expected = "expected a number of packets such as 1000, or a size such as \"64 kB\"";
        for json in ["-1", "5000000000", "1.5", "true"] {
            let message = read(json).unwrap_err();
            assert!(message.contains(expected), "{json}: {message}");
        }
        let message = read("\"1000\"").unwrap_err();
        assert!(message.contains("a number of packets is written without quotes"), "{message}");
        assert!(!read("\"\"").unwrap_err().contains("without quotes"), "nothing is no number");
        let message = read("\"64 packets\"").unwrap_err();
        assert!(message.contains("unknown unit \"packets\"; a size is written with B, kB"), "{message}");
    }
}
