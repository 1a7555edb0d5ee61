//! The `[queue]` table of a scenario and of the live agent.

use crate::account::MOST_PACKETS;
use crate::discipline::Purge;
use crate::disciplines::{DisciplineName, Tables, for_each_discipline};
use control::{Limit, Name, Parameters};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use units::Bytes;

/// The longest packet of Wi-Fi.
pub const LONGEST_PACKET: Bytes = Bytes::new(2_304);

macro_rules! settings {
    ($($controllers:tt)*) => { for_each_discipline! { with_tables { $($controllers)* } } };
}

// The tables are fields of their own, not a flattened map: an error then points at its line.
macro_rules! with_tables {
    (
        { $($(#[$doc:meta])* $name:ident: $Params:ty,)* }
        $($(#[$discipline_doc:meta])* $discipline:ident: $DisciplineParams:ty,)*
    ) => {
        /// A queue: discipline, hard limit, and the controller that sets a limit below it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Queue"))]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            /// Order of service and drops. Default `drop-tail`.
            pub discipline: DisciplineName,
            /// Hard limit: 1 to 1000000 packets, or a size such as "64 kB". Default 1000.
            #[serde(deserialize_with = "limit")]
            pub limit: Limit,
            /// Packets to drop when the limit falls below the backlog. Default: from the end at which the discipline
            /// drops.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub purge: Option<Purge>,
            /// Bytes that may leave at once where the controller orders a rate; "0 B" spaces all packets. Default
            /// 2304 B, the longest packet of Wi-Fi, so that the MAC's delays do not lower the rate over time.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub shaper_burst: Option<Bytes>,
            $($(#[$discipline_doc])* #[serde(skip_serializing_if = "Option::is_none")]
            pub $discipline: Option<$DisciplineParams>,)*
            /// Controller of the limit. Default `none`.
            pub controller: Name,
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$Params>,)*
        }

        impl Default for Settings {
            fn default() -> Self {
                Self {
                    discipline: DisciplineName::default(),
                    limit: Limit::Packets(1_000),
                    purge: None,
                    shaper_burst: None,
                    $($discipline: None,)*
                    controller: Name::default(),
                    $($name: None,)*
                }
            }
        }

        impl Settings {
            /// Parameter tables of the disciplines.
            pub(crate) fn tables(&self) -> Tables {
                Tables { $($discipline: self.$discipline.clone(),)* }
            }

            /// Burst of the [`Shaper`](crate::Shaper) that holds the queue to its controller's rate.
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
        Some(why) => Err(D::Error::custom(format_args!("a limit {why}, and this is {limit}"))),
    }
}
