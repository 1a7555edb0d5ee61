//! Samples a Wi-Fi interface's radio (survey, stations) ten times per second, and changes nothing.

use crate::kernel::{Patience, now};
use crate::telemetry::stations::{Stations, look};
use serde_json::json;
use std::sync::mpsc::{Receiver, channel};
use units::Duration;

/// Time between two samples.
pub const EVERY: Duration = Duration::from_millis(100);

/// A thread that samples until this value is dropped.
#[derive(Debug)]
pub struct Sampler {
    told: Receiver<(Duration, Stations)>,
    /// Addresses of stations in the order in which they appeared; `None` if samples keep addresses.
    known: Option<Vec<String>>,
}

impl Sampler {
    /// Begins sampling; `None` if the interface is not Wi-Fi. If `is_public`, numbers replace the stations' addresses.
    pub fn begin(device: &str, is_public: bool) -> Option<Self> {
        look(device).ok()??;
        let ((tell, told), device) = (channel(), device.to_owned());
        std::thread::spawn(move || {
            let begun = now();
            // The thread ends when the interface disappears or the receiver is dropped.
            while let Ok(Some(stations)) = look(&device)
                && tell.send((now().since(begun), stations)).is_ok()
            {
                Patience::new(EVERY, EVERY).lasts();
            }
        });
        Some(Self { told, known: is_public.then(Vec::new) })
    }

    /// Returns the samples since the last call as lines of a recording.
    pub fn take(&mut self) -> String {
        let all: Vec<_> = self.told.try_iter().collect();
        all.into_iter().map(|(at, stations)| self.line(at, stations)).collect()
    }

    /// Waits for a sample. Returns its time and its line; `None` once the interface has disappeared.
    pub fn wait(&mut self) -> Option<(Duration, String)> {
        let (at, stations) = self.told.recv().ok()?;
        Some((at, self.line(at, stations)))
    }

    fn line(&mut self, at: Duration, mut stations: Stations) -> String {
        if let Some(known) = &mut self.known {
            number(&mut stations, known);
        }
        json!({ "air": stations, "at_s": at.as_secs_f64() }).to_string() + "\n"
    }
}

/// Replaces the stations' addresses by numbers.
fn number(stations: &mut Stations, known: &mut Vec<String>) {
    for station in &mut stations.stations {
        let number = known.iter().position(|address| *address == station.address).unwrap_or(known.len());
        if number == known.len() {
            known.push(station.address.clone());
        }
        station.address = format!("station {}", number + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::stations::tests::look;

    #[test]
    fn the_public_gets_numbers_that_stay_a_stations() {
        let mut known = vec!["02:00:00:00:09:00".to_owned()];
        let mut seen = look(Duration::ZERO, Duration::ZERO);
        number(&mut seen, &mut known);
        let mut again = look(Duration::ZERO, Duration::ZERO);
        number(&mut again, &mut known);
        assert_eq!(
            (seen.stations[0].address.as_str(), &again.stations[0].address),
            ("station 2", &seen.stations[0].address)
        );
        assert!(!serde_json::to_string(&seen).unwrap().contains("02:00"));
    }
}
