//! Translates a scenario's radio settings into modes, and rejects settings that contradict the standard.

use super::mimo::{Format, Mimo};
use super::mode::{DsssRate, Mode, OfdmRate};
use crate::config::{self, BProtection, ChannelWidth, ErrorModel, GuardInterval, Preamble, Radio, Standard};
use units::{Frequency, Rate};

/// A setting that contradicts the standard or another setting: its key without a table, and why, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) key: &'static str,
    pub(crate) why: String,
}

impl Refusal {
    pub(super) fn new(key: &'static str, why: impl Into<String>) -> Self {
        Self { key, why: why.into() }
    }
}

impl Radio {
    /// The carrier frequency; by default the usual one of the standard.
    pub(crate) fn carrier(&self) -> Frequency {
        self.frequency.unwrap_or(match self.standard {
            Standard::B | Standard::G => Frequency::hertz(2_412_000_000),
            Standard::A | Standard::N | Standard::Ac | Standard::Ax => Frequency::hertz(5_180_000_000),
        })
    }

    /// True if the standard has the timing of the 2.4 GHz band at this frequency.
    pub(super) fn is_low_band(&self) -> bool {
        match self.standard {
            Standard::B | Standard::G => true,
            Standard::A | Standard::Ac => false,
            Standard::N | Standard::Ax => self.carrier() < Frequency::hertz(4_000_000_000),
        }
    }

    /// Error model; by default one that fits most of the frames that the settings describe.
    pub(super) fn error_model(&self) -> ErrorModel {
        let by_default = if self.propagation.has_powers() && self.nominal_rate.is_none() {
            ErrorModel::Nist
        } else {
            ErrorModel::None
        };
        self.errors.model.unwrap_or(by_default)
    }

    /// Mode of data frames.
    pub(crate) fn data_mode(&self) -> Result<Mode, Refusal> {
        self.check_standard()?;
        self.check_band()?;
        let given = [
            ("data_rate", self.data_rate.is_some()),
            ("mcs", self.mcs.is_some()),
            ("nominal_rate", self.nominal_rate.is_some()),
        ];
        let given: Vec<&'static str> = given.into_iter().filter(|given| given.1).map(|given| given.0).collect();
        if let [first, second, ..] = given[..] {
            return Err(Refusal::new(second, format!("`{first}` and `{second}` both set the rate; give one")));
        }
        let Some(rate) = self.nominal_rate else { return self.mode(self.data_rate, self.mcs) };
        if self.channel_width != ChannelWidth::Mhz20 || self.guard_interval != GuardInterval::Long {
            let why = "a nominal rate has symbols of 4 us; leave `channel_width` and `guard_interval` out";
            return Err(Refusal::new("nominal_rate", why));
        }
        match u32::try_from(rate.as_bps() / 1_000) {
            Ok(kbps) if kbps > 0 => Ok(Mode::Nominal { kbps }),
            _ => Err(Refusal::new("nominal_rate", "a nominal rate lies between 1 kb/s and 4 Tb/s")),
        }
    }

    /// Mode of data frames with other settings; `None` if there are none.
    pub(crate) fn node_mode(&self, data_rate: Option<Rate>, mcs: Option<u8>) -> Result<Option<Mode>, Refusal> {
        if data_rate.is_none() && mcs.is_none() {
            return Ok(None);
        }
        if data_rate.is_some() && mcs.is_some() {
            return Err(Refusal::new("mcs", "`data_rate` and `mcs` both set the rate; give one"));
        }
        self.mode(data_rate, mcs).map(Some)
    }

    /// The radio of a node of its own generation; `None` if it is as all others.
    pub(crate) fn of_node(&self, node: &config::Node) -> Result<Option<Self>, Refusal> {
        if node.standard.is_none() && node.channel_width.is_none() && node.streams.is_none() {
            return Ok(None);
        }
        let standard = node.standard.unwrap_or(self.standard);
        if !standard.high_throughput() || standard > self.standard {
            let why =
                "a node has the standard of `[radio]` or an older one from 802.11n on; write the newest in `[radio]`";
            return Err(Refusal::new("standard", why));
        }
        let format = Format::of(standard).expect("802.11n or later");
        let widest = *format.widths().last().expect("there are widths");
        let channel_width = node.channel_width.unwrap_or(self.channel_width.min(widest));
        if channel_width > self.channel_width {
            let why = format!("the channel of `[radio]` has {} MHz; write no more", self.channel_width.mhz());
            return Err(Refusal::new("channel_width", why));
        }
        let is_known = format.guards().contains(&self.guard_interval);
        let own = Self {
            standard,
            channel_width,
            guard_interval: if is_known { self.guard_interval } else { GuardInterval::Long },
            streams: node.streams,
            data_rate: node.data_rate,
            mcs: node.mcs,
            nominal_rate: None,
            ..self.clone()
        };
        // Without a rate of its own it has the radio's, as far as that means the same.
        if standard == self.standard && own.data_rate.is_none() && own.mcs.is_none() {
            let streams = node.streams.or(self.streams);
            let mcs = match (self.mcs, node.streams) {
                (Some(mcs), Some(streams)) if format == Format::Ht => Some(mcs % 8 + 8 * (streams.clamp(1, 4) - 1)),
                (mcs, _) => mcs,
            };
            return Ok(Some(Self { mcs, streams, data_rate: self.data_rate, ..own }));
        }
        Ok(Some(own))
    }

    /// The radio that two nodes of their own generations have in common.
    pub(crate) fn common(&self, other: &Self) -> Self {
        let (Ok(Mode::Mimo(own)), Ok(Mode::Mimo(its))) = (self.data_mode(), other.data_mode()) else {
            return self.clone();
        };
        let mimo = own.common(its);
        Self {
            standard: self.standard.min(other.standard),
            channel_width: mimo.width(),
            guard_interval: mimo.guard(),
            streams: Some(mimo.streams()),
            mcs: Some(mimo.mcs()),
            data_rate: None,
            nominal_rate: None,
            ..self.clone()
        }
    }

    /// Modes between which rate control moves step by step, slowest first: those of the standard, or the codings of
    /// 802.11n, ac or ax with as many streams as the data mode.
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

    /// All modes of a station, slowest first: from 802.11n on those with no more streams than the data mode, over channels
    /// no wider and, but in 802.11ax, with guard intervals no shorter than the settings allow.
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
                    let all =
                        (0..=format.highest()).filter_map(|coding| Mimo::new(format, coding, streams, width, guard));
                    modes.extend(all.map(Mode::Mimo));
                }
            }
        }
        modes.sort_by_key(|mode| mode.rate());
        modes
    }

    /// Streams of the data mode.
    fn most_streams(&self) -> u8 {
        match self.data_mode() {
            Ok(Mode::Mimo(mimo)) => mimo.streams(),
            _ => 1,
        }
    }

    /// Mode of control and broadcast frames.
    pub(super) fn basic_mode(&self) -> Result<Mode, Refusal> {
        match self.standard {
            Standard::B => self.dsss(self.basic_rate.unwrap_or(self.usual_basic_rate()), "basic_rate"),
            _ => ofdm(self.basic_rate.unwrap_or(OfdmRate::ALL[0].rate()), "basic_rate"),
        }
    }

    /// Rate of control frames of 802.11b where none is given.
    fn usual_basic_rate(&self) -> Rate {
        match self.preamble {
            Preamble::Long | Preamble::Short => DsssRate::K1000.rate(),
            Preamble::DataRate => self.data_rate.unwrap_or(DsssRate::K11000.rate()),
        }
    }

    /// Mode of RTS and CTS frames, and whether it is one of 802.11b for protection.
    pub(super) fn protection_mode(&self) -> Result<(Mode, bool), Refusal> {
        if self.b_protection == BProtection::None {
            return match self.b_protection_rate {
                Some(_) => Err(Refusal::new("b_protection_rate", "nothing is protected; set `b_protection` too")),
                None => Ok((self.basic_mode()?, false)),
            };
        }
        if self.standard == Standard::B || !self.is_low_band() {
            let why = "802.11b stations are near those of 802.11g, or of n and ax at 2.4 GHz; leave `b_protection` out";
            return Err(Refusal::new("b_protection", why));
        }
        let rate = self.b_protection_rate.unwrap_or(DsssRate::K1000.rate());
        Ok((self.dsss(rate, "b_protection_rate")?, true))
    }

    /// Slowest mode that every station nearby receives: EIFS makes room for its ACK.
    pub(super) fn slowest_mode(&self) -> Mode {
        match self.standard {
            Standard::B => Mode::Dsss { rate: DsssRate::K1000, preamble: self.preamble },
            _ if self.b_protection != BProtection::None => {
                Mode::Dsss { rate: DsssRate::K1000, preamble: self.preamble }
            }
            _ => Mode::Ofdm(OfdmRate::M6),
        }
    }

    fn mode(&self, data_rate: Option<Rate>, mcs: Option<u8>) -> Result<Mode, Refusal> {
        let Some(format) = Format::of(self.standard) else {
            if mcs.is_some() {
                return Err(Refusal::new("mcs", "only 802.11n, ac and ax have these schemes; write `data_rate`"));
            }
            return match self.standard {
                Standard::B => self.dsss(data_rate.unwrap_or(DsssRate::K11000.rate()), "data_rate"),
                _ => ofdm(data_rate.unwrap_or(OfdmRate::M54.rate()), "data_rate"),
            };
        };
        let mimo = match data_rate {
            Some(rate) => self.of_rate(format, rate)?,
            None if format == Format::Ht => self.ht_of_index(mcs)?,
            None => self.of_index(format, mcs.unwrap_or(7))?,
        };
        Ok(Mode::Mimo(mimo))
    }

    fn mimo(&self, format: Format, coding: u8, streams: u8) -> Option<Mimo> {
        Mimo::new(format, coding, streams, self.channel_width, self.guard_interval)
    }

    /// HT's scheme of this index, which counts the streams; by default the fastest with these streams.
    fn ht_of_index(&self, index: Option<u8>) -> Result<Mimo, Refusal> {
        let index = index.unwrap_or(8 * self.streams.unwrap_or(1).max(1) - 1);
        let why = match index {
            32 => "MCS 32 (MCS 0 twice over 40 MHz) is not offered; write 0 to 31",
            33..=76 => "MCS 33 to 76 (streams of unequal modulation) are not offered; write 0 to 31",
            _ => "802.11n has no such MCS; write 0 to 31",
        };
        let streams = index / 8 + 1;
        if self.streams.is_some_and(|given| given != streams) {
            let why = format!("MCS {index} of 802.11n has {streams} streams; leave `streams` out");
            return Err(Refusal::new("streams", why));
        }
        self.mimo(Format::Ht, index % 8, streams).ok_or_else(|| Refusal::new("mcs", why))
    }

    /// VHT's or HE's scheme of this index, with as many streams as set.
    fn of_index(&self, format: Format, index: u8) -> Result<Mimo, Refusal> {
        let streams = self.streams.unwrap_or(1);
        if index > format.highest() {
            let why =
                format!("802.11a{} has MCS 0 to {}", if format == Format::He { 'x' } else { 'c' }, format.highest());
            return Err(Refusal::new("mcs", why));
        }
        self.mimo(format, index, streams).ok_or_else(|| {
            let (below, width) = (index - 1, self.channel_width.mhz());
            let why = format!(
                "802.11ac has no MCS {index} with {streams} streams over {width} MHz (IEEE 802.11-2020, 21.5); the nearest \
                 is MCS {below}"
            );
            Refusal::new("mcs", why)
        })
    }

    /// Scheme with the fewest streams that has this rate.
    fn of_rate(&self, format: Format, rate: Rate) -> Result<Mimo, Refusal> {
        let of = |streams| (0..=format.highest()).filter_map(move |coding| self.mimo(format, coding, streams));
        let all = (1..=format.most_streams()).filter(|&streams| self.streams.is_none_or(|given| given == streams));
        let distance = |mimo: &Mimo| Mode::Mimo(*mimo).rate().as_bps().abs_diff(rate.as_bps());
        let near = all.flat_map(of).min_by_key(distance).expect("each number of streams has schemes");
        // The standard's tables give 72.2 Mb/s where the rate is 72 2/9.
        if distance(&near) * 1_000 <= Mode::Mimo(near).rate().as_bps() {
            return Ok(near);
        }
        let (name, mcs, streams) = (self.standard.name(), near.mcs(), near.streams());
        let scheme = match format {
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

    /// Settings that only one standard has.
    fn check_standard(&self) -> Result<(), Refusal> {
        let dsss = self.standard == Standard::B || self.b_protection != BProtection::None;
        if self.preamble == Preamble::Short && !dsss {
            return Err(Refusal::new("preamble", "the short preamble belongs to 802.11b; leave `preamble` out"));
        }
        if self.preamble == Preamble::DataRate && self.standard != Standard::B {
            return Err(Refusal::new(
                "preamble",
                "only frames of 802.11b have it at their own rate; leave `preamble` out",
            ));
        }
        let Some(format) = Format::of(self.standard) else {
            let keys = [
                ("channel_width", self.channel_width != ChannelWidth::Mhz20),
                ("guard_interval", self.guard_interval != GuardInterval::Long),
                ("nominal_rate", self.nominal_rate.is_some()),
                ("streams", self.streams.is_some()),
            ];
            return match keys.into_iter().find(|&(_, given)| given) {
                Some((key, _)) => Err(Refusal::new(
                    key,
                    format!("`{key}` belongs to 802.11n; leave it out or write `standard = \"802.11n\"`"),
                )),
                None => Ok(()),
            };
        };
        let name = self.standard.name();
        if !format.widths().contains(&self.channel_width) {
            return Err(Refusal::new("channel_width", format!("{name} has 20 and 40 MHz; write \"40 MHz\"")));
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
            return Err(Refusal::new("streams", format!("{name} has 1 to {most} streams")));
        }
        if self.nominal_rate.is_some() && (self.standard != Standard::N || self.streams.is_some()) {
            let why =
                "a nominal rate has the frames of 802.11n with one stream; write `mcs`, or `standard = \"802.11n\"`";
            return Err(Refusal::new("nominal_rate", why));
        }
        Ok(())
    }

    /// Bands and widths that the standard does not have.
    fn check_band(&self) -> Result<(), Refusal> {
        let low = self.carrier() < Frequency::hertz(4_000_000_000);
        if self.standard == Standard::Ac && low {
            let why = "802.11ac has no band at 2.4 GHz; write \"5.18 GHz\", or 802.11n or ax in `standard`";
            return Err(Refusal::new("frequency", why));
        }
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
    Refusal::new(key, format!("the standard has no such rate; it has {}", rates.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n() -> Radio {
        Radio { standard: Standard::N, ..Radio::default() }
    }

    fn refused(radio: &Radio) -> Refusal {
        radio.data_mode().expect_err("contradicts the standard")
    }

    #[test]
    fn an_ht_rate_means_the_scheme_with_the_fewest_streams() {
        let of = |mbps: u64| Radio { data_rate: Some(Rate::mbps(mbps)), ..n() }.data_mode();
        // 26 Mb/s is MCS 3 and MCS 9.
        assert_eq!(of(26), n().ht_of_index(Some(3)).map(Mode::Mimo));
        assert_eq!(of(65), n().data_mode());
        let short = Radio { guard_interval: GuardInterval::Short, data_rate: Some(Rate::kbps(72_200)), ..n() };
        assert_eq!(short.data_mode(), short.ht_of_index(Some(7)).map(Mode::Mimo));
        let refusal = of(60).expect_err("no such rate");
        assert!(refusal.why.contains("58.5 Mb/s (MCS 6)"), "{}", refusal.why);
    }

    fn mimo(radio: &Radio) -> Mimo {
        let Ok(Mode::Mimo(mimo)) = radio.data_mode() else { panic!("{:?}", radio.data_mode()) };
        mimo
    }

    #[test]
    fn a_rate_of_802_11ax_means_the_scheme_with_the_fewest_streams() {
        let wide = Radio { standard: Standard::Ax, channel_width: ChannelWidth::Mhz80, ..Radio::default() };
        let of = |mbps, streams| mimo(&Radio { data_rate: Some(Rate::mbps(mbps)), streams, ..wide.clone() });
        assert_eq!((of(1_201, None).coding(), of(1_201, None).streams()), (11, 2));
        assert_eq!((of(1_153, Some(4)).coding(), of(1_153, Some(4)).streams()), (5, 4));
        assert_eq!((mimo(&wide).coding(), mimo(&wide).streams()), (7, 1));
        let two = Radio { streams: Some(2), ..n() };
        assert_eq!((mimo(&two).mcs(), two.all_modes().len(), two.ladder().len()), (15, 16, 8));
        // 20, 40 and 80 MHz, two streams; the guard interval is the one that is set.
        let two = Radio { streams: Some(2), ..wide };
        assert_eq!((two.all_modes().len(), two.ladder().len()), (3 * 2 * 12, 12));
        // VHT: MCS 9 is missing over 20 MHz.
        let short = Radio { standard: Standard::Ac, guard_interval: GuardInterval::Short, ..two };
        assert_eq!((short.all_modes().len(), short.ladder().len()), (2 * 2 * 30 - 4, 10));
    }

    #[test]
    fn a_node_of_an_older_generation_has_its_own_modes() {
        let radio = Radio {
            standard: Standard::Ax,
            channel_width: ChannelWidth::Mhz80,
            guard_interval: GuardInterval::Double,
            mcs: Some(11),
            streams: Some(2),
            ..Radio::default()
        };
        let own = |node: config::Node| radio.of_node(&node).map(|own| own.map(|own| mimo(&own)));
        assert_eq!(own(config::Node::default()), Ok(None));
        let of = |standard, streams| config::Node { standard: Some(standard), streams, ..config::Node::default() };
        let mode = |format, coding, streams, width, guard| Ok(Mimo::new(format, coding, streams, width, guard));
        let (long, double) = (GuardInterval::Long, GuardInterval::Double);
        assert_eq!(own(of(Standard::N, None)), mode(Format::Ht, 7, 1, ChannelWidth::Mhz40, long));
        assert_eq!(own(of(Standard::Ac, Some(2))), mode(Format::Vht, 7, 2, ChannelWidth::Mhz80, long));
        let narrow = config::Node { channel_width: Some(ChannelWidth::Mhz20), ..config::Node::default() };
        assert_eq!(own(narrow), mode(Format::He, 11, 2, ChannelWidth::Mhz20, double));
        let wide = config::Node { channel_width: Some(ChannelWidth::Mhz160), ..config::Node::default() };
        assert_eq!(radio.of_node(&wide).expect_err("too wide").key, "channel_width");
        assert_eq!(radio.of_node(&of(Standard::G, None)).expect_err("too old").key, "standard");
        let old = Radio { standard: Standard::N, ..Radio::default() };
        assert_eq!(old.of_node(&of(Standard::Ax, None)).expect_err("too new").key, "standard");
        let two = old.of_node(&of(Standard::N, Some(2))).expect("it exists").expect("it differs");
        assert_eq!(mimo(&two).mcs(), 15);
    }

    #[test]
    fn what_the_standard_lacks_is_refused_by_its_key() {
        let b = Radio::default;
        let cases = [
            (Radio { data_rate: Some(Rate::mbps(54)), ..b() }, "data_rate"),
            (Radio { standard: Standard::A, preamble: Preamble::Short, ..b() }, "preamble"),
            (Radio { standard: Standard::G, preamble: Preamble::DataRate, ..b() }, "preamble"),
            (Radio { mcs: Some(3), ..b() }, "mcs"),
            (Radio { channel_width: ChannelWidth::Mhz40, ..b() }, "channel_width"),
            (Radio { guard_interval: GuardInterval::Short, ..b() }, "guard_interval"),
            (Radio { nominal_rate: Some(Rate::mbps(216)), ..b() }, "nominal_rate"),
            (Radio { mcs: Some(32), ..n() }, "mcs"),
            (Radio { mcs: Some(200), ..n() }, "mcs"),
            (Radio { mcs: Some(3), data_rate: Some(Rate::mbps(26)), ..n() }, "mcs"),
            (Radio { nominal_rate: Some(Rate::mbps(216)), channel_width: ChannelWidth::Mhz40, ..n() }, "nominal_rate"),
            (Radio { nominal_rate: Some(Rate::bps(1)), ..n() }, "nominal_rate"),
        ];
        for (radio, key) in cases {
            assert_eq!(refused(&radio).key, key);
        }
        let ac = || Radio { standard: Standard::Ac, ..Radio::default() };
        let ax = || Radio { standard: Standard::Ax, ..Radio::default() };
        let low = Some(Frequency::hertz(2_437_000_000));
        // Key, and the nearest right value.
        let newer = [
            (Radio { mcs: Some(10), ..ac() }, "mcs", "0 to 9"),
            (Radio { mcs: Some(12), ..ax() }, "mcs", "0 to 11"),
            (Radio { mcs: Some(9), ..ac() }, "mcs", "the nearest is MCS 8"),
            (
                Radio { mcs: Some(6), streams: Some(3), channel_width: ChannelWidth::Mhz80, ..ac() },
                "mcs",
                "the nearest is MCS 5",
            ),
            (Radio { streams: Some(9), ..ax() }, "streams", "1 to 8"),
            (Radio { streams: Some(0), ..ax() }, "streams", "1 to 8"),
            (Radio { streams: Some(5), ..n() }, "streams", "1 to 4"),
            (Radio { streams: Some(2), mcs: Some(3), ..n() }, "streams", "MCS 3 of 802.11n has 1 streams"),
            (Radio { streams: Some(2), ..b() }, "streams", "802.11n"),
            (Radio { frequency: low, ..ac() }, "frequency", "5.18 GHz"),
            (Radio { frequency: low, channel_width: ChannelWidth::Mhz80, ..ax() }, "channel_width", "40 MHz"),
            (Radio { frequency: low, channel_width: ChannelWidth::Mhz160, ..ax() }, "channel_width", "40 MHz"),
            (Radio { channel_width: ChannelWidth::Mhz80, ..n() }, "channel_width", "40 MHz"),
            (Radio { guard_interval: GuardInterval::Short, ..ax() }, "guard_interval", "long"),
            (Radio { guard_interval: GuardInterval::Double, ..ac() }, "guard_interval", "long"),
            (Radio { guard_interval: GuardInterval::Quadruple, ..n() }, "guard_interval", "long"),
            (Radio { nominal_rate: Some(Rate::mbps(216)), ..ax() }, "nominal_rate", "802.11n"),
            (Radio { data_rate: Some(Rate::mbps(100)), ..ax() }, "data_rate", "103.235294 Mb/s (MCS 8, `streams` 1)"),
        ];
        for (radio, key, says) in newer {
            let refusal = refused(&radio);
            assert!(refusal.key == key && refusal.why.contains(says), "{refusal:?}");
        }
        let basic = Radio { basic_rate: Some(Rate::kbps(6_500)), ..n() }.basic_mode();
        assert_eq!(basic.expect_err("control frames are no HT frames").key, "basic_rate");
        assert_eq!(n().node_mode(Some(Rate::mbps(26)), Some(3)).expect_err("two rates").key, "mcs");
    }
}
