//! The `[mobility]` table: how nodes move.

use super::Attachment;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use units::{Duration, Length, Speed};

/// How nodes move. A node with a `position` or `waypoints` of its own stands there, or follows those, whatever the model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Mobility {
    /// The model for the nodes without a `position` of their own.
    pub model: MobilityModel,
    /// Random waypoint: the sides of the rectangle on which nodes move, one corner at x = 0, y = 0.
    #[serde(deserialize_with = "sides")]
    pub area: Option<[Length; 2]>,
    /// Random waypoint: the slowest and the fastest leg.
    pub speed: Option<Speeds>,
    /// Random waypoint: the pause after each leg. Default: `0 s`.
    pub pause: Duration,
    /// Random waypoint: how nodes start.
    pub start: WalkStart,
    /// Setdest: the movement file, beside the scenario.
    pub file: Option<Attachment>,
}

/// A model of movement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MobilityModel {
    /// Nodes stand where they are placed.
    #[default]
    Static,
    /// Each node goes to a uniform place in `area` at a uniform `speed`, pauses, and goes on.
    RandomWaypoint,
    /// As a `file` has it that ns-2's `setdest`, or a tool that writes its format, has made.
    Setdest,
}

/// The speeds of legs: uniform between two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Speeds {
    /// The slowest.
    #[serde(deserialize_with = "units::positive")]
    pub from: Speed,
    /// The fastest.
    #[serde(deserialize_with = "units::positive")]
    pub to: Speed,
}

/// How a walk by random waypoint starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WalkStart {
    /// As if it had gone on for ever: places, speeds and pauses from the stationary distribution.
    #[default]
    Stationary,
    /// At a uniform place, at a uniform speed: the mean speed then falls for minutes, and nodes drift to the centre.
    Uniform,
}

/// A command to a node: from a time on, go there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// When the node sets out, even if it is still on its way to the waypoint before.
    pub time: Duration,
    /// Where it goes: x and y. It stays there until the next waypoint's time.
    #[serde(deserialize_with = "place")]
    pub position: [Length; 2],
    /// How fast.
    #[serde(deserialize_with = "units::positive")]
    pub speed: Speed,
}

/// Exactly two lengths: serde would pass over a third one, which somebody may have meant as a height.
pub(super) fn pair<'de, D: Deserializer<'de>>(deserializer: D, wanted: &str) -> Result<[Length; 2], D::Error> {
    let lengths = Vec::<Length>::deserialize(deserializer)?;
    lengths.try_into().map_err(|_| D::Error::custom(wanted))
}

fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[Length; 2], D::Error> {
    pair(deserializer, "expected x and y, as [\"0 m\", \"25 m\"]")
}

pub(super) fn sides<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[Length; 2]>, D::Error> {
    pair(deserializer, "expected two sides, as [\"1500 m\", \"300 m\"]").map(Some)
}
