//! The `[[flow]]` tables: what is sent, from where to where.

use super::{Admission, Attachment, Category, Class, Lengths, Load, Tcp};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Rate};

/// A flow of packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name in the results.
    pub name: String,
    /// The node that sends; `*` for a flow from every station but the receiver, named `name-node`, `up*` for one from every
    /// station, or node without a radio, whose name begins so. Without access points every node with a radio is a station.
    /// `any` for a station that is drawn for each seed.
    pub from: String,
    /// The node that receives; `*` for a flow to every station but the sender, named `name-node`, `up*` for one to every
    /// station, or node without a radio, whose name begins so; `next` for the next of all that `from` stands for, the last one's being the first (a
    /// ring); `broadcast` for all in range of the sender; `any` for a station that is drawn for each seed.
    pub to: String,
    /// With `any`: how many hops apart the ends are at the start of the run, by the shortest path. All pairs of ends with
    /// so many are as likely. Default: whatever it is, also if there is no path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<HopRange>,
    /// So many flows alike, named `name-1`, `name-2`, ..., each with random numbers of its own. "0" is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// What is sent.
    pub traffic: Traffic,
    /// What carries it. `tcp` for the kinds `greedy`, `transfer` and, if you like, `web`.
    #[serde(default, skip_serializing_if = "Transport::is_udp")]
    pub transport: Transport,
    /// What differs from `[tcp]`, where `transport` is "tcp".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Tcp>,
    /// Its service class, carried as a code point (DSCP) in every packet. Answers have the class of what they answer. With
    /// `[class_queue]` each class has a queue of its own.
    #[serde(default, skip_serializing_if = "Class::is_best_effort")]
    pub class: Class,
    /// It asks for admission before it sends. Of class `real-time` over UDP only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<Admission>,
    /// Its access category, where `mac.access` is "edca". Default `best-effort`; of a flow of class `real-time`, `voice`
    /// (RFC 8325).
    #[serde(default)]
    pub category: Option<Category>,
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
    /// The receiver plays what arrives at the pace at which it was sent, once it holds so much of it, and stalls where it runs
    /// dry until it holds as much again; results have the key `player`. Several packets long. Over UDP to one node only.
    #[serde(default, deserialize_with = "units::positive", skip_serializing_if = "Option::is_none")]
    pub player_buffer: Option<Duration>,
    /// Changes of the rate while the flow runs, in order of time. Of `cbr` and `poisson` only.
    #[serde(default)]
    pub at: Vec<Step>,
}

/// The fewest hops and the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HopRange {
    /// The fewest, at least 1.
    pub from: u32,
    /// The most.
    pub to: u32,
}

/// What carries a flow's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Packets as the source makes them, sent once. (`ping` is carried by ICMP, whose header is as long.)
    #[default]
    Udp,
    /// Connections that send what is lost again, and no faster than the network takes it.
    Tcp,
}

impl Transport {
    /// Is it the default?
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_udp(&self) -> bool {
        *self == Self::Udp
    }
}

/// What a flow sends. Which keys a kind has, and the mean rate that comes out, is in `docs/traffic.md`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The pattern.
    pub kind: TrafficKind,
    /// Rate of UDP payload. `cbr`, `poisson`: the mean, which may be drawn for each run, as
    /// `{ from = "1 Mb/s", to = "2 Mb/s" }`. `on-off`: while on. `web`: the pace of a burst; without it the packets of a
    /// burst come at one time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Load>,
    /// UDP payload of a packet, at most 2268 B: 8 B of UDP, 20 B of IP and the MAC's headers come on top. `cbr`, `poisson`:
    /// it may be drawn for each packet, from a list or as `{ from = "128 B", to = "1518 B" }`. `web`: of every packet of a
    /// burst but the last; default 1000 B. `ping`: what comes with a request and its reply; default 56 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Lengths>,
    /// `cbr`, `poisson`: bytes of headers that `packet` and `rate` count with the payload: 28 B where they speak of IP
    /// packets, 46 B of Ethernet frames, as traffic generators do. Default 0 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// Mean time on. `voice`: of a talk spurt; default 1.004 s (ITU-T P.59).
    #[serde(default, deserialize_with = "units::positive", skip_serializing_if = "Option::is_none")]
    pub on: Option<Duration>,
    /// Mean time off. `voice`: of a pause; default 1.587 s (ITU-T P.59).
    #[serde(default, deserialize_with = "units::positive", skip_serializing_if = "Option::is_none")]
    pub off: Option<Duration>,
    /// `on-off`: distribution of the times on and off. `web`: of the reading times. Default `exponential`. `ping`: of the
    /// times between requests; evenly spaced without it, `exponential` is the only choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Spread>,
    /// Shape of Pareto times, above 1. Default 1.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_shape: Option<f64>,
    /// `voice`: the speech in a packet, a multiple of 125 us. Default 20 ms, which are 160 B of G.711 (64 kb/s).
    #[serde(default, deserialize_with = "units::positive", skip_serializing_if = "Option::is_none")]
    pub packetisation: Option<Duration>,
    /// `voice`: nothing is sent in pauses. Default false: packets all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<bool>,
    /// `web`: mean size of a burst, Pareto distributed, in whole bytes. `transfer`: size of each; a transfer of "0 B" is a
    /// connection that is opened and closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// `web`: shape of the sizes, above 1. Default 1.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_shape: Option<f64>,
    /// `web`: mean time from the end of a burst to the next. Over TCP a burst ends when all of it has arrived.
    #[serde(default, deserialize_with = "units::positive", skip_serializing_if = "Option::is_none")]
    pub reading: Option<Duration>,
    /// `transfer`: time from the start of one to the start of the next, whether that has ended or not; without it there is
    /// one. `ping`: mean time between requests; default 1 s.
    #[serde(default, deserialize_with = "units::positive", skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// `replay`: a recording (pcap or pcapng), relative to the scenario. The flow sends packets as long as its IP packets,
    /// the first at the flow's start, the others as long after it as in the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Attachment>,
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
    /// Evenly spaced packets during random times on, none during the random times off between them.
    OnOff,
    /// G.711: 64 kb/s of speech, with or without pauses.
    Voice,
    /// Bursts of Pareto sizes, with random reading times between them.
    Web,
    /// Sizes and times of the packets of a recording.
    Replay,
    /// Over TCP: there is always more to send.
    Greedy,
    /// Over TCP: a given number of bytes, once or again and again, each time over a new connection.
    Transfer,
    /// Requests that the receiver sends back (ICMP echo); results have the round-trip times.
    Ping,
}

/// The distribution of a time, given its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Exponential.
    #[default]
    Exponential,
    /// Pareto: heavy-tailed, not truncated.
    Pareto,
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
