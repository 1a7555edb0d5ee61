//! The `[radio]` table: standard, rates, propagation, thresholds, and causes of frame errors besides collisions.

use super::Marks;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use units::{Decibels, Frequency, Length, Power, Rate, apply, choice, settings, table};

/// Physical layer.
#[apply(settings)]
pub struct Radio {
    /// Standard: slot, SIFS, contention window and rates.
    pub standard: Standard,
    /// PLCP preamble of 802.11b and of protection frames.
    pub preamble: Preamble,
    /// Rate of data frames. Default: the standard's highest; for 802.11n, ac and ax MCS 7.
    pub data_rate: Option<Rate>,
    /// MCS of data frames instead of `data_rate`: 802.11n 0 to 31 (8 per spatial stream), ac 0 to 9, ax 0 to 11.
    pub mcs: Option<u8>,
    /// Spatial streams of data frames: 802.11n 1 to 4, ac and ax 1 to 8. Default 1, for 802.11n those of `mcs`.
    pub streams: Option<u8>,
    /// 802.11n: any rate instead of `data_rate`, with symbols of 4 us and the preamble of one stream.
    pub nominal_rate: Option<Rate>,
    /// 802.11n, ac and ax: bandwidth of data frames. Default 20 MHz.
    pub channel_width: ChannelWidth,
    /// 802.11n, ac and ax: guard interval of data frames. Default long.
    pub guard_interval: GuardInterval,
    /// 802.11n, ac and ax: forward error correction of data frames, for the error models `nist` and `yans`. Default:
    /// `ldpc` for 802.11ax, else `bcc`.
    pub coding: Option<Fec>,
    /// 802.11ax: longest packet extension that receivers ask for.
    pub packet_padding: PacketPadding,
    /// 802.11ax, 20 MHz: data in HE ER SU PPDUs (`docs/phy.md`), by default MCS 0.
    pub extended_range: Option<ExtendedRange>,
    /// Rate of ACK, CTS, RTS and broadcast frames: an 802.11b rate, or an 802.11a rate for all other standards.
    /// Default: the lowest rate, or with `preamble = "data-rate"` the data rate. Acknowledgements of standards other
    /// than 802.11b: the highest of 6, 12 and 24 Mb/s up to the data rate.
    pub basic_rate: Option<Rate>,
    /// 802.11g, and n and ax at 2.4 GHz: protection of 802.11b stations. With protection or 802.11b nodes the slot is
    /// 20 us and EIFS counts an ACK at 1 Mb/s. With protection but no such node the smallest window is 31. Default:
    /// `cts-to-self` if a node has 802.11b, else `none`.
    pub b_protection: Option<BProtection>,
    /// 802.11b rate of protection frames, and, if a node has 802.11b, of all RTS, CTS and broadcasts. Default 1 Mb/s.
    pub b_protection_rate: Option<Rate>,
    /// Path loss model.
    pub propagation: Propagation,
    /// Carrier frequency. Below 4 GHz, 802.11n and ax use 802.11g's timing. Default 2.412 GHz (802.11b, g) or 5.18 GHz
    /// (802.11a, n, ac, ax).
    pub frequency: Option<Frequency>,
    /// Two-ray ground: antenna height. Default 1.5 m.
    pub antenna_height: Option<Length>,
    /// Log-distance and two-slope: exponent. Default 3, two-slope 3.5.
    pub path_loss_exponent: Option<f64>,
    /// Two-slope: distance from which the exponent applies. Default 5 m.
    pub breakpoint: Option<Length>,
    /// Walls and floors between nodes that stand still, in any model with powers.
    pub rooms: Option<Rooms>,
    /// Transmit power of every node. Default 15 dBm; with `range` and a noise model, the power that the data rate needs
    /// at that distance, up to 60 dBm.
    pub tx_power: Option<Power>,
    /// Decoding distance; sets the receive threshold to the power at that distance.
    pub range: Option<Length>,
    /// Lowest received power of a decodable frame, instead of `range`. Default -82 dBm.
    pub receive_threshold: Option<Power>,
    /// Carrier sense distance. Default: twice `range`, if that is given.
    pub carrier_sense_range: Option<Length>,
    /// Lowest total power that keeps the medium busy, instead of `carrier_sense_range`. Default: the receive threshold.
    pub carrier_sense_threshold: Option<Power>,
    /// Minimum ratio of a frame's power to the sum of all other signals. `nist`, `yans`: checked when the frame begins,
    /// noise included. Other models: checked until the frame ends. Default 4 dB for `nist` and `yans`, else 10 dB.
    pub capture_threshold: Option<Decibels>,
    /// Signal that a receiver locks to.
    pub capture: Capture,
    /// Frame errors besides collisions.
    pub errors: Errors,
    /// Deviation of a signal's power from the mean at its distance.
    pub fading: Fading,
    /// True if a node has 802.11b, next to nodes of a newer standard.
    #[serde(skip)]
    pub(crate) beside_b: bool,
    /// Settings read so far.
    #[serde(skip)]
    pub marks: Marks,
}

/// Signal that a receiver locks to (see `docs/mac-conventions.md`).
#[apply(choice)]
pub enum Capture {
    /// If the receiver decodes no frame, the first frame that is strong enough, until this frame ends.
    #[default]
    FirstFrame,
    /// Strongest frame within 4 us of the first (ns-3). Decodable frames also keep the medium busy.
    StrongestPreamble,
    /// The first signal sensed, decodable or not, even while sending, until it ends. A later signal is ignored if
    /// weaker by `capture_threshold`; else both are lost and the longer signal holds the receiver (ns-2).
    AnySignal,
}

/// An IEEE 802.11 physical layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Standard {
    /// DSSS and CCK, 1 to 11 Mb/s, slot 20 us.
    #[default]
    #[serde(rename = "802.11b")]
    B,
    /// OFDM at 5 GHz, 6 to 54 Mb/s, slot 9 us, SIFS 16 us.
    #[serde(rename = "802.11a")]
    A,
    /// OFDM at 2.4 GHz, slot 9 us, SIFS 10 us and 6 us of signal extension.
    #[serde(rename = "802.11g")]
    G,
    /// HT, 6.5 to 600 Mb/s, slot 9 us.
    #[serde(rename = "802.11n")]
    N,
    /// VHT at 5 GHz, 6.5 to 6933 Mb/s.
    #[serde(rename = "802.11ac")]
    Ac,
    /// HE SU at 2.4, 5 and 6 GHz, 7.3 to 9608 Mb/s.
    #[serde(rename = "802.11ax")]
    Ax,
}

/// Its name in scenarios.
impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Standard {
    /// True for 802.11n (high throughput) and its successors, which have EDCA, aggregates and several streams.
    pub const fn high_throughput(self) -> bool {
        matches!(self, Self::N | Self::Ac | Self::Ax)
    }
}

/// Bandwidth of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ChannelWidth {
    /// All standards.
    #[default]
    #[serde(rename = "20 MHz")]
    Mhz20,
    /// 802.11n, ac and ax.
    #[serde(rename = "40 MHz")]
    Mhz40,
    /// 802.11ac and ax.
    #[serde(rename = "80 MHz")]
    Mhz80,
    /// 802.11ac and ax.
    #[serde(rename = "160 MHz")]
    Mhz160,
}

impl ChannelWidth {
    /// The number of hertz.
    pub const fn hertz(self) -> f64 {
        self.mhz() as f64 * 1e6
    }

    /// The number of megahertz.
    pub const fn mhz(self) -> u32 {
        20 << self as u32
    }
}

/// The guard interval before every symbol of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GuardInterval {
    /// 0.8 us; "0.8 us" means the same.
    #[default]
    #[serde(alias = "0.8 us")]
    Long,
    /// 802.11n and ac: 0.4 us; "0.4 us" means the same.
    #[serde(alias = "0.4 us")]
    Short,
    /// 802.11ax.
    #[serde(rename = "1.6 us")]
    Double,
    /// 802.11ax.
    #[serde(rename = "3.2 us")]
    Quadruple,
}

impl GuardInterval {
    /// Duration of the interval in nanoseconds.
    pub const fn nanos(self) -> u64 {
        match self {
            Self::Short => 400,
            Self::Long => 800,
            Self::Double => 1_600,
            Self::Quadruple => 3_200,
        }
    }
}

/// Forward error correction (FEC).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fec {
    /// Convolutional code.
    Bcc,
    /// Low-density parity-check code.
    Ldpc,
}

/// Packet extension that gives receivers time to decode the end of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum PacketPadding {
    /// No extension.
    #[default]
    #[serde(rename = "0 us")]
    Us0,
    /// Extensions of 0, 4 or 8 us.
    #[serde(rename = "8 us")]
    Us8,
    /// Extensions of 4 to 16 us.
    #[serde(rename = "16 us")]
    Us16,
}

/// Tones of an HE ER SU PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ExtendedRange {
    /// All tones: MCS 0 to 2.
    #[serde(rename = "242 tones")]
    All,
    /// The upper tones: MCS 0.
    #[serde(rename = "106 tones")]
    Upper,
}

/// How stations of 802.11g and n protect stations that know only 802.11b.
#[apply(choice)]
pub enum BProtection {
    /// No protection.
    #[default]
    None,
    /// CTS-to-self at an 802.11b rate before data.
    CtsToSelf,
    /// RTS/CTS at an 802.11b rate before data.
    RtsCts,
}

/// The PLCP preamble of 802.11b.
#[apply(choice)]
pub enum Preamble {
    /// 192 us, at 1 Mb/s.
    #[default]
    Long,
    /// 96 us; frames at 1 Mb/s keep the long preamble.
    Short,
    /// 24 bytes at the rate of the frame (ns-2.1b8).
    DataRate,
}

/// Equal rooms, wall to wall from the origin on, by the residential scenario of IEEE 802.11-14/0980.
#[apply(table)]
pub struct Rooms {
    /// Length, width and height of a room, as `["10 m", "10 m", "3 m"]`.
    pub size: [Length; 3],
    /// Loss in each wall. Default 5 dB.
    pub wall: Option<Decibels>,
    /// Loss in one floor; F floors lose F^((F + 2) / (F + 1) - 0.46) times the loss of one. Default 18.3 dB.
    pub floor: Option<Decibels>,
}

/// Path loss model.
#[apply(choice)]
pub enum Propagation {
    /// Free space up to the crossover distance, then the fourth power of distance.
    #[default]
    TwoRay,
    /// Square of distance (Friis).
    FreeSpace,
    /// Free space for 1 m, then `path_loss_exponent`.
    LogDistance,
    /// Free space up to the `breakpoint`, then `path_loss_exponent` (`TGax`, IEEE 802.11-14/0980).
    TwoSlope,
    /// No powers: frames are decoded within `range`, sensed and interfering within `carrier_sense_range`.
    Range,
}

impl Propagation {
    /// True if the model yields powers that can be compared.
    pub(crate) fn has_powers(self) -> bool {
        self != Self::Range
    }
}

/// Frame errors besides collisions; see `docs/phy.md`.
#[apply(settings)]
pub struct Errors {
    /// Error model. Default `nist`; `none` for `propagation = "range"` or `nominal_rate`.
    pub model: Option<ErrorModel>,
    /// With `"fixed"`: share of MPDUs lost, whatever their length and power.
    pub packet_error_ratio: Option<f64>,
    /// With `"fixed"`, instead of `packet_error_ratio`: share of bits lost.
    pub bit_error_ratio: Option<f64>,
    /// With `"fixed"`: applies to ACK, CTS, RTS and BlockAck too.
    pub control_frames: bool,
    /// Receiver noise above thermal noise at 290 K, for `nist` and `yans`. Default 7 dB.
    pub noise_figure: Option<Decibels>,
}

/// An error model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorModel {
    /// Losses only by interference, decided by `capture_threshold`.
    None,
    /// `none`, plus independent errors of a fixed ratio.
    Fixed,
    /// Errors follow from the SINR in each interval of constant interference (Pei and Henderson 2010, 2009).
    Nist,
    /// `nist`, but OFDM by Lacage and Henderson (2006).
    Yans,
}

/// Random deviation of received power from the mean at the link's distance.
#[apply(settings)]
pub struct Fading {
    /// Standard deviation of log-normal shadowing, drawn once per run for each pair of nodes. Default: none.
    pub shadowing: Option<Decibels>,
    /// Fast fading: each frame's power at each receiver is drawn independently.
    pub model: FadingModel,
    /// Nakagami shape m, at least 0.5; larger values fade less. Default 1.5.
    pub nakagami_m: Option<f64>,
}

/// A model of fast fading.
#[apply(choice)]
pub enum FadingModel {
    /// No fading.
    #[default]
    None,
    /// No line of sight: exponentially distributed power.
    Rayleigh,
    /// Gamma-distributed power of shape `nakagami_m`.
    Nakagami,
}
