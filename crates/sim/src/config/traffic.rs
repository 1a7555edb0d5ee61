//! The `[[flow]]` tables: what is sent, from where to where.

use super::{Attachment, Category, Class, Marks, Tcp};
use control::GateParams;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use units::{Bytes, Duration, Positive, Rate, apply, choice, settings, table};

/// A flow of packets.
#[apply(table)]
pub struct Flow {
    /// Name in results.
    pub name: String,
    /// Sender: a node, `*` for every station but the receiver, `up*` for all stations and wired nodes whose names begin
    /// with `up`, or `any` for a random station per seed. Flows of several senders are named `name-node`. Without
    /// access points every node with a radio is a station.
    pub from: String,
    /// Receiver: as `from`, `next` for the sender's successor among the nodes of `from` (a ring), or `broadcast`.
    pub to: String,
    /// With `any`: path length at the start; pairs with such a path are equally likely. Default: any, even none.
    pub hops: Option<HopRange>,
    /// Number of independent copies, `name-1`, `name-2`, ... "0" for none.
    pub count: Option<u32>,
    /// Source.
    pub traffic: Traffic,
    /// Transport. `tcp` is for `greedy`, `transfer` and optionally `web`.
    #[serde(default)]
    pub transport: Transport,
    /// Overrides of `[tcp]`.
    pub tcp: Option<Tcp>,
    /// Service class: the DSCP of packets and answers.
    #[serde(default)]
    pub class: Class,
    /// Admission before sending, for `real-time` over UDP.
    pub admission: Option<Admission>,
    /// Access category, for `mac.access` "edca". Default `best-effort`, or `voice` for `real-time` (RFC 8325).
    pub category: Option<Category>,
    /// Start of the flow.
    #[serde(default)]
    pub start: Duration,
    /// End of the flow. Default: the run's end.
    pub stop: Option<Duration>,
    /// Upper bound of a random delay of the start, per run.
    #[serde(default)]
    pub phase_jitter: Duration,
    /// End-to-end delay above which packets are late.
    pub deadline: Option<Duration>,
    /// Playout buffer: playback starts when it holds this time of traffic, stalls when it is empty, and resumes when
    /// it is full (results: `player`).
    #[serde(default, deserialize_with = "units::positive")]
    pub player_buffer: Option<Duration>,
    /// Changes of the rate, in order of time, for `cbr` and `poisson`.
    #[serde(default)]
    pub at: Vec<Step>,
    /// Settings read so far.
    #[serde(skip)]
    pub marks: Marks,
}

/// Range of path lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HopRange {
    /// Smallest number of hops, at least 1.
    pub from: u32,
    /// Largest number of hops.
    pub to: u32,
}

/// Transport of a flow's data.
#[apply(choice)]
pub enum Transport {
    /// Packets sent once. (`ping` uses ICMP.)
    #[default]
    Udp,
    /// Connections with retransmission and congestion control.
    Tcp,
}

/// Source of a flow; see `docs/traffic.md`.
#[apply(table)]
pub struct Traffic {
    /// Pattern.
    pub kind: TrafficKind,
    /// Rate of UDP payload: mean (`cbr`, `poisson`; also `{ from = "1 Mb/s", to = "2 Mb/s" }`, drawn per run), while
    /// on (`on-off`), or of a burst (`web`; default: all at once).
    pub rate: Option<Load>,
    /// UDP payload of a packet, up to 2268 B. `cbr`, `poisson`: also a list or `{ from = "128 B", to = "1518 B" }`,
    /// drawn per packet. `web`: length of all packets of a burst but the last; default 1000 B. `ping`: request and
    /// reply; default 56 B.
    pub packet: Option<Lengths>,
    /// `cbr`, `poisson`: header bytes included in `packet` and `rate`: 28 B for IP packets, 46 B for Ethernet frames.
    /// Default 0 B.
    pub overhead: Option<Bytes>,
    /// Mean time on. Default for `voice`: 1.004 s (ITU-T P.59).
    #[serde(default, deserialize_with = "units::positive")]
    pub on: Option<Duration>,
    /// Mean time off. Default for `voice`: 1.587 s (ITU-T P.59).
    #[serde(default, deserialize_with = "units::positive")]
    pub off: Option<Duration>,
    /// Distribution of times on and off (`on-off`), reading times (`web`; default `exponential`), or times between
    /// requests (`ping`: `exponential`; default: even).
    pub times: Option<Spread>,
    /// Shape of Pareto times, above 1. Default 1.5.
    pub times_shape: Option<f64>,
    /// `voice`: speech per packet, a multiple of 125 us. Default 20 ms: 160 B of G.711 (64 kb/s).
    #[serde(default, deserialize_with = "units::positive")]
    pub packetisation: Option<Duration>,
    /// `voice`: nothing is sent in pauses. Default false.
    pub silence: Option<bool>,
    /// `web`: mean size of a burst (Pareto). `transfer`: bytes per transfer; "0 B" only opens and closes a connection.
    pub size: Option<Bytes>,
    /// `web`: shape of sizes, above 1. Default 1.2.
    pub size_shape: Option<f64>,
    /// `web`: mean time from the end of a burst (TCP: its arrival) to the next burst.
    #[serde(default, deserialize_with = "units::positive")]
    pub reading: Option<Duration>,
    /// Time between starts of `transfer` (default: one transfer), mean time between requests of `ping` (default 1 s).
    #[serde(default, deserialize_with = "units::positive")]
    pub every: Option<Duration>,
    /// `replay`: recording (pcap, pcapng), relative to the scenario; its times are shifted to the start.
    pub file: Option<Attachment>,
}

/// A pattern of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficKind {
    /// Constant bit rate, evenly spaced packets.
    Cbr,
    /// Exponential gaps.
    Poisson,
    /// A packet always waits.
    Saturated,
    /// Constant bit rate during random on-times.
    OnOff,
    /// G.711 speech of 64 kb/s, with or without pauses.
    Voice,
    /// Bursts of Pareto sizes with random reading times.
    Web,
    /// Lengths and times of a recording.
    Replay,
    /// TCP with unlimited data.
    Greedy,
    /// TCP with a given number of bytes, once or repeated over new connections.
    Transfer,
    /// ICMP echo; results have the round-trip times.
    Ping,
}

/// Its name in scenarios.
impl fmt::Display for TrafficKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl TrafficKind {
    /// The keys of `traffic` that a pattern uses.
    pub const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Cbr | Self::Poisson => &["rate", "packet", "overhead"],
            Self::Saturated => &["packet"],
            Self::OnOff => &["rate", "packet", "on", "off", "times", "times_shape"],
            Self::Voice => &["packetisation", "silence", "on", "off"],
            Self::Web => &["size", "size_shape", "reading", "times", "times_shape", "packet", "rate"],
            Self::Replay => &["file"],
            Self::Greedy => &[],
            Self::Transfer => &["size", "every"],
            Self::Ping => &["packet", "every", "times"],
        }
    }
}

/// The distribution of a time, given its mean.
#[apply(choice)]
pub enum Spread {
    /// Exponential.
    #[default]
    Exponential,
    /// Heavy-tailed, not truncated.
    Pareto,
}

/// A change of a flow's rate.
#[apply(table)]
pub struct Step {
    /// Time from the start of the run, delayed by `phase_jitter`.
    pub time: Duration,
    /// New rate.
    pub rate: Option<Rate>,
    /// New rate as a multiple of the flow's first rate.
    pub scale: Option<f64>,
}

/// Admission of a real-time flow at its source; see `docs/traffic.md`.
#[apply(settings)]
pub struct Admission {
    /// Requested rate, UDP and IP headers included. Default for `cbr` of fixed rate and length, `voice` without pauses:
    /// the traffic's rate.
    pub rate: Option<Positive<Rate>>,
    /// Treatment after a refusal, before or after the first packet.
    pub refused: Refused,
    /// Starts without a probe, as if another node had admitted the flow; the flow probes when asked to regulate.
    pub presumed: bool,
    /// Parameters of the source.
    pub gate: GateParams,
}

/// Treatment of a flow that is not admitted.
#[apply(choice)]
pub enum Refused {
    /// Sends nothing more.
    #[default]
    Stop,
    /// Sends as best effort.
    BestEffort,
}

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

/// Reads a quantity in quotes, a list of them, or a table: derived untagged enumerations lose what is wrong with it.
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
