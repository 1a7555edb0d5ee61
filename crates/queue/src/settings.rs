//! The `[queue]` table of a scenario and of the live agent.

use crate::codel::{self, Law};
use crate::codel_queue::CodelQueue;
use crate::early::EarlyDrop;
use crate::fifo::Fifo;
use crate::fq_codel::{self, FqCodel};
use crate::pie::{self, Pie};
use crate::queue::Packets;
use crate::red::{self, Red};
use crate::{End, MOST_PACKETS, Packet, Queue};
use control::{AnyController, Controller as _, Invalid, Limit, Name, Parameters, Site};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use units::Instant;

/// Which packets leave, wait or go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// First in, first out. When the limit is reached, the packet that comes is dropped.
    #[default]
    DropTail,
    /// First in, first out. When the limit is reached, the packets that waited longest make way.
    DropHead,
    /// CoDel (RFC 8289): drops packets that leave while all wait too long.
    Codel,
    /// FQ-CoDel (RFC 8290): flows take turns, each with a CoDel of its own. At the limit the longest flow makes way.
    #[serde(alias = "fq_codel")]
    FqCodel,
    /// PIE (RFC 8033): drops packets that come, with a probability that keeps the wait at a reference.
    Pie,
    /// Adaptive RED (Floyd, Gummadi, Shenker 2001): drops packets that come, the more the more wait on average.
    Red,
}

impl Discipline {
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::DropTail, Self::DropHead, Self::Codel, Self::FqCodel, Self::Pie, Self::Red];

    /// As it is written in a scenario.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DropTail => "drop-tail",
            Self::DropHead => "drop-head",
            Self::Codel => "codel",
            Self::FqCodel => "fq-codel",
            Self::Pie => "pie",
            Self::Red => "red",
        }
    }
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
            /// Which packets leave, wait or go. Its parameters stand in the table of its name. Default `drop-tail`.
            pub discipline: Discipline,
            /// The hard limit: a number of packets from 1 to 1000000, or a size such as "64 kB". Default 1000.
            #[serde(deserialize_with = "limit")]
            pub limit: Limit,
            /// Which packets go when the controller lowers the limit below what waits. Default: those at the end where
            /// the discipline drops.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub purge: Option<Purge>,
            /// CoDel.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub codel: Option<codel::Params>,
            /// FQ-CoDel.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub fq_codel: Option<fq_codel::Params>,
            /// PIE.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub pie: Option<pie::Params>,
            /// Adaptive RED.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub red: Option<red::Params>,
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
                    codel: None,
                    fq_codel: None,
                    pie: None,
                    red: None,
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
    /// The controller alone, for a queue that is not of this crate. What it draws is the same each time, so that a
    /// recording of it can be replayed.
    ///
    /// # Errors
    /// The limit or the first of the controller's parameters that cannot be used, by its key within the table.
    pub fn build_controller(&self) -> Result<AnyController, Invalid> {
        self.controller(0)
    }

    fn controller(&self, seed: u64) -> Result<AnyController, Invalid> {
        match unusable(self.limit) {
            Some(why) => Err(Invalid::new("limit", why)),
            None => AnyController::new(self.controller, &self.parameters(), &Site { hard_limit: self.limit, seed }),
        }
    }

    /// The queue and its controller, as they are before the first packet. What they draw follows from `seed`.
    ///
    /// # Errors
    /// The first setting that cannot be used, by its key within the table.
    pub fn build<P: Packet>(&self, seed: u64) -> Result<(Queue<P>, AnyController), Invalid> {
        let controller = self.controller(seed)?;
        let purge = |default| self.purge.unwrap_or(default);
        let limit = self.limit;
        let queue = match self.discipline {
            Discipline::DropTail => {
                Queue::new(limit, |room| Packets::Fifo(Fifo::new(room, End::Tail, purge(Purge::Tail))))
            }
            Discipline::DropHead => {
                Queue::new(limit, |room| Packets::Fifo(Fifo::new(room, End::Head, purge(Purge::Head))))
            }
            Discipline::Codel => {
                let params = self.codel.clone().unwrap_or_default();
                params.check().map_err(|invalid| invalid.within("codel"))?;
                let law = Law::new(&params);
                Queue::new(limit, |room| Packets::Codel(CodelQueue::new(room, law, purge(Purge::Head))))
            }
            Discipline::FqCodel => {
                let params = self.fq_codel.clone().unwrap_or_default();
                params.check().map_err(|invalid| invalid.within("fq_codel"))?;
                if self.purge == Some(Purge::Tail) {
                    return Err(Invalid::new("purge", "must be head or none with fq-codel"));
                }
                let purges = self.purge != Some(Purge::None);
                Queue::new(limit, |room| Packets::FqCodel(Box::new(FqCodel::new(room, &params, purges, seed))))
            }
            Discipline::Pie => {
                let params = self.pie.clone().unwrap_or_default();
                params.check().map_err(|invalid| invalid.within("pie"))?;
                let early = |room| EarlyDrop::new(room, Pie::new(params), purge(Purge::Tail), seed);
                Queue::new(limit, |room| Packets::Pie(Box::new(early(room))))
            }
            Discipline::Red => {
                let law = Red::new(&self.red.clone().unwrap_or_default()).map_err(|invalid| invalid.within("red"))?;
                let early = |room| EarlyDrop::new(room, law, purge(Purge::Tail), seed);
                Queue::new(limit, |room| Packets::Red(Box::new(early(room))))
            }
        };
        let mut queue = queue.measuring(controller.needs().measures);
        let begin = controller.begin().limit;
        if begin != limit {
            queue.set_limit(Instant::ZERO, begin, &mut |_| ());
            queue.restart_statistics(Instant::ZERO);
        }
        Ok((queue, controller))
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
