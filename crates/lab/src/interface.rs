//! Turns what `iw` says of an access point's interface into a scenario: its channel, and each station's generation, width,
//! streams and MCS.
//!
//! Reads the output of `iw dev DEV info` and `iw dev DEV station dump`, in one text and in any order.

use sim::radio::TWELFTHS;
use std::fmt::{self, Write as _};
use thiserror::Error;

/// Reason why a text makes no scenario.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// A line is not as `iw` writes it.
    #[error("line {line}: {why}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The fault, and what was expected instead.
        why: String,
    },
    /// Something is missing as a whole.
    #[error("{0}")]
    Missing(&'static str),
}

/// Generation of a station, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Generation {
    N,
    Ac,
    Ax,
}

impl Generation {
    const fn name(self) -> &'static str {
        match self {
            Self::N => "802.11n",
            Self::Ac => "802.11ac",
            Self::Ax => "802.11ax",
        }
    }

    /// The highest MCS, the most streams and the widest channel of the generation in a scenario.
    const fn most(self) -> Bitrate {
        let (mcs, streams, width) = match self {
            Self::N => (7, 4, 40),
            Self::Ac => (9, 8, 160),
            Self::Ax => (11, 8, 160),
        };
        Bitrate { generation: self, mcs, streams, width, short: false }
    }
}

/// A mode, as `iw` tells of the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bitrate {
    generation: Generation,
    /// That of one stream.
    mcs: u8,
    streams: u8,
    /// In MHz.
    width: u32,
    /// True with the short guard interval of 802.11n and ac.
    short: bool,
}

/// A station.
#[derive(Clone, Debug)]
struct Seen {
    address: String,
    /// The access point's last frame to it, and its own.
    sent: Option<Bitrate>,
    received: Option<Bitrate>,
}

/// All that was read.
#[derive(Clone, Debug, Default)]
struct Interface {
    name: Option<String>,
    width: Option<u32>,
    stations: Vec<Seen>,
}

/// Returns the text of a scenario file made from the output of `iw`, which comes from a file that is called `of`.
///
/// # Errors
/// The text is not such an output, or tells too little.
pub fn scenario(text: &str, of: &str) -> Result<String, Unreadable> {
    let interface = read(text)?;
    if interface.stations.is_empty() {
        return Err(Unreadable::Missing("it has no station: add the output of `iw dev DEV station dump`"));
    }
    let mut scenario = String::new();
    write_scenario(&mut scenario, &interface, of).map_err(|_| Unreadable::Missing("it is too long"))?;
    if interface.stations.iter().all(|station| station.mode().is_none()) {
        return Err(Unreadable::Missing(
            "no station's bitrates tell an MCS: ask for them while stations download, from 802.11n on",
        ));
    }
    Ok(scenario)
}

/// True if a text looks like the output of `iw`.
pub fn is_interface(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("Interface ") || line.starts_with("Station "))
}

fn read(text: &str) -> Result<Interface, Unreadable> {
    let mut interface = Interface::default();
    for (line, number) in text.lines().zip(1..) {
        let refuse = |why: String| Unreadable::Line { line: number, why };
        let (words, line) = (line.split_whitespace().collect::<Vec<_>>(), line.trim());
        match words.as_slice() {
            ["Interface", name, ..] => interface.name = Some((*name).to_owned()),
            ["Station", address, ..] => {
                let bytes = address.split(':').collect::<Vec<_>>();
                if bytes.len() != 6 || bytes.iter().any(|byte| byte.len() != 2 || u8::from_str_radix(byte, 16).is_err())
                {
                    return Err(refuse(format!("`{address}` is no address such as 02:00:00:00:01:00")));
                }
                interface.stations.push(Seen { address: address.to_lowercase(), sent: None, received: None });
            }
            ["channel", ..] => interface.width = Some(channel_width(line).map_err(refuse)?),
            [way @ ("tx" | "rx"), "bitrate:", rest @ ..] => {
                let Some(station) = interface.stations.last_mut() else {
                    return Err(refuse("a bitrate comes after the line `Station ADDRESS`".to_owned()));
                };
                let bitrate = bitrate(rest).map_err(refuse)?;
                *(if *way == "tx" { &mut station.sent } else { &mut station.received }) = bitrate;
            }
            _ => {}
        }
    }
    Ok(interface)
}

/// The width in a line such as `channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz`.
fn channel_width(line: &str) -> Result<u32, String> {
    let width = line.split_once("width:").map(|(_, rest)| rest.trim_start());
    let first = width.and_then(|width| width.split([' ', '+']).next());
    match first.and_then(|width| width.parse().ok()) {
        Some(80) if width.is_some_and(|width| width.starts_with("80+80")) => Ok(160),
        Some(width @ (20 | 40 | 80 | 160)) => Ok(width),
        // 802.11be is not simulated.
        Some(320) => Ok(160),
        _ => Err("expected a channel with `width:` 20, 40, 80, 80+80, 160 or 320 MHz".to_owned()),
    }
}

/// The mode in the words behind `bitrate:`, none for a rate without an MCS.
fn bitrate(words: &[&str]) -> Result<Option<Bitrate>, String> {
    let (mut generation, mut mcs, mut streams, mut width, mut short) = (None, 0_u8, 1_u8, 20, false);
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut number = |most: u8| {
            let value = words.next().unwrap_or_default();
            let number = value.parse().ok().filter(|number| *number <= most);
            number.ok_or_else(|| format!("`{word}` is followed by a number up to {most}, not by `{value}`"))
        };
        match word {
            // Its MCS counts the streams.
            "MCS" => (generation, mcs) = (Some(Generation::N), number(31)?),
            "VHT-MCS" => (generation, mcs) = (Some(Generation::Ac), number(9)?),
            "HE-MCS" => (generation, mcs) = (Some(Generation::Ax), number(11)?),
            // 802.11be is not simulated: as fast as 802.11ax allows.
            "EHT-MCS" => (generation, mcs) = (Some(Generation::Ax), number(15)?.min(11)),
            "VHT-NSS" | "HE-NSS" | "EHT-NSS" => streams = number(8)?,
            "short" => short = true,
            _ => {
                if let Some(mhz) = word.strip_suffix("MHz") {
                    width = match mhz {
                        "40" => 40,
                        "80" => 80,
                        "80P80" | "160" | "320" => 160,
                        _ => return Err(format!("`{word}` is no width: 40MHz, 80MHz, 80P80MHz, 160MHz or 320MHz")),
                    };
                }
            }
        }
    }
    let Some(generation) = generation else { return Ok(None) };
    if generation == Generation::N {
        (mcs, streams) = (mcs % 8, mcs / 8 + 1);
    }
    if streams == 0 {
        return Err("a station has at least one spatial stream (NSS)".to_owned());
    }
    let most = generation.most();
    if width > most.width {
        return Err(format!("{} has no channels of {width} MHz", generation.name()));
    }
    Ok(Some(Bitrate { generation, mcs, streams, width, short }))
}

impl Seen {
    /// Generation, width and streams of a station: the most that it has used in either direction.
    fn mode(&self) -> Option<Bitrate> {
        let (one, other) = (self.sent.or(self.received)?, self.received.or(self.sent)?);
        let newer = if other.generation > one.generation { other } else { one };
        let (streams, width) = (one.streams.max(other.streams), one.width.max(other.width));
        Some(Bitrate { streams, width, short: one.short && other.short, ..newer })
    }
}

/// Traffic under which the queues of the access point are compared.
const TRAFFIC: &str = "\
# A download to each station, and a ping beside it. Replace them by what your network carries.
[[flow]]
name = \"down\"
from = \"server\"
to = \"sta*\"
transport = \"tcp\"
traffic = { kind = \"greedy\" }

[[flow]]
name = \"ping\"
from = \"server\"
to = \"sta*\"
traffic = { kind = \"ping\", packet = \"64 B\", every = \"100 ms\" }

[vary]
seeds = 3
queues = [
  { label = \"mac80211\", set = { \"node.ap.queues\" = \"mac80211\" } },
  { label = \"turns\", set = { \"node.ap.queues\" = \"turns\" } },
]

[[table]]
title = \"Delay and goodput\"
rows = \"queues\"
cell = [
  { title = \"worst RTT p99 (ms)\", measure = \"max(flows.ping*.rtt_s.p99)\" },
  { title = \"Mb/s\", measure = \"sum(flows.down*.goodput_bps) / 1e6\" },
]
";

fn write_scenario(text: &mut String, interface: &Interface, of: &str) -> fmt::Result {
    let modes = || interface.stations.iter().filter_map(Seen::mode);
    let newest = modes().map(|mode| mode.generation).max().unwrap_or(Generation::Ax);
    let widest = modes().map(|mode| mode.width).max().unwrap_or(20);
    let width = interface.width.unwrap_or(widest).max(widest).min(newest.most().width);
    let streams = modes().map(|mode| mode.streams).max().unwrap_or(1);
    let name = interface.name.as_deref().unwrap_or("an interface");
    // One guard interval holds for all, and 802.11ax has no shorter one than 0.8 us.
    let short = newest < Generation::Ax && modes().all(|mode| mode.short);
    writeln!(text, "title = {}", toml::Value::from(format!("Copy of {name}")))?;
    writeln!(text, "about = {}", toml::Value::from(format!("What iw said of {name}, from {of}.")))?;
    writeln!(text, "duration = \"20 s\"\nwarmup = \"5 s\"\n")?;
    writeln!(text, "[radio]\nstandard = \"{}\"\nchannel_width = \"{width} MHz\"", newest.name())?;
    match newest {
        Generation::N => writeln!(text, "mcs = {}", 8 * (streams - 1) + 7)?,
        Generation::Ac | Generation::Ax => writeln!(text, "streams = {streams}")?,
    }
    writeln!(text, "guard_interval = \"{}\"", if short { "short" } else { "long" })?;
    writeln!(text, "propagation = \"range\"           # MCS as measured, whatever the distance\n")?;
    writeln!(text, "[mac.edca.best_effort]          # Linux' access points send one aggregate at a time")?;
    writeln!(text, "txop_limit = \"0 s\"\n")?;
    writeln!(text, "[[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]")?;
    writeln!(text, "queues = \"mac80211\"\n")?;
    let mut number = 0;
    for station in &interface.stations {
        let Seen { address, sent, received } = station;
        let Some(own) = station.mode() else {
            writeln!(text, "# {address} is left out: its bitrates tell no MCS.\n")?;
            continue;
        };
        number += 1;
        let Bitrate { generation, streams, width, .. } = own;
        let [down, up] = [sent, received].map(|bitrate| bitrate.map(|bitrate| index(bitrate, own)));
        writeln!(text, "[[node]]                        # {address}\nname = \"sta{number}\"")?;
        writeln!(text, "position = [\"{} m\", \"0 m\"]", 2 + number)?;
        writeln!(text, "standard = \"{}\"\nchannel_width = \"{width} MHz\"", generation.name())?;
        // An MCS of 802.11n counts the streams.
        if generation > Generation::N {
            writeln!(text, "streams = {streams}")?;
        }
        if let Some(mcs) = up.or(down) {
            writeln!(text, "mcs = {mcs}")?;
        }
        if let Some(mcs) = down.or(up) {
            writeln!(text, "downlink_mcs = {mcs}")?;
        }
        writeln!(text)?;
    }
    writeln!(text, "[[node]]\nname = \"server\"\nrole = \"wired\"\n")?;
    writeln!(
        text,
        "[[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"1 Gb/s\"\ndelay = \"5 ms\"\nqueue.limit = 20000\n"
    )?;
    text.write_str(TRAFFIC)
}

/// MCS index with which a station that has the streams and width of `own` is about as fast as at this bitrate, and no faster:
/// a node has one number of streams and one width.
fn index(bitrate: Bitrate, own: Bitrate) -> u8 {
    let bits = |mcs: u8, of: Bitrate| TWELFTHS[usize::from(mcs)] * u64::from(of.streams) * u64::from(of.width);
    let is_same = (bitrate.streams, bitrate.width) == (own.streams, own.width);
    // Of 802.11ac some combinations with MCS 6 and 9 are missing.
    let exists = |mcs: &u8| is_same || own.generation != Generation::Ac || ![6, 9].contains(mcs);
    let mut slower = (0..=own.generation.most().mcs).rev().filter(exists);
    let mcs = slower.find(|&mcs| bits(mcs, own) <= bits(bitrate.mcs, bitrate)).unwrap_or(0);
    if own.generation == Generation::N { 8 * (own.streams - 1) + mcs } else { mcs }
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

    fn described(text: &str) -> String {
        let text = scenario(text, "wlan0.txt").expect("a scenario");
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
        assert!(scenario(idle, "x").unwrap_err().to_string().contains("while stations download"));
    }

    #[test]
    fn what_iw_does_not_write_is_refused_with_its_line() {
        for (text, line, why) in [
            ("Interface w\nStation 02:00:00:00:00 (on w)\n", 2, "is no address"),
            ("Interface w\n\tchannel 1 (2412 MHz), width: 30 MHz\n", 2, "20, 40, 80"),
            ("Interface w\n\ttx bitrate:\t6.0 MBit/s\n", 2, "after the line `Station ADDRESS`"),
            ("Station 02:00:00:00:00:01\n\ttx bitrate:\t1 MBit/s HE-MCS 12 HE-NSS 1\n", 2, "up to 11, not by `12`"),
            ("Station 02:00:00:00:00:01\n\ttx bitrate:\t1 MBit/s VHT-MCS\n", 2, "up to 9, not by ``"),
            ("Station 02:00:00:00:00:01\n\n\ttx bitrate:\t1 MBit/s MCS 3 80MHz\n", 3, "no channels of 80 MHz"),
            ("Station 02:00:00:00:00:01\n\ttx bitrate:\t1 MBit/s VHT-MCS 3 60MHz\n", 2, "`60MHz` is no width"),
            ("Station 02:00:00:00:00:01\n\ttx bitrate:\t1 MBit/s HE-MCS 3 HE-NSS 0\n", 2, "one spatial stream"),
        ] {
            let error = scenario(text, "x").unwrap_err();
            assert!(matches!(&error, Unreadable::Line { line: found, .. } if *found == line), "{error}");
            assert!(error.to_string().contains(why), "{error}");
        }
        assert!(scenario(INFO, "x").unwrap_err().to_string().contains("station dump"));
    }

    proptest::proptest! {
        /// Whatever is read makes a scenario, or is refused.
        #[test]
        fn no_text_makes_a_reader_panic(
            words in proptest::collection::vec(proptest::sample::select(vec![
                "Interface", "Station", "02:00:00:00:00:01", "\n", "\n\t", "tx bitrate:", "rx bitrate:", "MCS", "VHT-MCS",
                "HE-MCS", "EHT-MCS", "HE-NSS", "VHT-NSS", "80MHz", "160MHz", "short GI", "3", "9", "255", "channel", "width:",
            ]), 0..60),
        ) {
            if let Ok(text) = scenario(&words.join(" "), "any") {
                proptest::prop_assert!(is_scenario(&text), "{}", text);
            }
        }
    }
}
