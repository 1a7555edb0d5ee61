//! An access point as Linux has it: between the queues of its stations and the MAC stands a scheduler that shares
//! airtime, and lets through no more than keeps the MAC busy for some milliseconds.
//!
//! The rules are those of mac80211 in Linux 6.x (`net/mac80211/tx.c`, `sta_info.c`), described in
//! `docs/disciplines/mac80211.md`: deficit round robin over stations in airtime (Høiland-Jørgensen and others, "Ending
//! the Anomaly", 2017) and Airtime Queue Limits.

use super::queues::Layout;
use super::{Node, Queue, Taken, World};
use crate::mac::{Costs, Frame, Kind, Msdu};
use crate::net::{Transit, Waiting, msdu_bytes};
use control::Limit;
use queue::{Discipline, Settings, fq_codel};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant};

/// What a station in debt gains when it is at the head of the turns: its weight in microseconds.
const QUANTUM: Duration = Duration::from_micros(256);
/// A station that has less than this ahead of it may always pull (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`).
const LOW: Duration = Duration::from_millis(5);
/// Nor may it with more than this (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H`).
const HIGH: Duration = Duration::from_millis(12);
/// Between these it may while all have less than this (`IEEE80211_AQL_THRESHOLD`).
const THRESHOLD: Duration = Duration::from_millis(24);
/// The limit of broadcasts (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_BC`).
const BROADCASTS: Duration = Duration::from_millis(50);
/// A station pays for airtime until so long after it had something to get (`AIRTIME_ACTIVE_DURATION`).
const ACTIVE: Duration = Duration::from_millis(100);
/// No packet is expected to take longer: Linux has ten bits for it, in steps of 4 us.
const LONGEST: Duration = Duration::from_micros(4_092);
/// The most packets in all queues together.
const PACKETS: u32 = 8_192;
/// The queues that flows are hashed to, in all queues together.
const FLOWS: u32 = 4_096;
/// A station is slow that is expected to get less than this, in bit/s, times the number of stations
/// (`STA_SLOW_THRESHOLD`).
const SLOW: f64 = 6e6;

/// The scheduler of an access point, and what it let through.
#[derive(Debug)]
pub(super) struct Scheduler {
    categories: Vec<Category>,
    /// By queue.
    shares: Vec<Share>,
    /// Airtime expected of all packets to stations that passed and are not finished.
    pending: Duration,
    /// The same of broadcasts.
    broadcasting: Duration,
    /// Something has changed since nothing more could pass.
    moved: bool,
    /// CoDel is patient with slow stations: what a frame costs, by which it is told who is slow.
    patience: Option<Costs>,
}

/// An access category.
#[derive(Debug, Default)]
struct Category {
    /// What waits for the MAC.
    passed: VecDeque<Waiting>,
    /// The queues that may have packets, in the order of their turns.
    turns: VecDeque<usize>,
}

/// What the queue of a station and category is due.
#[derive(Debug)]
struct Share {
    category: usize,
    broadcasts: bool,
    listed: bool,
    /// Nanoseconds of airtime that it is ahead; less than zero: that it owes.
    deficit: i64,
    /// Airtime expected of its packets that passed and are not finished.
    pending: Duration,
    /// When it last had a packet.
    active: Instant,
}

impl Scheduler {
    /// A scheduler for the queues of an access point, which are empty; `patience` if CoDel has some with slow stations.
    pub(super) fn new(layout: &Layout, patience: Option<Costs>) -> Self {
        let share = |queue: usize| Share {
            category: queue % layout.categories,
            broadcasts: queue / layout.categories >= layout.stations.len(),
            listed: false,
            deficit: 0,
            pending: Duration::ZERO,
            active: Instant::ZERO,
        };
        Self {
            categories: (0..layout.categories).map(|_| Category::default()).collect(),
            shares: (0..layout.groups * layout.categories).map(share).collect(),
            pending: Duration::ZERO,
            broadcasting: Duration::ZERO,
            moved: false,
            patience,
        }
    }

    /// How its queues hold packets.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            discipline: Discipline::FqCodel,
            limit: Limit::Packets(PACKETS),
            fq_codel: Some(self.params(false)),
            ..Settings::default()
        }
    }

    /// The parameters of a station's queue.
    fn params(&self, slow: bool) -> fq_codel::Params {
        let queues = u32::try_from(self.shares.len()).unwrap_or(u32::MAX);
        let (target, interval) = if slow { (50, 300) } else { (20, 100) };
        fq_codel::Params {
            target: Duration::from_millis(target),
            interval: Duration::from_millis(interval),
            mtu: Bytes::new(0),
            quantum: Bytes::new(300),
            flows: (FLOWS / queues).max(16),
            ecn: !slow,
            ..fq_codel::Params::default()
        }
    }

    /// Makes room for one more packet: where all queues are full, the longest gives.
    pub(super) fn make_room(&self, now: Instant, queues: &mut [Queue], dropped: &mut impl FnMut(Waiting)) {
        let queues = &mut queues[..self.shares.len()];
        let waiting: u64 = queues.iter().map(|queue| queue.held.backlog().packets).sum();
        if waiting >= u64::from(PACKETS)
            && let Some(longest) = queues.iter_mut().rev().max_by_key(|queue| queue.held.backlog().bytes)
        {
            longest.held.make_way(now, dropped);
        }
    }

    /// A packet joins a queue. A station that had none comes first, broadcasts come last.
    pub(super) fn joins(&mut self, now: Instant, queue: usize) {
        let Some(share) = self.shares.get_mut(queue) else { return };
        self.moved = true;
        share.active = now;
        if !std::mem::replace(&mut share.listed, true) {
            let turns = &mut self.categories[share.category].turns;
            if share.broadcasts { turns.push_back(queue) } else { turns.push_front(queue) }
        }
    }

    /// May another packet of a queue pass, by what is ahead of it?
    fn allows(&self, share: &Share) -> bool {
        if share.broadcasts {
            return self.broadcasting < BROADCASTS;
        }
        share.pending < LOW || self.pending < THRESHOLD && share.pending < HIGH
    }

    /// The queue of a category from which a packet passes next, if one may.
    fn next(&mut self, category: usize) -> Option<usize> {
        let (mut first, mut any) = (None, false);
        loop {
            let queue = *self.categories[category].turns.front()?;
            if first == Some(queue) && !std::mem::replace(&mut any, false) {
                return None;
            }
            first = first.or(Some(queue));
            let allowed = self.allows(&self.shares[queue]);
            any |= allowed;
            let share = &mut self.shares[queue];
            let owes = !share.broadcasts && share.deficit < nanos(share.pending);
            if owes {
                share.deficit += nanos(QUANTUM);
            }
            if !owes && allowed {
                return Some(queue);
            }
            self.categories[category].turns.rotate_left(1);
        }
    }

    /// The queue at the head of the turns of a category is empty.
    fn leaves(&mut self, category: usize) {
        if let Some(queue) = self.categories[category].turns.pop_front() {
            self.shares[queue].listed = false;
        }
    }

    /// A packet of the queue at the head of the turns passes, which is expected to be on the air for so long.
    fn passes(&mut self, now: Instant, queue: usize, waiting: Waiting, expected: Duration) {
        let share = &mut self.shares[queue];
        share.pending += expected;
        share.active = now;
        let all = if share.broadcasts { &mut self.broadcasting } else { &mut self.pending };
        *all += expected;
        let Category { passed, turns } = &mut self.categories[share.category];
        passed.push_back(waiting);
        if share.broadcasts {
            turns.rotate_left(1);
        }
    }

    /// The MAC is done with a packet of a queue that was expected to be on the air for so long.
    pub(super) fn finished(&mut self, queue: usize, expected: Duration) {
        let share = &mut self.shares[queue];
        share.pending = share.pending - expected;
        let all = if share.broadcasts { &mut self.broadcasting } else { &mut self.pending };
        *all = *all - expected;
        self.moved = true;
    }

    /// A frame to or from a station was on the air.
    pub(super) fn charge(&mut self, now: Instant, queue: usize, airtime: Duration) {
        let share = &mut self.shares[queue];
        if now.since(share.active) <= ACTIVE {
            share.deficit -= nanos(airtime);
        }
    }

    /// The packet behind `index` others that wait for the MAC in a category.
    pub(super) fn pulled(&self, queue: usize, index: usize) -> Option<Waiting> {
        self.categories[self.shares[queue].category].passed.get(index).copied()
    }

    /// The packets that passed and wait for the MAC.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.categories.iter().flat_map(|category| &category.passed)
    }

    /// Airtime expected of what passed and is not finished: of all, and the sum over the queues.
    pub(super) fn pending(&self) -> [Duration; 2] {
        [self.pending + self.broadcasting, self.shares.iter().fold(Duration::ZERO, |sum, share| sum + share.pending)]
    }
}

/// As the deficit counts.
fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

impl World {
    /// Packets pass from the queues of an access point towards its MAC, as long as they may.
    #[inline]
    pub(super) fn pull(&mut self, node: u32) {
        let Some(scheduler) = &mut self.nodes[node as usize].scheduler else { return };
        if std::mem::take(&mut scheduler.moved) {
            (0..scheduler.categories.len()).for_each(|category| self.pull_category(node, category));
        }
    }

    #[inline(never)]
    fn pull_category(&mut self, node: u32, category: usize) {
        while let Some(queue) = self.next_to_pull(node, category) {
            self.be_patient(node, queue);
            let Some((departure, left)) = self.dequeue(node, queue, 0) else {
                if let Some(scheduler) = &mut self.nodes[node as usize].scheduler {
                    scheduler.leaves(category);
                }
                continue;
            };
            let waiting = departure.packet;
            let expected = self.expected_airtime(node, &waiting);
            self.packets.get_mut(waiting.packet).transit =
                Transit { waited: departure.waited, taken: self.now, expected, ..Transit::NONE };
            let Node { scheduler, filled, .. } = &mut self.nodes[node as usize];
            *filled |= 1 << category;
            if let Some(scheduler) = scheduler {
                scheduler.passes(self.now, queue, waiting, expected);
            }
            self.refill(node, queue, left);
        }
    }

    fn next_to_pull(&mut self, node: u32, category: usize) -> Option<usize> {
        self.nodes[node as usize].scheduler.as_mut()?.next(category)
    }

    /// CoDel goes by what is expected of the station now.
    fn be_patient(&mut self, node: u32, queue: usize) {
        let Node { station, queues, layout, scheduler, .. } = &mut self.nodes[node as usize];
        let Some((scheduler, costs)) = scheduler.as_ref().and_then(|all| Some((all, all.patience.as_ref()?))) else {
            return;
        };
        // Broadcasts have no station.
        let Some(&to) = layout.stations.get(queue / layout.categories) else { return };
        let mpdus = if self.rules.block_ack() { self.rules.aggregation.frames as f64 } else { 1.0 };
        let expected = station.expected_throughput(to, costs, mpdus);
        let slow = expected > 0.0 && expected < SLOW * layout.stations.len() as f64;
        queues[queue].held.follow(&scheduler.params(slow));
    }

    /// How long a packet is expected to be on the air at the rate that holds now; where frames are aggregated, without the
    /// preamble that it will share.
    fn expected_airtime(&self, node: u32, waiting: &Waiting) -> Duration {
        let rules = &self.rules;
        let psdu = rules.mpdu(msdu_bytes(waiting.length));
        let mode = self.nodes[node as usize].station.mode_to(waiting.to, &rules.timing);
        let alone = rules.timing.duration(mode, psdu);
        let expected = if rules.aggregates() { alone.saturating_sub(mode.header()) } else { alone };
        expected.min(LONGEST)
    }

    /// The MAC takes a packet that has passed, of the category of a queue, behind `index` others.
    pub(super) fn take_pulled(&mut self, node: u32, queue: usize, index: usize) -> Option<Taken> {
        let scheduler = self.nodes[node as usize].scheduler.as_mut()?;
        let category = scheduler.shares[queue].category;
        let Waiting { packet, to, length, .. } = scheduler.categories[category].passed.remove(index)?;
        let transit = &mut self.packets.get_mut(packet).transit;
        // It still waited, as it does with any other queue.
        transit.waited += self.now.since(transit.taken);
        transit.taken = self.now;
        Some(Taken { to, msdu: Msdu { packet, length: msdu_bytes(length) }, left: None })
    }

    /// A frame for an access point has come in: its sender pays for data.
    #[inline]
    pub(super) fn charge_received(&mut self, node: u32, frame: &Frame) {
        let Node { layout, scheduler, .. } = &mut self.nodes[node as usize];
        if let Some(scheduler) = scheduler
            && matches!(frame.kind, Kind::Data { .. } | Kind::Aggregate { .. })
        {
            let airtime = self.rules.timing.duration(frame.mode, frame.psdu());
            scheduler.charge(self.now, layout.queue(frame.from, frame.category), airtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Arena;
    use queue::Ecn;

    /// A scheduler of so many stations and a queue of broadcasts, without categories.
    fn scheduler(stations: u32) -> Scheduler {
        let mut layout = Layout::new(1, 0);
        layout.groups = stations as usize + 1;
        layout.stations = (1..=stations).collect();
        Scheduler::new(&layout, None)
    }

    fn packet() -> Waiting {
        let handle = Arena::default().insert(());
        Waiting { packet: handle, to: 1, length: Bytes::new(1500), flow: 0, ecn: Ecn::NotEct }
    }

    fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// Lets packets of these lengths in microseconds, by queue, pass until none may. Returns what is pending of each queue.
    fn fill(scheduler: &mut Scheduler, lengths: &[u64]) -> Vec<Duration> {
        while let Some(queue) = scheduler.next(0) {
            scheduler.passes(Instant::ZERO, queue, packet(), us(lengths[queue]));
        }
        scheduler.shares.iter().map(|share| share.pending).collect()
    }

    #[test]
    fn a_station_alone_fills_the_hardware_to_the_higher_limit() {
        let mut scheduler = scheduler(1);
        scheduler.joins(Instant::ZERO, 0);
        // The 13th makes 13 ms: with 12 ms it may not.
        assert_eq!(fill(&mut scheduler, &[1_000, 0]), [us(12_000), us(0)]);
        scheduler.finished(0, us(1_000));
        assert_eq!(fill(&mut scheduler, &[1_000, 0]), [us(12_000), us(0)]);
        assert_eq!(scheduler.pending(), [us(12_000); 2]);
    }

    #[test]
    fn many_stations_have_the_lower_limit_each() {
        let mut scheduler = scheduler(8);
        (0..8).for_each(|queue| scheduler.joins(Instant::ZERO, queue));
        let pending = fill(&mut scheduler, &[1_000; 9]);
        // Eight with 5 ms each are above the threshold of 24 ms.
        assert_eq!(pending[..8], [us(5_000); 8]);
    }

    #[test]
    fn stations_get_equal_airtime_and_not_equal_packets() {
        let mut scheduler = scheduler(2);
        (0..2).for_each(|queue| scheduler.joins(Instant::ZERO, queue));
        let lengths = [250, 2_000, 0];
        let pending = fill(&mut scheduler, &lengths);
        let [fast, slow] = [pending[0], pending[1]];
        // Each up to 12 ms and a packet, both together up to 24 ms and a packet.
        assert!((us(9_750)..us(12_250)).contains(&fast), "{fast:?}");
        assert!((us(11_750)..us(14_000)).contains(&slow), "{slow:?}");
    }

    #[test]
    fn a_station_in_debt_lets_the_others_pass_until_it_has_paid() {
        let mut scheduler = scheduler(2);
        (0..2).for_each(|queue| scheduler.joins(Instant::ZERO, queue));
        scheduler.charge(Instant::ZERO, 1, us(2_560));
        let mut order = Vec::new();
        for _ in 0..14 {
            let queue = scheduler.next(0).expect("one may");
            order.push(queue);
            scheduler.passes(Instant::ZERO, queue, packet(), us(256));
        }
        // It pays a quantum whenever the other has used one: ten turns, less the one that the other begins with.
        let first = order.iter().position(|&queue| queue == 1).expect("it has paid");
        assert!((9..=12).contains(&first), "{order:?}");
    }

    #[test]
    fn a_station_that_had_nothing_for_long_does_not_pay() {
        let mut scheduler = scheduler(1);
        scheduler.joins(Instant::ZERO, 0);
        scheduler.charge(Instant::ZERO + ACTIVE, 0, us(300));
        scheduler.charge(Instant::ZERO + ACTIVE + us(1), 0, us(300));
        assert_eq!(scheduler.shares[0].deficit, -300_000);
    }

    #[test]
    fn broadcasts_have_a_limit_of_their_own_and_share_with_the_stations() {
        let mut scheduler = scheduler(1);
        (0..2).for_each(|queue| scheduler.joins(Instant::ZERO, queue));
        assert_eq!(fill(&mut scheduler, &[1_000, 1_000]), [us(12_000), us(50_000)]);
    }

    #[test]
    fn the_limits_hold_whatever_comes_and_goes() {
        let mut scheduler = scheduler(3);
        (0..3).for_each(|queue| scheduler.joins(Instant::ZERO, queue));
        let lengths = [90, 2_100, 4_092, 0];
        for step in 0..10_000_usize {
            let pending = fill(&mut scheduler, &lengths);
            for (pending, length) in pending.iter().zip(lengths).take(3) {
                assert!(*pending < HIGH + us(length) && *pending >= LOW.min(us(length)), "{pending:?} in step {step}");
            }
            let queue = step * step % 7 % 3;
            if pending[queue] >= us(lengths[queue]) {
                scheduler.finished(queue, us(lengths[queue]));
                scheduler.charge(Instant::ZERO, queue, us(lengths[queue]));
            }
        }
        // Those that are full may no longer pass above the threshold: one packet beyond it, and 5 ms of each other.
        assert!(scheduler.pending < THRESHOLD + us(4_092) + LOW * 2, "{:?}", scheduler.pending);
    }
}
