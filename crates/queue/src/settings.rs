//! The `[queue]` table of a scenario and of the live agent.

use crate::account::MOST_PACKETS;
use crate::discipline::Purge;
use crate::disciplines::{DisciplineName, Tables, for_each_discipline};
use crate::own;
use control::{Limit, Name, Parameters};
use serde::de::value::{self, StrDeserializer};
use serde::de::{Deserializer, EnumAccess, Error, VariantAccess as _, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;
use units::Bytes;

/// The longest packet of Wi-Fi.
pub const LONGEST_PACKET: Bytes = Bytes::new(2_304);

macro_rules! settings {
    ($($controllers:tt)*) => { for_each_discipline! { with_tables { $($controllers)* } } };
}

// The tables are fields, not a flattened map, so that an error points at its line.
macro_rules! with_tables {
    (
        { $($(#[$doc:meta])* $name:ident: $Params:ty,)* }
        $($(#[$discipline_doc:meta])* $discipline:ident: $DisciplineParams:ty,)*
    ) => {
        units::with_defaults! {
            /// A queue: discipline, hard limit, and the controller that sets a limit below it.
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Queue"))]
            #[serde(default, deny_unknown_fields)]
            pub struct Settings {
                /// Order of service and drops. Default `drop-tail`.
                #[serde(serialize_with = "write", deserialize_with = "read")]
                pub discipline: DisciplineName,
                /// Hard limit: 1 to 1000000 packets, or a size such as "64 kB". Default 1000.
                #[serde(deserialize_with = "limit")]
                pub limit: Limit = Limit::Packets(1_000),
                /// Packets to drop when the limit falls below the backlog. Default: from the end at which the
                /// discipline drops.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub purge: Option<Purge>,
                /// Bytes that may leave at once if the controller sets a rate; "0 B" spaces all packets. Default 2304
                /// B, the longest packet of Wi-Fi, so that the MAC's delays do not lower the rate.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub shaper_burst: Option<Bytes>,
                $($(#[$discipline_doc])* #[serde(skip_serializing_if = "Option::is_none")]
                pub $discipline: Option<$DisciplineParams>,)*
                /// Parameters of disciplines that the program registered, a table for each.
                #[serde(skip_serializing_if = "Map::is_empty")]
                pub own: Map<String, Value>,
                /// Controller of the limit. Default `none`.
                pub controller: Name,
                $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$Params>,)*
            }
        }

        impl Settings {
            /// Returns the parameter tables of the disciplines.
            pub(crate) fn tables(&self) -> Tables {
                Tables { $($discipline: self.$discipline.clone(),)* own: self.own.clone() }
            }

            /// Returns the burst of the [`Shaper`](crate::Shaper) that limits the queue to its controller's rate.
            pub fn burst(&self) -> Bytes {
                self.shaper_burst.unwrap_or(LONGEST_PACKET)
            }

            /// Returns the parameters of controllers.
            pub fn parameters(&self) -> Parameters {
                Parameters { $($name: self.$name.clone(),)* }
            }
        }
    };
}

control::for_each_controller!(settings);

/// Registers a discipline, or replaces one, for scenarios that are read from now on: `discipline = "NAME"`. `make` gets
/// the table `[queue.own.NAME]` and a seed for random numbers.
///
/// # Errors
/// Sluice itself has a discipline of this name.
pub fn register(
    name: &str,
    make: impl Fn(Value, u64) -> Result<Box<dyn own::PerPacket>, String> + Send + Sync + 'static,
) -> Result<(), String> {
    if named(name).is_ok_and(|known| !matches!(known, DisciplineName::Own(_))) {
        return Err(format!("`{name}` is a discipline of Sluice: choose another name"));
    }
    own::registered().insert(name.to_owned().leak(), Box::leak(Box::new(make)));
    Ok(())
}

fn named(name: &str) -> Result<DisciplineName, String> {
    let own = own::registered();
    if let Some((name, _)) = own.get_key_value(name) {
        return Ok(DisciplineName::Own(name));
    }
    let built_in = DisciplineName::deserialize(StrDeserializer::<value::Error>::new(name));
    built_in.map_err(|error| own.keys().fold(error.to_string(), |known, name| format!("{known}, `{name}`")))
}

fn read<'de, D: Deserializer<'de>>(from: D) -> Result<DisciplineName, D::Error> {
    from.deserialize_enum("DisciplineName", &[], Named)
}

struct Named;

impl<'de> Visitor<'de> for Named {
    type Value = DisciplineName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<DisciplineName, A::Error> {
        let (name, rest) = data.variant::<String>()?;
        rest.unit_variant()?;
        named(&name).map_err(A::Error::custom)
    }
}

fn write<S: Serializer>(name: &DisciplineName, to: S) -> Result<S::Ok, S::Error> {
    name.as_str().serialize(to)
}

/// Returns why a limit cannot be the hard limit.
pub(crate) fn unusable(limit: Limit) -> Option<&'static str> {
    match limit {
        limit if limit.is_zero() => Some("must be above zero"),
        Limit::Packets(packets) if packets > MOST_PACKETS => Some("must be at most 1000000 packets"),
        _ => None,
    }
}

fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Limit, D::Error> {
    let limit = Limit::deserialize(deserializer)?;
    match unusable(limit) {
        None => Ok(limit),
        Some(why) => Err(D::Error::custom(format_args!("the limit is {limit}: it {why}"))),
    }
}
