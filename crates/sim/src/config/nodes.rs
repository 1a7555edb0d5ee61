//! The `[nodes]` and `[[node]]` tables: who takes part, and where.

use super::mobility::{Waypoint, pair, sides};
use super::{Category, Class, Consumption};
use queue::Settings as Queue;
use serde::{Deserialize, Deserializer, Serialize};
use units::{Length, Rate};

/// Nodes placed by rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// How many.
    pub count: u32,
    /// Where. Left out where `[mobility]` places the nodes.
    #[serde(default)]
    pub placement: Option<Shape>,
    /// Chain and grid: distance of neighbours. Circle: its radius.
    #[serde(default)]
    pub spacing: Option<Length>,
    /// Random: the sides of the rectangle on which nodes stand, one corner at x = 0, y = 0.
    #[serde(default, deserialize_with = "sides", skip_serializing_if = "Option::is_none")]
    pub area: Option<[Length; 2]>,
}

/// A rule of placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// On a line, `spacing` apart.
    Chain,
    /// On a square grid filled row by row, `spacing` apart.
    Grid,
    /// `n0` in the centre, the others evenly on a circle of radius `spacing` around it.
    Circle,
    /// Uniformly on the rectangle `area`, drawn anew for each seed; nodes of `[[node]]` without a `position`, too.
    Random,
}

/// A node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name, used by flows, routes and results. Naming a node of `[nodes]` changes that node.
    pub name: String,
    /// So many nodes like this one, in one place, called by its name and a number: `up1`, `up2`, ... "0" is none. A flow from
    /// `up*` is one from each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// What it is. Any access point makes the network an infrastructure network.
    #[serde(default, skip_serializing_if = "Role::is_station")]
    pub role: Role,
    /// The access point of a station. Default: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_point: Option<String>,
    /// How packets wait at an access point. Default `one`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<Queues>,
    /// With `queues = "mac80211"`: the patience with slow stations that Linux had from 4.12 to 6.15. CoDel has a target of
    /// 50 ms and an interval of 300 ms, without ECN, towards stations whose expected throughput is below 6 Mb/s times the
    /// stations of the access point.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slow_station_codel: bool,
    /// Where it stands, or starts if it has `waypoints`: x and y.
    #[serde(default, deserialize_with = "place")]
    pub position: Option<[Length; 2]>,
    /// Where it goes from there, in order of time.
    #[serde(default)]
    pub waypoints: Vec<Waypoint>,
    /// Rate of the data frames that it sends, where it differs from `[radio]`.
    #[serde(default)]
    pub data_rate: Option<Rate>,
    /// 802.11n only: modulation and coding scheme of the data frames that it sends, where it differs from `[radio]`.
    #[serde(default)]
    pub mcs: Option<u8>,
    /// Its queue, where it differs from `[queue]`.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// The queues of its access categories, where they differ from `[category_queue]`.
    #[serde(default, skip_serializing_if = "CategoryQueues::is_default")]
    pub category_queue: CategoryQueues,
    /// The queues of its service classes, where they differ from `[class_queue]`.
    #[serde(default, skip_serializing_if = "ClassQueues::is_default")]
    pub class_queue: ClassQueues,
    /// What it draws, where it differs from `[consumption]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumption: Option<Consumption>,
}

/// Queues of EDCA's access categories. A key that stands in none of these tables is that of the node's queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CategoryQueues {
    /// The highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice: Option<Queue>,
    /// The second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<Queue>,
    /// The third, and the default of flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_effort: Option<Queue>,
    /// The lowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Queue>,
}

impl CategoryQueues {
    /// The queue of a category, if it is described, and its key.
    pub(crate) fn of(&self, category: Category) -> (Option<&Queue>, &'static str) {
        match category {
            Category::Voice => (self.voice.as_ref(), "voice"),
            Category::Video => (self.video.as_ref(), "video"),
            Category::BestEffort => (self.best_effort.as_ref(), "best_effort"),
            Category::Background => (self.background.as_ref(), "background"),
        }
    }

    /// The queues that are described.
    pub(super) fn described(&mut self) -> impl Iterator<Item = &mut Queue> {
        [&mut self.voice, &mut self.video, &mut self.best_effort, &mut self.background].into_iter().flatten()
    }

    /// Is none described?
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Queues of service classes. A key that stands in none of these tables is that of the node's queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ClassQueues {
    /// Goes first. Messages of the routing protocol wait here, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_time: Option<Queue>,
    /// Served while no packet of the other class waits, at the rate that its controller orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_effort: Option<Queue>,
}

impl ClassQueues {
    /// The queue of a class, if it is described, and its key.
    pub(crate) fn of(&self, class: Class) -> (Option<&Queue>, &'static str) {
        match class {
            Class::RealTime => (self.real_time.as_ref(), "real_time"),
            Class::BestEffort => (self.best_effort.as_ref(), "best_effort"),
        }
    }

    /// The queues that are described.
    pub(super) fn described(&mut self) -> impl Iterator<Item = &mut Queue> {
        [&mut self.real_time, &mut self.best_effort].into_iter().flatten()
    }

    /// Is none described?
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It has a radio. Without access points it sends to any node in range; with them to its access point alone.
    #[default]
    Station,
    /// It passes on what its stations send, to each other and to wired links.
    AccessPoint,
    /// It has no radio, only wired links.
    Wired,
}

impl Role {
    /// Is it the default?
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_station(&self) -> bool {
        *self == Self::Station
    }
}

/// How packets for the stations of an access point wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Queues {
    /// In one queue (one an access category).
    #[default]
    One,
    /// In a queue for each station (and access category), each with its own limit and controller, served in turn.
    PerStation,
    /// As Linux does it: a queue for each station (and access category) with FQ-CoDel, equal airtime for the stations, and
    /// little ahead of the MAC. `[queue]` does not apply to it. See `docs/disciplines/mac80211.md`.
    Mac80211,
}

fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[Length; 2]>, D::Error> {
    pair(deserializer, "expected x and y, as [\"0 m\", \"25 m\"]").map(Some)
}
