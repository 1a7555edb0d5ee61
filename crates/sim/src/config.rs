//! What a network is made of: the tables of a scenario that the simulator itself understands.
//!
//! These structs are the scenario's format (their documentation becomes `docs/scenario.md` and the JSON Schema) and the
//! library's interface at once. Reading them from a file, sweeps and claims belong to crate `lab`.

use queue::Settings as Queue;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Decibels, Duration, Frequency, Length, Power, Rate};

/// A network and how long to run it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Simulated time, warm-up included.
    #[serde(deserialize_with = "units::positive")]
    pub duration: Duration,
    /// Results count only what happens after this much simulated time.
    #[serde(default)]
    pub warmup: Duration,
    /// The physical layer and the way that signals weaken.
    #[serde(default)]
    pub radio: Radio,
    /// The medium access control of every node.
    #[serde(default)]
    pub mac: Mac,
    /// How packets find their way.
    #[serde(default)]
    pub routing: Routing,
    /// Nodes placed by rule, named `n0`, `n1`, ... They come before those of `[[node]]`.
    #[serde(default)]
    pub nodes: Option<Placement>,
    /// Nodes placed one by one.
    #[serde(default)]
    pub node: Vec<Node>,
    /// The queue of every node; `[node.queue]` overrides it key by key.
    #[serde(default)]
    pub queue: Queue,
    /// The traffic.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// What to record besides totals.
    #[serde(default)]
    pub record: Record,
}

/// The physical layer: a standard's rates and timings, propagation, and the thresholds of reception.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Radio {
    /// The standard: sets slot, SIFS, contention window and the rates that exist.
    pub standard: Standard,
    /// 802.11b only: long or short PLCP preamble.
    pub preamble: Preamble,
    /// Rate of data frames. Default: the standard's highest.
    pub data_rate: Option<Rate>,
    /// Rate of ACK, CTS, RTS and broadcast frames. Default: the standard's lowest.
    pub basic_rate: Option<Rate>,
    /// How a signal weakens with distance.
    pub propagation: Propagation,
    /// Carrier frequency. Default: 2.412 GHz (802.11b, g), 5.18 GHz (802.11a).
    pub frequency: Option<Frequency>,
    /// Two-ray ground: height of every antenna above ground. Default 1.5 m.
    pub antenna_height: Option<Length>,
    /// Log-distance: the exponent. Default 3.
    pub path_loss_exponent: Option<f64>,
    /// Transmit power of every node. Default 15 dBm.
    pub tx_power: Option<Power>,
    /// Distance within which a frame can be decoded; sets the receive threshold to the power found there.
    pub range: Option<Length>,
    /// The weakest power that can be decoded, instead of `range`. Default -82 dBm.
    pub receive_threshold: Option<Power>,
    /// Distance within which a transmission keeps the medium busy. Default, with `range`: twice that.
    pub carrier_sense_range: Option<Length>,
    /// The weakest total power that keeps the medium busy, instead of `carrier_sense_range`. Default, without ranges:
    /// the receive threshold.
    pub carrier_sense_threshold: Option<Power>,
    /// How far a frame's power must lie above the sum of all others to be decoded. Default 10 dB.
    pub capture_threshold: Option<Decibels>,
}

/// An IEEE 802.11 physical layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Standard {
    /// DSSS and CCK, 1 to 11 Mb/s, slot 20 us.
    #[default]
    #[serde(rename = "802.11b")]
    B,
    /// OFDM at 5 GHz, 6 to 54 Mb/s, slot 9 us, SIFS 16 us.
    #[serde(rename = "802.11a")]
    A,
    /// OFDM at 2.4 GHz (no 802.11b stations near), slot 9 us, SIFS 10 us and 6 us of signal extension.
    #[serde(rename = "802.11g")]
    G,
}

/// The PLCP preamble of 802.11b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Preamble {
    /// 192 us of preamble and header, at 1 Mb/s.
    #[default]
    Long,
    /// 96 us; not for 1 Mb/s frames, which keep the long one.
    Short,
}

/// How a signal weakens with distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Propagation {
    /// Free space up to the crossover distance, then the fourth power of distance (direct and ground-reflected path).
    #[default]
    TwoRay,
    /// The square of distance (Friis).
    FreeSpace,
    /// Free space for the first metre, then `path_loss_exponent`.
    LogDistance,
    /// No powers: decodable within `range`, sensed and disturbing within `carrier_sense_range`, nothing beyond.
    Range,
}

/// The distributed coordination function and its conventions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Mac {
    /// Data frames whose MAC frame is longer than this are announced by RTS/CTS; "off" for none.
    pub rts_threshold: RtsThreshold,
    /// Smallest contention window: back-off is drawn from 0 to this many slots. Default: the standard's (31 or 15).
    pub cw_min: Option<u16>,
    /// Largest contention window. Default 1023.
    pub cw_max: Option<u16>,
    /// Attempts at a frame no longer than the RTS threshold (dot11ShortRetryLimit). Default 7.
    pub short_retry_limit: Option<u8>,
    /// Attempts at a frame longer than the RTS threshold, after its RTS was answered (dot11LongRetryLimit). Default 4.
    pub long_retry_limit: Option<u8>,
    /// After which receptions a node waits EIFS instead of DIFS.
    pub eifs: Eifs,
    /// From when the back-off slots that follow a missing ACK or CTS count.
    pub timeout_deferral: TimeoutDeferral,
}

/// When RTS/CTS precedes a data frame: written as `off` or as a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtsThreshold {
    /// Never.
    #[default]
    Off,
    /// For MAC frames longer than this.
    Above(Bytes),
}

impl Serialize for RtsThreshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_str("off"),
            Self::Above(bytes) => bytes.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RtsThreshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "off" {
            return Ok(Self::Off);
        }
        text.parse().map(Self::Above).map_err(|error| D::Error::custom(format_args!("{error}; or \"off\"")))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RtsThreshold {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RtsThreshold".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "const": "off" }, generator.subschema_for::<Bytes>()] })
    }
}

/// After which receptions a node waits EIFS instead of DIFS (see `docs/mac-conventions.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Eifs {
    /// After a frame whose PHY header was read and whose check sum was wrong (the standard).
    #[default]
    BadFrame,
    /// After any sensed signal that did not become a good frame, also one too weak to be decoded.
    AnySignal,
    /// As `any-signal`, and not ended by a good frame that follows (ns-2 keeps it as a NAV).
    AnySignalKept,
    /// Never.
    Never,
}

/// From when the back-off slots that follow a missing ACK or CTS count (see `docs/mac-conventions.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutDeferral {
    /// From the end of the time-out, if the medium was idle for DIFS by then.
    #[default]
    None,
    /// From DIFS after the end of the time-out (ns-3).
    Difs,
}

/// How packets find their way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Routing {
    /// The protocol.
    pub protocol: Protocol,
    /// Paths given by hand; all others are the shortest by hops over links within the receive range.
    pub route: Vec<Route>,
}

/// A routing protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Routes fixed before the run; no routing packets.
    #[default]
    Static,
}

/// A path given by hand.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The node where the path starts.
    pub from: String,
    /// The node where it ends.
    pub to: String,
    /// The nodes between, in order. Empty: straight.
    #[serde(default)]
    pub via: Vec<String>,
}

/// Nodes placed by rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// How many.
    pub count: u32,
    /// Where.
    pub placement: Shape,
    /// Chain and grid: distance of neighbours. Circle: its radius.
    pub spacing: Length,
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
}

/// A node.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name, used by flows, routes and results. Naming a node of `[nodes]` changes that node.
    pub name: String,
    /// Where it stands: x and y.
    #[serde(default, deserialize_with = "place")]
    pub position: Option<[Length; 2]>,
    /// Its queue, where it differs from `[queue]`.
    #[serde(default)]
    pub queue: Option<Queue>,
}

/// Exactly two lengths: serde would pass over a third one, which somebody may have meant as a height.
fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[Length; 2]>, D::Error> {
    let Some(lengths) = Option::<Vec<Length>>::deserialize(deserializer)? else { return Ok(None) };
    let place = lengths.try_into();
    place.map(Some).map_err(|_| D::Error::custom("expected x and y, as [\"0 m\", \"25 m\"]"))
}

/// A flow of packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name in the results.
    pub name: String,
    /// The node that sends; `*` for a flow from every node but the receiver, named `name-node`.
    pub from: String,
    /// The node that receives; `broadcast` for all in range of the sender.
    pub to: String,
    /// What is sent.
    pub traffic: Traffic,
    /// When the flow starts.
    #[serde(default)]
    pub start: Duration,
    /// When it stops. Default: at the end.
    #[serde(default)]
    pub stop: Option<Duration>,
    /// The start is moved later by a random time below this, once a run.
    #[serde(default)]
    pub phase_jitter: Duration,
    /// Packets that take longer from source to destination are late.
    #[serde(default)]
    pub deadline: Option<Duration>,
    /// Changes of the rate while the flow runs, in order of time.
    #[serde(default)]
    pub at: Vec<Step>,
}

/// What a flow sends.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The pattern.
    pub kind: TrafficKind,
    /// Mean rate of UDP payload. Not for `saturated`.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// UDP payload of a packet, at most 2268 B: 8 B of UDP, 20 B of IP and the MAC's headers come on top.
    #[serde(deserialize_with = "units::positive")]
    pub packet: Bytes,
}

/// A pattern of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TrafficKind {
    /// Constant bit rate: packets evenly spaced.
    Cbr,
    /// Packets at independent random times (exponential gaps).
    Poisson,
    /// There is always a packet waiting.
    Saturated,
}

/// A change of a flow's rate: to `rate`, or to `scale` times the rate that the flow starts with.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When, from the start of the run; moved by the flow's `phase_jitter`, as its start is.
    pub time: Duration,
    /// The new rate.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// The new rate as a multiple of the flow's first rate.
    #[serde(default)]
    pub scale: Option<f64>,
}

/// What to record besides totals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Record {
    /// Record time series with this spacing, above zero. Default: none. In a sweep only the first seed of each case records them.
    #[serde(deserialize_with = "units::positive")]
    pub series: Option<Duration>,
}
