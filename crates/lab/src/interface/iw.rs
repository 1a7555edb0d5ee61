//! Reads the output of `iw dev DEV info` and `iw dev DEV station dump`, in one text and in any order.

use super::{Bitrate, Interface, Role, Station, is_of_wifi};
use sim::config::GuardInterval;
use sim::radio::Format;

/// True if a text looks like the output of `iw`.
pub fn is_interface(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("Interface ") || line.starts_with("Station "))
}

/// Reads an interface from the output of `iw`.
///
/// # Errors
/// A line is not as `iw` writes it.
pub fn read(text: &str) -> Result<Interface, String> {
    let mut interface = Interface::default();
    for (line, number) in text.lines().zip(1..) {
        let refuse = |why: String| format!("line {number}: {why}");
        let (words, line) = (line.split_whitespace().collect::<Vec<_>>(), line.trim());
        match words.as_slice() {
            ["Interface", name, ..] => interface.name = Some((*name).to_owned()),
            ["Station", address, ..] => {
                let bytes = address.split(':').collect::<Vec<_>>();
                if bytes.len() != 6 || bytes.iter().any(|byte| byte.len() != 2 || u8::from_str_radix(byte, 16).is_err())
                {
                    return Err(refuse(format!("`{address}` is no address such as 02:00:00:00:01:00")));
                }
                interface.stations.push(Station { address: address.to_lowercase(), sent: None, received: None });
            }
            ["type", "AP" | "AP/VLAN" | "P2P-GO", ..] => interface.role = Role::AccessPoint,
            ["type", "managed" | "P2P-client", ..] => interface.role = Role::Station,
            ["type", ..] => interface.role = Role::Other,
            ["channel", _, rest @ ..] => {
                let frequency = rest.first().and_then(|word| word.strip_prefix('('));
                interface.frequency = frequency.and_then(|mhz| mhz.parse().ok()).filter(is_of_wifi);
                interface.width = Some(channel_width(line).map_err(refuse)?);
            }
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
    let (mut generation, mut mcs, mut streams, mut width, mut guard) = (None, 0_u8, 1_u8, 20, GuardInterval::Long);
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut number = |most: u8| {
            let value = words.next().unwrap_or_default();
            let number = value.parse().ok().filter(|number| *number <= most);
            number.ok_or_else(|| format!("`{word}` is followed by a number up to {most}, not by `{value}`"))
        };
        match word {
            // Its MCS counts the streams.
            "MCS" => (generation, mcs) = (Some(Format::Ht), number(31)?),
            "VHT-MCS" => (generation, mcs) = (Some(Format::Vht), number(9)?),
            "HE-MCS" => (generation, mcs) = (Some(Format::He), number(11)?),
            // 802.11be is not simulated: as fast as 802.11ax allows.
            "EHT-MCS" => (generation, mcs) = (Some(Format::He), number(15)?),
            "VHT-NSS" | "HE-NSS" | "EHT-NSS" => streams = number(8)?,
            "HE-GI" | "EHT-GI" => {
                guard = [GuardInterval::Long, GuardInterval::Double, GuardInterval::Quadruple][usize::from(number(2)?)];
            }
            "short" => guard = GuardInterval::Short,
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
    Bitrate::new(generation, mcs, streams, width, guard).map(Some)
}
