//! Translates a scenario's radio settings into modes. Refuses settings that contradict the standard.

use super::mimo::{Format, Mimo};
use super::mode::{DsssRate, Mode, OfdmRate};
use crate::config::{
    self, BProtection, ChannelWidth, ErrorModel, ExtendedRange, Fec, GuardInterval, PacketPadding, Preamble, Radio,
    Standard, given,
};
use units::{Frequency, Rate, refuse_if};

/// A setting that contradicts the standard or another setting: its key without its table, and the reason with a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) key: &'static str,
    pub(crate) why: String,
}

impl Refusal {
    pub(super) fn new(key: &'static str, why: impl Into<String>) -> Self {
        Self { key, why: why.into() }
    }

    /// Refuses a setting that exists only from 802.11n on.
    fn of_802_11n(key: &'static str) -> Self {
        Self::new(key, format!("`{key}` belongs to 802.11n; leave it out or write `standard = \"802.11n\"`"))
    }
}

impl Radio {
    /// Returns the carrier frequency; by default the usual one of the standard.
    pub(crate) fn carrier(&self) -> Frequency {
        self.frequency.unwrap_or(match self.standard {
            Standard::B | Standard::G => Frequency::hertz(2_412_000_000),
            Standard::A | Standard::N | Standard::Ac | Standard::Ax => Frequency::hertz(5_180_000_000),
        })
    }

    /// True if, at this frequency, the standard has the timing of the 2.4 GHz band.
    pub(crate) fn is_low_band(&self) -> bool {
        match self.standard {
            Standard::B | Standard::G => true,
            Standard::A | Standard::Ac => false,
            Standard::N | Standard::Ax => self.carrier() < Frequency::hertz(4_000_000_000),
        }
    }

    /// Returns the error model; by default the one that fits most frames that the settings describe.
    pub(super) fn error_model(&self) -> ErrorModel {
        let by_default = if self.propagation.has_powers() && self.nominal_rate.is_none() {
            ErrorModel::Nist
        } else {
            ErrorModel::None
        };
        self.errors.model.unwrap_or(by_default)
    }

    /// True if noise and interference spoil frames depending on modulation and code.
    pub(crate) fn is_by_ratio(&self) -> bool {
        matches!(self.error_model(), ErrorModel::Nist | ErrorModel::Yans)
    }

    pub(crate) fn has_ldpc(&self) -> bool {
        self.coding.map_or(self.standard == Standard::Ax, |coding| coding == Fec::Ldpc)
    }

    pub(crate) fn data_mode(&self) -> Result<Mode, Refusal> {
        self.check_standard()?;
        self.check_he()?;
        self.check_band()?;
        let given = given!(self; data_rate mcs nominal_rate);
        let given: Vec<&'static str> = given.into_iter().filter(|given| given.1).map(|given| given.0).collect();
        if let [first, second, ..] = given[..] {
            return Err(Refusal::new(second, format!("`{first}` and `{second}` both set the rate; write one")));
        }
        let Some(rate) = self.nominal_rate else { return self.mode(self.data_rate, self.mcs) };
        if self.channel_width != ChannelWidth::Mhz20 || self.guard_interval != GuardInterval::Long {
            let why = "a nominal rate has symbols of 4 us; leave `channel_width` and `guard_interval` out";
            return Err(Refusal::new("nominal_rate", why));
        }
        match u32::try_from(rate.as_bps() / 1_000) {
            Ok(kbps) if kbps > 0 => Ok(Mode::Nominal { kbps }),
            _ => Err(Refusal::new("nominal_rate", "a nominal rate must be between 1 kb/s and 4 Tb/s")),
        }
    }

    /// Returns the mode of data frames with these settings of a node; `None` if both are absent.
    pub(crate) fn node_mode(&self, data_rate: Option<Rate>, mcs: Option<u8>) -> Result<Option<Mode>, Refusal> {
        if data_rate.is_none() && mcs.is_none() {
            return Ok(None);
        }
        if data_rate.is_some() && mcs.is_some() {
            return Err(Refusal::new("mcs", "`data_rate` and `mcs` both set the rate; give one"));
        }
        self.mode(data_rate, mcs).map(Some)
    }

    /// Returns the radio of a node of another generation; `None` if the node is like all other nodes.
    pub(crate) fn of_node(&self, node: &config::Node) -> Result<Option<Self>, Refusal> {
        let extends = node.extended_range.is_some();
        let own = node.standard.filter(|&own| own.high_throughput() || own != self.standard);
        let as_all = own.is_none() && node.channel_width.is_none() && node.streams.is_none();
        if as_all && node.coding.is_none() && !extends {
            return Ok(None);
        }
        let standard = node.standard.unwrap_or(self.standard);
        refuse_if!(node.coding.is_some() && !standard.high_throughput(), Err(Refusal::of_802_11n("coding")));
        let why = "a node has the standard of `[radio]` or an older one; write the newest in `[radio]`";
        refuse_if!(standard > self.standard, Err(Refusal::new("standard", why)));
        let Some(format) = Format::of(standard) else { return self.older(standard, node).map(Some) };
        if self.is_by_ratio() {
            node.marks.read("coding", ());
        }
        let widest = *format.widths().last().expect("there are widths");
        let usual = if extends { ChannelWidth::Mhz20 } else { self.channel_width.min(widest) };
        let channel_width = node.channel_width.unwrap_or(usual);
        if channel_width > self.channel_width {
            let why = format!("the channel of `[radio]` has {} MHz; a node cannot have more", self.channel_width.mhz());
            return Err(Refusal::new("channel_width", why));
        }
        let keeps_streams = standard == self.standard && format != Format::Ht && !extends;
        let is_known = format.guards().contains(&self.guard_interval);
        let own = Self {
            standard,
            channel_width,
            guard_interval: if is_known { self.guard_interval } else { GuardInterval::Long },
            streams: node.streams.or(self.streams.filter(|_| keeps_streams)),
            data_rate: node.data_rate,
            mcs: node.mcs,
            nominal_rate: None,
            coding: node.coding.or(self.coding),
            extended_range: node.extended_range.or(self.extended_range),
            ..self.clone()
        };
        let own = if node.extended_range.is_none() { own.of_standard(standard) } else { own };
        // If a node of the same standard has no rate of its own, it has the radio's rate.
        if standard == self.standard && !extends && own.data_rate.is_none() && own.mcs.is_none() {
            let streams = node.streams.or(self.streams);
            let mcs = match (self.mcs, node.streams) {
                (Some(mcs), Some(streams)) if format == Format::Ht => Some(mcs % 8 + 8 * (streams.clamp(1, 4) - 1)),
                (mcs, _) => mcs,
            };
            return Ok(Some(Self { mcs, streams, data_rate: self.data_rate, ..own }));
        }
        Ok(Some(own))
    }

    /// Returns the radio of a node older than 802.11n. Later features are refused as in `[radio]`.
    fn older(&self, standard: Standard, node: &config::Node) -> Result<Self, Refusal> {
        if self.is_low_band() == (standard == Standard::A) {
            let (band, at) = if standard == Standard::A { ("5", "5.18") } else { ("2.4", "2.437") };
            let why = format!("{standard} works at {band} GHz; write `frequency = \"{at} GHz\"` in `[radio]`");
            return Err(Refusal::new("standard", why));
        }
        refuse_if!(node.channel_width.is_some(), Err(Refusal::of_802_11n("channel_width")));
        let own = Self {
            streams: node.streams,
            extended_range: node.extended_range,
            mcs: node.mcs,
            ..self.without_mimo(standard, node.data_rate)
        };
        own.data_mode().map(|_| own)
    }

    /// Returns this radio without features of 802.11n and later.
    fn without_mimo(&self, standard: Standard, data_rate: Option<Rate>) -> Self {
        debug_assert!(!standard.high_throughput(), "it would have lost its streams");
        Self {
            standard,
            data_rate,
            mcs: None,
            streams: None,
            nominal_rate: None,
            channel_width: ChannelWidth::Mhz20,
            guard_interval: GuardInterval::Long,
            coding: None,
            packet_padding: PacketPadding::Us0,
            extended_range: None,
            ..self.clone()
        }
    }

    /// Returns how stations of 802.11b are protected: by default with CTS-to-self if there are any.
    pub(crate) fn b_protection(&self) -> BProtection {
        let by_default = if self.beside_b { BProtection::CtsToSelf } else { BProtection::None };
        self.b_protection.unwrap_or(by_default)
    }

    /// Returns the radio settings that two nodes of different generations have in common. Before 802.11n the rate is
    /// the sender's if the format is that of the sender's standard, otherwise the receiver's.
    pub(crate) fn common(&self, other: &Self) -> Self {
        let older = self.standard.min(other.standard);
        if !older.high_throughput() {
            let from = if self.standard == older { self } else { other };
            return self.without_mimo(older, from.data_rate);
        }
        let (Ok(Mode::Mimo(own)), Ok(Mode::Mimo(its))) = (self.data_mode(), other.data_mode()) else {
            return self.clone();
        };
        let mimo = own.common(its);
        let common = Self {
            channel_width: mimo.width(),
            guard_interval: mimo.guard(),
            streams: Some(mimo.streams()),
            mcs: Some(mimo.mcs()),
            data_rate: None,
            nominal_rate: None,
            coding: Some(if self.has_ldpc() && other.has_ldpc() { Fec::Ldpc } else { Fec::Bcc }),
            extended_range: self.extended_range.max(other.extended_range),
            ..self.clone()
        };
        let common = common.of_standard(self.standard.min(other.standard));
        match common.extended_range {
            None => common,
            // The slower of the two determines the rate.
            Some(tones) => Self { mcs: Some(own.coding().min(its.coding()).min(tones.highest())), ..common },
        }
    }

    /// Returns this radio with another standard; if that is older than 802.11ax, without 802.11ax's features.
    fn of_standard(self, standard: Standard) -> Self {
        if standard == Standard::Ax {
            return Self { standard, ..self };
        }
        Self { standard, packet_padding: PacketPadding::Us0, extended_range: None, ..self }
    }

    /// Returns the mode of responses to HE ER SU PPDUs over these tones. The responses have the same format.
    pub(super) fn extended_response(&self, tones: ExtendedRange) -> Option<Mimo> {
        let slow = Mimo::new(Format::He, 0, 1, ChannelWidth::Mhz20, self.guard_interval)?;
        slow.padded(self.packet_padding).coded(self.has_ldpc()).extended(tones)
    }

    /// Returns the modes between which rate control moves step by step, slowest first: the standard's modes or, for
    /// 802.11n, ac and ax, the codings with as many streams as the data mode has.
    pub(crate) fn ladder(&self) -> Vec<Mode> {
        match (self.standard, Format::of(self.standard)) {
            (Standard::B, _) => DsssRate::ALL.map(|rate| Mode::Dsss { rate, preamble: self.preamble }).to_vec(),
            (_, None) => OfdmRate::ALL.map(Mode::Ofdm).to_vec(),
            (_, Some(format)) => {
                let streams = self.most_streams();
                (0..=format.highest()).filter_map(|coding| self.mimo(format, coding, streams)).map(Mode::Mimo).collect()
            }
        }
    }

    /// Returns all modes of a station, slowest first. From 802.11n on they have at most the data mode's streams, no
    /// wider channels and, except in 802.11ax, no shorter guard intervals than the settings allow.
    pub(crate) fn all_modes(&self) -> Vec<Mode> {
        let Some(format) = Format::of(self.standard) else { return self.ladder() };
        let widths = format.widths().iter().filter(|&&width| width <= self.channel_width);
        let guards = format
            .guards()
            .iter()
            .filter(|&&guard| guard == self.guard_interval || format != Format::He && guard == GuardInterval::Long);
        let mut modes = Vec::new();
        for &width in widths {
            for &guard in guards.clone() {
                for streams in 1..=self.most_streams() {
                    let scheme = |coding| self.scheme(format, coding, streams, width, guard);
                    modes.extend((0..=format.highest()).filter_map(scheme).map(Mode::Mimo));
                }
            }
        }
        modes.sort_by_key(|mode| mode.rate());
        modes
    }

    /// Returns the number of streams of the data mode.
    fn most_streams(&self) -> u8 {
        match self.data_mode() {
            Ok(Mode::Mimo(mimo)) => mimo.streams(),
            _ => 1,
        }
    }

    /// Returns the mode of control and broadcast frames.
    pub(super) fn basic_mode(&self) -> Result<Mode, Refusal> {
        match self.standard {
            Standard::B => self.dsss(self.basic_rate.unwrap_or(self.usual_basic_rate()), "basic_rate"),
            _ => ofdm(self.basic_rate.unwrap_or(OfdmRate::ALL[0].rate()), "basic_rate"),
        }
    }

    /// Returns the rate of control frames of 802.11b if none is set.
    fn usual_basic_rate(&self) -> Rate {
        match self.preamble {
            Preamble::Long | Preamble::Short => DsssRate::K1000.rate(),
            Preamble::DataRate => self.data_rate.unwrap_or(DsssRate::K11000.rate()),
        }
    }

    /// Returns the mode of RTS and CTS frames, and whether it is an 802.11b mode for protection.
    pub(super) fn protection_mode(&self) -> Result<(Mode, bool), Refusal> {
        if self.b_protection() == BProtection::None && !self.beside_b {
            return match self.b_protection_rate {
                Some(_) => {
                    Err(Refusal::new("b_protection_rate", "without `b_protection` no frame is protected; set both"))
                }
                None => Ok((self.basic_mode()?, false)),
            };
        }
        let why = "only 802.11g, and n and ax at 2.4 GHz, share channels with 802.11b; leave `b_protection` out";
        refuse_if!(self.standard == Standard::B || !self.is_low_band(), Err(Refusal::new("b_protection", why)));
        let rate = self.b_protection_rate.unwrap_or(DsssRate::K1000.rate());
        Ok((self.dsss(rate, "b_protection_rate")?, true))
    }

    /// Returns the slowest mode that every station nearby receives. EIFS leaves time for an ACK in this mode.
    pub(super) fn slowest_mode(&self) -> Mode {
        match self.standard {
            Standard::B => Mode::Dsss { rate: DsssRate::K1000, preamble: self.preamble },
            _ if self.b_protection() != BProtection::None || self.beside_b => {
                Mode::Dsss { rate: DsssRate::K1000, preamble: self.preamble }
            }
            _ => Mode::Ofdm(OfdmRate::M6),
        }
    }

    fn mode(&self, data_rate: Option<Rate>, mcs: Option<u8>) -> Result<Mode, Refusal> {
        let Some(format) = Format::of(self.standard) else {
            if mcs.is_some() {
                return Err(Refusal::new("mcs", "only 802.11n, ac and ax have an MCS; write `data_rate`"));
            }
            return match self.standard {
                Standard::B => self.dsss(data_rate.unwrap_or(DsssRate::K11000.rate()), "data_rate"),
                _ => ofdm(data_rate.unwrap_or(OfdmRate::M54.rate()), "data_rate"),
            };
        };
        let mimo = match data_rate {
            Some(rate) => self.of_rate(format, rate)?,
            None if format == Format::Ht => self.ht_of_index(mcs)?,
            None => self.of_index(format, mcs.unwrap_or(if self.extended_range.is_some() { 0 } else { 7 }))?,
        };
        Ok(Mode::Mimo(mimo))
    }

    fn mimo(&self, format: Format, coding: u8, streams: u8) -> Option<Mimo> {
        self.scheme(format, coding, streams, self.channel_width, self.guard_interval)
    }

    fn scheme(
        &self,
        format: Format,
        coding: u8,
        streams: u8,
        width: ChannelWidth,
        guard: GuardInterval,
    ) -> Option<Mimo> {
        let mimo = Mimo::new(format, coding, streams, width, guard)?;
        let mimo = mimo.padded(self.packet_padding).coded(self.has_ldpc());
        self.extended_range.map_or(Some(mimo), |tones| mimo.extended(tones))
    }

    /// Returns HT's MCS with this index, which counts the streams; by default the fastest with these streams.
    fn ht_of_index(&self, index: Option<u8>) -> Result<Mimo, Refusal> {
        let index = index.unwrap_or(8 * self.streams.unwrap_or(1).max(1) - 1);
        let why = match index {
            32 => "MCS 32 (MCS 0 twice over 40 MHz) is not offered; write 0 to 31",
            33..=76 => "MCS 33 to 76 (streams of unequal modulation) are not offered; write 0 to 31",
            _ => "802.11n has no MCS above 76; write 0 to 31",
        };
        let streams = index / 8 + 1;
        if self.streams.is_some_and(|given| given != streams) {
            let why = format!("MCS {index} of 802.11n has {streams} streams; leave `streams` out");
            return Err(Refusal::new("streams", why));
        }
        self.mimo(Format::Ht, index % 8, streams).ok_or_else(|| Refusal::new("mcs", why))
    }

    /// Returns VHT's or HE's MCS with this index, with as many streams as are set.
    fn of_index(&self, format: Format, index: u8) -> Result<Mimo, Refusal> {
        let streams = self.streams.unwrap_or(1);
        if index > format.highest() {
            let why =
                format!("802.11a{} has MCS 0 to {}", if format == Format::He { 'x' } else { 'c' }, format.highest());
            return Err(Refusal::new("mcs", why));
        }
        self.mimo(format, index, streams).ok_or_else(|| {
            if let Some(tones) = self.extended_range {
                let (tones, highest) = (tones.tones(), tones.highest());
                let why = format!("an HE ER SU PPDU over {tones} tones has no MCS above {highest}; write {highest}");
                return Refusal::new("mcs", why);
            }
            let (below, width) = (index - 1, self.channel_width.mhz());
            let why = format!(
                "802.11ac has no MCS {index} for NSS {streams} over {width} MHz (IEEE 802.11-2020, 21.5); the nearest \
                 is MCS {below}"
            );
            Refusal::new("mcs", why)
        })
    }

    /// Returns the mode with the fewest streams that has this rate.
    fn of_rate(&self, format: Format, rate: Rate) -> Result<Mimo, Refusal> {
        let of = |streams| (0..=format.highest()).filter_map(move |coding| self.mimo(format, coding, streams));
        let all = (1..=format.most_streams()).filter(|&streams| self.streams.is_none_or(|given| given == streams));
        let distance = |mimo: &Mimo| Mode::Mimo(*mimo).rate().as_bps().abs_diff(rate.as_bps());
        let near = all.flat_map(of).min_by_key(distance).expect("each number of streams has schemes");
        // The standard's tables say 72.2 Mb/s where the rate is 72 2/9 Mb/s.
        if distance(&near) * 1_000 <= Mode::Mimo(near).rate().as_bps() {
            return Ok(near);
        }
        let (name, mcs, streams) = (self.standard, near.mcs(), near.streams());
        let (ofdm, dsss) =
            (OfdmRate::ALL.into_iter().map(OfdmRate::rate), DsssRate::ALL.into_iter().map(DsssRate::rate));
        let scheme = match format {
            _ if ofdm.chain(dsss).any(|known| known == rate) => {
                format!("(MCS {mcs}); for this rate write `standard` as 802.11a, b or g")
            }
            Format::Ht => format!("(MCS {mcs}); or write `nominal_rate`"),
            Format::Vht | Format::He => format!("(MCS {mcs}, `streams` {streams})"),
        };
        let why = format!(
            "{name} has no {rate} with this channel width and guard interval; the nearest is {} {scheme}",
            Mode::Mimo(near).rate(),
        );
        Err(Refusal::new("data_rate", why))
    }

    fn dsss(&self, rate: Rate, key: &'static str) -> Result<Mode, Refusal> {
        let found = DsssRate::ALL.into_iter().find(|known| known.rate() == rate);
        let mode = found.map(|rate| Mode::Dsss { rate, preamble: self.preamble });
        mode.ok_or_else(|| no_such_rate(key, DsssRate::ALL.map(DsssRate::rate)))
    }

    /// Refuses settings that only other standards have.
    fn check_standard(&self) -> Result<(), Refusal> {
        let dsss = self.standard == Standard::B || self.b_protection() != BProtection::None || self.beside_b;
        if self.preamble == Preamble::Short && !dsss {
            return Err(Refusal::new("preamble", "the short preamble belongs to 802.11b; leave `preamble` out"));
        }
        if self.preamble == Preamble::DataRate && self.standard != Standard::B {
            return Err(Refusal::new(
                "preamble",
                "only frames of 802.11b have a preamble at their own rate; leave `preamble` out",
            ));
        }
        let Some(format) = Format::of(self.standard) else {
            let keys = [
                ("channel_width", self.channel_width != ChannelWidth::Mhz20),
                ("guard_interval", self.guard_interval != GuardInterval::Long),
                ("nominal_rate", self.nominal_rate.is_some()),
                ("streams", self.streams.is_some()),
                ("coding", self.coding.is_some()),
            ];
            let given = keys.into_iter().find(|&(_, given)| given);
            return given.map_or(Ok(()), |(key, _)| Err(Refusal::of_802_11n(key)));
        };
        let name = self.standard;
        if !format.widths().contains(&self.channel_width) {
            return Err(Refusal::new("channel_width", format!("{name} allows 20 and 40 MHz; write \"40 MHz\"")));
        }
        if !format.guards().contains(&self.guard_interval) {
            let (has, nearest) = match format {
                Format::Ht | Format::Vht => ("0.8 us (\"long\") and 0.4 us (\"short\")", "long"),
                Format::He => ("0.8 us (\"long\"), 1.6 us and 3.2 us", "long"),
            };
            return Err(Refusal::new("guard_interval", format!("{name} has {has}; write \"{nearest}\"")));
        }
        let most = format.most_streams();
        if self.streams.is_some_and(|streams| !(1..=most).contains(&streams)) {
            return Err(Refusal::new("streams", format!("{name} has 1 to {most} spatial streams")));
        }
        if self.nominal_rate.is_some() && (self.standard != Standard::N || self.streams.is_some()) {
            let why =
                "a nominal rate has the frames of 802.11n with one stream; write `mcs`, or `standard = \"802.11n\"`";
            return Err(Refusal::new("nominal_rate", why));
        }
        Ok(())
    }

    /// Refuses settings that came with 802.11ax if the standard is older.
    fn check_he(&self) -> Result<(), Refusal> {
        let keys = [
            ("packet_padding", self.packet_padding != PacketPadding::Us0),
            ("extended_range", self.extended_range.is_some()),
        ];
        if let Some((key, _)) = keys.into_iter().find(|&(_, given)| given && self.standard != Standard::Ax) {
            let why = format!("`{key}` needs 802.11ax; leave it out or write `standard = \"802.11ax\"`");
            return Err(Refusal::new(key, why));
        }
        if self.extended_range.is_none() {
            return Ok(());
        }
        let why = "`propagation = \"range\"` has no powers by which to extend a range; choose another propagation";
        refuse_if!(!self.propagation.has_powers(), Err(Refusal::new("extended_range", why)));
        if self.channel_width != ChannelWidth::Mhz20 {
            return Err(Refusal::new("channel_width", "an HE ER SU PPDU has 20 MHz; write \"20 MHz\""));
        }
        if self.streams.is_some_and(|streams| streams != 1) {
            return Err(Refusal::new("streams", "an HE ER SU PPDU has 1 stream; write 1"));
        }
        Ok(())
    }

    /// Refuses bands and widths that the standard does not have.
    fn check_band(&self) -> Result<(), Refusal> {
        let low = self.carrier() < Frequency::hertz(4_000_000_000);
        let why = "802.11ac has no band at 2.4 GHz; write \"5.18 GHz\", or 802.11n or ax in `standard`";
        refuse_if!(self.standard == Standard::Ac && low, Err(Refusal::new("frequency", why)));
        if low && self.channel_width > ChannelWidth::Mhz40 {
            return Err(Refusal::new("channel_width", "at 2.4 GHz a channel has 20 or 40 MHz; write \"40 MHz\""));
        }
        Ok(())
    }
}

fn ofdm(rate: Rate, key: &'static str) -> Result<Mode, Refusal> {
    let found = OfdmRate::ALL.into_iter().find(|known| known.rate() == rate);
    found.map(Mode::Ofdm).ok_or_else(|| no_such_rate(key, OfdmRate::ALL.map(OfdmRate::rate)))
}

fn no_such_rate(key: &'static str, rates: impl IntoIterator<Item = Rate>) -> Refusal {
    let rates: Vec<String> = rates.into_iter().map(|rate| rate.to_string()).collect();
    Refusal::new(key, format!("the standard has no such rate; its rates are {}", rates.join(", ")))
}

#[cfg(test)]
mod tests;
