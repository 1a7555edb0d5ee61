//! The `[mac]` table: access to the medium and its conventions.

use super::{RateControl, Turns};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Duration};

/// Access to the medium and its conventions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Mac {
    /// How stations contend.
    pub access: Access,
    /// EDCA: what differs from the standard's parameters of its categories.
    pub edca: Option<Edca>,
    /// What may share a frame.
    pub aggregation: Aggregation,
    /// A CTS to itself precedes each data frame that RTS and CTS do not: all in range learn how long the medium is in use.
    pub cts_to_self: bool,
    /// Data frames whose MAC frame is longer than this are announced by RTS/CTS; "off" for none.
    pub rts_threshold: RtsThreshold,
    /// Smallest contention window: back-off is drawn from 0 to this many slots. Default: the standard's (31 or 15). The
    /// defaults of EDCA's categories follow from it and `cw_max`.
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
    /// What a packet waits for that comes to a station without another one, and without a back-off left over.
    pub first_access: FirstAccess,
    /// When an RTS is answered.
    pub answer_rts: AnswerRts,
    /// Who decides about the mode of data frames.
    pub rate_control: RateControl,
    /// Turns in the order of the packets' age (T-MAC).
    pub turns: Option<Turns>,
}

/// How stations contend for the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// The distributed coordination function: one queue a node.
    #[default]
    Dcf,
    /// Enhanced distributed channel access: four categories, each with its own queue and contention.
    Edca,
}

/// The parameters of EDCA's access categories. What is left out is as in IEEE 802.11-2016, table 9-137.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Edca {
    /// AIFSN 2, a quarter of the window, half of it at most; TXOP limit 2.08 ms (802.11b: 3.264 ms).
    pub voice: Contention,
    /// AIFSN 2, half the window, at most `mac.cw_min`; TXOP limit 4.096 ms (802.11b: 6.016 ms).
    pub video: Contention,
    /// AIFSN 3; TXOP limit 2.528 ms (802.11b: 3.264 ms).
    pub best_effort: Contention,
    /// AIFSN 7; TXOP limit 2.528 ms (802.11b: 3.264 ms).
    pub background: Contention,
}

/// How an access category contends.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Contention {
    /// The medium has to be idle for SIFS and this many slots before slots of the back-off count: 2 to 15.
    pub aifsn: Option<u8>,
    /// Smallest contention window: back-off is drawn from 0 to this many slots.
    pub cw_min: Option<u16>,
    /// Largest contention window.
    pub cw_max: Option<u16>,
    /// How long the category may send once it has won the medium; "0 s" for one frame or aggregate.
    pub txop_limit: Option<Duration>,
}

/// Aggregation (EDCA only): several packets of one category for one receiver in a frame.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Aggregation {
    /// The longest A-MPDU, at most 65535 B: frames of their own, acknowledged one by one in a BlockAck; "off" for none.
    /// Needs 802.11n.
    pub ampdu: MostBytes,
    /// The most frames in an A-MPDU: 1 to 64.
    pub ampdu_frames: u8,
    /// The longest that an aggregate may last, at most 5484 us (the limit of HT-mixed frames).
    pub ampdu_duration: Duration,
    /// The longest A-MSDU, at most 7935 B: packets in one frame, lost or acknowledged together; "off" for none. Within an
    /// A-MPDU a frame has at most 4095 B.
    pub amsdu: MostBytes,
    /// What follows an A-MPDU whose BlockAck has not come.
    pub missed_block_ack: MissedBlockAck,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self {
            ampdu: MostBytes::Off,
            ampdu_frames: 64,
            ampdu_duration: Duration::from_millis(4),
            amsdu: MostBytes::Off,
            missed_block_ack: MissedBlockAck::default(),
        }
    }
}

/// What follows an A-MPDU whose BlockAck has not come (see `docs/mac-conventions.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MissedBlockAck {
    /// All its frames count as lost and are sent again.
    #[default]
    Retransmit,
    /// A BlockAckReq asks what has arrived (ns-3).
    Request,
}

/// A limit of a length: written as `off` or as a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MostBytes {
    /// None at all.
    #[default]
    Off,
    /// At most this.
    UpTo(Bytes),
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

/// A type written as `off` or as a size.
macro_rules! off_or_bytes {
    ($Type:ident, $Some:ident) => {
        impl Serialize for $Type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Off => serializer.serialize_str("off"),
                    Self::$Some(bytes) => bytes.serialize(serializer),
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

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $Type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Type).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "anyOf": [{ "const": "off" }, generator.subschema_for::<Bytes>()] })
            }
        }
    };
}

off_or_bytes!(RtsThreshold, Above);
off_or_bytes!(MostBytes, UpTo);

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
    /// From DIFS, or AIFS, after the end of the time-out (ns-3).
    Difs,
}

/// What a packet waits for that comes to a station without another one, and without a back-off left over (see
/// `docs/mac-conventions.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FirstAccess {
    /// Nothing, on a medium that has been idle for DIFS or AIFS; a back-off where the medium is busy or reserved, or turns busy
    /// before DIFS is over, or the station owes a response (the standard).
    #[default]
    Immediate,
    /// DIFS from its coming (under EDCA nothing); a back-off where the medium is sensed busy, or reserved, when it comes. A
    /// response that the station owes does not count, and neither does what begins later (ns-3).
    Difs,
    /// DIFS from its coming and a back-off, on an idle medium too (ns-2).
    BackOff,
}

/// When an RTS is answered (see `docs/mac-conventions.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AnswerRts {
    /// Unless the medium is reserved when the RTS ends (the standard).
    #[default]
    UnlessReserved,
    /// Unless the medium is reserved when the RTS ends, or reserved or sensed busy when the CTS is due (ns-2).
    UnlessBusy,
}
