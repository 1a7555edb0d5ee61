//! Translates a scenario's radio settings into modes, and rejects settings that contradict the standard.

use super::mode::{DsssRate, Mcs, Mode, OfdmRate};
use crate::config::{BProtection, ChannelWidth, ErrorModel, GuardInterval, Preamble, Radio, Standard};
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
            Standard::A | Standard::N => Frequency::hertz(5_180_000_000),
        })
    }

    /// True if the standard has the timing of the 2.4 GHz band at this frequency.
    pub(super) fn is_low_band(&self) -> bool {
        match self.standard {
            Standard::B | Standard::G => true,
            Standard::A => false,
            Standard::N => self.carrier() < Frequency::hertz(4_000_000_000),
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
        self.check_ht_only()?;
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

    /// Mode of data frames of a node with its own settings; `None` if it has none.
    pub(crate) fn node_mode(&self, data_rate: Option<Rate>, mcs: Option<u8>) -> Result<Option<Mode>, Refusal> {
        if data_rate.is_none() && mcs.is_none() {
            return Ok(None);
        }
        if data_rate.is_some() && mcs.is_some() {
            return Err(Refusal::new("mcs", "`data_rate` and `mcs` both set the rate; give one"));
        }
        self.mode(data_rate, mcs).map(Some)
    }

    /// Modes between which rate control moves step by step, slowest first: those of the standard, or the eight codings
    /// of 802.11n with as many streams as the data mode.
    pub(crate) fn ladder(&self) -> Vec<Mode> {
        match self.standard {
            Standard::B => DsssRate::ALL.map(|rate| Mode::Dsss { rate, preamble: self.preamble }).to_vec(),
            Standard::A | Standard::G => OfdmRate::ALL.map(Mode::Ofdm).to_vec(),
            Standard::N => {
                let first = 8 * (self.streams() - 1);
                (first..first + 8).filter_map(Mcs::new).map(|mcs| self.ht(mcs)).collect()
            }
        }
    }

    /// All modes of a station, slowest first: in 802.11n those with no more streams than the data mode, over channels
    /// no wider and with guard intervals no shorter than the settings allow.
    pub(crate) fn all_modes(&self) -> Vec<Mode> {
        if self.standard != Standard::N {
            return self.ladder();
        }
        let widths = [ChannelWidth::Mhz20, ChannelWidth::Mhz40];
        let guards = [GuardInterval::Long, GuardInterval::Short];
        let mut modes = Vec::new();
        for &width in &widths[..=self.channel_width as usize] {
            for &guard in &guards[..=self.guard_interval as usize] {
                let all = (0..8 * self.streams()).filter_map(Mcs::new);
                modes.extend(all.map(|mcs| Mode::Ht { mcs, width, guard }));
            }
        }
        modes.sort_by_key(|mode| mode.rate());
        modes
    }

    /// Streams of the data mode.
    fn streams(&self) -> u8 {
        match self.data_mode() {
            Ok(Mode::Ht { mcs, .. }) => mcs.streams(),
            _ => 1,
        }
    }

    /// Mode of control and broadcast frames.
    pub(super) fn basic_mode(&self) -> Result<Mode, Refusal> {
        match self.standard {
            Standard::B => self.dsss(self.basic_rate.unwrap_or(self.usual_basic_rate()), "basic_rate"),
            Standard::A | Standard::G | Standard::N => {
                ofdm(self.basic_rate.unwrap_or(OfdmRate::ALL[0].rate()), "basic_rate")
            }
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
            let why = "802.11b stations are near those of 802.11g, or of 802.11n at 2.4 GHz; leave `b_protection` out";
            return Err(Refusal::new("b_protection", why));
        }
        let rate = self.b_protection_rate.unwrap_or(DsssRate::K1000.rate());
        Ok((self.dsss(rate, "b_protection_rate")?, true))
    }

    /// Slowest mode that every station nearby receives: EIFS makes room for its ACK.
    pub(super) fn slowest_mode(&self) -> Mode {
        match self.standard {
            Standard::A | Standard::G | Standard::N if self.b_protection != BProtection::None => {
                Mode::Dsss { rate: DsssRate::K1000, preamble: self.preamble }
            }
            Standard::B => Mode::Dsss { rate: DsssRate::K1000, preamble: self.preamble },
            Standard::A | Standard::G | Standard::N => Mode::Ofdm(OfdmRate::M6),
        }
    }

    fn mode(&self, data_rate: Option<Rate>, mcs: Option<u8>) -> Result<Mode, Refusal> {
        if mcs.is_some() && self.standard != Standard::N {
            return Err(Refusal::new("mcs", "only 802.11n has these schemes; write `data_rate`"));
        }
        match self.standard {
            Standard::B => self.dsss(data_rate.unwrap_or(DsssRate::K11000.rate()), "data_rate"),
            Standard::A | Standard::G => ofdm(data_rate.unwrap_or(OfdmRate::M54.rate()), "data_rate"),
            Standard::N => match data_rate {
                Some(rate) => self.ht_of_rate(rate),
                None => self.ht_of_index(mcs.unwrap_or(7)),
            },
        }
    }

    fn ht_of_index(&self, index: u8) -> Result<Mode, Refusal> {
        let why = match index {
            32 => "MCS 32 (MCS 0 twice over 40 MHz) is not offered; write 0 to 31",
            33..=76 => "MCS 33 to 76 (streams of unequal modulation) are not offered; write 0 to 31",
            _ => "802.11n has no such MCS; write 0 to 31",
        };
        let mcs = Mcs::new(index).ok_or_else(|| Refusal::new("mcs", why))?;
        Ok(self.ht(mcs))
    }

    fn ht(&self, mcs: Mcs) -> Mode {
        Mode::Ht { mcs, width: self.channel_width, guard: self.guard_interval }
    }

    /// Scheme with the fewest streams that has this rate.
    fn ht_of_rate(&self, rate: Rate) -> Result<Mode, Refusal> {
        let all = || (0..=Mcs::HIGHEST.index()).filter_map(Mcs::new).map(|mcs| (mcs, self.ht(mcs)));
        let distance = |mode: Mode| mode.rate().as_bps().abs_diff(rate.as_bps());
        let (mcs, near) = all().min_by_key(|&(_, mode)| distance(mode)).expect("there are 32 schemes");
        // The standard's tables give 72.2 Mb/s where the rate is 72 2/9.
        if distance(near) * 1_000 <= near.rate().as_bps() {
            return Ok(near);
        }
        let why = format!(
            "802.11n has no {rate} with this channel width and guard interval; the nearest is {} (MCS {}); or write \
             `nominal_rate`",
            near.rate(),
            mcs.index()
        );
        Err(Refusal::new("data_rate", why))
    }

    fn dsss(&self, rate: Rate, key: &'static str) -> Result<Mode, Refusal> {
        let found = DsssRate::ALL.into_iter().find(|known| known.rate() == rate);
        let mode = found.map(|rate| Mode::Dsss { rate, preamble: self.preamble });
        mode.ok_or_else(|| no_such_rate(key, DsssRate::ALL.map(DsssRate::rate)))
    }

    /// Settings that only one standard has.
    fn check_ht_only(&self) -> Result<(), Refusal> {
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
        if self.standard == Standard::N {
            return Ok(());
        }
        let keys = [
            ("channel_width", self.channel_width == ChannelWidth::Mhz40),
            ("guard_interval", self.guard_interval == GuardInterval::Short),
            ("nominal_rate", self.nominal_rate.is_some()),
        ];
        match keys.into_iter().find(|&(_, given)| given) {
            Some((key, _)) => Err(Refusal::new(
                key,
                format!("`{key}` belongs to 802.11n; leave it out or write `standard = \"802.11n\"`"),
            )),
            None => Ok(()),
        }
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
        assert_eq!(of(26), n().ht_of_index(3));
        assert_eq!(of(65), n().data_mode());
        let short = Radio { guard_interval: GuardInterval::Short, data_rate: Some(Rate::kbps(72_200)), ..n() };
        assert_eq!(short.data_mode(), short.ht_of_index(7));
        let refusal = of(60).expect_err("no such rate");
        assert!(refusal.why.contains("58.5 Mb/s (MCS 6)"), "{}", refusal.why);
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
        let basic = Radio { basic_rate: Some(Rate::kbps(6_500)), ..n() }.basic_mode();
        assert_eq!(basic.expect_err("control frames are no HT frames").key, "basic_rate");
        assert_eq!(n().node_mode(Some(Rate::mbps(26)), Some(3)).expect_err("two rates").key, "mcs");
    }
}
