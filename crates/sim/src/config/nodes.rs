//! The `[nodes]`, `[[node]]` and `[consumption]` tables: the nodes, their positions and their power draw.

use super::mobility::{Place, Waypoint, sides};
use super::{Category, ChannelWidth, Class, Edca, ExtendedRange, Fec, Marks, Standard};
use queue::Settings as Queue;
use queue::turns::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Decibels, Duration, Length, Positive, Power, Rate, Within, apply, choice, settings, table, with_defaults};

/// Nodes placed by rule.
#[apply(table)]
pub struct Placement {
    /// Number of nodes.
    pub count: u32,
    /// Rule of placement; leave it out if `[mobility]` places the nodes.
    pub placement: Option<Shape>,
    /// Chain and grid: distance of neighbours. Circle: radius.
    pub spacing: Option<Length>,
    /// Random: sides of the rectangle, one corner at x = 0, y = 0.
    #[serde(default, deserialize_with = "sides")]
    pub area: Option<[Length; 2]>,
}

/// A rule of placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Nodes on a line.
    Chain,
    /// A square grid, filled row by row.
    Grid,
    /// `n0` in the centre, all other nodes evenly on a circle.
    Circle,
    /// Uniform on `area`, per seed, also for `[[node]]` without a `position`.
    Random,
}

/// A node.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name in flows, routes and results. The name of a node of `[nodes]` changes that node.
    pub name: String,
    /// Number of copies at one position: `up1`, `up2`, ... A flow from `up*` starts at each copy.
    pub count: Option<u32>,
    /// Role. Any access point makes an infrastructure network.
    #[serde(default)]
    pub role: Role,
    /// A station's (first) access point. Default: the only one; for roaming the strongest, with `moves` the first.
    pub access_point: Option<String>,
    /// Real programs send and receive at this node (`docs/emulation.md`). At least two nodes must be real.
    #[serde(default)]
    pub real: bool,
    /// Queues of an access point, or with `turns` of any node with a radio. Default `one`.
    pub queues: Option<Queues>,
    /// With `mac80211`: slow stations have CoDel as in Linux 4.12 to 6.15 (50 ms, 300 ms, no ECN).
    #[serde(default)]
    pub slow_station_codel: bool,
    /// Driver and settings of `mac80211`.
    #[serde(default)]
    pub mac80211: Mac80211,
    /// Settings of `turns`.
    #[serde(default)]
    pub turns: TurnsScheduler,
    /// Sleep of an access point's station.
    pub power_save: Option<PowerSave>,
    /// Roaming of a station among the access points.
    pub roaming: Option<Roaming>,
    /// Position, or start of the `waypoints`: x, y and perhaps a height (default 0 m).
    pub position: Option<Place>,
    /// Waypoints, in order of time.
    #[serde(default)]
    pub waypoints: Vec<Waypoint>,
    /// Rate of the node's data frames. Default: as in `[radio]`.
    pub data_rate: Option<Rate>,
    /// MCS of the node's data frames. Default: as in `[radio]`, or 7 if the node's `standard` is not that of `[radio]`.
    pub mcs: Option<u8>,
    /// MCS of data frames from the access point to this station. Default: the access point's.
    pub downlink_mcs: Option<u8>,
    /// The node's standard: in the band of `[radio]`, and not newer. Default: as in `[radio]`.
    pub standard: Option<Standard>,
    /// Bandwidth of the node's data frames. Default: the widest of its standard, at most as in `[radio]`.
    pub channel_width: Option<ChannelWidth>,
    /// The node's spatial streams. Default: as in `[radio]`, or 1 (802.11n: by `mcs`) if its standard differs.
    pub streams: Option<u8>,
    /// Best code that the node has: two nodes use LDPC if both have it. Default: as in `[radio]`, or by its standard.
    pub coding: Option<Fec>,
    /// HE ER SU PPDUs from and to the node. Default: as in `[radio]`.
    pub extended_range: Option<ExtendedRange>,
    /// The node's transmit power. Default: as in `[radio]`.
    pub tx_power: Option<Power>,
    /// Gain of the node's antenna, in both directions. Default 0 dB.
    pub antenna_gain: Option<Decibels>,
    /// Noise of the node's receiver above thermal noise. Default: as in `[radio.errors]`.
    pub noise_figure: Option<Decibels>,
    /// Primary 20 MHz channel of an access point and its stations, at 5 or 6 GHz, such as 36. Default: one for all.
    pub channel: Option<u8>,
    /// Overrides of `[mac.edca]` for this node alone; an access point's AIFSN may be 1.
    pub edca: Option<Edca>,
    /// Overrides of `[queue]`.
    pub queue: Option<Queue>,
    /// Overrides of `[category_queue]`.
    #[serde(default)]
    pub category_queue: CategoryQueues,
    /// Overrides of `[class_queue]`.
    #[serde(default)]
    pub class_queue: ClassQueues,
    /// Overrides of `[consumption]`.
    pub consumption: Option<Consumption>,
    /// Settings read so far.
    #[serde(skip)]
    pub marks: Marks,
}

/// Queues of EDCA's access categories; missing keys come from the node's queue.
#[apply(settings)]
#[derive(PartialEq)]
pub struct CategoryQueues {
    /// Highest priority.
    pub voice: Option<Queue>,
    /// Second priority.
    pub video: Option<Queue>,
    /// Third priority, the default of flows.
    pub best_effort: Option<Queue>,
    /// Lowest priority.
    pub background: Option<Queue>,
}

impl CategoryQueues {
    /// The queue of a category, if the scenario has a table for it, and its key.
    pub(crate) fn of(&self, category: Category) -> (Option<&Queue>, &'static str) {
        match category {
            Category::Voice => (self.voice.as_ref(), "voice"),
            Category::Video => (self.video.as_ref(), "video"),
            Category::BestEffort => (self.best_effort.as_ref(), "best_effort"),
            Category::Background => (self.background.as_ref(), "background"),
        }
    }

    pub(super) fn described(&mut self) -> impl Iterator<Item = &mut Queue> {
        [&mut self.voice, &mut self.video, &mut self.best_effort, &mut self.background].into_iter().flatten()
    }

    /// True if the scenario has none of these tables.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Queues of service classes; missing keys come from the node's queue.
#[apply(settings)]
#[derive(PartialEq)]
pub struct ClassQueues {
    /// Served first; also holds messages of the routing protocol.
    pub real_time: Option<Queue>,
    /// Served while `real-time` is empty, at its controller's rate.
    pub best_effort: Option<Queue>,
}

impl ClassQueues {
    /// The queue of a class, if the scenario has a table for it, and its key.
    pub(crate) fn of(&self, class: Class) -> (Option<&Queue>, &'static str) {
        match class {
            Class::RealTime => (self.real_time.as_ref(), "real_time"),
            Class::BestEffort => (self.best_effort.as_ref(), "best_effort"),
        }
    }

    pub(super) fn described(&mut self) -> impl Iterator<Item = &mut Queue> {
        [&mut self.real_time, &mut self.best_effort].into_iter().flatten()
    }

    /// True if the scenario has none of these tables.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The role of a node.
#[apply(choice)]
pub enum Role {
    /// Has a radio; sends to any node in range, or only to its access point if there is one.
    #[default]
    Station,
    /// Relays between its stations and wired links.
    AccessPoint,
    /// Has only wired links.
    Wired,
}

/// Queues of a node, by receiver.
#[apply(choice)]
pub enum Queues {
    /// One queue (per access category).
    #[default]
    One,
    /// One queue per station (and access category), in turn.
    PerStation,
    /// Linux mac80211, without `[queue]` (`docs/disciplines/mac80211.md`).
    Mac80211,
    /// Our default, without `[queue]` (`docs/turns.md`).
    Turns,
    /// Queues of a real kernel above this MAC, with `real` (`docs/emulation.md`).
    Driver,
}

with_defaults! {
    /// Settings of `queues = "turns"`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct TurnsScheduler {
        /// Longest wait of packets (D in `docs/turns.md`), in this node's airtime; while other nodes send, the wait is
        /// longer. Default 100 ms.
        pub target_delay: Positive<Duration> = queue::turns::Params::TARGET_DELAY,
        /// Longest round of turns, at least `target_delay`. Default: none.
        pub bulk_delay: Option<Positive<Duration>>,
        /// Marks packets while more than one turn waits. Default false.
        pub ecn: bool,
        /// Rule to leave out.
        pub without: Option<Rule>,
    }
}

with_defaults! {
    /// Sleep of a station, as under Linux.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct PowerSave {
        /// Time without packets before the station sleeps. Default 100 ms.
        pub idle_timeout: Positive<Duration> => Duration::from_millis(100),
        /// Time between the beacons for which the station wakes. Default 102.4 ms.
        pub listen_interval: Positive<Duration> => Duration::from_micros(102_400),
    }
}

with_defaults! {
    /// Roaming of a station by the rule of `wpa_supplicant`; access points' signals count without fading.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Roaming {
        /// Signal of the access point below which the station searches for a better access point. Default -65 dBm.
        pub threshold: Power = Power::dbm(-65.0),
        /// Smallest advantage of another access point's signal for a move. Default 5 dB.
        pub hysteresis: Decibels = Decibels::new(5.0),
        /// Time between two searches while the signal is below the threshold; above the threshold it is ten times as
        /// long. Default 30 s.
        pub scan_interval: Positive<Duration> => Duration::from_secs(30),
        /// Time without data during a move: 30 to 50 ms with 802.11r, up to a second with 802.1X and without 802.11r.
        /// Default 100 ms.
        pub outage: Positive<Duration> => Duration::from_millis(100),
        /// Moves in order of time, decided outside the scenario; they replace all decisions by signal.
        pub moves: Vec<Move>,
    }
}

/// A move of a station to another access point.
#[apply(table)]
#[derive(PartialEq)]
pub struct Move {
    /// Time at which the station leaves its present access point.
    pub time: Duration,
    /// New access point.
    pub access_point: String,
}

with_defaults! {
    /// Driver and settings with `queues = "mac80211"`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Mac80211 {
        /// Rule by which the driver pulls packets.
        pub pull_loop: PullLoop,
        /// Largest airtime of broadcasts ahead of the MAC; 50 ms in `OpenWrt`. Default: none.
        pub broadcast_limit: Option<Duration>,
        /// Pending airtime up to which a station may always pull (first of `aql_txq_limit`). Default 5 ms.
        pub aql_low: Duration = Duration::from_millis(5),
        /// Pending airtime from which on a station may not pull (second of `aql_txq_limit`). Default 12 ms.
        pub aql_high: Duration = Duration::from_millis(12),
        /// Pending airtime of all stations from which on `aql_low` replaces `aql_high`. Default 24 ms.
        pub aql_threshold: Duration = Duration::from_millis(24),
        /// Airtime that a station in debt gains per turn. Default 256 us.
        pub airtime_weight: Positive<Duration> => Duration::from_micros(256),
        /// Packets in all queues together (`TXQ_LIMIT`): 1 to 1000000. Default 8192.
        pub txq_limit: Within<u32, 1, 1_000_000> => 8_192,
    }
}

/// How a driver pulls packets from mac80211's queues.
#[apply(choice)]
pub enum PullLoop {
    /// One scheduling round (`ieee80211_handle_wake_tx_queue`, ath10k).
    Mac80211,
    /// Rounds until a round yields no packet (mt76).
    #[default]
    Mt76,
}

/// Power that radios draw by state, to count joules. `[node.consumption]` overrides it key by key; without
/// `[consumption]`, only nodes with a table of their own are counted (`docs/energy.md`).
#[apply(settings)]
pub struct Consumption {
    /// Power while sending at the high level. Default 792 mW (DSSS and CCK), 627 mW (OFDM) or 594 mW (HT).
    pub transmit: Option<Power>,
    /// Power while other nodes keep the medium busy. Default 330 mW.
    pub receive: Option<Power>,
    /// Power while the medium is idle. Default 313.5 mW.
    pub listen: Option<Power>,
    /// Power while the medium is idle and the MAC has no packet; with `power_save`, while asleep. ESP32 light sleep:
    /// 2.64 mW. Default: never.
    pub doze: Option<Power>,
    /// Rate and power of the low level, for controllers that choose a level. Needs DCF, one queue, no rate control.
    pub low: Option<LowLevel>,
}

/// The low transmission level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LowLevel {
    /// Rate of data frames.
    pub data_rate: Option<Rate>,
    /// 802.11n: MCS of data frames, instead of `data_rate`.
    pub mcs: Option<u8>,
    /// Power while sending a data frame at this level.
    pub transmit: Power,
}

impl Consumption {
    /// Returns these keys, completed by the keys of `shared`.
    pub(crate) fn over(&self, shared: &Self) -> Self {
        over! { self, shared; transmit receive listen doze low }
    }
}
