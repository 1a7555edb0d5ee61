//! The `[mobility]` table: how nodes move.

use super::{Attachment, Marks};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Duration, Length, Speed, apply, choice, settings};

/// Movement. A node's own `position` or `waypoints` take precedence over the model.
#[apply(settings)]
pub struct Mobility {
    /// Model for nodes without a `position`.
    pub model: MobilityModel,
    /// Random waypoint: sides of the rectangle, one corner at x = 0, y = 0.
    #[serde(deserialize_with = "sides")]
    pub area: Option<[Length; 2]>,
    /// Random waypoint: range of speeds.
    pub speed: Option<Speeds>,
    /// Random waypoint: pause after each leg. Default 0 s.
    pub pause: Duration,
    /// Random waypoint: initial state.
    pub start: WalkStart,
    /// Setdest and fcd: movement file, in the scenario's folder.
    pub file: Option<Attachment>,
    /// Settings read so far.
    #[serde(skip)]
    pub marks: Marks,
}

/// A model of movement.
#[apply(choice)]
pub enum MobilityModel {
    /// No movement.
    #[default]
    Static,
    /// Uniform destination in `area` at a uniform `speed`, then a pause.
    RandomWaypoint,
    /// Movement `file` in the format of ns-2's `setdest`.
    Setdest,
    /// Movement `file` with floating car data of SUMO.
    Fcd,
}

impl MobilityModel {
    /// The keys of `[mobility]` that a model uses.
    pub const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Static => &[],
            Self::RandomWaypoint => &["area", "speed", "pause", "start"],
            Self::Setdest | Self::Fcd => &["file"],
        }
    }
}

/// Range of speeds, uniform.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Speeds {
    /// Lowest speed.
    #[serde(deserialize_with = "units::positive")]
    pub from: Speed,
    /// Highest speed.
    #[serde(deserialize_with = "units::positive")]
    pub to: Speed,
}

/// How a walk by random waypoint starts.
#[apply(choice)]
pub enum WalkStart {
    /// Stationary distribution of positions, speeds and pauses.
    #[default]
    Stationary,
    /// Uniform place and speed.
    Uniform,
}

/// A command to go to a place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// Departure, even if the previous waypoint is not yet reached.
    pub time: Duration,
    /// Destination x, y and perhaps a height (default: the node's present height).
    pub position: Place,
    /// Speed.
    #[serde(deserialize_with = "units::positive")]
    pub speed: Speed,
}

/// A position: x, y, and the height above the plane of nodes without a height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Eastward, say.
    pub x: Length,
    /// Northward.
    pub y: Length,
    /// Upward; none: the plane's height, or a waypoint's present height.
    pub height: Option<Length>,
}

impl Place {
    /// A place on the plane.
    pub const fn flat(x: Length, y: Length) -> Self {
        Self { x, y, height: None }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq([self.x, self.y].into_iter().chain(self.height))
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Vec::<Length>::deserialize(deserializer)?[..] {
            [x, y] => Ok(Self { x, y, height: None }),
            [x, y, height] => Ok(Self { x, y, height: Some(height) }),
            _ => Err(D::Error::custom("expected x and y, such as [\"0 m\", \"25 m\"], or x, y and a height")),
        }
    }
}

impl schemars::JsonSchema for Place {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Place".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let items = generator.subschema_for::<Length>();
        schemars::json_schema!({ "type": "array", "items": items, "minItems": 2, "maxItems": 3 })
    }
}

/// Exactly two lengths: serde would pass over a third one.
pub(super) fn sides<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[Length; 2]>, D::Error> {
    let lengths = Vec::<Length>::deserialize(deserializer)?;
    let sides = lengths.try_into().map_err(|_| D::Error::custom("expected lengths such as [\"1500 m\", \"300 m\"]"))?;
    Ok(Some(sides))
}
