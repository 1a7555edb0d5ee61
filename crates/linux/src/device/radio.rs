//! Readings of a Wi-Fi interface's radio from nl80211, for controllers that need them.
//!
//! - *Channel time*: the survey of the channel in use, in milliseconds. Drivers that sense the channel report how long
//!   it was busy, including own frames, and how long they transmitted. Without a survey the load stays unknown: the
//!   airtime of stations is less than the channel's load.
//! - *Link rate*: for each station the bitrate of the last frame to it, in a mean weighted by the bytes sent.
//! - *Stations heard*: stations of the interface that sent a frame. The kernel lists no stations of other cells.
//! - *Aggregates*: MPDUs and retransmissions are counted per station. No driver reports how many of them shared a
//!   frame, so each frame is assumed to be as large as its format ([`largest`]) and [`LONGEST_FRAME`] allow.
//!
//! MAC delays, hops and real-time traffic of this node come from the queue ([`Beside`](super::contract::Beside)).

use crate::error::Error;
use crate::kernel::nl80211::{Format, Peer, Survey, Wireless};
use control::{Radio, Reads};
use std::collections::BTreeMap;
use units::{Bytes, Duration, Rate};

/// Longest aggregate that Linux's drivers ath9k and iwlwifi send. The standard allows 5.484 ms.
const LONGEST_FRAME: Duration = Duration::from_millis(4);
/// Bytes of checksum and delimiter, which each MPDU in an aggregate has and mac80211 does not count.
const FRAMING: u64 = 8;

#[derive(Debug)]
pub(crate) struct Radiometer {
    wireless: Wireless,
    /// Number of the interface.
    index: u32,
    reads: Reads,
    before: Reading,
}

/// Counters of the driver at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
struct Reading {
    survey: Survey,
    /// Stations whose driver reports every field of [`Counted`].
    stations: BTreeMap<[u8; 6], Counted>,
    /// MPDUs received from each station.
    received: BTreeMap<[u8; 6], u32>,
}

/// Counters of traffic sent to a station, and the rate and format of the last frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counted {
    bytes: u64,
    frames: u32,
    repeated: u32,
    rate: Rate,
    format: Format,
}

impl Radiometer {
    /// Quantities that drivers may report.
    pub(crate) const READS: Reads = Reads::MEDIUM.and(Reads::LINK).and(Reads::CONTENDERS).and(Reads::AGGREGATES);
    /// Readings that are estimated, and the method of each.
    pub(crate) const ESTIMATES: [(Reads, &str); 2] = [
        (Reads::CONTENDERS, "stations heard: those of this interface; stations of other cells are not counted"),
        (
            Reads::AGGREGATES,
            "aggregates: assumed as large as their format and 4 ms allow; no driver reports their size",
        ),
    ];

    /// Opens the radio of the interface with this number; `None` if it is not Wi-Fi. Errors: the interface does not
    /// exist, or the kernel does not answer.
    pub(crate) fn open(index: u32) -> Result<Option<Self>, Error> {
        // Without nl80211 there is no Wi-Fi.
        let Ok(mut wireless) = Wireless::open() else { return Ok(None) };
        if wireless.phy_of(index)?.is_none() {
            return Ok(None);
        }
        let before = Reading::of(&wireless.survey(index)?, &wireless.peers(index)?);
        Ok(Some(Self { wireless, index, reads: before.reads(), before }))
    }

    /// Returns the readings that this driver supports. A link has no rate before the first frame to a station.
    pub(crate) fn reads(&self) -> Reads {
        self.reads
    }

    /// Returns the readings since the last call.
    pub(crate) fn take(&mut self) -> Result<Radio, Error> {
        let now = Reading::of(&self.wireless.survey(self.index)?, &self.wireless.peers(self.index)?);
        let seen = now.since(&self.before);
        self.before = now;
        Ok(seen)
    }
}

impl Reading {
    fn of(survey: &Survey, peers: &[Peer]) -> Self {
        let counted = |peer: &Peer| {
            let (bytes, rate, frames) = (peer.sent_bytes?, peer.sent_at?, peer.sent_frames?);
            // A driver may not report retransmissions; then they are not counted.
            let (repeated, format) = (peer.repeated_frames.unwrap_or(0), peer.sent_as.format);
            Some((peer.address, Counted { bytes, frames, repeated, rate, format }))
        };
        Self {
            survey: *survey,
            stations: peers.iter().filter_map(counted).collect(),
            received: peers.iter().filter_map(|peer| Some((peer.address, peer.received_frames?))).collect(),
        }
    }

    fn reads(&self) -> Reads {
        let has_time = self.survey.busy.is_some() && self.survey.sending.is_some();
        let medium = if has_time { Reads::MEDIUM } else { Reads::NONE };
        let link = if self.stations.is_empty() { Reads::NONE } else { Reads::LINK.and(Reads::AGGREGATES) };
        let heard = if self.received.is_empty() { Reads::NONE } else { Reads::CONTENDERS };
        medium.and(link).and(heard)
    }

    fn since(&self, before: &Self) -> Radio {
        let grown = |of: fn(&Survey) -> Option<Duration>| {
            // After a change of the channel the counters are those of another channel.
            let before = of(&before.survey).filter(|_| before.survey.frequency == self.survey.frequency);
            of(&self.survey).zip(before).map_or(Duration::ZERO, |(now, then)| now.saturating_sub(then))
        };
        let (busy, sending) = (grown(|survey| survey.busy), grown(|survey| survey.sending));
        // True if a station was heard: it is new, or its counter grew.
        let is_heard =
            |(address, now): &(&[u8; 6], &u32)| before.received.get(*address).is_none_or(|then| then != *now);
        let contenders = u32::try_from(self.received.iter().filter(is_heard).count()).unwrap_or(u32::MAX);
        let sent = |(address, now): (&[u8; 6], &Counted)| now.since(before.stations.get(address));
        let sent: Vec<Sent> = self.stations.iter().map(sent).collect();
        let bytes: u64 = sent.iter().map(|sent| sent.bytes).sum();
        let weighted: u128 = sent.iter().map(|sent| u128::from(sent.bytes) * u128::from(sent.rate.as_bps())).sum();
        let phy_rate = weighted.checked_div(bytes.into()).and_then(|rate| u64::try_from(rate).ok()).unwrap_or(0);
        let most = sent.iter().max_by_key(|sent| sent.bytes);
        let (aggregate_max, mpdus_max) = most.map_or((Bytes::new(0), 0), |sent| largest(sent.format, sent.rate));
        Radio {
            busy: busy.saturating_sub(sending),
            sending,
            contenders,
            phy_rate: Rate::bps(phy_rate),
            frames: sent.iter().map(Sent::frames).sum(),
            mpdus: sent.iter().map(|sent| sent.mpdus).sum(),
            aggregate_max,
            aggregate_mpdus_max: u8::try_from(mpdus_max).unwrap_or(u8::MAX),
            ..Radio::default()
        }
    }
}

/// Traffic sent to a station during an interval.
#[derive(Clone, Copy, Debug)]
struct Sent {
    bytes: u64,
    /// MPDUs, not counting retransmissions.
    packets: u64,
    mpdus: u64,
    rate: Rate,
    format: Format,
}

impl Counted {
    /// Returns the traffic since `before`. A station that left and returned counts from zero.
    fn since(&self, before: Option<&Self>) -> Sent {
        let before = before.filter(|before| before.bytes <= self.bytes).copied().unwrap_or_default();
        let packets = u64::from(self.frames.wrapping_sub(before.frames));
        let mpdus = packets + u64::from(self.repeated.wrapping_sub(before.repeated));
        Sent { bytes: self.bytes - before.bytes, packets, mpdus, rate: self.rate, format: self.format }
    }
}

impl Sent {
    /// Returns the number of frames that carry these MPDUs, if each frame has its largest size.
    fn frames(&self) -> u64 {
        let (bytes, most) = largest(self.format, self.rate);
        let one = self.bytes.checked_div(self.packets).unwrap_or(0) + FRAMING;
        self.mpdus.div_ceil((bytes.count() / one).clamp(1, most))
    }
}

/// Returns the bytes and MPDUs of the largest frame of a format and rate. Bounds are the longest A-MPDU that stations
/// of the format can announce, and the block acknowledgement window; before 802.11n, the longest MPDU.
pub(crate) fn largest(format: Format, rate: Rate) -> (Bytes, u64) {
    let (bytes, most) = match format {
        Format::NonHt => return (Bytes::new(2_346), 1),
        Format::Ht => (65_535, 64),
        Format::Vht => (1_048_575, 64),
        // A station of 802.11be may agree to a window no larger than with 802.11ax.
        Format::He | Format::Eht => (6_500_631, 256),
    };
    let in_time = u128::from(rate.as_bps()) * u128::from(LONGEST_FRAME.as_nanos()) / 8_000_000_000;
    (Bytes::new(u64::try_from(in_time).unwrap_or(u64::MAX).min(bytes)), most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::nl80211::Mode;

    fn survey(frequency: u32, busy: u64, sending: u64) -> Survey {
        let [busy, sending] = [busy, sending].map(|millis| Some(Duration::from_millis(millis)));
        Survey { frequency: Some(frequency), busy, sending, ..Survey::default() }
    }

    /// Makes a station that got frames of 1000 B, none of them retransmitted.
    fn peer(number: u8, bytes: u64, mbps: u64) -> Peer {
        let (sent_bytes, sent_at) = (Some(bytes), Some(Rate::mbps(mbps)));
        let sent_frames = u32::try_from(bytes / 1_000).ok();
        Peer { address: [2, 0, 0, 0, 0, number], sent_bytes, sent_frames, sent_at, ..Peer::default() }
    }

    #[test]
    fn channel_time_of_others_is_what_was_busy_without_own_frames() {
        let [before, now] = [survey(2_437, 1_000, 200), survey(2_437, 1_070, 230)].map(|it| Reading::of(&it, &[]));
        assert_eq!(now.reads(), Reads::MEDIUM);
        let seen = now.since(&before);
        assert_eq!([seen.busy, seen.sending], [40, 30].map(Duration::from_millis));
        // The channel has changed, or the driver has started to count from zero.
        for other in [survey(2_412, 5, 1), survey(2_437, 5, 1)] {
            assert_eq!(Reading::of(&other, &[]).since(&before), Radio::default());
        }
    }

    #[test]
    fn the_link_rate_is_weighted_by_the_bytes_to_each_station() {
        let before = Reading::of(&Survey::default(), &[peer(1, 10_000, 54), peer(2, 0, 6)]);
        let now = Reading::of(&Survey::default(), &[peer(1, 40_000, 54), peer(2, 10_000, 6), peer(3, 20_000, 24)]);
        assert_eq!(now.reads(), Reads::LINK.and(Reads::AGGREGATES));
        // The three stations got 30, 10 and 20 kB at 54, 6 and 24 Mb/s.
        assert_eq!(now.since(&before).phy_rate, Rate::mbps((30 * 54 + 10 * 6 + 20 * 24) / 60));
        assert_eq!(now.since(&now).phy_rate, Rate::bps(0), "nothing was sent");
        // All that a station counts is new if it left and returned.
        assert_eq!(Reading::of(&Survey::default(), &[peer(1, 5, 11)]).since(&now).phy_rate, Rate::mbps(11));
    }

    #[test]
    fn those_are_heard_of_whom_something_came() {
        let heard = |number, frames| Peer { received_frames: Some(frames), sent_at: None, ..peer(number, 0, 1) };
        let of = |peers: &[Peer]| Reading::of(&Survey::default(), peers);
        let before = of(&[heard(1, 7), heard(2, 9), heard(3, u32::MAX)]);
        assert_eq!(before.reads(), Reads::CONTENDERS);
        // The second station was silent, the third's counter has wrapped, and the fourth is new.
        assert_eq!(of(&[heard(1, 8), heard(2, 9), heard(3, 0), heard(4, 0)]).since(&before).contenders, 3);
        assert_eq!(of(&[]).since(&before).contenders, 0);
    }

    #[test]
    fn frames_before_802_11n_have_one_packet_each_and_repetitions_count() {
        let of = |bytes, repeated| {
            Reading::of(&Survey::default(), &[Peer { repeated_frames: repeated, ..peer(1, bytes, 11) }])
        };
        let seen = of(30_000, Some(5)).since(&of(10_000, Some(2)));
        assert_eq!((seen.frames, seen.mpdus, seen.aggregate_max), (23, 23, Bytes::new(2_346)));
        assert_eq!(seen.aggregate_mpdus_max, 1);
        let untold = of(30_000, None).since(&of(10_000, None));
        assert_eq!((untold.frames, untold.mpdus), (20, 20));
    }

    #[test]
    fn aggregates_are_taken_for_as_large_as_format_window_and_time_allow() {
        // In 4 ms, 65 Mb/s carry 32500 B, 300 Mb/s carry 150000 B, and 2402 Mb/s carry 1201000 B.
        let cases = [
            (Format::Ht, 65, 32_500, 64),
            (Format::Ht, 300, 65_535, 64),
            (Format::Vht, 300, 150_000, 64),
            (Format::Vht, 3_000, 1_048_575, 64),
            (Format::He, 2_402, 1_201_000, 256),
        ];
        for (format, mbps, bytes, most) in cases {
            assert_eq!(largest(format, Rate::mbps(mbps)), (Bytes::new(bytes), most), "{format:?} {mbps}");
        }
        let sent_as = Mode { format: Format::Ht, ..Mode::default() };
        let of = |bytes| Reading::of(&Survey::default(), &[Peer { sent_as, ..peer(1, bytes, 65) }]);
        // With 1008 B each, a frame holds 32 of them, and four frames hold 100.
        let seen = of(100_000).since(&of(0));
        assert_eq!((seen.frames, seen.mpdus, seen.aggregate_max), (4, 100, Bytes::new(32_500)));
        assert_eq!(seen.aggregate_mpdus_max, 64);
        assert_eq!(of(0).since(&of(0)).frames, 0);
    }

    #[test]
    fn what_a_driver_does_not_tell_is_not_offered() {
        assert_eq!(Reading::of(&Survey::default(), &[]).reads(), Reads::NONE);
        let half = Survey { busy: Some(Duration::from_millis(1)), ..Survey::default() };
        assert_eq!(Reading::of(&half, &[]).reads(), Reads::NONE, "own frames cannot be taken off");
        let silent = Peer { sent_at: None, ..peer(1, 0, 6) };
        assert_eq!(Reading::of(&survey(2_437, 1, 1), &[silent]).reads(), Reads::MEDIUM);
        let uncounted = Peer { sent_frames: None, ..peer(1, 0, 6) };
        assert_eq!(Reading::of(&Survey::default(), &[uncounted]).reads(), Reads::NONE);
    }

    #[test]
    fn what_is_no_wifi_has_no_radio() {
        assert!(Radiometer::open(1).unwrap().is_none(), "the loopback interface");
    }
}
