//! Reads a Wi-Fi interface and its stations: channel, bit rates and airtime from nl80211, and each station's pending
//! airtime below mac80211 from debugfs. The files about airtime queue limits (AQL) have the form of Linux 7.2
//! (`net/mac80211/debugfs.c`, `debugfs_sta.c`). A value that is not available is replaced by the reason.

use crate::error::Error;
use crate::kernel::debugfs::{CATEGORIES, phy_folder, strange, text};
use crate::kernel::nl80211::{Format, Interface, Mode, Peer, Phy, Survey, Wireless};
use crate::kernel::rtnetlink::Route;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::{Duration, Rate};

/// Reason why the times of a channel are not available.
pub const NO_SURVEY: &str = "the survey of the interface's driver lacks this value";

/// A value, or the reason why it is not available.
pub type Told<T> = Result<T, String>;

/// A Wi-Fi interface and its stations.
#[derive(Clone, Debug, PartialEq)]
pub struct Stations {
    /// Name of the phy in `iw`.
    pub phy: String,
    /// True if the driver reports airtime of stations.
    pub has_airtime_reports: bool,
    /// True if the driver uses airtime queue limits (AQL).
    pub has_aql: bool,
    /// Role, channel and power of the interface.
    pub interface: Interface,
    /// Newest format that the card supports in the band of its channel.
    pub newest: Format,
    /// Times of the interface's channel.
    pub channel: Survey,
    /// Pending airtime of the whole phy.
    pub aql: Told<PhyAql>,
    /// Stations of the interface, sorted by address.
    pub stations: Vec<Station>,
}

/// Airtime of a phy that is pending below mac80211.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhyAql {
    /// True if AQL is switched on.
    pub is_on: bool,
    /// Airtime of all frames that mac80211 handed to the driver and that are not yet sent.
    pub pending: Duration,
    /// The part of the pending airtime that belongs to present stations.
    pub accounted: Duration,
    /// Pending airtime above which stations get their lower limit.
    pub threshold: Duration,
}

/// Readings of one station from nl80211 and debugfs.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// MAC address: `02:00:00:00:01:00`.
    pub address: String,
    /// Bitrate of the last frame to the station.
    pub sent_at: Told<Rate>,
    /// Mode of the last frame to the station.
    pub sent_as: Told<Mode>,
    /// Bitrate of the last frame from the station.
    pub received_at: Told<Rate>,
    /// Mode of the last frame from the station.
    pub received_as: Told<Mode>,
    /// Airtime of all frames to the station.
    pub sent_for: Told<Duration>,
    /// Airtime of all frames from the station.
    pub received_for: Told<Duration>,
    /// Airtime pending for the station, and its limits.
    pub aql: Told<StationAql>,
    /// Counters named as in nl80211 (see [`Peer`]), and the signal in dBm; `None` if the driver does not report it.
    pub counts: [(&'static str, Option<i64>); 6],
}

impl Stations {
    /// Describes channel, power and the number of stations of each standard in a line. `None` if there is no channel.
    pub fn network(&self) -> Option<String> {
        let Self { interface, newest, stations, .. } = self;
        let channel = interface.channel?;
        let place = match channel.number() {
            Some(number) => format!("channel {number} ({} MHz)", channel.frequency),
            None => format!("{} MHz", channel.frequency),
        };
        let centres: Vec<String> = channel.centres.into_iter().flatten().map(|centre| centre.to_string()).collect();
        let around = if centres.is_empty() { String::new() } else { format!(" around {} MHz", centres.join(" and ")) };
        let mut said = vec![format!("{} on {place}", interface.role.name())];
        said.extend(channel.width.map(|width| format!("{width} MHz wide{around}")));
        said.extend(interface.power.map(|power| format!("{:.1} dBm", f64::from(power) / 100.0)));
        said.extend(newest.standard().map(|standard| format!("by a card of {standard}")));
        let mut counts = BTreeMap::new();
        for station in stations {
            *counts.entry(Reverse(station.newest())).or_insert(0_usize) += 1;
        }
        let standard = |format: Option<Format>| format.and_then(Format::standard).unwrap_or("a standard not seen yet");
        let counts = counts.into_iter().map(|(Reverse(format), count)| format!("{count} of {}", standard(format)));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let of_stations = if counts.is_empty() { "no stations".to_owned() } else { format!("stations: {counts}") };
        Some(format!("{}; {of_stations}", said.join(", ")))
    }
}

impl Station {
    /// Returns the newest format of the last frames in both directions: small frames are often sent in an older format
    /// than the station supports. `None` if both were non-HT, which every station supports.
    pub fn newest(&self) -> Option<Format> {
        let modes = [&self.sent_as, &self.received_as].into_iter().flatten();
        modes.map(|mode| mode.format).max().filter(|format| *format > Format::NonHt)
    }
}

/// A station's airtime that is pending below mac80211, and its limits, of voice, video, best effort and background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationAql {
    /// Airtime of frames that mac80211 handed to the driver and that are not yet sent.
    pub pending: [Duration; 4],
    /// Pending airtime below which a category may always send.
    pub low: [Duration; 4],
    /// Pending airtime below which a category may send while the phy is below its threshold.
    pub high: [Duration; 4],
}

impl StationAql {
    /// Returns the pending airtime of all categories.
    pub fn total(&self) -> Duration {
        self.pending.iter().copied().sum()
    }
}

/// Reads the stations of an interface; `None` if it is not a Wi-Fi interface.
///
/// # Errors
/// There is no such interface in this network namespace, or the kernel does not answer.
pub fn look(device: &str) -> Result<Option<Stations>, Error> {
    let index = Route::open()?.link(device)?.index;
    // Without nl80211 there is no Wi-Fi.
    let Ok(mut wireless) = Wireless::open() else { return Ok(None) };
    let Some(interface) = wireless.interface(index)? else { return Ok(None) };
    let Some(phy) = wireless.phy(interface.phy)? else { return Ok(None) };
    let name = format!("/sys/class/net/{device}/phy80211/name");
    let name = text(Path::new(&name)).map_or_else(|_| format!("phy{}", phy.number), |name| name.trim().to_owned());
    let folder = phy_folder(&name);
    let peers = wireless.peers(index)?;
    let stations = peers.iter().map(|peer| station(peer, &phy, &folder.join(format!("netdev:{device}")))).collect();
    let aql = if phy.has_aql { phy_aql(&folder) } else { Err(no_aql()) };
    let Phy { has_airtime_reports, has_aql, .. } = phy;
    let band = interface.channel.and_then(|channel| channel.band());
    let newest = band.and_then(|band| phy.newest.get(band).copied()).unwrap_or_default();
    let channel = wireless.survey(index)?;
    Ok(Some(Stations { phy: name, has_airtime_reports, has_aql, interface, newest, channel, aql, stations }))
}

fn no_aql() -> String {
    "its driver has no airtime queue limits".into()
}

/// Reads a station; `folder` is the interface's folder in debugfs.
fn station(peer: &Peer, phy: &Phy, folder: &Path) -> Station {
    let address = peer.address.map(|byte| format!("{byte:02x}")).join(":");
    let none = |way| format!("no frame was sent {way} the station yet, or the driver does not report rates");
    let rate = |rate: Option<Rate>, way| rate.ok_or_else(|| none(way));
    // A mode without a rate says nothing, except a mode whose rate the kernel does not know.
    let mode = |mode: Mode, rate: Option<Rate>, way| {
        if rate.is_some() || mode.mcs.is_some() { Ok(mode) } else { Err(none(way)) }
    };
    // mac80211 fills in zeros if the driver does not report airtime; other times may still be the driver's own.
    let airtime = |time: Option<Duration>| match time {
        Some(time) if phy.has_airtime_reports || !time.is_zero() => Ok(time),
        _ => Err("its driver reports no airtime".to_owned()),
    };
    let aql = if phy.has_aql {
        let file = folder.join("stations").join(&address).join("aql");
        text(&file).and_then(|text| read_station(&text).ok_or_else(|| strange(&file)))
    } else {
        Err(no_aql())
    };
    Station {
        sent_at: rate(peer.sent_at, "to"),
        sent_as: mode(peer.sent_as, peer.sent_at, "to"),
        received_at: rate(peer.received_at, "from"),
        received_as: mode(peer.received_as, peer.received_at, "from"),
        sent_for: airtime(peer.sent_for),
        received_for: airtime(peer.received_for),
        aql,
        address,
        counts: [
            ("sent_bytes", peer.sent_bytes.and_then(|bytes| bytes.try_into().ok())),
            ("received_bytes", peer.received_bytes.and_then(|bytes| bytes.try_into().ok())),
            ("sent_frames", peer.sent_frames.map(i64::from)),
            ("repeated_frames", peer.repeated_frames.map(i64::from)),
            ("failed_frames", peer.failed_frames.map(i64::from)),
            ("signal_dbm", peer.signal.map(i64::from)),
        ],
    }
}

/// Reads the phy with this folder in debugfs.
fn phy_aql(folder: &Path) -> Told<PhyAql> {
    let file = |name| folder.join(name);
    let number = |name| text(&file(name)).and_then(|text| text.trim().parse().map_err(|_| strange(&file(name))));
    let pending = text(&file("aql_pending"))?;
    let pending = read_pending(&pending).ok_or_else(|| strange(&file("aql_pending")))?;
    let threshold = micros(number("aql_threshold")?);
    let accounted = of_all_stations(folder)?;
    Ok(PhyAql { is_on: number("aql_enable")? != 0, pending, accounted, threshold })
}

/// Sums the pending airtime of the stations of all of a phy's interfaces.
fn of_all_stations(folder: &Path) -> Told<Duration> {
    let mut sum = Duration::ZERO;
    for interface in entries(folder)?.iter().filter(|path| path.to_string_lossy().contains("netdev:")) {
        for station in entries(&interface.join("stations")).unwrap_or_default() {
            // A station that leaves meanwhile has no pending airtime.
            let aql = text(&station.join("aql")).ok().and_then(|text| read_station(&text));
            sum += aql.unwrap_or_default().total();
        }
    }
    Ok(sum)
}

fn entries(folder: &Path) -> Told<Vec<PathBuf>> {
    let list = std::fs::read_dir(folder).map_err(|error| format!("{} cannot be read: {error}", folder.display()))?;
    Ok(list.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

fn micros(n: u32) -> Duration {
    Duration::from_micros(n.into())
}

/// Parses the total in `aql_pending` of a phy. The file has a line per access category, one for multicast if the kernel
/// counts it, and the total without multicast.
fn read_pending(text: &str) -> Option<Duration> {
    let total = text.lines().find_map(|line| line.strip_prefix("total")?.trim().strip_suffix(" us"))?;
    total.parse().ok().map(micros)
}

/// Parses a station's `aql`: pending times in microseconds, and the limits as `low/high`.
fn read_station(text: &str) -> Option<StationAql> {
    let after = |head| text.lines().find_map(|line| line.strip_prefix(head));
    let mut aql = StationAql::default();
    let depths = after("Q depth:")?;
    let limits = after("Q limit[low/high]:")?;
    for (place, name) in CATEGORIES.iter().enumerate() {
        let of = |line: &str| {
            let mut words = line.split_whitespace();
            let is_name = |word: &str| word.strip_suffix(':').is_some_and(|word| word.eq_ignore_ascii_case(name));
            words.find(|word| is_name(word))?;
            words.next().map(str::to_owned)
        };
        aql.pending[place] = micros(of(depths)?.parse().ok()?);
        let limit = of(limits)?;
        let (low, high) = limit.split_once('/')?;
        (aql.low[place], aql.high[place]) = (micros(low.parse().ok()?), micros(high.parse().ok()?));
    }
    Some(aql)
}

/// Parses the pending time in a phy's or a station's file. Accepts any text.
pub fn read(text: &str) -> (Option<Duration>, Option<StationAql>) {
    (read_pending(text), read_station(text))
}

/// Known values under their keys, and the reasons for unknown values under `not_available`.
#[derive(Default)]
struct Entries {
    known: Map<String, Value>,
    missing: BTreeMap<&'static str, String>,
}

impl Entries {
    fn put(&mut self, key: &'static str, value: impl Serialize) {
        self.known.insert(key.into(), json!(value));
    }

    fn tell<T, V: Serialize>(&mut self, key: &'static str, value: &Told<T>, shown: impl Fn(&T) -> V) {
        match value {
            Ok(value) => self.put(key, shown(value)),
            Err(why) => drop(self.missing.insert(key, why.clone())),
        }
    }

    fn serialize<S: Serializer>(mut self, serializer: S) -> Result<S::Ok, S::Error> {
        let missing = json!(self.missing);
        self.put("not_available", missing);
        self.known.serialize(serializer)
    }
}

fn mode(Mode { format, mcs, streams, width, guard }: &Mode) -> Value {
    let guard = guard.map(Duration::as_secs_f64);
    json!({ "format": format.name(), "mcs": mcs, "streams": streams, "width_mhz": width, "guard_interval_s": guard })
}

impl Serialize for Stations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = Entries::default();
        entries.put("phy", &self.phy);
        entries.put("driver_reports_airtime", self.has_airtime_reports);
        entries.put("driver_has_aql", self.has_aql);
        let Survey { frequency, active, busy, receiving, sending } = self.channel;
        let Interface { role, channel, power, .. } = self.interface;
        entries.put("role", role.name());
        if let Some(frequency) = channel.map(|channel| channel.frequency).or(frequency) {
            entries.put("channel_mhz", frequency);
        }
        if let Some(channel) = channel {
            entries.put("channel", channel.number());
            entries.put("channel_width_mhz", channel.width);
            let centres: Vec<u32> = channel.centres.into_iter().flatten().collect();
            entries.put("channel_centers_mhz", centres);
        }
        if let Some(power) = power {
            entries.put("tx_power_dbm", f64::from(power) / 100.0);
        }
        entries.put("card_standard", self.newest.standard());
        entries.put("station_count", self.stations.len());
        for (key, time) in [
            ("channel_active_s", active),
            ("channel_busy_s", busy),
            ("channel_receiving_s", receiving),
            ("channel_sending_s", sending),
        ] {
            entries.tell(key, &time.ok_or_else(|| NO_SURVEY.into()), |time| time.as_secs_f64());
        }
        entries.tell("aql_is_on", &self.aql, |aql| aql.is_on);
        entries.tell("aql_pending_s", &self.aql, |aql| aql.pending.as_secs_f64());
        entries.tell("aql_threshold_s", &self.aql, |aql| aql.threshold.as_secs_f64());
        entries.put("stations", &self.stations);
        entries.serialize(serializer)
    }
}

impl Serialize for Station {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = Entries::default();
        entries.put("address", &self.address);
        let rate = |rate: &Rate| rate.as_bps();
        let each = |times: [Duration; 4]| -> BTreeMap<_, _> {
            CATEGORIES.iter().zip(times.map(Duration::as_secs_f64)).collect()
        };
        entries.put("standard", self.newest().and_then(Format::standard));
        entries.tell("sent_rate_bps", &self.sent_at, rate);
        entries.tell("sent_mode", &self.sent_as, mode);
        entries.tell("received_rate_bps", &self.received_at, rate);
        entries.tell("received_mode", &self.received_as, mode);
        entries.tell("sent_airtime_s", &self.sent_for, |time| time.as_secs_f64());
        entries.tell("received_airtime_s", &self.received_for, |time| time.as_secs_f64());
        entries.tell("aql_pending_s", &self.aql, |aql| each(aql.pending));
        entries.tell("aql_limit_low_s", &self.aql, |aql| each(aql.low));
        entries.tell("aql_limit_high_s", &self.aql, |aql| each(aql.high));
        for (name, count) in self.counts {
            if let Some(count) = count {
                entries.put(name, count);
            }
        }
        entries.serialize(serializer)
    }
}

#[cfg(test)]
#[path = "stations_tests.rs"]
pub(crate) mod tests;
