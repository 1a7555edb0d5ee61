//! Airtime that stations have used in multi-user frames. Stations that have used the least go first.

use units::Duration;

#[derive(Debug, Default)]
pub(super) struct UsedAirtime {
    by_station: Vec<(u32, Duration)>,
    /// Airtime that every station counts as having used: a station that returns gets no credit for its absence.
    least: Duration,
}

impl UsedAirtime {
    /// Returns the airtime charged to a station so far, at least `least`.
    pub(super) fn of(&self, station: u32) -> Duration {
        let found = self.by_station.iter().find(|&&(other, _)| other == station);
        found.map_or(self.least, |&(_, used)| used.max(self.least))
    }

    pub(super) fn charge(&mut self, station: u32, airtime: Duration) {
        let used = self.of(station) + airtime;
        match self.by_station.iter_mut().find(|(other, _)| *other == station) {
            Some((_, before)) => *before = used,
            None => self.by_station.push((station, used)),
        }
    }

    /// Sets the least airtime, which every station counts as used, to the minimum of these waiting stations.
    pub(super) fn wait(&mut self, waiting: impl Iterator<Item = u32>) {
        self.least = waiting.map(|station| self.of(station)).min().unwrap_or_default();
    }
}
