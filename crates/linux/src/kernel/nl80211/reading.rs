//! Parses messages of nl80211 about a phy, its queues and stations.

use super::mode::{Format, Mode, mode};
use crate::kernel::Counters;
use crate::kernel::wire::{attribute, attributes, u32_at, u64_at};
use units::{Duration, Rate};

pub(super) const ATTR_WIPHY: u16 = 1;
pub(super) const ATTR_WIPHY_NAME: u16 = 2;
pub(super) const ATTR_IFINDEX: u16 = 3;
pub(super) const ATTR_IFTYPE: u16 = 5;
pub(super) const ATTR_MAC: u16 = 6;
pub(super) const ATTR_STA_INFO: u16 = 21;
const ATTR_BANDS: u16 = 22;
pub(super) const ATTR_SURVEY_INFO: u16 = 84;
pub(super) const ATTR_SPLIT_WIPHY_DUMP: u16 = 174;
pub(super) const ATTR_EXT_FEATURES: u16 = 217;
pub(super) const ATTR_TXQ_STATS: u16 = 265;
pub(super) const ATTR_TXQ_LIMIT: u16 = 266;

const STA_INFO_SIGNAL: u16 = 7;
const STA_INFO_TX_BITRATE: u16 = 8;
const STA_INFO_RX_PACKETS: u16 = 9;
const STA_INFO_TX_PACKETS: u16 = 10;
const STA_INFO_TX_RETRIES: u16 = 11;
const STA_INFO_TX_FAILED: u16 = 12;
const STA_INFO_RX_BITRATE: u16 = 14;
const STA_INFO_RX_BYTES64: u16 = 23;
const STA_INFO_TX_BYTES64: u16 = 24;
const STA_INFO_TID_STATS: u16 = 31;
const STA_INFO_RX_DURATION: u16 = 32;
const STA_INFO_TX_DURATION: u16 = 39;
const TID_STATS_TXQ_STATS: u16 = 6;

const TXQ_BACKLOG_BYTES: u16 = 1;
const TXQ_BACKLOG_PACKETS: u16 = 2;
const TXQ_DROPS: u16 = 4;
const TXQ_OVERLIMIT: u16 = 6;
const TXQ_OVERMEMORY: u16 = 7;
const TXQ_TX_BYTES: u16 = 9;
const TXQ_TX_PACKETS: u16 = 10;

/// Attributes of a band (`enum nl80211_band_attr`, `enum nl80211_band_iftype_attr`).
const BAND_HT: u16 = 4;
const BAND_VHT: u16 = 8;
const BAND_BY_ROLE: u16 = 9;
const ROLE_HE: u16 = 3;
const ROLE_EHT: u16 = 9;
/// Number of Wi-Fi bands in `enum nl80211_band`: 2.4, 5, 60 and 6 GHz.
const BANDS: usize = 4;

/// Bits of `enum nl80211_ext_feature_index`.
const FEATURE_AIRTIME_FAIRNESS: usize = 33;
const FEATURE_AQL: usize = 40;

/// Length of `struct genlmsghdr`.
const GENERIC_BODY: usize = 4;

/// Properties of a phy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phy {
    /// Number of the phy: 0 for phy0.
    pub number: u32,
    /// Packet limit of all queues of the phy together; `None` if mac80211 holds none of its packets.
    pub limit: Option<u32>,
    /// Waiting packets, and packets that were discarded because the queues were full.
    pub queues: TxqCounts,
    /// True if the phy's driver reports airtime of stations.
    pub has_airtime_reports: bool,
    /// True if the phy's driver uses airtime queue limits (AQL).
    pub has_aql: bool,
    /// Newest format as a station in each band, in the order of the bands' numbers.
    pub(crate) newest: [Format; BANDS],
}

/// Readings of a station; `None`: not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// MAC address.
    pub address: [u8; 6],
    /// Bytes of all frames to the station, as the driver counts them.
    pub sent_bytes: Option<u64>,
    /// MPDUs to the station, as mac80211 counts them, without retransmissions. Wraps at 32 bits.
    pub sent_frames: Option<u32>,
    /// Retransmissions to the station, if the driver reports them. Wraps at 32 bits.
    pub repeated_frames: Option<u32>,
    /// MPDUs that were not delivered to the station despite retransmissions. Wraps at 32 bits.
    pub failed_frames: Option<u32>,
    /// Bytes of all frames from the station.
    pub received_bytes: Option<u64>,
    /// Signal of the last frame from the station, in dBm.
    pub signal: Option<i8>,
    /// MPDUs from the station, including beacons. Wraps at 32 bits.
    pub received_frames: Option<u32>,
    /// Bitrate of the last frame to the station.
    pub sent_at: Option<Rate>,
    /// Mode of the last frame to the station.
    pub sent_as: Mode,
    /// Bitrate of the last frame from the station.
    pub received_at: Option<Rate>,
    /// Mode of the last frame from the station.
    pub received_as: Mode,
    /// Airtime of all frames to the station. mac80211 reports zero if its driver does not report airtime.
    pub sent_for: Option<Duration>,
    /// Airtime of all frames from the station; zero if the driver does not report airtime.
    pub received_for: Option<Duration>,
    /// Sum of the counters of mac80211's queues for this station.
    pub queues: TxqCounts,
}

/// Counters of queues. The counts of a queue that disappears are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxqCounts {
    /// Number of waiting packets.
    pub backlog_packets: u32,
    /// Bytes waiting, with link headers.
    pub backlog_bytes: u32,
    /// Packets that `CoDel` discarded.
    pub drops: u32,
    /// Packets discarded because the packet limit was reached.
    pub overlimit: u32,
    /// Packets discarded because the memory limit was reached.
    pub overmemory: u32,
    /// Packets sent to the driver. Wraps at 32 bits.
    pub sent_packets: u32,
    /// Bytes sent to the driver, with link headers. Wraps at 32 bits.
    pub sent_bytes: u32,
}

impl TxqCounts {
    /// Adds the counters of another queue of the station.
    pub(crate) const fn add(&mut self, other: &Self) {
        self.backlog_packets = self.backlog_packets.wrapping_add(other.backlog_packets);
        self.backlog_bytes = self.backlog_bytes.wrapping_add(other.backlog_bytes);
        self.drops = self.drops.wrapping_add(other.drops);
        self.sent_packets = self.sent_packets.wrapping_add(other.sent_packets);
        self.sent_bytes = self.sent_bytes.wrapping_add(other.sent_bytes);
    }
}

/// Converts to counters of a queue discipline, so that the same estimates apply. They are packets that the phy holds,
/// packets that left for an interface's stations, and all packets discarded.
pub(crate) fn counters(phy: &Phy, stations: &TxqCounts) -> Counters {
    let discarded = phy.queues.overlimit.wrapping_add(phy.queues.overmemory);
    Counters {
        sent_packets: stations.sent_packets.into(),
        sent_bytes: stations.sent_bytes.into(),
        dropped: stations.drops.wrapping_add(discarded),
        backlog_packets: phy.queues.backlog_packets,
        backlog_bytes: phy.queues.backlog_bytes,
    }
}

/// Returns the attributes that follow a message's header.
pub(super) fn body(payload: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    attributes(payload.get(GENERIC_BODY..).unwrap_or_default())
}

pub(super) fn found(payload: &[u8], wanted: u16) -> Option<&[u8]> {
    attribute(payload.get(GENERIC_BODY..)?, wanted)
}

pub(super) fn number_of(payload: &[u8], wanted: u16) -> Option<u32> {
    u32_at(found(payload, wanted)?, 0)
}

pub(super) fn add_phy(phy: &mut Phy, payload: &[u8]) {
    for (kind, value) in body(payload) {
        match kind {
            ATTR_WIPHY => phy.number = u32_at(value, 0).unwrap_or_default(),
            ATTR_TXQ_LIMIT => phy.limit = u32_at(value, 0),
            ATTR_TXQ_STATS => phy.queues = txq_counts(value),
            ATTR_BANDS => attributes(value).for_each(|(band, has)| add_band(&mut phy.newest, band, has)),
            ATTR_EXT_FEATURES => {
                let has = |bit: usize| value.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
                (phy.has_airtime_reports, phy.has_aql) = (has(FEATURE_AIRTIME_FAIRNESS), has(FEATURE_AQL));
            }
            _ => {}
        }
    }
}

/// Adds the formats that a message reports for a band; several messages together report all.
fn add_band(newest: &mut [Format; BANDS], band: u16, has: &[u8]) {
    let Some(newest) = newest.get_mut(usize::from(band)) else { return };
    let of_role = |(kind, _)| match kind {
        ROLE_HE => Format::He,
        ROLE_EHT => Format::Eht,
        _ => Format::NonHt,
    };
    for (kind, value) in attributes(has) {
        let format = match kind {
            BAND_HT => Format::Ht,
            BAND_VHT => Format::Vht,
            BAND_BY_ROLE => {
                attributes(value).flat_map(|(_, role)| attributes(role)).map(of_role).max().unwrap_or_default()
            }
            _ => Format::NonHt,
        };
        *newest = format.max(*newest);
    }
}

pub(super) fn peer(payload: &[u8]) -> Option<Peer> {
    let mut peer = Peer { address: found(payload, ATTR_MAC)?.try_into().ok()?, ..Peer::default() };
    for (kind, value) in attributes(found(payload, ATTR_STA_INFO)?) {
        let time = || u64_at(value, 0)?.checked_mul(1_000).map(Duration::from_nanos);
        match kind {
            STA_INFO_TX_BYTES64 => peer.sent_bytes = u64_at(value, 0),
            STA_INFO_RX_PACKETS => peer.received_frames = u32_at(value, 0),
            STA_INFO_TX_PACKETS => peer.sent_frames = u32_at(value, 0),
            STA_INFO_TX_RETRIES => peer.repeated_frames = u32_at(value, 0),
            STA_INFO_TX_FAILED => peer.failed_frames = u32_at(value, 0),
            STA_INFO_RX_BYTES64 => peer.received_bytes = u64_at(value, 0),
            STA_INFO_SIGNAL => peer.signal = value.first().map(|byte| byte.cast_signed()),
            STA_INFO_TX_BITRATE => (peer.sent_at, peer.sent_as) = mode(value),
            STA_INFO_RX_BITRATE => (peer.received_at, peer.received_as) = mode(value),
            STA_INFO_TX_DURATION => peer.sent_for = time(),
            STA_INFO_RX_DURATION => peer.received_for = time(),
            _ => {}
        }
    }
    add_station(&mut peer.queues, payload);
    Some(peer)
}

/// Adds the counters of a station's queues; there is a queue for each traffic identifier.
pub(super) fn add_station(sum: &mut TxqCounts, payload: &[u8]) {
    let nested = |value, wanted| attributes(value).filter(move |(kind, _)| *kind == wanted).map(|(_, value)| value);
    let identifiers = body(payload)
        .filter(|(kind, _)| *kind == ATTR_STA_INFO)
        .flat_map(|(_, value)| nested(value, STA_INFO_TID_STATS))
        .flat_map(attributes);
    for queue in identifiers.flat_map(|(_, value)| nested(value, TID_STATS_TXQ_STATS)) {
        sum.add(&txq_counts(queue));
    }
}

/// Parses `enum nl80211_txq_stats`.
fn txq_counts(nest: &[u8]) -> TxqCounts {
    let mut counts = TxqCounts::default();
    for (kind, value) in attributes(nest) {
        let place = match kind {
            TXQ_BACKLOG_BYTES => &mut counts.backlog_bytes,
            TXQ_BACKLOG_PACKETS => &mut counts.backlog_packets,
            TXQ_DROPS => &mut counts.drops,
            TXQ_OVERLIMIT => &mut counts.overlimit,
            TXQ_OVERMEMORY => &mut counts.overmemory,
            TXQ_TX_BYTES => &mut counts.sent_bytes,
            TXQ_TX_PACKETS => &mut counts.sent_packets,
            _ => continue,
        };
        *place = u32_at(value, 0).unwrap_or_default();
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::nl80211::mode::{BITRATE, BITRATE_32, HE_MCS};
    use crate::kernel::nl80211::{Contents, told};
    use crate::kernel::wire::Request;
    use proptest::prelude::*;

    const NESTED: u16 = 0x8000;

    /// Writes attributes one after another.
    fn nest(parts: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let request = parts.iter().fold(Request::new(0, 0, &[]), |request, (kind, value)| request.with(*kind, value));
        request.finish(0).split_off(16)
    }

    fn word(value: u32) -> Vec<u8> {
        value.to_ne_bytes().to_vec()
    }

    fn message(parts: &[(u16, Vec<u8>)]) -> Vec<u8> {
        parts
            .iter()
            .fold(Request::new(28, 0, &[3, 1, 0, 0]), |request, (kind, value)| request.with(*kind, value))
            .finish(1)
    }

    fn queue(packets: u32) -> Vec<u8> {
        nest(&[
            (TXQ_BACKLOG_BYTES, word(packets * 100)),
            (TXQ_BACKLOG_PACKETS, word(packets)),
            (TXQ_DROPS, word(1)),
            (TXQ_OVERLIMIT, word(7)),
            (TXQ_TX_BYTES, word(packets * 1_000)),
            (TXQ_TX_PACKETS, word(packets * 10)),
            (11, word(99)),
        ])
    }

    #[test]
    fn a_phy_is_put_together_from_several_messages() {
        let mut bytes = message(&[(ATTR_WIPHY, word(3)), (2, b"phy3\0".to_vec())]);
        bytes.extend(message(&[
            (ATTR_WIPHY, word(3)),
            (ATTR_TXQ_STATS | NESTED, queue(5)),
            (ATTR_TXQ_LIMIT, word(8_192)),
        ]));
        let phy = told(&bytes).phy;
        assert_eq!((phy.number, phy.limit), (3, Some(8_192)));
        assert_eq!((phy.queues.backlog_packets, phy.queues.backlog_bytes, phy.queues.overlimit), (5, 500, 7));
    }

    #[test]
    fn the_queues_of_all_stations_and_identifiers_are_added_up() {
        let identifier = |packets| nest(&[(1, word(0)), (TID_STATS_TXQ_STATS | NESTED, queue(packets))]);
        let station = |parts: &[(u16, Vec<u8>)]| {
            let info = nest(&[(2, word(4)), (STA_INFO_TID_STATS | NESTED, nest(parts))]);
            message(&[(ATTR_IFINDEX, word(9)), (ATTR_STA_INFO | NESTED, info)])
        };
        let mut bytes = station(&[(1, identifier(1)), (2, identifier(2))]);
        bytes.extend(station(&[(1, identifier(4))]));
        let Contents { phy, stations, .. } = told(&bytes);
        assert_eq!((stations.sent_packets, stations.sent_bytes, stations.drops), (70, 7_000, 3));
        assert_eq!(phy, Phy::default());
        let phy =
            Phy { queues: TxqCounts { overlimit: 7, backlog_packets: 5, ..TxqCounts::default() }, ..Phy::default() };
        let counters = counters(&phy, &stations);
        assert_eq!((counters.dropped, counters.sent_packets, counters.backlog_packets), (10, 70, 5));
    }

    #[test]
    fn a_station_has_its_rates_and_times_on_the_air() {
        let long = |value: u64| value.to_ne_bytes().to_vec();
        let rate = |parts: &[(u16, Vec<u8>)]| nest(parts);
        let station = |address: [u8; 6], info: &[(u16, Vec<u8>)]| {
            message(&[(ATTR_MAC, address.to_vec()), (ATTR_STA_INFO | NESTED, nest(info))])
        };
        let old = rate(&[(BITRATE, vec![110, 0])]);
        let fast = rate(&[(BITRATE, vec![1, 0]), (BITRATE_32, word(96_000)), (HE_MCS, vec![11])]);
        let mut bytes = station(
            [2, 0, 0, 0, 1, 0],
            &[
                (STA_INFO_TX_BYTES64, long(7_000_000_000)),
                (STA_INFO_RX_PACKETS, word(11)),
                (STA_INFO_TX_PACKETS, word(12)),
                (STA_INFO_TX_RETRIES, word(13)),
                (STA_INFO_TX_FAILED, word(14)),
                (STA_INFO_RX_BYTES64, long(9_000_000_000)),
                (STA_INFO_SIGNAL, vec![0xc3]),
                (STA_INFO_TX_BITRATE | NESTED, fast),
                (STA_INFO_RX_BITRATE | NESTED, old),
                (STA_INFO_TX_DURATION, long(1_500_000)),
                (STA_INFO_RX_DURATION, long(u64::MAX)),
                (STA_INFO_TID_STATS | NESTED, nest(&[(1, nest(&[(TID_STATS_TXQ_STATS | NESTED, queue(3))]))])),
            ],
        );
        bytes.extend(station([2, 0, 0, 0, 2, 0], &[(STA_INFO_TX_BITRATE | NESTED, rate(&[]))]));
        let peers = told(&bytes).peers;
        let first = Peer {
            address: [2, 0, 0, 0, 1, 0],
            sent_bytes: Some(7_000_000_000),
            sent_frames: Some(12),
            repeated_frames: Some(13),
            failed_frames: Some(14),
            received_bytes: Some(9_000_000_000),
            signal: Some(-61),
            received_frames: Some(11),
            sent_at: Some(Rate::mbps(9_600)),
            sent_as: Mode { format: Format::He, mcs: Some(11), width: 20, ..Mode::default() },
            received_at: Some(Rate::mbps(11)),
            received_as: Mode { width: 20, ..Mode::default() },
            sent_for: Some(Duration::from_millis(1_500)),
            received_for: None,
            queues: TxqCounts {
                backlog_packets: 3,
                backlog_bytes: 300,
                drops: 1,
                sent_packets: 30,
                sent_bytes: 3_000,
                ..TxqCounts::default()
            },
        };
        let sent_as = Mode { width: 20, ..Mode::default() };
        assert_eq!(peers, [first, Peer { address: [2, 0, 0, 0, 2, 0], sent_as, ..Peer::default() }]);
    }

    /// In a split dump several messages report parts of one band.
    #[test]
    fn a_phy_has_the_newest_format_of_each_band() {
        let bands = |parts: &[(u16, Vec<u8>)]| message(&[(ATTR_WIPHY, word(0)), (ATTR_BANDS | NESTED, nest(parts))]);
        let by_role = nest(&[(0, nest(&[(1, vec![]), (ROLE_HE, vec![0; 11])]))]);
        let mut bytes = bands(&[(0, nest(&[(2, vec![]), (BAND_HT, vec![0; 2])])), (1, nest(&[(BAND_VHT, word(0))]))]);
        bytes.extend(bands(&[(1, nest(&[(BAND_BY_ROLE | NESTED, by_role)])), (1, nest(&[(1, vec![])])), (9, vec![])]));
        assert_eq!(told(&bytes).phy.newest, [Format::Ht, Format::He, Format::NonHt, Format::NonHt]);
    }

    /// `NL80211_EXT_FEATURE_AIRTIME_FAIRNESS` and `_AQL` are bits 33 and 40.
    #[test]
    fn what_a_driver_can_do_is_in_its_bits() {
        for (bits, airtime, aql) in
            [(vec![0, 0, 0, 0, 2, 1], true, true), (vec![0xff; 5], true, false), (vec![0; 12], false, false)]
        {
            let phy = told(&message(&[(ATTR_WIPHY, word(0)), (ATTR_EXT_FEATURES, bits.clone())])).phy;
            assert_eq!((phy.has_airtime_reports, phy.has_aql), (airtime, aql), "{bits:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = told(&bytes);
            let _ = number_of(&bytes, ATTR_WIPHY);
        }

        /// Random bytes seldom reach the inner attributes, so one byte of a valid message is changed.
        #[test]
        fn a_broken_station_is_read_to_its_end(at in 0_usize..120, to in any::<u8>(), cut in 0_usize..120) {
            let rate = nest(&[(BITRATE_32, word(110))]);
            let info = nest(&[(STA_INFO_TX_BITRATE | NESTED, rate), (STA_INFO_TX_DURATION, vec![9; 8])]);
            let mut bytes = message(&[(ATTR_MAC, vec![2; 6]), (ATTR_STA_INFO | NESTED, info)]);
            let at = at % bytes.len();
            bytes[at] = to;
            bytes.truncate(bytes.len().saturating_sub(cut));
            let _ = told(&bytes);
        }
    }
}
