//! Packets that an access point buffers for sleeping stations, outside its ports and hardware queues.
//!
//! The rules are those of mac80211 (`net/mac80211/tx.c`, `sta_info.c`). A packet that arrives for a sleeping station is
//! buffered in front of the scheduler (`ps_tx_buf`). It enters the scheduler, and its sojourn for CoDel begins, when
//! the station wakes. Packets that waited in the scheduler when the station fell asleep stay there and are skipped.
//! Packets that had left the scheduler return from the hardware (`tx_filtered`), and go first when the station wakes.
//! If an access point has common queues for all stations, the queueing discipline lies above mac80211. Such access
//! points buffer packets after they have left the queue.
//!
//! `turns` replaces mac80211's scheduler and follows the same rules. Until a station wakes, nothing for it contends for
//! the medium. So a sleeping station does not count among the busy stations that share the time, and no drop would
//! shorten the wait of its packets. When it wakes, its packets are treated like packets that arrive at that moment: few
//! go first, many take turns, and their number is bounded by the time in which they will be sent.

use super::port::Taken;
use super::{Egress, Order, SIGNALS};
use crate::config::Class;
use crate::engine::{Number as _, PortId};
use crate::mac::CATEGORIES;
use crate::net::Waiting;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Largest number of packets of each kind that are buffered for a station and category (`STA_MAX_TX_BUFFER`). A new
/// packet replaces the oldest. Linux's limits of 512 for all stations together and of 10 s are left out.
const MOST: usize = 64;
const NONE: &VecDeque<Taken> = &VecDeque::new();

/// The stations of an access point that can sleep, in order of number.
#[derive(Debug, Default)]
pub(crate) struct Sleepers(Vec<Sleeper>);

/// A station that can sleep.
#[derive(Debug)]
struct Sleeper {
    station: u32,
    asleep: bool,
    /// Buffered packets, for each category.
    kept: [Kept; CATEGORIES],
}

/// Packets of a category that are buffered for a station.
#[derive(Debug, Default)]
struct Kept {
    /// Packets that had already left their port.
    passed: VecDeque<Taken>,
    /// Packets that will join their port when the station wakes.
    arrived: VecDeque<Waiting>,
}

impl Sleepers {
    /// Makes the given stations, in the order of their numbers; all are awake.
    pub(crate) fn new(stations: impl Iterator<Item = u32>) -> Self {
        Self(stations.map(|station| Sleeper { station, asleep: false, kept: Default::default() }).collect())
    }

    /// True if no station can sleep.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, station: u32) -> Option<usize> {
        self.0.binary_search_by_key(&station, |sleeper| sleeper.station).ok()
    }

    fn get(&self, station: u32) -> Option<&Sleeper> {
        self.0.get(self.place(station)?)
    }

    fn get_mut(&mut self, station: u32) -> Option<&mut Sleeper> {
        let place = self.place(station)?;
        self.0.get_mut(place)
    }

    /// True if this station sleeps.
    pub(super) fn is_asleep(&self, station: u32) -> bool {
        self.get(station).is_some_and(|sleeper| sleeper.asleep)
    }

    /// Records that a station falls asleep or wakes.
    pub(crate) fn set_asleep(&mut self, station: u32, asleep: bool) {
        if let Some(sleeper) = self.get_mut(station) {
            debug_assert_ne!(sleeper.asleep, asleep, "it falls asleep awake");
            sleeper.asleep = asleep;
        }
    }

    /// Buffers a packet that arrives for a sleeping station.
    pub(super) fn keep_arrived(&mut self, category: u8, packet: Waiting, dropped: &mut impl FnMut(Waiting)) {
        let Some(sleeper) = self.get_mut(packet.to) else { return };
        debug_assert!(sleeper.asleep && sleeper.station == packet.to);
        let arrived = &mut sleeper.kept[usize::from(category)].arrived;
        if arrived.len() == MOST {
            arrived.pop_front().into_iter().for_each(dropped);
        }
        arrived.push_back(packet);
        debug_assert!(arrived.len() <= MOST, "the limit holds");
    }

    /// Buffers a packet that has left its port for a sleeping station.
    pub(super) fn keep_passed(&mut self, category: u8, taken: Taken, dropped: &mut impl FnMut(Waiting)) {
        let Some(sleeper) = self.get_mut(taken.packet.to) else { return };
        debug_assert!(sleeper.asleep && sleeper.station == taken.packet.to);
        let passed = &mut sleeper.kept[usize::from(category)].passed;
        if passed.len() == MOST {
            passed.pop_front().into_iter().for_each(|oldest| dropped(oldest.packet));
        }
        passed.push_back(Taken { expected: Duration::ZERO, load: 0, ..taken });
        debug_assert!(passed.len() <= MOST, "the limit holds");
    }

    /// Removes the next packet of a category that arrived while a station slept; the station is awake now.
    pub(super) fn take_arrived(&mut self, category: u8, station: u32) -> Option<Waiting> {
        self.get_mut(station)?.kept[usize::from(category)].arrived.pop_front()
    }

    /// Returns a station that is awake and has packets of a category that had left their port.
    pub(super) fn ready(&self, category: u8) -> Option<u32> {
        let is_ready = |sleeper: &&Sleeper| !sleeper.asleep && !sleeper.kept[usize::from(category)].passed.is_empty();
        self.0.iter().find(is_ready).map(|sleeper| sleeper.station)
    }

    /// Returns the packets of a category that had left their port, for a station that is awake.
    pub(super) fn passed(&self, category: u8, station: u32) -> &VecDeque<Taken> {
        let awake = self.get(station).filter(|sleeper| !sleeper.asleep);
        awake.map_or(NONE, |sleeper| &sleeper.kept[usize::from(category)].passed)
    }

    /// Takes for the MAC the packet at `index` among a category's packets that had left their port.
    pub(super) fn take_passed(&mut self, now: Instant, category: u8, station: u32, index: usize) -> Option<Taken> {
        let taken = self.get_mut(station)?.kept[usize::from(category)].passed.remove(index)?;
        debug_assert!(taken.at <= now && !self.is_asleep(station));
        Some(Taken { at: now, ..taken })
    }

    /// Returns the packet at `index` for a station that is awake, if the packet had left its port; otherwise returns
    /// its index in its port or hardware queue.
    pub(super) fn behind(&self, category: impl FnOnce() -> u8, station: u32, index: usize) -> Result<usize, Waiting> {
        if self.is_empty() { Ok(index) } else { self.behind_passed(category(), station, index) }
    }

    #[inline(never)]
    fn behind_passed(&self, category: u8, station: u32, index: usize) -> Result<usize, Waiting> {
        let kept = self.passed(category, station);
        kept.get(index).map_or(Ok(index - kept.len().min(index)), |taken| Err(taken.packet))
    }

    /// True if packets are buffered for a station.
    pub(super) fn keeps_for(&self, station: u32) -> bool {
        let holds = |kept: &Kept| !kept.passed.is_empty() || !kept.arrived.is_empty();
        self.get(station).is_some_and(|sleeper| sleeper.kept.iter().any(holds))
    }

    /// Returns the number of buffered packets.
    pub(super) fn packets(&self) -> usize {
        let kept = self.0.iter().flat_map(|sleeper| &sleeper.kept);
        kept.map(|kept| kept.passed.len() + kept.arrived.len()).sum()
    }
}

impl Egress {
    /// True if this station sleeps.
    pub(crate) fn is_asleep(&self, station: u32) -> bool {
        self.sleepers.is_asleep(station)
    }

    /// Wakes a station. Its packets may pass again, and those that arrived during its sleep join its ports.
    pub(crate) fn wakes(&mut self, now: Instant, station: u32, dropped: &mut impl FnMut(Waiting)) {
        self.sleepers.set_asleep(station, false);
        self.moved |= self.hardware.is_some();
        let categories = if self.layout.by_class { 1 } else { self.layout.lanes };
        for category in 0..u8::try_from(categories).expect("there are four categories") {
            self.filled |= 1 << category;
            let port = self.layout.port(station, category, Class::BestEffort);
            let queue = &self.ports[port].queue;
            match &mut self.order {
                Order::Mac80211(scheduler) if !queue.is_empty() => scheduler.joins(now, port),
                Order::Turns(turns) if !queue.is_empty() => turns.joins_again(port, queue.thin_packets() > 0),
                Order::Mac80211(_) | Order::Turns(_) | Order::RoundRobin(_) => {}
            }
            while let Some(packet) = self.sleepers.take_arrived(category, station) {
                self.offer(now, port, Some(category), packet, false, dropped);
            }
        }
    }

    /// Buffers a packet of a category that arrives for a sleeping station. False if the packet joins its port instead.
    #[cold]
    pub(crate) fn keeps_arriving(
        &mut self,
        category: Option<u8>,
        packet: &Waiting,
        dropped: &mut impl FnMut(Waiting),
    ) -> bool {
        let Some(category) = category else { return false };
        let keeps = !matches!(self.order, Order::RoundRobin(_)) && self.sleepers.is_asleep(packet.to);
        if keeps {
            self.sleepers.keep_arrived(category, *packet, dropped);
        }
        keeps
    }

    /// Buffers a packet that has left its port for a sleeping station.
    pub(crate) fn keep(&mut self, now: Instant, category: u8, taken: Taken, dropped: &mut impl FnMut(Waiting)) {
        let Taken { packet, expected, load, left, .. } = taken;
        let port = self.layout.port(packet.to, category, packet.dscp.class());
        if left.is_none() {
            self.relieve(now, port, expected, (packet.to, load.into(), false));
        }
        self.sleepers.keep_passed(category, Taken { left: Some(port), ..taken }, dropped);
    }

    /// Removes packets that had moved on from the counts of the hardware queues and the scheduler. `of`: the packets'
    /// receiver, their load, and whether the receiver has answered.
    pub(crate) fn relieve(&mut self, now: Instant, port: PortId, expected: Duration, of: (u32, u64, bool)) {
        let (to, load, answered) = of;
        if let Some(hardware) = &mut self.hardware
            && port.place() < self.layout.radio_ports()
        {
            hardware.completed(self.layout.category(port), to, load);
            self.moved = true;
        }
        self.order.completed(now, port, expected, answered);
    }

    /// True if packets for a station wait before the MAC.
    pub(crate) fn holds_for(&self, station: u32) -> bool {
        let own = |category: usize| {
            let category = u8::try_from(category).expect("there are four categories");
            !self.ports[self.layout.port(station, category, Class::BestEffort)].queue.is_empty()
        };
        // A common queue for all stations lies above the layer that knows which stations sleep.
        let in_ports = self.layout.groups > 1 && (0..self.layout.lanes).any(own);
        in_ports || self.sleepers.keeps_for(station)
    }

    /// True if a category has packets that go before those of its ports: notes, null frames, or packets buffered for a
    /// station that is awake now.
    pub(crate) fn has_first(&self, category: u8) -> bool {
        category == SIGNALS && !self.signals.is_empty() || self.sleepers.ready(category).is_some()
    }

    /// Takes the next packet that [goes first](Self::has_first) for the MAC.
    #[cold]
    pub(crate) fn take_first(&mut self, now: Instant, category: u8) -> Option<Taken> {
        let signal = if category == SIGNALS { self.signals.pop_front() } else { None };
        if let Some(packet) = signal {
            let (waited, expected) = (Duration::ZERO, Duration::ZERO);
            return Some(Taken { packet, waited, at: now, expected, load: 0, left: None });
        }
        self.sleepers.take_passed(now, category, self.sleepers.ready(category)?, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Dscp;
    use crate::engine::Arena;
    use queue::Ecn;
    use units::Bytes;

    #[test]
    fn the_oldest_packet_makes_way_for_one_too_many() {
        let mut arena = Arena::default();
        let packets: Vec<Waiting> = (0..=MOST)
            .map(|number| Waiting {
                packet: arena.insert(number),
                to: 3,
                length: Bytes::new(100),
                flow: 0,
                dscp: Dscp::SIGNALLING,
                ecn: Ecn::NotEct,
                created: Instant::ZERO,
            })
            .collect();
        let mut sleepers = Sleepers::new([3].into_iter());
        sleepers.set_asleep(3, true);
        let mut gone = Vec::new();
        let mut dropped = |packet: Waiting| gone.push(packet.packet);
        for &packet in &packets {
            let (waited, expected) = (Duration::ZERO, Duration::ZERO);
            sleepers.keep_arrived(0, packet, &mut dropped);
            let taken = Taken { packet, waited, at: Instant::ZERO, expected, load: 0, left: None };
            sleepers.keep_passed(0, taken, &mut dropped);
        }
        assert_eq!(gone, [packets[0].packet; 2], "one of each kind");
        assert_eq!(sleepers.packets(), 2 * MOST);
        sleepers.set_asleep(3, false);
        assert_eq!(sleepers.take_arrived(0, 3).map(|packet| packet.packet), Some(packets[1].packet));
        assert_eq!(sleepers.passed(0, 3)[0].packet.packet, packets[1].packet);
    }
}
