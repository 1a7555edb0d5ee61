//! Readings of a radio: the samples in a recording.

use crate::interface::{self, Bitrate, Interface, Role, Station, bitrate};
use serde_json::Value;
use sim::config::GuardInterval;
use sim::radio::Format;
use std::collections::BTreeMap;

/// Length of a recording's step, in s.
pub(super) const STEP: f64 = 0.1;
/// Share of payload in the airtime of frames, assumed if the driver does not report airtime.
const PAYLOAD: f64 = 0.6;

/// Shares of time in which the channel is busy, the access point sends, and stations of other networks send.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shares {
    pub(super) busy: f64,
    pub(super) sent: f64,
    pub(super) foreign: f64,
}

impl Shares {
    pub(super) fn mean(all: &[Self]) -> Self {
        let of =
            |share: fn(&Self) -> f64| all.iter().map(share).fold(0.0, |sum, it| sum + it) / all.len().max(1) as f64;
        Self { busy: of(|it| it.busy), sent: of(|it| it.sent), foreign: of(|it| it.foreign) }
    }
}

/// An access point, as its radio reports it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Air {
    /// Channel and stations of the interface. The output of `iw` has no traffic.
    pub interface: Interface,
    /// Number of stations whose bitrates have no MCS. They count as slow stations of 802.11n.
    pub legacy: usize,
    /// Index of the station that is pinged: the one that receives most.
    pub pinged: usize,
    /// Bytes to and from each station in each step.
    pub(super) bytes: Vec<[Vec<f64>; 2]>,
    /// Mean length of packets to each station, in bytes, if the driver counts packets.
    pub(super) packets: Vec<Option<f64>>,
    /// Shares of each step; empty if the driver does not survey the channel.
    pub(super) shares: Vec<Shares>,
}

impl Air {
    /// Reads a recording, or the output of `iw`.
    ///
    /// # Errors
    /// The text is neither, or it has no access point with stations.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        let samples = text.lines().filter(|line| line.starts_with("{\"air\":"));
        // The last line may be cut off.
        let samples: Vec<Value> = samples.filter_map(|line| serde_json::from_str(line).ok()).collect();
        match samples.as_slice() {
            [] if interface::is_interface(text) => Ok(Self::default()),
            all if !all.is_sorted_by(|one, other| number(one, "at_s") <= number(other, "at_s")) => {
                Err("contains several recordings: give one")
            }
            [] => Err("contains neither a radio's measurements nor output of iw: record a Wi-Fi interface"),
            [first, .., last] if (1.0..86_400.0).contains(&(number(last, "at_s") - number(first, "at_s"))) => {
                let mut air = Self::of_samples(&samples);
                air.legacy = air.interface.left_out();
                for station in &mut air.interface.stations {
                    if station.sent.or(station.received).is_none() {
                        station.sent = Bitrate::new(Format::Ht, 1, 1, 20, GuardInterval::Long).ok();
                    }
                }
                let sent = |&station: &usize| air.bytes[station][0].iter().sum::<f64>();
                let all = 0..air.bytes.len();
                air.pinged = all.max_by(|one, other| sent(one).total_cmp(&sent(other))).unwrap_or(0);
                match air.interface.stations.len() {
                    _ if first["air"]["role"] != "access point" => {
                        Err("was not recorded on an access point, as it must be")
                    }
                    0 => Err("contains no station: record while stations are connected"),
                    all if all == air.legacy => Err("contains no station of 802.11n or newer: no bitrate has an MCS"),
                    _ => Ok(air),
                }
            }
            _ => Err("covers less than a second, or more than a day"),
        }
    }

    fn of_samples(samples: &[Value]) -> Self {
        let begin = number(&samples[0], "at_s");
        let place = |sample: &Value| whole((number(sample, "at_s") - begin) / STEP + 0.5);
        let steps = samples.last().map_or(0, place);
        let (mut stations, mut survey) = (BTreeMap::<&str, Counted>::new(), Vec::new());
        for sample in samples {
            let (place, radio) = (place(sample).min(steps), &sample["air"]);
            for told in radio["stations"].as_array().into_iter().flatten() {
                stations.entry(told["address"].as_str().unwrap_or_default()).or_default().add(place, told);
            }
            // Some drivers survey less often. Their counts are spread over the time since the previous survey.
            let counts = ["channel_active_s", "channel_busy_s", "channel_sending_s"].map(|key| number(radio, key));
            if counts[0] > survey.last().map_or(0.0, |last: &Reading| last.1[0]) {
                survey.push((place, counts));
            }
        }
        let first = Interface::of_radio(None, &samples[0]["air"]);
        let interface = Interface { role: Role::AccessPoint, stations: Vec::new(), ..first };
        let mut air = Self { interface, ..Self::default() };
        let mut heard = vec![0.0; steps];
        for (address, mut counted) in stations {
            let [sent, received] = counted.modes.each_mut().map(|modes| median(modes));
            let by_step = by_step(&counted.counts, steps);
            for (sum, [_, from, airtime]) in heard.iter_mut().zip(&by_step) {
                // If bytes were sent, an airtime of zero means that it is unknown.
                let by_rate = received.or(sent).map_or(0.0, |mode| 8.0 * from / (PAYLOAD * mode.rate()));
                *sum += if counted.counts.iter().any(|it| it.1[2] > 0.0) { *airtime } else { by_rate };
            }
            air.packets.push(counted.packet());
            air.bytes.push([0, 1].map(|way| by_step.iter().map(|counts| counts[way]).collect()));
            air.interface.stations.push(Station { address: address.to_owned(), sent, received, old: None });
        }
        let shares = |([active, busy, sent], heard): ([f64; 3], f64)| {
            let [busy, sent] = [busy, sent].map(|time| (time / active.max(1e-3)).clamp(0.0, 1.0));
            // The stations' answers to the access point's frames are busy time, too, but are counted nowhere.
            Shares { busy, sent, foreign: (busy - 1.04 * sent - heard / STEP).clamp(0.0, 1.0) }
        };
        if survey.len() > 1 {
            air.shares = by_step(&survey, steps).into_iter().zip(heard).map(shares).collect();
        }
        air
    }
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or(0.0)
}

/// Returns the integer part of a number; 0 for a negative one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is out of range becomes the nearest")]
pub(super) fn whole(number: f64) -> usize {
    number as usize
}

/// A step, and the counters that were read in it.
type Reading = (usize, [f64; 3]);

/// Returns by how much the counters grew in each step.
fn by_step(readings: &[Reading], steps: usize) -> Vec<[f64; 3]> {
    let mut all = vec![[0.0; 3]; steps];
    for pair in readings.windows(2) {
        let [(begin, before), (end, now)] = [pair[0], pair[1]];
        debug_assert!(end <= steps, "all is within the recording");
        // A counter that has fallen was reset.
        let grown = [0, 1, 2].map(|way| if now[way] < before[way] { 0.0 } else { now[way] - before[way] });
        let begin = begin.min(end.max(1) - 1);
        for step in &mut all[begin..end.max(1)] {
            *step = [0, 1, 2].map(|way| step[way] + grown[way] / (end.max(1) - begin) as f64);
        }
    }
    all
}

/// Counters of a station (bytes to it, bytes from it, and its airtime), and its modes in both directions.
#[derive(Debug, Default)]
struct Counted {
    counts: Vec<Reading>,
    frames: [f64; 2],
    modes: [Vec<Bitrate>; 2],
}

impl Counted {
    fn add(&mut self, place: usize, told: &Value) {
        let counts = ["sent_bytes", "received_bytes", "received_airtime_s"].map(|key| number(told, key));
        let before = self.counts.last().map_or([0.0; 3], |last| last.1);
        for (way, key) in ["sent_mode", "received_mode"].into_iter().enumerate() {
            // A mode counts if bytes were sent in it.
            if self.modes[way].is_empty() || counts[way] > before[way] + 1e3 {
                self.modes[way].extend(bitrate(&told[key]));
            }
        }
        self.counts.push((place, counts));
        let frames = number(told, "sent_frames");
        self.frames = [if self.counts.len() > 1 { self.frames[0] } else { frames }, frames];
    }

    fn packet(&self) -> Option<f64> {
        let bytes = self.counts.last()?.1[0] - self.counts.first()?.1[0];
        let frames = self.frames[1] - self.frames[0];
        (bytes > 0.0 && frames > 0.0).then(|| (bytes / frames).clamp(64.0, 1_500.0))
    }
}

fn median(modes: &mut [Bitrate]) -> Option<Bitrate> {
    modes.sort_by(|one, other| one.rate().total_cmp(&other.rate()));
    modes.get(modes.len() / 2).copied()
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
            let station = json!({ "address": "a", "sent_bytes": 10_000 * step, "sent_frames": 10 * step, "received_bytes": 0, "sent_mode": mode });
            json!({ "air": {
                "role": "access point", "channel_mhz": 5_180, "channel_active_s": 5.0 + f64::from(second),
                "channel_busy_s": 0.6 * f64::from(second), "channel_sending_s": 0.25 * f64::from(second), "stations": [station, idle],
            }, "at_s": 0.1 * f64::from(step) }).to_string() + "\n"
        };
        let text: String = (0..=20).map(line).collect();
        // The part that was cut off is left out.
        let air = Air::read(&(text + "{\"air\":{\"role\":\"acc")).unwrap();
        assert_eq!((air.shares.len(), air.interface.stations.len(), air.legacy), (20, 2, 1));
        assert_eq!((air.pinged, &air.packets[..]), (0, &[Some(1_000.0), None][..]));
        for (shares, bytes) in air.shares.iter().zip(&air.bytes[0][0]) {
            assert!((shares.busy - 0.6).abs() < 1e-9 && (shares.sent - 0.25).abs() < 1e-9, "{shares:?}");
            assert!((shares.foreign - 0.34).abs() < 1e-9 && (bytes - 10_000.0).abs() < 1e-6, "{shares:?} {bytes}");
        }
    }
}
