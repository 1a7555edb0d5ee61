//! The `[mac]` table: access to the medium and its conventions, and turns in the order of the packets' age.

use super::Marks;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Duration, Power, apply, choice, settings, with_defaults};

/// Medium access of every node.
#[apply(settings)]
pub struct Mac {
    /// Access method. Default `edca` from 802.11n on, else `dcf`.
    pub access: Option<Access>,
    /// EDCA: parameters that differ from the standard's.
    pub edca: Option<Edca>,
    /// Aggregation of packets into frames.
    pub aggregation: Aggregation,
    /// CTS-to-self before each data frame that no RTS/CTS precedes.
    pub cts_to_self: bool,
    /// MAC frame length above which RTS/CTS precedes a data frame; "off" for never.
    pub rts_threshold: RtsThreshold,
    /// Smallest contention window in slots. EDCA's windows follow from `cw_min` and `cw_max`. Default: 31 or 15, by the
    /// standard.
    pub cw_min: Option<u16>,
    /// Largest contention window in slots. Default 1023.
    pub cw_max: Option<u16>,
    /// Attempts at a frame no longer than the RTS threshold (dot11ShortRetryLimit). Default 7.
    pub short_retry_limit: Option<u8>,
    /// Attempts, after an answered RTS, at a frame above the RTS threshold (dot11LongRetryLimit). Default 4.
    pub long_retry_limit: Option<u8>,
    /// Receptions after which a node waits EIFS instead of DIFS.
    pub eifs: Eifs,
    /// Start of the backoff countdown after a missing ACK or CTS.
    pub timeout_deferral: TimeoutDeferral,
    /// Wait of a packet that arrives at a station without packets and without a pending backoff.
    pub first_access: FirstAccess,
    /// Condition for answering an RTS.
    pub answer_rts: AnswerRts,
    /// Resets of the contention window to its minimum, apart from those after a success or a given-up frame.
    pub window_reset: WindowReset,
    /// Selection of the mode of data frames.
    pub rate_control: RateControl,
    /// Depth of the hardware queues below the ports, including the frame being sent: "64 packets", "2 aggregates" or "4
    /// ms" of airtime. For mac80211 "off" is 2016 packets.
    pub hardware_queue: HardwareQueue,
    /// Which packets share a hardware queue. Default `category`.
    pub hardware_queue_per: HardwareQueuePer,
    /// With `node.channel`: effect of a busy secondary channel on a frame.
    pub bandwidth: Bandwidth,
    /// 802.11ax: power in 20 MHz below which other cells' frames are ignored (spatial reuse): -82 to -62 dBm.
    pub obss_pd: Option<Power>,
    /// 802.11ax: frames to several stations at once. Default "off".
    pub ofdma: Ofdma,
    /// With `ofdma = "both"`: contention parameters of stations that were triggered.
    pub mu_edca: Option<MuEdca>,
    /// Turns in order of packet age (T-MAC).
    pub turns: Option<Turns>,
    /// Settings read so far.
    #[serde(skip)]
    pub marks: Marks,
}

/// Effect of a busy secondary channel on a frame.
#[apply(choice)]
pub enum Bandwidth {
    /// The frame is narrowed to the idle channels.
    #[default]
    Dynamic,
    /// The frame is deferred by another backoff.
    Static,
}

/// Frames to several stations at once (OFDMA).
#[apply(choice)]
pub enum Ofdma {
    /// Every frame has one receiver.
    #[default]
    Off,
    /// HE MU PPDUs of access points (see `docs/mac-conventions.md`).
    Downlink,
    /// As `downlink`, and HE TB PPDUs that access points solicit from stations by trigger frames.
    Both,
}

/// Contention of a station, in all categories, after it answered a trigger with data (IEEE 802.11ax-2021, 26.2.7).
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MuEdca {
    /// Time for which these parameters apply: up to 2088.96 ms.
    pub timer: Duration,
    /// Idle slots after SIFS before the backoff counts down: 2 to 15; 0 for no contention at all. Default 0.
    #[serde(default)]
    pub aifsn: u8,
    /// Smallest contention window in slots. Default: the category's own.
    pub cw_min: Option<u16>,
    /// Largest contention window in slots. Default: the category's own.
    pub cw_max: Option<u16>,
}

/// How stations contend for the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Distributed coordination function: one queue per node.
    Dcf,
    /// Enhanced distributed channel access: four categories, each with its own queue and contention.
    Edca,
}

/// EDCA parameters per access category. Missing keys are as in IEEE 802.11-2016, table 9-137.
#[apply(settings)]
pub struct Edca {
    /// AIFSN 2, window from a quarter to half of `mac.cw_min`; TXOP 2.08 ms (802.11b: 3.264 ms).
    pub voice: Contention,
    /// AIFSN 2, window from half to all of `mac.cw_min`; TXOP 4.096 ms (802.11b: 6.016 ms).
    pub video: Contention,
    /// AIFSN 3; TXOP 2.528 ms (802.11b: 3.264 ms).
    pub best_effort: Contention,
    /// AIFSN 7; TXOP 2.528 ms (802.11b: 3.264 ms).
    pub background: Contention,
}

/// Contention of an access category.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Contention {
    /// Idle slots after SIFS before the backoff counts down: 2 to 15.
    pub aifsn: Option<u8>,
    /// Smallest contention window in slots: a power of two less one.
    pub cw_min: Option<u16>,
    /// Largest contention window in slots: a power of two less one.
    pub cw_max: Option<u16>,
    /// Sending time after winning the medium, at most 2.09712 s; "0 s" for one frame or aggregate. A single frame may
    /// take longer.
    pub txop_limit: Option<Duration>,
}

with_defaults! {
    /// Aggregation (EDCA only): packets of one category for one receiver in a frame.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Aggregation {
        /// Longest A-MPDU; "off" for none. 802.11n up to 65535 B, ac 1048575 B, ax 6500631 B; needs one of these
        /// standards. Default: with EDCA the largest size (ax: 4194303 B), else "off".
        pub ampdu: Option<MostBytes>,
        /// Largest number of frames in an A-MPDU: 1 to 64, in 802.11ax 256. Default: the most.
        pub ampdu_frames: Option<u16>,
        /// Longest duration of an aggregate, up to 5484 us.
        pub ampdu_duration: Duration = Duration::from_millis(4),
        /// Longest A-MSDU; "off" for none. 802.11n up to 7935 B, in an A-MPDU 4095 B; ac and ax up to 11424 B.
        pub amsdu: MostBytes = MostBytes::Off,
        /// Reaction to a missing BlockAck.
        pub missed_block_ack: MissedBlockAck,
        /// Time from the first failed attempt until a frame of an A-MPDU is given up; "off" limits attempts instead.
        pub lifetime: Lifetime,
    }
}

/// Reaction to a missing BlockAck (see `docs/mac-conventions.md`).
#[apply(choice)]
pub enum MissedBlockAck {
    /// All frames of the A-MPDU are sent again.
    #[default]
    Retransmit,
    /// A BlockAckReq at the rate of its answer asks which frames arrived (ns-3).
    Request,
}

/// Time for which a frame of A-MPDUs is retransmitted: written as `off` or as a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// For as many attempts as frames outside A-MPDUs.
    #[default]
    Off,
    /// For this time after its first attempt failed.
    Of(Duration),
}

/// Longest aggregate: written as `off` (no aggregates) or as a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MostBytes {
    /// No aggregates.
    #[default]
    Off,
    /// Aggregates of at most this size.
    UpTo(Bytes),
}

/// When RTS/CTS precedes a data frame: written as `off` or as a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtsThreshold {
    /// Before no frame.
    #[default]
    Off,
    /// For MAC frames longer than this.
    Above(Bytes),
}

/// A type written as `off` or as a size.
macro_rules! off_or {
    ($Type:ident, $Some:ident, $Value:ty) => {
        impl Serialize for $Type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Off => serializer.serialize_str("off"),
                    Self::$Some(value) => value.serialize(serializer),
                }
            }
        }

        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                if text == "off" {
                    return Ok(Self::Off);
                }
                text.parse().map(Self::$Some).map_err(|error| D::Error::custom(format_args!("{error}; or \"off\"")))
            }
        }

        impl schemars::JsonSchema for $Type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Type).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "anyOf": [{ "const": "off" }, generator.subschema_for::<$Value>()] })
            }
        }
    };
}

off_or!(RtsThreshold, Above, Bytes);
off_or!(MostBytes, UpTo, Bytes);
off_or!(Lifetime, Of, Duration);

/// Depth of a hardware queue: written as `off`, a number of packets or aggregates, or a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardwareQueue {
    /// No queue below the ports. mac80211's hardware queue has the 2016 descriptors of mt76's ring.
    #[default]
    Off,
    /// This number of packets.
    Packets(u32),
    /// As many packets as fill this number of longest frames to their receivers.
    Aggregates(u32),
    /// Packets whose frames take this time, without preambles if frames are aggregated.
    Airtime(Duration),
}

impl Serialize for HardwareQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_str("off"),
            Self::Packets(packets) => serializer.collect_str(&format_args!("{packets} packets")),
            Self::Aggregates(aggregates) => serializer.collect_str(&format_args!("{aggregates} aggregates")),
            Self::Airtime(airtime) => airtime.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for HardwareQueue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let refuse = || {
            let expected =
                "expected 1 to 100000 as \"64 packets\" or \"2 aggregates\", a time to 10 s as \"4 ms\", or \"off\"";
            D::Error::custom(format_args!("{expected}, not \"{text}\""))
        };
        if text == "off" {
            return Ok(Self::Off);
        }
        let (number, unit) = text.split_once(' ').ok_or_else(refuse)?;
        let number = || number.parse().ok().filter(|number| (1..=100_000).contains(number)).ok_or_else(refuse);
        match unit {
            "packets" | "packet" => Ok(Self::Packets(number()?)),
            "aggregates" | "aggregate" => Ok(Self::Aggregates(number()?)),
            _ => {
                let airtime: Duration = text.parse().map_err(|_| refuse())?;
                let is_fit = !airtime.is_zero() && airtime <= Duration::from_secs(10);
                if is_fit { Ok(Self::Airtime(airtime)) } else { Err(refuse()) }
            }
        }
    }
}

impl schemars::JsonSchema for HardwareQueue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HardwareQueue".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "const": "off" },
            { "type": "string", "pattern": "^[1-9][0-9]* (packets?|aggregates?)$" },
            generator.subschema_for::<Duration>(),
        ] })
    }
}

/// Which packets share a hardware queue.
#[apply(choice)]
pub enum HardwareQueuePer {
    /// All packets of an access category.
    #[default]
    Category,
    /// The packets of an access category for one receiver (mt76, ath10k).
    Station,
}

/// Receptions after which a node waits EIFS instead of DIFS (see `docs/mac-conventions.md`).
#[apply(choice)]
pub enum Eifs {
    /// Frames with a readable PHY header and a wrong checksum (standard).
    #[default]
    BadFrame,
    /// Sensed signals that were not received as an intact frame.
    AnySignal,
    /// As `any-signal`, but a later intact frame does not end EIFS (ns-2).
    AnySignalKept,
    /// No reception: a node always waits DIFS.
    Never,
}

/// Start of the backoff countdown after a missing ACK or CTS (see `docs/mac-conventions.md`).
#[apply(choice)]
pub enum TimeoutDeferral {
    /// At the end of the timeout, if the medium has been idle for DIFS.
    #[default]
    None,
    /// A DIFS (AIFS) after the end of the timeout (ns-3).
    Difs,
}

/// Wait of a packet that finds the station without other packets and without a pending backoff (see
/// `docs/mac-conventions.md`).
#[apply(choice)]
pub enum FirstAccess {
    /// A backoff if the medium is busy or reserved, turns busy before DIFS is over, or a response is due. If none of
    /// these is so, DIFS (AIFS) of idle medium, which may precede the arrival (standard).
    #[default]
    Immediate,
    /// DIFS from arrival (none with EDCA). A backoff only if the medium is busy or reserved at arrival (ns-3).
    Difs,
    /// As `difs`, but a backoff too if the medium turns busy before DIFS is over (ns-2.1b8).
    DifsOrBackOff,
    /// DIFS from arrival and a backoff, on an idle medium too (ns-2).
    BackOff,
}

/// Condition for answering an RTS (see `docs/mac-conventions.md`).
#[apply(choice)]
pub enum AnswerRts {
    /// If the medium is not reserved at the end of the RTS (standard).
    #[default]
    UnlessReserved,
    /// As `unless-reserved`, and if the medium is neither reserved nor busy when the CTS is due (ns-2).
    UnlessBusy,
}

/// When the contention window is reset to its smallest, besides after a success and after a frame is given up (see
/// `docs/mac-conventions.md`).
#[apply(choice)]
pub enum WindowReset {
    /// Also after `short_retry_limit` + 1 consecutive failures (standard).
    #[default]
    RetryLimit,
    /// No further resets (ns-3.37).
    GivenUp,
}

/// Selection of the mode of data frames; see `docs/phy.md`.
#[apply(settings)]
pub struct RateControl {
    /// Algorithm, per sender and receiver.
    pub algorithm: RateAlgorithm,
}

/// A rate control algorithm.
#[apply(choice)]
pub enum RateAlgorithm {
    /// Mode of `[radio]` or `[[node]]`.
    #[default]
    Fixed,
    /// Faster after ten ACKs in a row, slower after two failures (Kamerman and Monteban, 1997).
    Arf,
    /// `arf`, but its ACK threshold doubles when a probe fails (Lacage, Manshaei and Turletti, 2004).
    Aarf,
    /// Highest throughput by measured success ratios; Minstrel in 802.11a, b and g.
    MinstrelHt,
}

with_defaults! {
    /// T-MAC; see `docs/tmac.md`. Default times are multiples of an exchange of 1500 B, or of the longest aggregate.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Turns {
        /// How a station learns whose turn it is.
        pub variant: TurnsVariant,
        /// Share of the asked stations (one is the receiver) that must grant a request (`q`): 0 to 1. 1 gives strict
        /// order.
        pub quorum: f64 = 0.5,
        /// Failed requests before plain contention (`K`): 1 to 255.
        pub attempts: u8 = 4,
        /// Longest wait after a refusal (`T_req`); shorter if a younger packet is announced. Default: two exchanges.
        pub request_wait: Option<Duration>,
        /// Deferral for each older packet that the station knows of (`T_frame`); "0 s" for none. Default: one exchange.
        pub deferral: Option<Duration>,
        /// Time for which a key (age) heard from a neighbour stays valid (`T_exp`). Default: ten exchanges.
        pub expiry: Option<Duration>,
        /// Time for which a neighbour is still asked after its last data or request (`T_act`).
        pub activity: Duration = Duration::from_millis(100),
        /// Largest number of stations asked: the receiver, then the strongest neighbours; 1 to 8.
        pub neighbours: u8 = 8,
    }
}

/// How a station learns whose turn it is.
#[apply(choice)]
pub enum TurnsVariant {
    /// A request precedes data; stations without an older packet grant it.
    #[default]
    Requests,
    /// Data frames and ACKs carry keys (ages of packets); there are no further frames.
    Table,
}
