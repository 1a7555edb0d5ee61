//! Values of `[[flow]]` that may be drawn at random: lengths of packets, rates.

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use units::{Bytes, Duration, Rate};

/// A length for all packets, or a random one for each packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Lengths {
    /// One length for all packets.
    One(Bytes),
    /// Drawn from the list, each entry with equal probability.
    Any(Vec<Bytes>),
    /// Uniform whole number of bytes in a range.
    Between(LengthRange),
}

impl Lengths {
    /// The shortest length that a packet may have; zero for an empty list.
    pub fn shortest(&self) -> Bytes {
        match self {
            Self::One(length) | Self::Between(LengthRange { from: length, .. }) => *length,
            Self::Any(lengths) => lengths.iter().copied().min().unwrap_or_default(),
        }
    }
}

/// The shortest and the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LengthRange {
    /// Shortest.
    pub from: Bytes,
    /// Longest.
    pub to: Bytes,
}

/// A rate, or one drawn for each run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Load {
    /// One rate for all runs.
    One(Rate),
    /// Uniform between two rates.
    Drawn(LoadRange),
}

impl Load {
    /// The highest possible rate.
    pub fn highest(&self) -> Rate {
        match self {
            Self::One(rate) | Self::Drawn(LoadRange { to: rate, .. }) => *rate,
        }
    }
}

/// How a rate is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadRange {
    /// Lowest rate.
    pub from: Rate,
    /// Highest rate.
    pub to: Rate,
    /// Time between draws, from the flow's start on. Default: once per run.
    #[serde(default, deserialize_with = "units::positive")]
    pub every: Option<Duration>,
    /// Name shared by flows that draw the same rate from the same range. Default: the flow's name.
    pub draw: Option<String>,
}

/// Reads a quantity in quotes, a list of such, or a table: derived untagged enumerations lose what is wrong with a value.
macro_rules! quantity_or {
    ($Type:ident, $One:ident, $Table:ident, $expecting:literal $(, $List:ident)?) => {
        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Shape;
                impl<'de> Visitor<'de> for Shape {
                    type Value = $Type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$Type, E> {
                        text.parse().map($Type::$One).map_err(E::custom)
                    }

                    $(fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<$Type, A::Error> {
                        Vec::deserialize(SeqAccessDeserializer::new(list)).map($Type::$List)
                    })?

                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$Type, A::Error> {
                        Deserialize::deserialize(MapAccessDeserializer::new(map)).map($Type::$Table)
                    }
                }
                deserializer.deserialize_any(Shape)
            }
        }
    };
}

quantity_or!(Lengths, One, Between, "a size, a list of sizes, or `{ from = \"128 B\", to = \"1518 B\" }`", Any);
quantity_or!(Load, One, Drawn, "a rate, or `{ from = \"1 Mb/s\", to = \"2 Mb/s\" }`");
