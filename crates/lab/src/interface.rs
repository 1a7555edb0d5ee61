//! Turns an interface, as nl80211 or `iw` reports it, into a scenario: its channel, and the generation, width, streams
//! and MCS of each station.

mod iw;

pub use iw::{is_interface, read};

use serde_json::Value;
use sim::config::{GuardInterval, Standard};
use sim::radio::{DsssRate, Format, Mimo, TWELFTHS};
use std::fmt::{self, Write as _};
use units::Rate;

/// Returns a generation's name, highest MCS, largest number of streams and widest channel in a scenario.
const fn limits(generation: Format) -> (&'static str, u8, u8, u32) {
    match generation {
        Format::Ht => ("802.11n", 7, 4, 40),
        Format::Vht => ("802.11ac", 9, 8, 160),
        // This also stands for later generations.
        Format::He => ("802.11ax", 11, 8, 160),
    }
}

/// A mode in which a frame was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitrate {
    generation: Format,
    /// The MCS in one stream.
    mcs: u8,
    streams: u8,
    /// Width in MHz.
    width: u32,
    guard: GuardInterval,
}

impl Bitrate {
    /// Creates a mode; for 802.11n the MCS counts the streams. Modes above a generation's highest, such as 4096-QAM,
    /// count as its highest, and MCS 14 and 15 of 802.11be, which repeat MCS 0, as MCS 0. Errors: the generation lacks
    /// such a width or this number of streams.
    pub(crate) fn new(
        generation: Format,
        mcs: u8,
        streams: u8,
        width: u32,
        guard: GuardInterval,
    ) -> Result<Self, String> {
        let (mcs, streams) = if generation == Format::Ht { (mcs % 8, mcs / 8 + 1) } else { (mcs, streams) };
        let mcs = if generation == Format::He && matches!(mcs, 14 | 15) { 0 } else { mcs };
        let (name, fastest, most, widest) = limits(generation);
        if !(1..=most).contains(&streams) {
            return Err(format!("{name} has 1 to {most} spatial streams (NSS), not {streams}"));
        }
        // Channels of 802.11be are not simulated.
        let width = width.min(160);
        if ![20, 40, 80, 160].contains(&width) || width > widest {
            return Err(format!("{name} has no channels of {width} MHz"));
        }
        Ok(Self { generation, mcs: mcs.min(fastest), streams, width, guard })
    }

    /// Returns a number proportional to the mode's rate, the guard interval left out.
    fn bits(self) -> u64 {
        TWELFTHS[usize::from(self.mcs)] * u64::from(self.streams) * u64::from(self.width)
    }

    /// The mode's rate in bit/s, rounded to a sixth.
    pub(crate) fn rate(self) -> f64 {
        // The rate is per MHz, stream and twelfth of a bit, without pilots, guard intervals and edges of the band.
        62e3 * self.bits() as f64
    }

    /// True if the standard has the mode. 802.11ac does not have some combinations with MCS 6 and 9.
    fn exists(self) -> bool {
        let width = self.generation.widths().iter().find(|width| width.mhz() == self.width);
        let mimo = |width| Mimo::new(self.generation, self.mcs, self.streams, width, self.generation.guards()[0]);
        width.copied().and_then(mimo).is_some()
    }
}

/// Role of an interface in its network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// An access point; its stations are listed.
    #[default]
    AccessPoint,
    /// A station; its access point is listed.
    Station,
    /// A node of a network without an access point.
    Other,
}

/// A station, as the interface's driver knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Station {
    /// MAC address, such as `02:00:00:00:01:00`.
    pub address: String,
    /// Mode of the last frame to the station.
    pub sent: Option<Bitrate>,
    /// Mode of the last frame from the station.
    pub received: Option<Bitrate>,
    /// Rate of the last frame to the station, if it was data in an older format.
    pub old: Option<Rate>,
}

/// Returns a rate of 802.11a, b or g that shows a station's standard. Frames without data are sent at 1 or 6 Mb/s.
fn old_rate(bits_per_second: u64) -> Option<Rate> {
    let known = [2_000, 5_500, 11_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000].map(Rate::kbps);
    known.into_iter().find(|rate| rate.as_bps() == bits_per_second)
}

/// An interface of a Wi-Fi card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Name of the interface.
    pub name: Option<String>,
    /// Role of the interface.
    pub role: Role,
    /// Centre frequency of the primary channel, in MHz.
    pub frequency: Option<u32>,
    /// Width of the channel, in MHz.
    pub width: Option<u32>,
    /// Stations of the interface.
    pub stations: Vec<Station>,
}

/// True for a frequency in MHz at which the standards have channels.
const fn is_of_wifi(mhz: u32) -> bool {
    matches!(mhz, 2_400..=2_500 | 4_900..=7_200)
}

/// Returns the text of a scenario file made from an interface. `about`: where the interface comes from.
///
/// # Errors
/// The interface does not have all required values.
pub fn scenario(interface: &Interface, about: &str) -> Result<String, &'static str> {
    Ok(cell(interface, about)? + SERVER + TRAFFIC)
}

/// As [`scenario`], but returns only the cell: access point and stations. Errors: the interface does not have all
/// required values.
pub(crate) fn cell(interface: &Interface, about: &str) -> Result<String, &'static str> {
    if interface.role == Role::Other {
        return Err("the interface belongs to no access point: only a network with an access point can be copied");
    }
    if interface.stations.is_empty() {
        return Err("the interface has no station: include the output of `iw dev DEV station dump`");
    }
    if interface.left_out() == interface.stations.len() {
        return Err("no station has a bitrate with an MCS or a data rate: read iw while stations download");
    }
    let mut cell = String::new();
    write_cell(&mut cell, interface, about).map_err(|_| "the scenario is too long")?;
    Ok(cell)
}

impl Interface {
    /// Reads an interface as `linux` writes it to JSON. A value impossible in scenarios, such as 10 MHz, is left out.
    pub fn of_radio(name: Option<&str>, radio: &Value) -> Self {
        let role = match radio["role"].as_str() {
            Some("access point") => Role::AccessPoint,
            Some("station") => Role::Station,
            _ => Role::Other,
        };
        let small = |key: &str| u32::try_from(radio[key].as_u64()?).ok();
        let stations = radio["stations"].as_array().into_iter().flatten().map(Station::of_radio).collect();
        let (frequency, width) = (small("channel_mhz").filter(|&mhz| is_of_wifi(mhz)), small("channel_width_mhz"));
        Self { name: name.map(str::to_owned), role, frequency, width: width.map(|it| it.clamp(20, 160)), stations }
    }

    /// Returns the number of idle stations: those without a bitrate that shows their standard.
    pub fn left_out(&self) -> usize {
        let old = self.stations.iter().filter(|station| station.older(self.is_low()).is_some());
        self.stations.len() - self.modes().count() - old.count()
    }

    /// Returns MCS and rate in bit/s of a neighbour of the newest generation, at these tenths of the fastest MCS.
    pub(crate) fn neighbour(&self, tenths: u8) -> (u8, f64) {
        let newest = self.modes().map(|mode| mode.generation).max().unwrap_or(Format::He);
        let streams = self.modes().map(|mode| mode.streams).max().unwrap_or(1);
        let width = self.modes().map(|mode| mode.width).max().unwrap_or(20);
        // Not all widths have the highest MCS of 802.11ac.
        let mcs = limits(newest).1 * tenths / 10;
        let mode = Bitrate { generation: newest, mcs, streams, width, guard: GuardInterval::Long };
        (if newest == Format::Ht { 8 * (streams - 1) + mcs } else { mcs }, mode.rate())
    }

    /// True at 2.4 GHz, where 802.11ac and channels above 40 MHz are not used.
    fn is_low(&self) -> bool {
        self.frequency.is_some_and(|mhz| mhz < 4_000)
    }

    /// Returns generation, width and streams of those stations for which they are known.
    fn modes(&self) -> impl Iterator<Item = Bitrate> {
        self.stations.iter().filter_map(|station| station.mode(self.is_low()))
    }

    /// Returns the guard interval of most frames. With one generation it is that generation's; 802.11ax has none below
    /// 0.8 us. Before 802.11ax the short interval counts only if all stations have it.
    fn guard(&self, newest: Format) -> GuardInterval {
        use GuardInterval::{Double, Long, Quadruple, Short};
        if newest < Format::He {
            return if self.modes().all(|mode| mode.guard == Short) { Short } else { Long };
        }
        let frames = || self.stations.iter().flat_map(|station| [station.sent, station.received]).flatten();
        let count = |guard: GuardInterval| frames().filter(|it| it.generation == newest && it.guard == guard).count();
        // If counts are equal, the last one is taken.
        [Quadruple, Double, Long].into_iter().max_by_key(|&guard| count(guard)).unwrap_or_default()
    }
}

impl Station {
    fn of_radio(told: &Value) -> Self {
        let [sent, received] = ["sent_mode", "received_mode"].map(|key| bitrate(&told[key]));
        let old = told["sent_rate_bps"].as_u64().filter(|_| told["sent_mode"]["format"] == "non-HT");
        let address = told["address"].as_str().unwrap_or_default().to_owned();
        Self { address, sent, received, old: old.and_then(old_rate) }
    }

    /// Returns standard and rate of a station that got data in an older format and has used no newer one.
    fn older(&self, low: bool) -> Option<(Standard, Rate)> {
        let rate = self.old.filter(|_| self.mode(low).is_none())?;
        let is_dsss = DsssRate::ALL.iter().any(|known| known.rate() == rate);
        let standard = [[Some(Standard::A), None], [Some(Standard::G), Some(Standard::B)]][usize::from(low)];
        Some((standard[usize::from(is_dsss)]?, rate))
    }

    /// Returns generation, width and streams of a station: the largest that it has used in either direction.
    fn mode(&self, low: bool) -> Option<Bitrate> {
        let (one, other) = (self.sent.or(self.received)?, self.received.or(self.sent)?);
        let newer = if other.generation > one.generation { other } else { one };
        // Some cards send 802.11ac at 2.4 GHz, although the standard does not allow it.
        let is_foreign = low && newer.generation == Format::Vht;
        let generation = if is_foreign { Format::Ht } else { newer.generation };
        let (.., most, widest) = limits(generation);
        Some(Bitrate {
            generation,
            mcs: newer.mcs,
            streams: one.streams.max(other.streams).min(most),
            width: one.width.max(other.width).min(if low { 40 } else { widest }),
            guard: [one.guard, other.guard].into_iter().max_by_key(|guard| guard.nanos()).unwrap_or_default(),
        })
    }
}

/// Reads a mode as `linux` writes it to JSON; `None` for a mode without an MCS.
pub(crate) fn bitrate(mode: &Value) -> Option<Bitrate> {
    let generation = match mode["format"].as_str()? {
        "HT" => Format::Ht,
        "VHT" => Format::Vht,
        "HE" | "EHT" => Format::He,
        _ => return None,
    };
    let [mcs, streams] = ["mcs", "streams"].map(|key| u8::try_from(mode[key].as_u64()?).ok());
    let width = u32::try_from(mode["width_mhz"].as_u64()?).ok()?;
    let seconds = mode["guard_interval_s"].as_f64().unwrap_or_default();
    let is_so_long = |guard: &GuardInterval| (guard.nanos() as f64 / 1e9 - seconds).abs() < 1e-8;
    let guards = [GuardInterval::Short, GuardInterval::Double, GuardInterval::Quadruple];
    let guard = guards.into_iter().find(is_so_long).unwrap_or_default();
    Bitrate::new(generation, mcs?, streams?, width, guard).ok()
}

/// Keys of the line to a server.
const SERVER: &str = "[[node]]\nname = \"server\"\nrole = \"wired\"\n\n[[wired]]\nbetween = [\"server\", \"ap\"]\n\
                      rate = \"1 Gb/s\"\ndelay = \"5 ms\"\nqueue.limit = 20000\n\n";
/// Traffic with which the queues of the access point are compared.
const TRAFFIC: &str = include_str!("interface/traffic.toml");

fn write_cell(text: &mut String, interface: &Interface, about: &str) -> fmt::Result {
    let newest = interface.modes().map(|mode| mode.generation).max().unwrap_or(Format::He);
    let widest = interface.modes().map(|mode| mode.width).max().unwrap_or(20);
    let most = if interface.is_low() { 40 } else { limits(newest).3 };
    let width = interface.width.unwrap_or(widest).max(widest).min(most);
    let streams = interface.modes().map(|mode| mode.streams).max().unwrap_or(1);
    let name = interface.name.as_deref().unwrap_or("an interface");
    writeln!(text, "title = {}", toml::Value::from(format!("Copy of {name}")))?;
    writeln!(text, "about = {}", toml::Value::from(about))?;
    writeln!(text, "duration = \"20 s\"\nwarmup = \"5 s\"\n")?;
    writeln!(text, "[radio]\nstandard = \"{}\"\nchannel_width = \"{width} MHz\"", limits(newest).0)?;
    match newest {
        Format::Ht => writeln!(text, "mcs = {}", 8 * (streams - 1) + 7)?,
        Format::Vht | Format::He => writeln!(text, "streams = {streams}")?,
    }
    writeln!(text, "guard_interval = {}", toml::Value::try_from(interface.guard(newest)).map_err(|_| fmt::Error)?)?;
    if let Some(frequency) = interface.frequency {
        writeln!(text, "frequency = \"{frequency} MHz\"")?;
    }
    writeln!(text, "propagation = \"range\"           # MCS as measured, whatever the distance\n")?;
    writeln!(text, "[mac.edca.best_effort]          # Linux' access points send one aggregate at a time")?;
    writeln!(text, "txop_limit = \"0 s\"\n")?;
    writeln!(text, "[[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]")?;
    writeln!(text, "queues = \"mac80211\"\n")?;
    let mut number = 0;
    for station in &interface.stations {
        let Station { address, sent, received, .. } = station;
        let (own, older) = (station.mode(interface.is_low()), station.older(interface.is_low()));
        if own.is_none() && older.is_none() {
            writeln!(
                text,
                "# {address} is left out: its bitrates show neither an MCS nor a data rate of 802.11a, b or g.\n"
            )?;
            continue;
        }
        number += 1;
        writeln!(text, "[[node]]                        # {address}\nname = \"sta{number}\"")?;
        writeln!(text, "position = [\"{} m\", \"0 m\"]", 2 + number)?;
        if let Some((standard, rate)) = older {
            writeln!(text, "standard = \"{standard}\"\ndata_rate = \"{rate}\"\n")?;
        }
        let Some(own) = own else { continue };
        let Bitrate { generation, streams, width, .. } = own;
        // A station's list has its access point, to which the station sends upwards.
        let ways = if interface.role == Role::Station { [received, sent] } else { [sent, received] };
        let [down, up] = ways.map(|bitrate| bitrate.map(|bitrate| index(bitrate, own)));
        writeln!(text, "standard = \"{}\"\nchannel_width = \"{width} MHz\"", limits(generation).0)?;
        // The MCS of 802.11n counts the streams.
        if generation > Format::Ht {
            writeln!(text, "streams = {streams}")?;
        }
        if let Some(mcs) = up.or(down) {
            writeln!(text, "mcs = {mcs}")?;
        }
        if let Some(mcs) = down.or(up) {
            writeln!(text, "downlink_mcs = {mcs}")?;
        }
        writeln!(text, "access_point = \"ap\"\n")?;
    }
    Ok(())
}

/// Returns the MCS index with which a station with the streams and the width of `own` is about as fast as at this
/// bitrate, but not faster. A node has only one number of streams and one width.
fn index(bitrate: Bitrate, own: Bitrate) -> u8 {
    let slower = (0..=limits(own.generation).1).rev().map(|mcs| Bitrate { mcs, ..own });
    let mode = slower.filter(|mode| mode.exists()).find(|mode| mode.bits() <= bitrate.bits());
    let mcs = mode.map_or(0, |mode| mode.mcs);
    if own.generation == Format::Ht { 8 * (own.streams - 1) + mcs } else { mcs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::{Scenario, Wishes};

    const INFO: &str = "Interface wlan0\n\tifindex 4\n\taddr 02:00:00:00:01:00\n\tssid home\n\ttype AP\n\
                        \tchannel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz\n\ttxpower 20.00 dBm\n";
    const N: &str = "Station 02:00:00:00:00:0A (on wlan0)\n\tinactive time:\t304 ms\n\tsignal:  \t-61 [-63, -66] dBm\n\
                     \ttx bitrate:\t270.0 MBit/s MCS 15 40MHz\n\trx bitrate:\t135.0 MBit/s MCS 7 40MHz short GI\n";
    const AC: &str = "Station 02:00:00:00:00:0b (on wlan0)\n\ttx bitrate:\t780.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 2\n\
                      \trx bitrate:\t6.0 MBit/s\n";
    const AX: &str = "Station 02:00:00:00:00:0c (on wlan0)\n\
                      \ttx bitrate:\t1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0\n\
                      \trx bitrate:\t286.7 MBit/s HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0\n\texpected throughput:\t70Mbps\n";

    fn scenario_of(text: &str) -> Result<String, String> {
        Ok(scenario(&read(text, None)?, "What iw said.")?)
    }

    fn described(text: &str) -> String {
        let text = scenario_of(text).expect("a scenario");
        assert!(is_scenario(&text), "{text}");
        text
    }

    fn is_scenario(text: &str) -> bool {
        Scenario::parse("x.toml", text.as_bytes(), &Wishes::default()).inspect_err(|error| println!("{error}")).is_ok()
    }

    /// Of 80 MHz and two streams 20 MHz with as many are a quarter: MCS 3 for 11. One stream of two is half: 16-QAM 1/2 for
    /// 64-QAM 5/6 has 24 of 30 twelfths.
    #[test]
    fn each_station_has_its_generation_width_streams_and_mcs() {
        let text = described(&[INFO, N, AC, AX].concat());
        assert!(text.contains("standard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nstreams = 2\n"), "{text}");
        for station in [
            "0a\nname = \"sta1\"\nposition = [\"3 m\", \"0 m\"]\nstandard = \"802.11n\"\nchannel_width = \"40 MHz\"\n\
             mcs = 11\ndownlink_mcs = 15\n",
            "0b\nname = \"sta2\"\nposition = [\"4 m\", \"0 m\"]\nstandard = \"802.11ac\"\nchannel_width = \"80 MHz\"\nstreams = 2\n\
             mcs = 8\ndownlink_mcs = 8\n",
            "0c\nname = \"sta3\"\nposition = [\"5 m\", \"0 m\"]\nstandard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nstreams = 2\n\
             mcs = 3\ndownlink_mcs = 11\n",
        ] {
            assert!(text.contains(station), "{station}\n{text}");
        }
        let unit = AX.replace("HE-DCM 0\n\texpected", "HE-DCM 0 HE-RU-ALLOC 5\n\texpected");
        assert!(described(&[INFO, &unit].concat()).contains("mcs = 11\ndownlink_mcs = 11\n"), "996 tones are 80 MHz");
    }

    #[test]
    fn a_station_is_read_once_and_other_parts_of_the_text_belong_to_no_interface() {
        let others =
            "Unnamed/non-netdev interface\n\ttype P2P-device\nSurvey data from wlan0\n\tchannel active time:\t9 ms\n";
        assert_eq!(described(&[INFO, N, AC, others, N].concat()), described(&[INFO, AC, N].concat()));
    }

    /// At 2.4 GHz 802.11n and ax have other times, and 802.11ac is no standard: 802.11n without 256-QAM stands for it.
    #[test]
    fn the_band_is_that_of_the_channel() {
        let low = "Interface wlan0\n\ttype AP\n\tchannel 6 (2437 MHz), width: 40 MHz, center1: 2447 MHz\n";
        let text = described(&[low, N, &AC.replace("80MHz", "40MHz")].concat());
        let radio = "standard = \"802.11n\"\nchannel_width = \"40 MHz\"\nmcs = 15\nguard_interval = \"long\"\nfrequency = \"2437 MHz\"";
        assert!(text.contains(radio), "{text}");
        assert!(text.contains("0b\nname = \"sta2\"\nposition = [\"4 m\", \"0 m\"]\nstandard = \"802.11n\"\nchannel_width = \"40 MHz\"\nmcs = 15"), "{text}");
        let text = described(&[low, AX].concat());
        assert!(text.contains("standard = \"802.11ax\"\nchannel_width = \"40 MHz\""), "{text}");
        // Of 100 twelfths of a bit half are 50: MCS 5 has 48.
        assert!(text.contains("mcs = 5\ndownlink_mcs = 11"), "{text}");
    }

    #[test]
    fn the_guard_interval_of_802_11ax_is_that_of_most_frames() {
        let slow = AX.replace("0c (on", "0d (on").replace("HE-GI 0", "HE-GI 1");
        assert!(described(&[INFO, AX, &slow].concat()).contains("guard_interval = \"long\""));
        let third = slow.replace("0d (on", "0e (on");
        assert!(described(&[INFO, AX, &slow, &third].concat()).contains("guard_interval = \"1.6 us\""));
    }

    /// A station sends upwards to the one that it lists; outside of an access point's network there is nothing to copy.
    #[test]
    fn the_role_says_which_way_is_up() {
        let text = described(&[&INFO.replace("type AP", "type managed"), AX].concat());
        assert!(text.contains("mcs = 11\ndownlink_mcs = 3\n"), "{text}");
        let error = scenario_of(&[&INFO.replace("type AP", "type mesh point"), AX].concat()).unwrap_err();
        assert!(error.contains("no access point"), "{error}");
    }

    #[test]
    fn modes_of_later_standards_count_as_the_fastest() {
        for (generation, mcs, streams, width, fastest) in [
            (Format::He, 13, 2, 320, (11, 2, 160)),
            (Format::He, 15, 1, 80, (0, 1, 80)),
            (Format::Vht, 11, 1, 80, (9, 1, 80)),
            (Format::Ht, 15, 0, 40, (7, 2, 40)),
        ] {
            let mode = Bitrate::new(generation, mcs, streams, width, GuardInterval::Long).unwrap();
            assert_eq!((mode.mcs, mode.streams, mode.width), fastest);
        }
        for (generation, mcs, streams, width, why) in [
            (Format::He, 1, 9, 20, "1 to 8 spatial streams (NSS), not 9"),
            (Format::Ht, 32, 1, 20, "1 to 4 spatial streams (NSS), not 5"),
            (Format::He, 1, 1, 10, "no channels of 10 MHz"),
        ] {
            let error = Bitrate::new(generation, mcs, streams, width, GuardInterval::Long).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    /// The guard interval is short where all have it; the channel is no wider than the newest station's.
    #[test]
    fn the_radio_is_that_of_the_newest_station() {
        let short = "Station 02:00:00:00:00:01 (on wlan0)\n\ttx bitrate:\t150.0 MBit/s MCS 7 40MHz short GI\n";
        let text = described(&[INFO, short].concat());
        assert!(
            text.contains("standard = \"802.11n\"\nchannel_width = \"40 MHz\"\nmcs = 7\nguard_interval = \"short\"")
        );
        assert!(described(&[INFO, AC].concat()).contains("guard_interval = \"long\""));
        assert!(described(AX).contains("channel_width = \"80 MHz\""));
    }

    #[test]
    fn stations_without_an_mcs_are_left_out_and_named() {
        let idle = "Station 02:00:00:00:00:0d (on wlan0)\n\ttx bitrate:\t6.0 MBit/s\n\trx bitrate:\t(unknown)\n";
        let text = described(&[INFO, AX, idle].concat());
        assert!(text.contains("# 02:00:00:00:00:0d is left out") && !text.contains("sta2"), "{text}");
        assert!(scenario_of(idle).unwrap_err().contains("while stations download"));
    }

    /// Data above the lowest rate identify a station of an older standard, by the band; none is assumed without a
    /// channel.
    #[test]
    fn stations_before_802_11n_have_the_rate_of_their_data() {
        let old = |number: u8, rate: &str| {
            format!(
                "Station 02:00:00:00:00:{number:02x} (on wlan0)\n\ttx bitrate:\t{rate} MBit/s\n\trx bitrate:\t1.0 MBit/s\n"
            )
        };
        let low = "Interface wlan0\n\ttype AP\n\tchannel 6 (2437 MHz), width: 20 MHz, center1: 2437 MHz\n";
        let rest = N.replace(" 40MHz", "") + &old(0x0d, "11.0") + &old(0x0e, "36.0") + &old(0x0f, "1.0");
        let text = described(&[low, &rest].concat());
        for station in [
            "0d\nname = \"sta2\"\nposition = [\"4 m\", \"0 m\"]\nstandard = \"802.11b\"\ndata_rate = \"11 Mb/s\"\n",
            "0e\nname = \"sta3\"\nposition = [\"5 m\", \"0 m\"]\nstandard = \"802.11g\"\ndata_rate = \"36 Mb/s\"\n",
            "# 02:00:00:00:00:0f is left out",
        ] {
            assert!(text.contains(station), "{station}\n{text}");
        }
        assert_eq!(read(&[low, &rest].concat(), None).unwrap().left_out(), 1);
        // Without newer ones the access point is of 802.11ax.
        let text = described(&(low.to_owned() + &old(0x0d, "11.0")));
        assert!(
            text.contains("[radio]\nstandard = \"802.11ax\"") && text.contains("data_rate = \"11 Mb/s\""),
            "{text}"
        );
        for at in [INFO, ""] {
            let text = described(&[at, &rest].concat());
            let of_a = "standard = \"802.11a\"\ndata_rate = \"36 Mb/s\"";
            assert!(text.contains(of_a) && text.contains("0d is left out") && !text.contains("802.11b\""), "{text}");
        }
    }

    #[test]
    fn what_iw_does_not_write_is_refused_with_its_line() {
        for (text, line, why) in [
            ("Interface w\nStation 02:00:00:00:00 (on w)\n", 2, "is not an address"),
            ("Interface w\n\tchannel 1 (2412 MHz), width: 30 MHz\n", 2, "20, 40, 80"),
            ("Interface w\n\ttx bitrate:\t6.0 MBit/s\n", 2, "after the line `Station ADDRESS`"),
            ("Station 02:00:00:00:00:01\n\ttx bitrate:\t1 MBit/s HE-MCS 14 HE-NSS 1\n", 2, "`HE-MCS`, found `14`"),
            ("Station 02:00:00:00:00:01\n\ttx bitrate:\t1 MBit/s VHT-MCS\n", 2, "up to 11 after `VHT-MCS`, found ``"),
            ("Station 02:00:00:00:00:01\n\n\ttx bitrate:\t1 MBit/s MCS 3 80MHz\n", 3, "no channels of 80 MHz"),
            ("Station 02:00:00:00:00:01\n\ttx bitrate:\t1 MBit/s VHT-MCS 3 60MHz\n", 2, "`60MHz`: expected 40MHz"),
            ("Station 02:00:00:00:00:01\n\ttx bitrate:\t1 MBit/s HE-MCS 3 HE-GI 3\n", 2, "2 after `HE-GI`, found `3`"),
            ("Station 02:00:00:00:00:01\n\ttx bitrate:\t1 MBit/s HE-MCS 3 HE-NSS 0\n", 2, "1 to 8 spatial streams"),
        ] {
            let error = scenario_of(text).unwrap_err();
            assert!(error.starts_with(&format!("line {line}: ")), "{error}");
            assert!(error.contains(why), "{error}");
        }
        assert!(scenario_of(INFO).unwrap_err().contains("station dump"));
    }

    /// Of several links the widest carries the copy, and of a station's links the fastest: another may be idle.
    #[test]
    fn an_access_point_with_several_links_is_copied_with_its_widest() {
        let links = "Interface ap0\n\ttype AP\n\tMLD with links:\n\t - link ID  0 link addr 02:00:00:00:10:00\n\
            \t   channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz\n\t - link ID  1 link addr 02:00:00:00:10:01\n\
            \t   channel 6 (2437 MHz), width: 20 MHz, center1: 2437 MHz\n\
            Station 02:00:00:00:00:01 (on ap0)\n\ttx bitrate:\t1441.1 MBit/s 80MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0\n\
            \trx bitrate:\t6.0 MBit/s\n\tLink 1:\n\t\ttx bitrate:\t6.0 MBit/s\n\
            \t\trx bitrate:\t17.2 MBit/s HE-MCS 1 HE-NSS 1 HE-GI 0 HE-DCM 0\n";
        let text = described(links);
        assert!(text.contains("frequency = \"5180 MHz\"") && text.contains("channel_width = \"80 MHz\""), "{text}");
        assert!(text.contains("mcs = 0\ndownlink_mcs = 11\n"), "{text}");
    }

    #[test]
    fn interfaces_on_several_channels_are_chosen_by_name() {
        let radio = |name: &str, channel: &str, width: u32, station: u8| {
            format!(
                "phy#0\n\tInterface {name}\n\t\ttype AP\n\t\tchannel {channel}, width: {width} MHz, center1: 1 MHz\n\
                 Station 02:00:00:00:00:{station:02x} (on {name})\n\ttx bitrate:\t65.0 MBit/s MCS 7\n"
            )
        };
        let two = radio("wlan1", "6 (2437 MHz)", 20, 2) + &radio("wlan0", "36 (5180 MHz)", 80, 1);
        let error = scenario_of(&two).unwrap_err();
        assert!(error.contains("(wlan1, wlan0): choose one with `--interface`"), "{error}");
        let low = read(&two, Some("wlan1")).unwrap();
        assert_eq!((low.frequency, low.stations.len()), (Some(2_437), 1));
        assert!(read(&two, Some("wlan2")).unwrap_err().contains("only wlan1, wlan0"));
        // A second network on one channel shares its air; one that has no stations is passed over.
        let shared = two.replace("6 (2437 MHz), width: 20", "36 (5180 MHz), width: 80");
        assert_eq!(read(&shared, None).unwrap().stations.len(), 2);
        let low = radio("wlan1", "6 (2437 MHz)", 20, 2);
        let (empty, _) = low.split_once("Station").expect("a station");
        let alone = (empty.to_owned() + &radio("wlan0", "36 (5180 MHz)", 80, 1)).replace('\n', "\n    ");
        assert_eq!(read(&alone, None).unwrap().frequency, Some(5_180));
        assert!(is_interface(&alone));
    }

    /// What `iw dev wlan0 link` says to a station of its access point.
    #[test]
    fn a_stations_link_is_copied() {
        let link = "Connected to 02:00:00:00:10:00 (on wlan0)\n\tfreq: 5180.0\n\tLink 1 BSSID x\n\tfreq: 2437.0\n\
            \trx bitrate: 720.6 MBit/s 80MHz HE-MCS 7 HE-NSS 2 HE-GI 0 HE-DCM 0\n\
            \ttx bitrate: 960.7 MBit/s 80MHz HE-MCS 9 HE-NSS 2 HE-GI 0 HE-DCM 0\n";
        let text = described(link);
        assert!(text.contains("frequency = \"5180 MHz\"") && text.contains("mcs = 9\ndownlink_mcs = 7\n"), "{text}");
        assert!(scenario_of("Not connected.\n").unwrap_err().contains("no interface"));
    }

    /// Drivers report combinations that 802.11ac lacks, and indices of their makers.
    #[test]
    fn every_mode_of_802_11ac_becomes_one_that_a_scenario_has() {
        for (width, streams, mcs) in [20, 40, 80, 160]
            .into_iter()
            .flat_map(|width| (1..=8).flat_map(move |streams| (0..=11).map(move |mcs| (width, streams, mcs))))
        {
            let width_of = if width == 20 { String::new() } else { format!("{width}MHz ") };
            described(&format!(
                "Interface w\n\ttype AP\n\tchannel 36 (5180 MHz), width: {width} MHz, center1: 5210 MHz\n\
                 Station 02:00:00:00:00:01 (on w)\n\ttx bitrate:\t1 MBit/s VHT-MCS {mcs} {width_of}VHT-NSS {streams}\n"
            ));
        }
    }

    proptest::proptest! {
        /// Whatever is read makes a scenario, or is refused.
        #[test]
        fn no_text_makes_a_reader_panic(
            words in proptest::collection::vec(proptest::sample::select(vec![
                "Interface", "Station", "02:00:00:00:00:01", "\n", "\n\t", "tx bitrate:", "rx bitrate:", "MCS", "VHT-MCS",
                "HE-MCS", "EHT-MCS", "HE-NSS", "VHT-NSS", "80MHz", "160MHz", "short GI", "3", "9", "255", "channel", "width:", "(5180", "(2412", "(7", "type", "AP", "managed", "mesh", "HE-GI",
            ]), 0..60),
        ) {
            if let Ok(text) = scenario_of(&words.join(" ")) {
                proptest::prop_assert!(is_scenario(&text), "{}", text);
            }
        }
    }
}
