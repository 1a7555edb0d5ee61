//! Stations of a queue with turns: their addresses, and the airtime of data to them, from nl80211.

use super::maps::refused;
use super::shared::{PROBES, STATIONS, Station};
use crate::device::radio::largest;
use crate::error::Error;
use crate::kernel::nl80211::{Format, Interface, Peer, Role, Wireless};
use crate::kernel::random;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Duration, Rate};

/// Number of stations of a queue.
#[expect(clippy::cast_possible_truncation, reason = "there are 64")]
const ELEMENTS: usize = STATIONS as usize;
/// Bytes that an MPDU in an aggregate adds to its packet: delimiter, header, cipher, LLC and checksum.
const FRAMING: Bytes = Bytes::new(50);
/// Bytes of a full packet with its framing.
const FULL: Bytes = Bytes::new(1_550);
/// Time of a frame in addition to its bytes: access, preambles and ACK.
const ACCESS: Duration = Duration::from_micros(250);
/// Rate of unknown receivers and of groups: the lowest rate that every station supports. At 2.4 GHz groups get the
/// lowest basic rate, unless the access point is set to other basic rates.
const LOWEST: Rate = Rate::mbps(6);
const LOWEST_AT_2_4_GHZ: Rate = Rate::mbps(1);
const GROUP: [u8; 6] = [0xff; 6];
/// Fewest frames from which the number of transmissions per frame is estimated.
const TELLING: u32 = 10;
/// Largest number of transmissions of a frame that is assumed.
const MOST_ATTEMPTS: f64 = 4.0;
/// To list a station costs the kernel some 60 000 instructions. With N stations, one of 1 + N / LISTED calls lists all.
const LISTED: usize = 10;
/// Number of readings of a station's rate; their median is used. The kernel reports the rate of the last attempt to
/// send the last frame, which may have been a trial of another rate.
const READINGS: usize = 5;

/// The stations of an interface, and their element in the map.
#[derive(Debug)]
pub(super) struct Stations {
    wireless: Wireless,
    /// Number of the interface.
    index: u32,
    map: MapHandle,
    slot: u32,
    /// Key with which addresses are hashed.
    key: u64,
    written: [Station; ELEMENTS],
    known: BTreeMap<[u8; 6], Known>,
    /// Number of calls to skip before stations are listed again.
    pass: usize,
}

/// Earlier readings of a station.
#[derive(Clone, Debug)]
struct Known {
    /// Counter of frames, then of retransmissions, and how often each frame is sent.
    frames: u32,
    repeated: u32,
    attempts: f64,
    /// Last readings of the station's rate.
    rates: VecDeque<(Rate, Format)>,
}

impl Stations {
    pub(super) fn open(index: u32, map: MapHandle, slot: u32) -> Result<Self, Error> {
        let written = [Station::default(); ELEMENTS];
        let (wireless, known, key) = (Wireless::open()?, BTreeMap::new(), key()?);
        let mut new = Self { wireless, index, map, slot, key, written, known, pass: 0 };
        // This clears what the former queue left, so that the first list is written in any case.
        new.write(&written)?;
        new.look()?;
        Ok(new)
    }

    /// Writes the stations' addresses and the airtime of data to each. With many stations only some calls do so.
    pub(super) fn look(&mut self) -> Result<(), Error> {
        if self.pass > 0 {
            self.pass -= 1;
            return Ok(());
        }
        let peers = self.wireless.peers(self.index)?;
        self.pass = peers.len() / LISTED;
        self.known.retain(|address, _| peers.iter().any(|peer| peer.address == *address));
        let group = self.wireless.interface(self.index)?.and_then(|interface| group(&interface));
        let peers: Vec<Station> = peers.iter().filter_map(|peer| self.station(peer)).collect();
        let others = mean(&peers);
        let known: Vec<Station> = group.into_iter().chain(peers).collect();
        let mut next = self.written;
        for kept in &mut next[1..] {
            *kept = known.iter().find(|station| station.address == kept.address).copied().unwrap_or_default();
        }
        for station in &known {
            let is_named = next.iter().any(|named| named.address == station.address);
            if let Some(free) =
                places(self.key, station.address).find(|place| next[*place].address == 0).filter(|_| !is_named)
            {
                next[free] = *station;
            }
        }
        next[0] = Station { address: self.key, ..others };
        if next == self.written { Ok(()) } else { self.write(&next) }
    }

    fn station(&mut self, peer: &Peer) -> Option<Station> {
        let rate = peer.sent_at.filter(|rate| !rate.is_zero())?;
        let (frames, repeated) = (peer.sent_frames.unwrap_or(0), peer.repeated_frames.unwrap_or(0));
        let of = self.known.entry(peer.address);
        let of = of.or_insert_with(|| Known { frames, repeated, attempts: 1.0, rates: VecDeque::new() });
        let sent = frames.wrapping_sub(of.frames);
        if sent >= TELLING {
            let more = f64::from(repeated.wrapping_sub(of.repeated)) / f64::from(sent);
            (of.frames, of.repeated) = (frames, repeated);
            of.attempts = of.attempts.midpoint((1.0 + more).min(MOST_ATTEMPTS));
        }
        let (rate, format) = of.settled((rate, peer.sent_as.format));
        Some(station(name(peer.address), rate, format, of.attempts))
    }

    fn write(&mut self, stations: &[Station; ELEMENTS]) -> Result<(), Error> {
        self.written = *stations;
        let bytes = stations.iter().copied().cycle().flat_map(Station::to_bytes).take(self.map.value_size() as usize);
        let update = self.map.update(&self.slot.to_ne_bytes(), &bytes.collect::<Vec<u8>>(), MapFlags::ANY);
        update.map_err(|error| refused("name stations to", &error))
    }
}

impl Known {
    /// Adds a reading of the rate, and returns the median of the last readings.
    fn settled(&mut self, reading: (Rate, Format)) -> (Rate, Format) {
        self.rates.push_back(reading);
        if self.rates.len() > READINGS {
            self.rates.pop_front();
        }
        let mut sorted: Vec<(Rate, Format)> = self.rates.iter().copied().collect();
        sorted.sort_by_key(|(rate, _)| *rate);
        sorted[sorted.len() / 2]
    }
}

/// Returns an address in the form that `shared.h` describes.
pub(super) fn name(address: [u8; 6]) -> u64 {
    address.iter().rev().fold(1, |name, byte| name << 8 | u64::from(*byte))
}

/// Draws a key of the form that `shared.h` describes.
fn key() -> Result<u64, Error> {
    Ok(random()? | 1 << 63 | 1)
}

/// Returns the entries in which the discipline looks for an address. Entry 0 is never used.
pub(super) fn places(key: u64, address: u64) -> impl Iterator<Item = usize> {
    let first = address.wrapping_mul(key) >> 58;
    (first..first + PROBES).map(|place| (place % STATIONS) as usize).filter(|place| *place != 0)
}

/// Returns the airtime of data to a station at a rate, if each frame is sent `attempts` times.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate of 1 bit/s gives 2^45")]
fn station(address: u64, rate: Rate, format: Format, attempts: f64) -> Station {
    let per_byte = (8e12 / rate.as_bps().max(1) as f64 * attempts) as u64;
    let takes = |bytes: Bytes| bytes.count().saturating_mul(per_byte) / 1_000;
    if format == Format::NonHt {
        let access = (ACCESS.as_nanos() as f64 * attempts) as u64;
        return Station { address, per_byte, per_packet: access, turn: 0, packets: 1 };
    }
    let (bytes, packets) = largest(format, rate);
    let turn = takes(bytes.min(FULL * packets)).saturating_sub(takes(FULL));
    Station { address, per_byte, per_packet: takes(FRAMING), turn, packets }
}

/// Returns the entry for groups: they receive at the lowest basic rate, without aggregates and retransmissions. A
/// station sends frames for groups to its access point.
fn group(interface: &Interface) -> Option<Station> {
    let is_sender = matches!(interface.role, Role::AccessPoint | Role::AdHoc | Role::MeshPoint);
    let is_low = interface.channel.is_some_and(|channel| channel.band() == Some(0));
    let rate = if is_low { LOWEST_AT_2_4_GHZ } else { LOWEST };
    is_sender.then(|| station(name(GROUP), rate, Format::NonHt, 1.0))
}

/// Returns the mean of the other stations; it stands for receivers without an entry.
fn mean(known: &[Station]) -> Station {
    let Some(count @ 1..) = u64::try_from(known.len()).ok() else {
        return station(0, LOWEST, Format::NonHt, 1.0);
    };
    let of = |one: fn(&Station) -> u64| known.iter().map(one).fold(0, u64::saturating_add) / count;
    Station {
        address: 0,
        per_byte: of(|station| station.per_byte),
        per_packet: of(|station| station.per_packet),
        turn: of(|station| station.turn),
        packets: of(|station| station.packets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::nl80211::Channel;

    #[test]
    fn airtime_follows_from_rate_format_and_attempts() {
        let of = |mbps, format, attempts| {
            let Station { per_byte, per_packet, turn, .. } = station(1, Rate::mbps(mbps), format, attempts);
            (per_byte, per_packet, turn)
        };
        // At 8 Mb/s a byte takes a microsecond.
        assert_eq!(of(8, Format::NonHt, 1.0), (1_000_000, 250_000, 0));
        assert_eq!(of(8, Format::NonHt, 2.0), (2_000_000, 500_000, 0));
        // 4 ms less the time of 1550 B. At 300 Mb/s the bound is 65535 B, at 1200 Mb/s 64 packets, which take less. A
        // turn that is sent twice has as many packets.
        assert_eq!(of(80, Format::Ht, 1.0), (100_000, 5_000, 4_000_000 - 155_000));
        assert_eq!(of(80, Format::Ht, 2.0), (200_000, 10_000, 8_000_000 - 310_000));
        assert_eq!(of(300, Format::Ht, 1.0).2, (65_535 - 1_550) * 26_666 / 1_000);
        assert_eq!(of(1_200, Format::Vht, 1.0).2, 64 * 1_550 * 6_666 / 1_000 - 1_550 * 6_666 / 1_000);
        let packets = |format| station(1, Rate::mbps(1_200), format, 1.0).packets;
        assert_eq!([Format::NonHt, Format::Ht, Format::He].map(packets), [1, 64, 256]);
    }

    #[test]
    fn attempts_at_other_rates_are_left_out_and_a_rate_that_stays_is_followed() {
        let mut known = Known { frames: 0, repeated: 0, attempts: 1.0, rates: VecDeque::new() };
        let mut told = |mbps| known.settled((Rate::mbps(mbps), Format::NonHt)).0;
        assert_eq!([11, 11, 1, 11, 54, 1, 11].map(&mut told), [11; 7].map(Rate::mbps));
        // Two low readings are among the last five; the change shows after three readings.
        assert_eq!([11, 11, 11, 2, 2, 2].map(&mut told), [11, 11, 11, 11, 11, 2].map(Rate::mbps));
    }

    #[test]
    fn those_of_which_nothing_is_known_have_the_mean_of_the_others() {
        let station = |per_byte, turn, packets| Station { address: 9, per_byte, per_packet: 0, turn, packets };
        let all = mean(&[station(1_000, 10, 64), station(3_000, 30, 256)]);
        assert_eq!(all, Station { address: 0, per_byte: 2_000, per_packet: 0, turn: 20, packets: 160 });
        assert_eq!(mean(&[]).per_packet, 250_000);
    }

    #[test]
    fn groups_hear_the_lowest_rate_of_an_access_point() {
        let on = |frequency, role| Interface {
            role,
            channel: Some(Channel { frequency, ..Channel::default() }),
            ..Interface::default()
        };
        let of = |frequency| group(&on(frequency, Role::AccessPoint)).unwrap();
        let Station { address, per_byte, per_packet, turn, packets } = of(2_412);
        assert_eq!((address, per_byte, per_packet), (0x1_ffff_ffff_ffff, 8_000_000, 250_000));
        assert_eq!((turn, packets), (0, 1));
        assert_eq!([of(5_180), of(5_955)].map(|station| station.per_byte), [1_333_333; 2]);
        assert_eq!(group(&on(2_412, Role::Station)), None, "they go to its access point");
    }

    #[test]
    fn a_station_is_looked_for_in_few_elements_and_never_in_that_of_the_others() {
        let key = key().unwrap();
        for last in 0..=255 {
            let places: Vec<usize> = places(key, name([2, 0, 0, 0, 0, last])).collect();
            assert!(places.len() >= 7 && places.iter().all(|place| (1..ELEMENTS).contains(place)), "{places:?}");
        }
        assert_eq!(name([1, 2, 3, 4, 5, 6]), 0x0001_0605_0403_0201);
        assert!(key > name([255; 6]), "no address is the key");
    }

    /// A hundred addresses share an entry under one key, as an attacker who knew the key would choose them.
    #[test]
    fn addresses_that_crowd_a_place_under_one_key_are_spread_by_others() {
        let first = |key, address| places(key, address).next().unwrap();
        let addresses = (0..=u64::from(u32::MAX)).map(|number| name([2, 0, 0, 0, 0, 0]) | number << 16);
        let known = 0x9e37_79b9_7f4a_7c15;
        let chosen: Vec<u64> = addresses.filter(|address| first(known, *address) == 9).take(100).collect();
        let most = |key| {
            let mut of = [0_u32; ELEMENTS];
            for address in &chosen {
                of[first(key, *address)] += 1;
            }
            of.into_iter().max().unwrap()
        };
        assert_eq!(most(known), 100);
        let mean = (0..100).map(|_| most(key().unwrap())).sum::<u32>() / 100;
        assert!(mean <= 15, "{mean}");
    }
}
