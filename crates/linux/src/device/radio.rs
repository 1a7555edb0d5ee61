//! What the driver of a Wi-Fi interface tells of its radio by nl80211, for controllers that look at that.
//!
//! - *Channel time*: the survey of the channel in use, to a millisecond. Drivers that sense the channel count how long it was
//!   busy, own frames included, and how long they sent.
//! - *Link rate*: of each station the bitrate of the last frame to it, weighted by the bytes that went to it.
//!
//! What no driver tells is not offered: how many other stations were heard, frames and what they are made of. MAC delays and own
//! real-time traffic are the queue's to tell ([`Beside`](super::contract::Beside)).

use crate::error::Error;
use crate::kernel::nl80211::{Peer, Survey, Wireless};
use control::{Radio, Reads};
use std::collections::BTreeMap;
use units::{Duration, Rate};

/// The radio of an interface.
#[derive(Debug)]
pub(crate) struct Radiometer {
    wireless: Wireless,
    /// The interface's number.
    index: u32,
    reads: Reads,
    before: Reading,
}

/// What the driver had counted at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
struct Reading {
    survey: Survey,
    /// Bytes that went to each station, and the bitrate of the last frame to it.
    stations: BTreeMap<[u8; 6], (u64, Rate)>,
}

impl Radiometer {
    /// What drivers may tell.
    pub(crate) const READS: Reads = Reads::MEDIUM.and(Reads::LINK);

    /// Of the interface with this number; none where it is no Wi-Fi.
    ///
    /// # Errors
    /// The interface is gone, or the kernel does not answer.
    pub(crate) fn open(index: u32) -> Result<Option<Self>, Error> {
        // Without nl80211 nothing is Wi-Fi.
        let Ok(mut wireless) = Wireless::open() else { return Ok(None) };
        if wireless.phy_of(index)?.is_none() {
            return Ok(None);
        }
        let before = Reading::of(&wireless.survey(index)?, &wireless.peers(index)?);
        Ok(Some(Self { wireless, index, reads: before.reads(), before }))
    }

    /// What of a radio is told here. A link has no rate before the first frame to a station.
    pub(crate) fn reads(&self) -> Reads {
        self.reads
    }

    /// What was seen since the last call.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn take(&mut self) -> Result<Radio, Error> {
        let now = Reading::of(&self.wireless.survey(self.index)?, &self.wireless.peers(self.index)?);
        let seen = now.since(&self.before);
        self.before = now;
        Ok(seen)
    }
}

impl Reading {
    fn of(survey: &Survey, peers: &[Peer]) -> Self {
        let station = |peer: &Peer| Some((peer.address, (peer.sent_bytes?, peer.sent_at?)));
        Self { survey: *survey, stations: peers.iter().filter_map(station).collect() }
    }

    fn reads(&self) -> Reads {
        let has_time = self.survey.busy.is_some() && self.survey.sending.is_some();
        let medium = if has_time { Reads::MEDIUM } else { Reads::NONE };
        if self.stations.is_empty() { medium } else { medium.and(Reads::LINK) }
    }

    fn since(&self, before: &Self) -> Radio {
        let grown = |of: fn(&Survey) -> Option<Duration>| {
            // Another channel has other counters.
            let before = of(&before.survey).filter(|_| before.survey.frequency == self.survey.frequency);
            of(&self.survey).zip(before).map_or(Duration::ZERO, |(now, then)| now.saturating_sub(then))
        };
        let (busy, sending) = (grown(|survey| survey.busy), grown(|survey| survey.sending));
        let (mut bytes, mut weighted) = (0, 0);
        for (address, (now, rate)) in &self.stations {
            // A station that comes anew counts from zero.
            let then = before.stations.get(address).map_or(0, |(then, _)| *then);
            let sent = u128::from(now.checked_sub(then).unwrap_or(*now));
            bytes += sent;
            weighted += sent * u128::from(rate.as_bps());
        }
        let phy_rate = u64::try_from(weighted.checked_div(bytes).unwrap_or(0)).unwrap_or(u64::MAX);
        Radio { busy: busy - sending, sending, phy_rate: Rate::bps(phy_rate), ..Radio::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(frequency: u32, busy: u64, sending: u64) -> Survey {
        let [busy, sending] = [busy, sending].map(|millis| Some(Duration::from_millis(millis)));
        Survey { frequency: Some(frequency), busy, sending, ..Survey::default() }
    }

    fn peer(number: u8, bytes: u64, mbps: u64) -> Peer {
        let (sent_bytes, sent_at) = (Some(bytes), Some(Rate::mbps(mbps)));
        Peer { address: [2, 0, 0, 0, 0, number], sent_bytes, sent_at, ..Peer::default() }
    }

    #[test]
    fn channel_time_of_others_is_what_was_busy_without_own_frames() {
        let [before, now] = [survey(2_437, 1_000, 200), survey(2_437, 1_070, 230)].map(|it| Reading::of(&it, &[]));
        assert_eq!(now.reads(), Reads::MEDIUM);
        let seen = now.since(&before);
        assert_eq!([seen.busy, seen.sending], [40, 30].map(Duration::from_millis));
        // After a change of the channel, and where a driver began to count anew.
        for other in [survey(2_412, 5, 1), survey(2_437, 5, 1)] {
            assert_eq!(Reading::of(&other, &[]).since(&before), Radio::default());
        }
    }

    #[test]
    fn the_link_rate_is_weighted_by_the_bytes_to_each_station() {
        let before = Reading::of(&Survey::default(), &[peer(1, 10_000, 54), peer(2, 0, 6)]);
        let now = Reading::of(&Survey::default(), &[peer(1, 40_000, 54), peer(2, 10_000, 6), peer(3, 20_000, 24)]);
        assert_eq!(now.reads(), Reads::LINK);
        // 30, 10 and 20 kB at 54, 6 and 24 Mb/s.
        assert_eq!(now.since(&before).phy_rate, Rate::mbps((30 * 54 + 10 * 6 + 20 * 24) / 60));
        assert_eq!(now.since(&now).phy_rate, Rate::bps(0), "nothing was sent");
        // A station that left and came again: all that it counts is new.
        assert_eq!(Reading::of(&Survey::default(), &[peer(1, 5, 11)]).since(&now).phy_rate, Rate::mbps(11));
    }

    #[test]
    fn what_a_driver_does_not_tell_is_not_offered() {
        assert_eq!(Reading::of(&Survey::default(), &[]).reads(), Reads::NONE);
        let half = Survey { busy: Some(Duration::from_millis(1)), ..Survey::default() };
        assert_eq!(Reading::of(&half, &[]).reads(), Reads::NONE, "own frames cannot be taken off");
        let silent = Peer { sent_at: None, ..peer(1, 0, 6) };
        assert_eq!(Reading::of(&survey(2_437, 1, 1), &[silent]).reads(), Reads::MEDIUM);
    }

    #[test]
    fn what_is_no_wifi_has_no_radio() {
        assert!(Radiometer::open(1).unwrap().is_none(), "the loopback interface");
    }
}
