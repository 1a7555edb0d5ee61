//! The hardware queues of a node: packets that were handed over to the driver and wait for the MAC. The queueing
//! discipline, the controller and the shaper cannot reach them any more.
//!
//! A packet is handed over once its hardware queue is not full, and counts in it until the MAC has finished the packet.

use super::port::Taken;
use crate::config::{HardwareQueue, HardwareQueuePer};
use crate::mac::{BROADCAST, CATEGORIES};
use crate::net::Waiting;
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant};

/// Load of a packet that alone fills a queue of one aggregate.
pub(crate) const AGGREGATE: u32 = 1 << 20;

/// The hardware queues of a node.
#[derive(Debug)]
pub(super) struct Hardware {
    /// Depth of each queue, and its unit.
    pub(super) depth: HardwareQueue,
    per: HardwareQueuePer,
    /// One queue per category; or one per receiver and category, made when the first packet for the receiver comes.
    queues: Vec<Fifo>,
    /// For each category, the queue that was served last.
    last: [usize; CATEGORIES],
}

/// A hardware queue.
#[derive(Debug)]
struct Fifo {
    category: u8,
    /// Receiver of the queue's packets, if the queue serves only one.
    to: u32,
    packets: VecDeque<Passed>,
    /// Receivers so far, each with the number of its waiting packets.
    receivers: Vec<(u32, u32)>,
    /// Load of the queue's packets, whether they wait or are with the MAC.
    load: u64,
}

/// A packet that was handed over.
#[derive(Debug)]
pub(super) struct Passed {
    pub(super) packet: Waiting,
    /// Time that the packet spent in its port.
    pub(super) waited: Duration,
    /// Time at which the packet was handed over.
    pub(super) at: Instant,
    /// Airtime that mac80211's scheduler estimated for the packet; zero with other schedulers.
    pub(super) expected: Duration,
    /// How much of its queue's depth the packet takes.
    pub(super) load: u32,
}

impl Hardware {
    /// Makes empty queues of this depth, one per category or per station.
    pub(super) fn new(depth: HardwareQueue, per: HardwareQueuePer, categories: usize) -> Self {
        let shared = |category: usize| Fifo::new(u8::try_from(category).expect("there are four categories"), BROADCAST);
        let queues = match per {
            HardwareQueuePer::Category => (0..categories).map(shared).collect(),
            HardwareQueuePer::Station => Vec::new(),
        };
        Self { depth, per, queues, last: [0; CATEGORIES] }
    }

    /// Accepts all packets from now on, because the kernel above has the limits.
    pub(super) fn open(&mut self) {
        debug_assert!(self.waiting().next().is_none(), "nothing has come yet");
        self.depth = HardwareQueue::Packets(u32::MAX);
    }

    /// True if there is a queue for each station.
    pub(super) fn is_per_station(&self) -> bool {
        self.per == HardwareQueuePer::Station
    }

    /// Returns the queue of a receiver and category, if there was a packet for it.
    #[inline]
    fn place(&self, category: u8, to: u32) -> Option<usize> {
        match self.per {
            HardwareQueuePer::Category => Some(category.into()),
            HardwareQueuePer::Station => {
                self.queues.iter().position(|queue| queue.to == to && queue.category == category)
            }
        }
    }

    /// True if there is room for a packet. The last packet may exceed the queue's depth.
    #[inline]
    pub(super) fn has_room(&self, category: u8, to: u32) -> bool {
        let most = match self.depth {
            HardwareQueue::Off => 0,
            HardwareQueue::Packets(packets) => packets.into(),
            HardwareQueue::Aggregates(aggregates) => u64::from(aggregates) * u64::from(AGGREGATE),
            HardwareQueue::Airtime(airtime) => airtime.as_nanos(),
        };
        self.place(category, to).is_none_or(|place| self.queues[place].load < most)
    }

    /// Takes over a packet of a category from its port.
    pub(super) fn push(&mut self, category: u8, packet: Passed) {
        let to = packet.packet.to;
        let place = self.place(category, to).unwrap_or_else(|| {
            self.queues.push(Fifo::new(category, to));
            self.queues.len() - 1
        });
        let queue = &mut self.queues[place];
        debug_assert!(queue.category == category && (queue.to == BROADCAST || queue.to == to));
        debug_assert!(queue.packets.back().is_none_or(|last| last.at <= packet.at), "in order of time");
        queue.load += u64::from(packet.load);
        *queue.waiting(to) += 1;
        queue.packets.push_back(packet);
    }

    /// Returns the queues of a category in turn, beginning after the queue that was served last.
    fn in_turn(&self, category: u8) -> impl Iterator<Item = usize> {
        let (queues, last) = (self.queues.len(), self.last[usize::from(category)]);
        let order = (1..=queues).map(move |step| (last + step) % queues);
        order.filter(move |&place| self.queues[place].category == category)
    }

    /// Returns the queue that has the next packet of a category.
    #[inline]
    fn next(&self, category: u8) -> Option<usize> {
        match self.per {
            HardwareQueuePer::Category => Some(category.into()),
            HardwareQueuePer::Station => {
                let filled = |place: &usize| !self.queues[*place].packets.is_empty();
                self.in_turn(category).find(filled)
            }
        }
    }

    /// Returns the next packet of a category.
    pub(super) fn peek_next(&self, category: u8) -> Option<Waiting> {
        self.queues[self.next(category)?].packets.front().map(|passed| passed.packet)
    }

    /// Takes the next packet of a category for the MAC.
    pub(super) fn take_next(&mut self, category: u8) -> Option<Taken> {
        let place = self.next(category)?;
        self.last[usize::from(category)] = place;
        self.queues[place].take(0)
    }

    /// Returns the packet at `index` in the queue of a receiver.
    pub(super) fn peek(&self, category: u8, to: u32, index: usize) -> Option<Waiting> {
        let place = self.place(category, to)?;
        self.queues[place].packets.get(index).map(|passed| passed.packet)
    }

    /// Returns the lengths of a receiver's waiting packets.
    pub(super) fn lengths(&self, category: u8, to: u32) -> impl Iterator<Item = Bytes> {
        let queue = self.place(category, to).map(|place| &self.queues[place]);
        let packets = queue.into_iter().flat_map(|queue| &queue.packets);
        packets.filter(move |passed| passed.packet.to == to).map(|passed| passed.packet.length)
    }

    /// Takes the packet with this index for the MAC.
    #[inline(never)]
    pub(super) fn take(&mut self, category: u8, to: u32, index: usize) -> Option<Taken> {
        let place = self.place(category, to)?;
        self.queues[place].take(index)
    }

    /// Returns the next receiver among those whose frames the MAC `holds`; `None` if it is the turn of a receiver with
    /// packets in its queue. In a queue for all receivers the first frame that the MAC holds goes before all packets.
    pub(super) fn turn(&mut self, category: u8, mut holds: impl Iterator<Item = u32> + Clone) -> Option<u32> {
        if self.per == HardwareQueuePer::Category {
            return holds.next();
        }
        // Null frames and notes bypass the queues, so their receiver may have no queue. They go first.
        if let Some(to) = holds.clone().find(|&to| self.place(category, to).is_none()) {
            return Some(to);
        }
        let held = |place: usize| holds.clone().any(|to| to == self.queues[place].to);
        let next = self.in_turn(category).find(|&place| held(place) || !self.queues[place].packets.is_empty())?;
        if !held(next) {
            return None;
        }
        self.last[usize::from(category)] = next;
        Some(self.queues[next].to)
    }

    /// Returns a receiver of waiting packets of a category for which `counts` is true: the one that has `used` the
    /// least. Among equals, it is the one whose packet has waited longest.
    pub(super) fn least<K: Ord>(
        &self,
        category: u8,
        counts: impl Fn(u32) -> bool,
        used: impl Fn(u32) -> K,
    ) -> Option<u32> {
        let queues = || self.queues.iter().filter(move |queue| queue.category == category);
        let waiting = queues().flat_map(|queue| &queue.receivers).filter(|&&(to, packets)| packets > 0 && counts(to));
        let least = waiting.map(|&(to, _)| used(to)).min()?;
        let mut packets = queues().flat_map(|queue| &queue.packets).map(|passed| passed.packet.to);
        packets.find(|&to| counts(to) && used(to) == least)
    }

    /// Returns the receivers of a category's waiting packets.
    pub(super) fn receivers(&self, category: u8) -> impl Iterator<Item = u32> {
        let queues = self.queues.iter().filter(move |queue| queue.category == category);
        queues.flat_map(|queue| &queue.receivers).filter(|&&(_, packets)| packets > 0).map(|&(to, _)| to)
    }

    /// Moves the first packet of a category for a receiver to the head of its queue.
    pub(super) fn promote(&mut self, category: u8, to: u32) {
        let Some(place) = self.place(category, to) else { return };
        let packets = &mut self.queues[place].packets;
        let index = packets.iter().position(|passed| passed.packet.to == to);
        if let Some(packet) = index.and_then(|index| packets.remove(index)) {
            packets.push_front(packet);
        }
        debug_assert!(packets.front().is_none_or(|first| first.packet.to == to || index.is_none()));
    }

    /// Records that the MAC has finished with packets of this total load.
    pub(super) fn completed(&mut self, category: u8, to: u32, load: u64) {
        if let Some(place) = self.place(category, to) {
            debug_assert!(self.queues[place].load >= load, "it was handed over");
            self.queues[place].load -= load;
        }
    }

    /// Returns the packets that wait in the hardware queues.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Passed> {
        self.queues.iter().flat_map(|queue| &queue.packets)
    }

    /// True if the queues' load equals the load of the waiting packets and of the packets with the MAC.
    pub(super) fn balances(&self, with_mac: u64) -> bool {
        let here = self.waiting().map(|passed| u64::from(passed.load)).sum::<u64>();
        self.queues.iter().map(|queue| queue.load).sum::<u64>() == here + with_mac
    }
}

impl Fifo {
    fn new(category: u8, to: u32) -> Self {
        Self { category, to, packets: VecDeque::new(), receivers: Vec::new(), load: 0 }
    }

    /// Returns the number of packets that wait for a receiver.
    fn waiting(&mut self, to: u32) -> &mut u32 {
        let place = self.receivers.iter().position(|&(other, _)| other == to).unwrap_or_else(|| {
            self.receivers.push((to, 0));
            self.receivers.len() - 1
        });
        &mut self.receivers[place].1
    }

    /// Takes the packet at `index` for the MAC.
    fn take(&mut self, index: usize) -> Option<Taken> {
        let passed = self.packets.remove(index)?;
        debug_assert!(*self.waiting(passed.packet.to) > 0 && self.load >= passed.load.into());
        *self.waiting(passed.packet.to) -= 1;
        Some(passed.taken())
    }
}

impl Passed {
    fn taken(self) -> Taken {
        let Self { packet, waited, at, expected, load } = self;
        Taken { packet, waited, at, expected, load, left: None }
    }
}
