//! The `[queue]` table of a scenario and of the live agent.

use crate::{End, FifoParams, MOST_PACKETS, Packet, Queue};
use control::{Controller, Invalid, Limit, LimitController, Name, Parameters};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

/// Which packet makes way when one comes and the limit is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// The one that comes.
    #[default]
    DropTail,
    /// Those that waited longest.
    DropHead,
}

/// Which packets go when the limit is lowered below what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Purge {
    /// Those that waited longest.
    Head,
    /// Those that came last.
    Tail,
    /// None: the lower limit meets only packets that come. What waits may be above it until it has drained.
    None,
}

// The controllers' tables are fields of their own, not a flattened map: an error then points at its line.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $Params:ty,)*) => {
        /// A queue: its discipline, its hard limit and the controller that moves the limit below it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(rename = "Queue"))]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            /// Which packet makes way when one comes and the limit is reached. Default `drop-tail`.
            pub discipline: Discipline,
            /// The hard limit: a number of packets from 1 to 1000000, or a size such as "64 kB". Default 1000.
            #[serde(deserialize_with = "limit")]
            pub limit: Limit,
            /// Which packets go when the controller lowers the limit below what waits. Default: those at the end where
            /// the discipline drops.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub purge: Option<Purge>,
            /// What moves the limit. Its parameters stand in the table of its name. Default `none`.
            pub controller: Name,
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$Params>,)*
        }

        impl Default for Settings {
            fn default() -> Self {
                Self {
                    discipline: Discipline::default(),
                    limit: Limit::Packets(1_000),
                    purge: None,
                    controller: Name::default(),
                    $($name: None,)*
                }
            }
        }

        impl Settings {
            fn parameters(&self) -> Parameters {
                Parameters { $($name: self.$name.clone(),)* }
            }
        }
    };
}

control::for_each_controller!(settings);

impl Settings {
    /// The queue and its controller, as they are before the first packet.
    ///
    /// # Errors
    /// The first setting that cannot be used, by its key within the table.
    pub fn build<P: Packet>(&self) -> Result<(Queue<P>, Controller), Invalid> {
        if let Some(why) = unusable(self.limit) {
            return Err(Invalid { parameter: "limit", why });
        }
        let controller = Controller::new(self.controller, &self.parameters(), self.limit)?;
        let (overflow, purge) = match self.discipline {
            Discipline::DropTail => (End::Tail, Purge::Tail),
            Discipline::DropHead => (End::Head, Purge::Head),
        };
        let purge = self.purge.unwrap_or(purge);
        let queue = Queue::fifo(FifoParams { overflow, purge, limit: self.limit });
        Ok((queue.measuring(controller.measures()), controller))
    }
}

fn unusable(limit: Limit) -> Option<&'static str> {
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
