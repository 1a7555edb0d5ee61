//! What a radio tells: the samples of a recording, or `iw`, which says who is there but not what happens.

use crate::interface::{self, Bitrate, Format, GuardInterval, Interface, Role, Station};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Length of a step of a recording, in seconds.
pub(super) const STEP: f64 = 0.1;
/// Share of the airtime of frames that is their payload, where the driver does not tell their airtime.
const PAYLOAD: f64 = 0.6;

/// Shares of the air.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shares {
    /// In which the channel was busy.
    pub(super) busy: f64,
    /// In which the access point sent.
    pub(super) sent: f64,
    /// In which others than it and its stations sent.
    pub(super) foreign: f64,
}

/// An access point, as its radio sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Air {
    /// Its channel and stations.
    pub interface: Interface,
    /// Number of stations whose bitrates have no MCS: they count as slow ones of 802.11n.
    pub legacy: usize,
    /// Stations that are pinged, and whether they are busy: the one to which most is sent, and the one that does least.
    pub pinged: Vec<(usize, bool)>,
    /// Bytes to and from each station in each step; empty if they are not counted.
    pub(super) bytes: Vec<[Vec<f64>; 2]>,
    /// Shares of each step; empty if the driver does not survey the channel.
    pub(super) shares: Vec<Shares>,
}

impl Shares {
    /// Mean of some.
    pub(super) fn mean(all: &[Self]) -> Self {
        let of = |share: fn(&Self) -> f64| all.iter().map(share).sum::<f64>() / all.len().max(1) as f64;
        Self { busy: of(|it| it.busy), sent: of(|it| it.sent), foreign: of(|it| it.foreign) }
    }
}

impl Air {
    /// Reads a recording, or what `iw dev DEV info` and `station dump` say; `name` is that of an interface among several.
    ///
    /// # Errors
    /// It is neither, or tells of no access point with stations.
    pub fn read(text: &str, name: Option<&str>) -> Result<Self, String> {
        let samples = text.lines().filter(|line| line.starts_with("{\"air\":"));
        // A last line may be cut off.
        let samples: Vec<Sample> = samples.filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut air = match samples.as_slice() {
            [] if interface::is_interface(text) => Self { interface: interface::read(text, name)?, ..Self::default() },
            [] => {
                return Err("holds neither what a radio told nor the output of iw: record a Wi-Fi interface".to_owned());
            }
            [first, .., last] if (1.0..86_400.0).contains(&(last.at_s - first.at_s)) => Self::of_samples(&samples),
            _ => return Err("holds less than a second of what a radio told, or more than a day".to_owned()),
        };
        air.legacy = air.interface.left_out();
        let stations = air.interface.stations.len();
        if air.interface.role != Role::AccessPoint || stations == air.legacy {
            return Err(match (air.interface.role, stations) {
                (Role::AccessPoint, 0) => "tells of no station: ask while some are connected".to_owned(),
                (Role::AccessPoint, _) => "tells of no station from 802.11n on: their bitrates have no MCS".to_owned(),
                _ => "is no access point's: ask there, where the queues are".to_owned(),
            });
        }
        for station in &mut air.interface.stations {
            if station.sent.or(station.received).is_none() {
                station.sent = Bitrate::new(Format::Ht, 1, 1, 20, GuardInterval::Long).ok();
            }
        }
        air.pinged = air.pings();
        Ok(air)
    }

    fn of_samples(samples: &[Sample]) -> Self {
        let place = |sample: &Sample| whole((sample.at_s - samples[0].at_s) / STEP + 0.5);
        let steps = samples.last().map_or(0, place);
        let (mut stations, mut survey) = (BTreeMap::<&str, Counted>::new(), Counts::default());
        for sample in samples {
            let (place, radio) = (place(sample).min(steps), &sample.air);
            for told in &radio.stations {
                stations.entry(&told.address).or_default().add(place, told);
            }
            // Some drivers survey more seldom: what they count is spread over the time since the last survey.
            let (active, busy, sending) = (radio.channel_active_s, radio.channel_busy_s, radio.channel_sending_s);
            if active > survey.0.last().map_or(0.0, |last| last.1[0]) {
                survey.0.push((place, [active, busy, sending]));
            }
        }
        let radio = &samples[0].air;
        let mut air = Self::default();
        air.interface.role = if radio.role == "access point" { Role::AccessPoint } else { Role::Other };
        air.interface.frequency = radio.channel_mhz.filter(interface::is_of_wifi);
        air.interface.width = radio.channel_width_mhz.map(|width| width.clamp(20, 160));
        let mut received = vec![0.0; steps];
        for (address, mut counted) in stations {
            let [sent, heard] = counted.modes.each_mut().map(median);
            let by_step = counted.counts.by_step(steps);
            for (sum, [_, from, airtime]) in received.iter_mut().zip(&by_step) {
                // Zero with bytes is unknown.
                let by_rate = heard.or(sent).map_or(0.0, |mode| 8.0 * from / (PAYLOAD * mode.rate()));
                *sum += if counted.has_airtime { *airtime } else { by_rate };
            }
            air.bytes.push([0, 1].map(|way| by_step.iter().map(|counts| counts[way]).collect()));
            air.interface.stations.push(Station { address: address.to_owned(), sent, received: heard });
        }
        let shares = |([active, busy, sent], received): ([f64; 3], f64)| {
            let [busy, sent] = [busy, sent].map(|time| (time / active.max(1e-3)).clamp(0.0, 1.0));
            // The answers of stations to what the access point sends are busy time, too, and nobody counts them.
            Shares { busy, sent, foreign: (busy - 1.04 * sent - received / STEP).clamp(0.0, 1.0) }
        };
        if survey.0.len() > 1 {
            air.shares = survey.by_step(steps).into_iter().zip(received).map(shares).collect();
        }
        air
    }
}

/// The whole part of a number, 0 for those below.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is out of range becomes the nearest")]
pub(super) fn whole(number: f64) -> usize {
    number as usize
}

/// Readings of counters, by the step in which they were read.
#[derive(Debug, Default)]
struct Counts(Vec<(usize, [f64; 3])>);

impl Counts {
    /// Increments in each step.
    fn by_step(&self, steps: usize) -> Vec<[f64; 3]> {
        let mut all = vec![[0.0; 3]; steps];
        for pair in self.0.windows(2) {
            let [(begin, before), (end, now)] = [pair[0], pair[1]];
            debug_assert!(begin <= end && end <= steps, "samples are in order of time");
            // A counter that fell began anew.
            let grown = [0, 1, 2].map(|way| if now[way] < before[way] { 0.0 } else { now[way] - before[way] });
            let begin = begin.min(steps.saturating_sub(1));
            let end = end.max(begin + 1).min(steps);
            for step in &mut all[begin..end] {
                *step = [0, 1, 2].map(|way| step[way] + grown[way] / (end - begin) as f64);
            }
        }
        all
    }
}

/// Counters of a station (bytes to it and from it, airtime from it), and the modes in which it was sent to and heard.
#[derive(Debug, Default)]
struct Counted {
    counts: Counts,
    has_airtime: bool,
    modes: [Vec<Bitrate>; 2],
}

impl Counted {
    fn add(&mut self, place: usize, told: &Told) {
        let counts = [told.sent_bytes, told.received_bytes, told.received_airtime_s];
        let before = self.counts.0.last().map_or([0.0; 3], |last| last.1);
        self.has_airtime |= counts[2] > 0.0;
        for (way, mode) in [&told.sent_mode, &told.received_mode].into_iter().enumerate() {
            // A mode counts where something was sent in it.
            if self.modes[way].is_empty() || counts[way] > before[way] + 1e3 {
                self.modes[way].extend(mode.as_ref().and_then(Mode::bitrate));
            }
        }
        self.counts.0.push((place, counts));
    }
}

fn median(modes: &mut Vec<Bitrate>) -> Option<Bitrate> {
    modes.sort_by(|one, other| one.rate().total_cmp(&other.rate()));
    modes.get(modes.len() / 2).copied()
}

/// A line of a recording; `sluice status --json` has the same keys.
#[derive(Debug, Deserialize)]
struct Sample {
    at_s: f64,
    air: Radio,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Radio {
    role: String,
    channel_mhz: Option<u32>,
    channel_width_mhz: Option<u32>,
    channel_active_s: f64,
    channel_busy_s: f64,
    channel_sending_s: f64,
    stations: Vec<Told>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    address: String,
    sent_bytes: f64,
    received_bytes: f64,
    received_airtime_s: f64,
    sent_mode: Option<Mode>,
    received_mode: Option<Mode>,
}

#[derive(Debug, Deserialize)]
struct Mode {
    format: String,
    mcs: Option<u8>,
    streams: Option<u8>,
    width_mhz: u32,
    guard_interval_s: Option<f64>,
}

impl Mode {
    fn bitrate(&self) -> Option<Bitrate> {
        let generation = match &*self.format {
            "HT" => Format::Ht,
            "VHT" => Format::Vht,
            "HE" | "EHT" => Format::He,
            _ => return None,
        };
        let seconds = self.guard_interval_s.unwrap_or(0.0);
        let guards = [GuardInterval::Short, GuardInterval::Double, GuardInterval::Quadruple];
        let guard =
            guards.into_iter().find(|guard| (guard.nanos() as f64 / 1e9 - seconds).abs() < 1e-8).unwrap_or_default();
        Bitrate::new(generation, self.mcs?, self.streams?, self.width_mhz, guard).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Two seconds; a station is sent 10 kB in each step. The survey comes once a second, and says that the channel was busy for
    /// 600 ms of it and the access point sent for 250 ms.
    #[test]
    fn counters_become_shares_of_steps() {
        let line = |step: u32| {
            let (second, mode) = (step / 10, json!({ "format": "VHT", "mcs": 7, "streams": 2, "width_mhz": 80 }));
            let idle = json!({ "address": "b", "sent_mode": null });
            let station =
                json!({ "address": "a", "sent_bytes": 10_000 * step, "received_bytes": 0, "sent_mode": mode });
            json!({ "air": {
                "role": "access point", "channel_mhz": 5_180, "channel_active_s": 5.0 + f64::from(second),
                "channel_busy_s": 0.6 * f64::from(second), "channel_sending_s": 0.25 * f64::from(second), "stations": [station, idle],
            }, "at_s": 0.1 * f64::from(step) }).to_string() + "\n"
        };
        let text: String = (0..=20).map(line).collect();
        // What was cut off is left out.
        let air = Air::read(&(text + "{\"air\":{\"role\":\"acc"), None).unwrap();
        assert_eq!((air.shares.len(), air.interface.stations.len(), air.legacy), (20, 2, 1));
        assert_eq!(air.pinged, [(1, false)], "800 kb/s is not busy");
        for (shares, bytes) in air.shares.iter().zip(&air.bytes[0][0]) {
            assert!((shares.busy - 0.6).abs() < 1e-9 && (shares.sent - 0.25).abs() < 1e-9, "{shares:?}");
            assert!((shares.foreign - 0.34).abs() < 1e-9 && (bytes - 10_000.0).abs() < 1e-6, "{shares:?} {bytes}");
        }
    }
}
