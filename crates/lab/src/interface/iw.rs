//! Reads the output of `iw dev`, `iw dev DEV info`, `link` and `station dump`, in one text and in any order.

use super::{Bitrate, Interface, Role, Station, is_of_wifi, old_rate};
use sim::config::GuardInterval;
use sim::radio::Format;

/// True if a text looks like the output of `iw`, even if it was pasted with an indent.
pub fn is_interface(text: &str) -> bool {
    let begins = ["Interface ", "Station ", "Connected to ", "Not connected", "phy#"];
    text.lines().any(|line| begins.iter().any(|begin| line.trim_start().starts_with(begin)))
}

/// Reads an interface from the output of `iw`: the one with this name or, without a name, the one that has stations.
/// Interfaces on the same channel share its airtime and are merged.
///
/// # Errors
/// A line is not in `iw`'s format, no interface has this name, or without a name several channels have stations.
pub fn read(text: &str, name: Option<&str>) -> Result<Interface, String> {
    let all = interfaces(text)?;
    let names = |of: &[&Interface]| of.iter().filter_map(|it| it.name.clone()).collect::<Vec<_>>().join(", ");
    let with_stations = all.iter().filter(|it| !it.stations.is_empty()).collect::<Vec<_>>();
    let chosen = match name {
        Some(name) => all.iter().find(|it| it.name.as_deref() == Some(name)).ok_or_else(|| {
            format!("no interface is named `{name}`, only {}", names(&all.iter().collect::<Vec<_>>()))
        })?,
        None => with_stations.first().copied().or(all.first()).ok_or("it has no interface")?,
    };
    // Without `info` the channel of an interface is unknown, and others may be on another one.
    let is_alike =
        |it: &Interface| it.frequency.is_some() && (it.frequency, it.role) == (chosen.frequency, chosen.role);
    let shares = |it: &&Interface| std::ptr::eq(*it, chosen) || is_alike(it);
    if name.is_none() && !with_stations.iter().all(shares) {
        let names = names(&with_stations);
        return Err(format!(
            "interfaces that differ in channel or role have stations ({names}): choose one with `--interface`"
        ));
    }
    let stations = all.iter().filter(shares).flat_map(|it| it.stations.clone()).collect();
    Ok(Interface { stations, ..chosen.clone() })
}

fn interfaces(text: &str) -> Result<Vec<Interface>, String> {
    let mut all: Vec<Interface> = Vec::new();
    // This is the interface that was named last.
    let mut of = 0;
    for (line, number) in text.lines().zip(1..) {
        let refuse = |why: String| format!("line {number}: {why}");
        let (words, line) = (line.split_whitespace().collect::<Vec<_>>(), line.trim());
        match words.as_slice() {
            ["Interface", name, ..] => of = place(&mut all, Some(name)),
            // What follows belongs to no interface with a name.
            ["Unnamed/non-netdev" | "Survey" | "BSS" | "Wiphy", ..] => of = usize::MAX,
            ["Station", address, on @ ..] | ["Connected", "to", address, on @ ..] => {
                let last = all.get(of).and_then(|it| it.name.clone());
                let name = on.get(1).map(|name| name.trim_end_matches(')'));
                of = place(&mut all, name.or(last.as_deref()));
                if words[0] == "Connected" {
                    all[of].role = Role::Station;
                }
                let address = read_address(address).map_err(refuse)?;
                // Of several readings of a station the last one counts.
                all[of].stations.retain(|it| it.address != address);
                all[of].stations.push(Station { address, sent: None, received: None, old: None });
            }
            [first @ ("type" | "channel" | "freq:"), rest @ ..] if of < all.len() => {
                let interface = &mut all[of];
                match (*first, rest) {
                    ("type", ["AP" | "AP/VLAN" | "P2P-GO", ..]) => interface.role = Role::AccessPoint,
                    ("type", ["managed" | "P2P-client", ..]) => interface.role = Role::Station,
                    ("type", _) => interface.role = Role::Other,
                    // Of several links the one at the highest frequency counts: it is the widest.
                    ("freq:", _) => {
                        interface.frequency = interface.frequency.max(rest.first().and_then(|word| frequency(word)));
                    }
                    _ => {
                        let width = channel_width(line).map_err(refuse)?;
                        // If an access point has several links, the widest one counts.
                        if interface.width.is_none_or(|before| before < width) {
                            interface.width = Some(width);
                            interface.frequency = rest.get(1).and_then(|word| frequency(word.trim_start_matches('(')));
                        }
                    }
                }
            }
            [way @ ("tx" | "rx"), "bitrate:", rest @ ..] => {
                let Some(station) = all.get_mut(of).and_then(|it| it.stations.last_mut()) else {
                    return Err(refuse("a bitrate must come after the line `Station ADDRESS`".to_owned()));
                };
                let bitrate = bitrate(rest).map_err(refuse)?;
                if *way == "tx" && bitrate.is_none() {
                    station.old = rest.first().and_then(|rate| old_rate(megabits(rate)?));
                }
                let known = if *way == "tx" { &mut station.sent } else { &mut station.received };
                // If a station has several links, the fastest one counts: slower links may be idle.
                *known = [*known, bitrate].into_iter().flatten().max_by_key(|mode| mode.bits());
            }
            _ => {}
        }
    }
    Ok(all)
}

/// Returns the index of the interface with this name, which is added when it first occurs.
fn place(all: &mut Vec<Interface>, name: Option<&str>) -> usize {
    all.iter().position(|it| it.name.as_deref() == name).unwrap_or_else(|| {
        all.push(Interface { name: name.map(str::to_owned), ..Interface::default() });
        all.len() - 1
    })
}

fn read_address(address: &str) -> Result<String, String> {
    let bytes = address.split(':').collect::<Vec<_>>();
    if bytes.len() != 6 || bytes.iter().any(|byte| byte.len() != 2 || u8::from_str_radix(byte, 16).is_err()) {
        return Err(format!("`{address}` is not an address such as 02:00:00:00:01:00"));
    }
    Ok(address.to_lowercase())
}

/// Reads the bits per second from a word such as `5.5`.
fn megabits(word: &str) -> Option<u64> {
    let (whole, tenths) = word.split_once('.')?;
    Some(whole.parse::<u32>().ok().map(u64::from)? * 1_000_000 + u64::from(tenths.parse::<u8>().ok()?) * 100_000)
}

/// Reads the frequency from a word such as `5180` or `5180.0`, if Wi-Fi has it.
fn frequency(word: &str) -> Option<u32> {
    word.split('.').next()?.parse().ok().filter(|&mhz| is_of_wifi(mhz))
}

/// Reads the width from a line such as `channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz`.
fn channel_width(line: &str) -> Result<u32, String> {
    let width = line.split_once("width:").map(|(_, rest)| rest.trim_start());
    let first = width.and_then(|width| width.split([' ', '+']).next());
    match first.and_then(|width| width.parse().ok()) {
        Some(80) if width.is_some_and(|width| width.starts_with("80+80")) => Ok(160),
        Some(width @ (20 | 40 | 80 | 160)) => Ok(width),
        // Channels of 802.11be are not simulated.
        Some(320) => Ok(160),
        _ => Err("expected a channel with `width:` 20, 40, 80, 80+80, 160 or 320 MHz".to_owned()),
    }
}

/// Reads the mode from the words after `bitrate:`; `None` for a rate without an MCS.
fn bitrate(words: &[&str]) -> Result<Option<Bitrate>, String> {
    let (mut generation, mut mcs, mut streams, mut width, mut guard) = (None, 0_u8, 1_u8, 20, GuardInterval::Long);
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut number = |most: u8| {
            let value = words.next().unwrap_or_default();
            let number = value.parse().ok().filter(|number| *number <= most);
            number.ok_or_else(|| format!("expected a number up to {most} after `{word}`, found `{value}`"))
        };
        match word {
            // This MCS counts the streams.
            "MCS" => (generation, mcs) = (Some(Format::Ht), number(31)?),
            // MCS 10 and 11 of 802.11ac, 12 and 13 of 802.11ax are proprietary. They count as the standard's fastest.
            "VHT-MCS" => (generation, mcs) = (Some(Format::Vht), number(11)?),
            "HE-MCS" => (generation, mcs) = (Some(Format::He), number(13)?),
            // 802.11be is not simulated: its modes count as the fastest of 802.11ax.
            "EHT-MCS" => (generation, mcs) = (Some(Format::He), number(15)?),
            "VHT-NSS" | "HE-NSS" | "EHT-NSS" => streams = number(8)?,
            "HE-GI" | "EHT-GI" => {
                guard = [GuardInterval::Long, GuardInterval::Double, GuardInterval::Quadruple][usize::from(number(2)?)];
            }
            // The narrowest channel with a resource unit of this size.
            "HE-RU-ALLOC" => width = [20, 20, 20, 20, 40, 80, 160][usize::from(number(6)?)],
            "EHT-RU-ALLOC" => {
                width = [20, 20, 20, 20, 20, 20, 40, 80, 80].get(usize::from(number(15)?)).copied().unwrap_or(160);
            }
            "short" => guard = GuardInterval::Short,
            _ => {
                if let Some(mhz) = word.strip_suffix("MHz") {
                    width = match mhz {
                        "40" => 40,
                        "80" => 80,
                        "80P80" | "160" | "320" => 160,
                        _ => return Err(format!("`{word}`: expected 40MHz, 80MHz, 80P80MHz, 160MHz or 320MHz")),
                    };
                }
            }
        }
    }
    let Some(generation) = generation else { return Ok(None) };
    Bitrate::new(generation, mcs, streams, width, guard).map(Some)
}
