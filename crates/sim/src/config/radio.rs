//! The `[radio]` table: standard, rates, propagation, thresholds.

use super::{Errors, Fading};
use serde::{Deserialize, Serialize};
use units::{Decibels, Frequency, Length, Power, Rate};

/// The physical layer: a standard's rates and timings, propagation, and the thresholds of reception.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Radio {
    /// The standard: sets slot, SIFS, contention window and the rates that exist.
    pub standard: Standard,
    /// 802.11b, and frames that protect: long or short PLCP preamble.
    pub preamble: Preamble,
    /// Rate of data frames. Default: the standard's highest; in 802.11n that of one stream (MCS 7). `[[node]]` can
    /// override it for what a node sends.
    pub data_rate: Option<Rate>,
    /// 802.11n only: modulation and coding scheme of data frames, 0 to 31, instead of `data_rate`. Eight for each number
    /// of spatial streams: 0 to 7 have one.
    pub mcs: Option<u8>,
    /// 802.11n only: a rate of data frames that the standard need not have, instead of `data_rate`: symbols of 4 us
    /// behind the preamble of one stream.
    pub nominal_rate: Option<Rate>,
    /// 802.11n only: bandwidth of data frames. Default 20 MHz.
    pub channel_width: ChannelWidth,
    /// 802.11n only: pause before every symbol of a data frame. Default long.
    pub guard_interval: GuardInterval,
    /// Rate of ACK, CTS, RTS and broadcast frames: one of 802.11b, or of 802.11a in a, g and n. Default: the lowest.
    pub basic_rate: Option<Rate>,
    /// 802.11g, and n at 2.4 GHz: how stations take care of others near that know only 802.11b. They then have its slot of
    /// 20 us and its smallest window of 31, and EIFS makes room for an ACK at 1 Mb/s.
    pub b_protection: BProtection,
    /// Rate of the frames that protect: one of 802.11b. Default 1 Mb/s.
    pub b_protection_rate: Option<Rate>,
    /// How a signal weakens with distance.
    pub propagation: Propagation,
    /// Carrier frequency. Default: 2.412 GHz (802.11b, g), 5.18 GHz (802.11a, n). Below 4 GHz, 802.11n has the times of
    /// the 2.4 GHz band: SIFS 10 us and 6 us of signal extension.
    pub frequency: Option<Frequency>,
    /// Two-ray ground: height of every antenna above ground. Default 1.5 m.
    pub antenna_height: Option<Length>,
    /// Log-distance: the exponent. Default 3.
    pub path_loss_exponent: Option<f64>,
    /// Transmit power of every node. Default 15 dBm; with `range` and an error model that knows noise, more where a frame at
    /// the data rate needs more to cross that distance, up to 60 dBm.
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
    /// How far a frame's power must lie above the sum of all others to be decoded. With the error models `nist` and `yans` it
    /// counts only when the frame begins, and noise counts too: default 4 dB. Without them it counts until the frame ends:
    /// default 10 dB.
    pub capture_threshold: Option<Decibels>,
    /// Which of several signals a receiver decodes.
    pub capture: Capture,
    /// What spoils frames besides collisions.
    pub errors: Errors,
    /// How the power of a signal departs from the mean at its distance.
    pub fading: Fading,
}

/// Which of several signals a receiver decodes (see `docs/mac-conventions.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Capture {
    /// The first frame that begins strong enough while none is being decoded. It is decoded to its end, whatever comes.
    #[default]
    FirstFrame,
    /// 4 us after a frame has begun, the strongest of those that have begun by then, if it is strong enough (ns-3). What can
    /// be decoded also keeps the medium busy.
    StrongestPreamble,
    /// The first signal that is sensed, also one too weak to be decoded and one that begins while the node itself sends: it
    /// holds the receiver to its end. What begins meanwhile is overlooked if it is weaker by `capture_threshold`; else both
    /// are lost, and the longer one holds the receiver (ns-2). Signals too weak to be sensed are left out.
    AnySignal,
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
    /// HT (MIMO-OFDM), 6.5 to 600 Mb/s, slot 9 us; HT-mixed preambles, control frames as in 802.11a.
    #[serde(rename = "802.11n")]
    N,
}

/// Bandwidth of an 802.11n frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ChannelWidth {
    /// 52 data subcarriers.
    #[default]
    #[serde(rename = "20 MHz")]
    Mhz20,
    /// 108 data subcarriers.
    #[serde(rename = "40 MHz")]
    Mhz40,
}

impl ChannelWidth {
    /// The number of hertz.
    pub const fn hertz(self) -> f64 {
        match self {
            Self::Mhz20 => 20e6,
            Self::Mhz40 => 40e6,
        }
    }
}

/// The pause before every symbol of an 802.11n frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GuardInterval {
    /// 0.8 us: symbols of 4 us.
    #[default]
    Long,
    /// 0.4 us: symbols of 3.6 us.
    Short,
}

/// How stations of 802.11g and n take care of stations that know only 802.11b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BProtection {
    /// There are none near.
    #[default]
    None,
    /// A CTS to itself, at a rate of 802.11b, precedes each data frame.
    CtsToSelf,
    /// RTS and CTS, at a rate of 802.11b, precede each data frame.
    RtsCts,
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

impl Propagation {
    /// Does it give powers that can be compared?
    pub(crate) fn has_powers(self) -> bool {
        self != Self::Range
    }
}
