//! The scheduler of an access point under Linux: between the stations' ports and the MAC it shares airtime, and
//! releases no more packets than keep the MAC busy for some milliseconds.
//!
//! The rules are those of mac80211 in Linux 6.x (`net/mac80211/tx.c`, `sta_info.c`), described in
//! `docs/disciplines/mac80211.md`: deficit round robin over stations in airtime (Høiland-Jørgensen and others, "Ending
//! the Anomaly", 2017) and Airtime Queue Limits.

use super::layout::Layout;
use super::port::{Port, Taken};
use crate::config::Class;
use crate::engine::{List, Number as _, PortId};
use crate::mac::{Conventions, Costs, Station};
use crate::net::{Waiting, msdu_bytes};
use control::Limit;
use queue::{Departure, DisciplineName, Settings, fq_codel};
use std::collections::VecDeque;
use std::ops::Range;
use units::{Bytes, Duration, Instant, Positive, Within};

/// Airtime that a station in debt gains at the head of the round robin: its weight in microseconds.
const QUANTUM: Duration = Duration::from_micros(256);
/// With less airtime than this pending a station may always pull (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`).
const LOW: Duration = Duration::from_millis(5);
/// With more than this it may never pull (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H`).
const HIGH: Duration = Duration::from_millis(12);
/// Between both it may pull while all stations together have less than this pending (`IEEE80211_AQL_THRESHOLD`).
const THRESHOLD: Duration = Duration::from_millis(24);
/// Limit of pending broadcasts (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_BC`).
const BROADCASTS: Duration = Duration::from_millis(50);
/// Time after a station's last packet for which it still pays for airtime (`AIRTIME_ACTIVE_DURATION`).
const ACTIVE: Duration = Duration::from_millis(100);
/// Largest airtime estimate of a packet: Linux has ten bits for it, in steps of 4 us.
const LONGEST: Duration = Duration::from_micros(4_092);
/// Packet limit over all queues.
const PACKETS: u32 = 8_192;
/// Number of flow queues over all ports.
const FLOWS: u32 = 4_096;
/// A station is slow if its expected throughput in bit/s is below this times the number of stations
/// (`STA_SLOW_THRESHOLD`).
const SLOW: f64 = 6e6;

/// Target and interval of CoDel, and those for slow stations.
const CODEL: (Positive<Duration>, Positive<Duration>) = (millis(20), millis(100));
const SLOW_CODEL: (Positive<Duration>, Positive<Duration>) = (millis(50), millis(300));

const fn millis(n: u64) -> Positive<Duration> {
    Positive::<Duration>::new(Duration::from_millis(n)).expect("above zero")
}

/// The scheduler of an access point and the packets that it released.
#[derive(Debug)]
pub(crate) struct Scheduler {
    categories: Vec<Category>,
    /// By port, without those of wired links.
    shares: List<PortId, Share>,
    /// Airtime estimated for all released unicast packets that are not finished.
    pending: Duration,
    /// The same for broadcasts.
    broadcasting: Duration,
    /// True if something has changed since no packet could be released.
    moved: bool,
    /// Costs of frames, by which slow stations are found for which CoDel has a larger target; none if the rule is off.
    patience: Option<Costs>,
}

/// An access category.
#[derive(Debug, Default)]
struct Category {
    /// Packets that wait for the MAC.
    passed: VecDeque<Passed>,
    /// Ports that may have packets, in round-robin order.
    turns: VecDeque<PortId>,
    /// The ports of stations for which the MAC holds frames to be sent again: a driver has a queue of these for each
    /// station. As long as there are any, the stations of whose frames the MAC has any get equal airtime.
    retried: Vec<PortId>,
    /// What the one of them that had used least had used by the last decision.
    clock: Duration,
}

/// A released packet that waits for the MAC.
#[derive(Debug)]
struct Passed {
    packet: Waiting,
    /// Time at which it joined its port.
    joined: Instant,
    /// Airtime estimated for it.
    expected: Duration,
}

/// Scheduling state of a port.
#[derive(Debug)]
struct Share {
    category: usize,
    broadcasts: bool,
    listed: bool,
    /// Airtime deficit in nanoseconds; below zero if the station has used more than its share.
    deficit: i64,
    /// Airtime estimated for its released packets that are not finished.
    pending: Duration,
    /// Time at which it last had a packet.
    active: Instant,
    /// Airtime that it has used while frames were to be sent again, on the category's clock.
    used: Duration,
}

impl Scheduler {
    /// A scheduler for the empty ports of an access point; `patience` turns on CoDel's larger target for slow stations.
    pub(super) fn new(layout: &Layout, patience: Option<Costs>) -> Self {
        let share = |port: usize| Share {
            category: port % layout.lanes,
            broadcasts: port / layout.lanes >= layout.stations.len(),
            listed: false,
            deficit: 0,
            pending: Duration::ZERO,
            active: Instant::ZERO,
            used: Duration::ZERO,
        };
        Self {
            categories: (0..layout.lanes).map(|_| Category::default()).collect(),
            shares: (0..layout.radio_ports()).map(share).collect::<Vec<_>>().into(),
            pending: Duration::ZERO,
            broadcasting: Duration::ZERO,
            moved: false,
            patience,
        }
    }

    /// Settings of its ports: no controller, hence no rate, so that packets are always ready.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            discipline: DisciplineName::FqCodel,
            limit: Limit::Packets(PACKETS),
            fq_codel: Some(self.params(false)),
            ..Settings::default()
        }
    }

    /// Parameters of a station's port.
    fn params(&self, slow: bool) -> fq_codel::Params {
        let ports = u32::try_from(self.shares.len()).unwrap_or(u32::MAX);
        let (target, interval) = if slow { SLOW_CODEL } else { CODEL };
        fq_codel::Params {
            target,
            interval,
            mtu: Bytes::new(0),
            quantum: const { Within::<Bytes, 256>::new(Bytes::new(300)).expect("large enough") },
            flows: Within::<u32, 1, 65_536>::new((FLOWS / ports).max(16)).expect("from 16 to 4096"),
            ecn: !slow,
            ..fq_codel::Params::default()
        }
    }

    /// Makes room for one more packet: at the packet limit the longest port drops.
    pub(super) fn make_room(&self, now: Instant, ports: &mut List<PortId, Port>, dropped: &mut impl FnMut(Waiting)) {
        let own = self.shares.len();
        let waiting: u64 = ports.iter().take(own).map(|port| port.queue().backlog().packets).sum();
        if waiting >= u64::from(PACKETS)
            && let Some(longest) = ports.iter_mut().take(own).rev().max_by_key(|port| port.queue().backlog().bytes)
        {
            longest.make_way(now, dropped);
        }
    }

    /// Lists the port of an arriving packet. A station without packets goes to the front, broadcasts to the end.
    pub(super) fn joins(&mut self, now: Instant, port: PortId) {
        let Some(share) = self.shares.get_mut(port) else { return };
        self.moved = true;
        share.active = now;
        if !std::mem::replace(&mut share.listed, true) {
            let turns = &mut self.categories[share.category].turns;
            if share.broadcasts { turns.push_back(port) } else { turns.push_front(port) }
        }
    }

    /// True if something has changed since [`pullable`](Self::pullable) was last called.
    #[inline]
    pub(super) fn has_moved(&self) -> bool {
        self.moved
    }

    /// All categories if something has changed since the last call, otherwise none.
    #[inline]
    pub(super) fn pullable(&mut self) -> Range<u8> {
        let categories = if std::mem::take(&mut self.moved) { self.categories.len() } else { 0 };
        0..u8::try_from(categories).expect("there are four categories")
    }

    /// Releases the next packet of a category, if one may be. Returns its port and the packet.
    pub(super) fn pull(
        &mut self,
        now: Instant,
        category: u8,
        layout: &Layout,
        ports: &mut List<PortId, Port>,
        outlook: Outlook,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<(PortId, Waiting)> {
        loop {
            let port = self.next(category.into())?;
            self.be_patient(port, layout, &mut ports[port], outlook);
            let Some(Departure { packet, waited }) = ports[port].take(now, 0, dropped) else {
                self.leaves(category.into());
                continue;
            };
            let expected = outlook.airtime(&packet).min(LONGEST);
            let joined = Instant::ZERO + now.since(Instant::ZERO + waited);
            self.passes(now, port, Passed { packet, joined, expected });
            return Some((port, packet));
        }
    }

    /// Sets CoDel's parameters by the expected throughput of the port's station. Broadcasts have no station.
    fn be_patient(&self, at: PortId, layout: &Layout, port: &mut Port, outlook: Outlook) {
        let (Some(costs), Some(&to)) = (&self.patience, layout.stations.get(at.place() / layout.lanes)) else { return };
        let expected = outlook.throughput(to, costs);
        let slow = expected > 0.0 && expected < SLOW * layout.stations.len() as f64;
        port.follow(&self.params(slow));
    }

    /// True if another packet of a port may be released, by the airtime that is pending.
    fn allows(&self, share: &Share) -> bool {
        if share.broadcasts {
            return self.broadcasting < BROADCASTS;
        }
        share.pending < LOW || self.pending < THRESHOLD && share.pending < HIGH
    }

    /// The port from which the next packet of a category is released, if one may be.
    fn next(&mut self, category: usize) -> Option<PortId> {
        let (mut first, mut any) = (None, false);
        loop {
            let port = *self.categories[category].turns.front()?;
            if first == Some(port) && !std::mem::replace(&mut any, false) {
                return None;
            }
            first = first.or(Some(port));
            let allowed = self.allows(&self.shares[port]);
            any |= allowed;
            let share = &mut self.shares[port];
            let owes = !share.broadcasts && share.deficit < nanos(share.pending);
            if owes {
                share.deficit += nanos(QUANTUM);
            }
            if !owes && allowed {
                return Some(port);
            }
            self.categories[category].turns.rotate_left(1);
        }
    }

    /// Whose turn it is in a category of which the MAC `holds` frames for some stations: of these and of those with packets
    /// that wait for the MAC, the one that has used least airtime. None if it is one of the latter, whose packet is the
    /// next then.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        category: u8,
        layout: &Layout,
        holds: impl Iterator<Item = u32> + Clone,
    ) -> Option<u32> {
        let Self { categories, shares, .. } = self;
        let Category { passed, retried, clock, .. } = &mut categories[usize::from(category)];
        let port = |to: u32| layout.port(to, category, Class::BestEffort);
        for port in holds.clone().map(port) {
            shares[port].active = now;
            if !retried.contains(&port) {
                retried.push(port);
            }
        }
        let used = |to: u32| shares[port(to)].used.max(*clock);
        let others = passed.iter().map(|passed| passed.packet.to).enumerate();
        let others = others.filter(|&(_, to)| holds.clone().all(|held| held != to));
        let other = others.min_by_key(|&(_, to)| used(to));
        let held = holds.min_by_key(|&to| used(to));
        let first = held.map(used).into_iter().chain(other.map(|(_, to)| used(to))).min();
        let is_other = other.is_some_and(|(_, to)| Some(used(to)) == first);
        *clock = first.unwrap_or(*clock);
        let Some((place, _)) = other.filter(|_| is_other) else { return held };
        let packet = passed.remove(place).expect("it waits there");
        passed.push_front(packet);
        None
    }

    /// Unlists the port at the head of a category, which is empty.
    fn leaves(&mut self, category: usize) {
        if let Some(port) = self.categories[category].turns.pop_front() {
            self.shares[port].listed = false;
        }
    }

    /// Releases a packet of the port at the head of its category.
    fn passes(&mut self, now: Instant, port: PortId, packet: Passed) {
        let share = &mut self.shares[port];
        share.pending += packet.expected;
        share.active = now;
        let all = if share.broadcasts { &mut self.broadcasting } else { &mut self.pending };
        *all += packet.expected;
        let Category { passed, turns, .. } = &mut self.categories[share.category];
        passed.push_back(packet);
        if share.broadcasts {
            turns.rotate_left(1);
        }
    }

    /// True for its own ports; those of wired links are not.
    pub(super) fn has(&self, port: PortId) -> bool {
        port.place() < self.shares.len()
    }

    /// The released packet behind `index` others, of the category of a port.
    pub(super) fn peek(&self, port: PortId, index: usize) -> Option<Waiting> {
        self.categories[self.shares[port].category].passed.get(index).map(|passed| passed.packet)
    }

    /// Hands a released packet to the MAC. It has waited up to now, as in any other port.
    #[inline(never)]
    pub(super) fn take(&mut self, now: Instant, port: PortId, index: usize) -> Option<Taken> {
        let passed = &mut self.categories[self.shares[port].category].passed;
        let Passed { packet, joined, expected } = passed.remove(index)?;
        Some(Taken { packet, waited: now.since(joined), expected, left: None })
    }

    /// Completes a packet of a port, with the airtime that was estimated for it.
    pub(super) fn completed(&mut self, port: PortId, expected: Duration) {
        let Some(share) = self.shares.get_mut(port) else { return };
        share.pending = share.pending - expected;
        let all = if share.broadcasts { &mut self.broadcasting } else { &mut self.pending };
        *all = *all - expected;
        if share.pending.is_zero() {
            self.categories[share.category].retried.retain(|&retried| retried != port);
        }
        self.moved = true;
    }

    /// Charges a station for a frame to or from it.
    pub(super) fn charge(&mut self, now: Instant, port: PortId, airtime: Duration) {
        let share = &mut self.shares[port];
        if now.since(share.active) <= ACTIVE {
            share.deficit -= nanos(airtime);
        }
        let Category { retried, clock, .. } = &self.categories[share.category];
        if !retried.is_empty() {
            share.used = share.used.max(*clock) + airtime;
        }
    }

    /// Returns the number of packets that passed and wait for the MAC.
    pub(super) fn waiting(&self) -> usize {
        self.categories.iter().map(|category| category.passed.len()).sum()
    }

    /// True if the pending airtime equals that of the released packets and of those with the MAC (`with_mac`).
    pub(super) fn balances(&self, with_mac: Duration) -> bool {
        let passed = self.categories.iter().flat_map(|category| &category.passed);
        let found = passed.fold(with_mac, |sum, packet| sum + packet.expected);
        let shares = self.shares.iter().fold(Duration::ZERO, |sum, share| sum + share.pending);
        self.pending + self.broadcasting == found && shares == found
    }
}

/// Estimates for a station, at the mode with which it would send now.
#[derive(Clone, Copy)]
pub(crate) struct Outlook<'a> {
    pub(crate) station: &'a Station,
    pub(crate) rules: &'a Conventions,
}

impl Outlook<'_> {
    /// Returns the estimated airtime of a packet; where frames are aggregated, without the preamble that it will share.
    fn airtime(self, packet: &Waiting) -> Duration {
        let Self { station, rules } = self;
        let mode = station.mode_to(packet.to, &rules.timing);
        let alone = rules.timing.duration(mode, rules.mpdu(msdu_bytes(packet.length)));
        if rules.aggregates() { alone.saturating_sub(mode.header()) } else { alone }
    }

    /// Expected throughput towards another station in bit/s; zero if unknown.
    fn throughput(self, to: u32, costs: &Costs) -> f64 {
        let mpdus = if self.rules.block_ack() { f64::from(self.rules.aggregation.frames) } else { 1.0 };
        self.station.expected_throughput(to, costs, mpdus)
    }
}

/// A duration in the unit of the deficit.
fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Arena;
    use queue::Ecn;

    /// A scheduler for this many stations and a port for broadcasts, without categories.
    fn scheduler(stations: u32) -> Scheduler {
        let mut layout = Layout::by_category(1);
        layout.groups = stations as usize + 1;
        layout.stations = (1..=stations).collect();
        Scheduler::new(&layout, None)
    }

    /// A packet with this estimated airtime.
    fn packet(expected: Duration) -> Passed {
        let handle = Arena::default().insert(());
        let packet = Waiting {
            packet: handle,
            to: 1,
            length: Bytes::new(1500),
            flow: 0,
            dscp: crate::config::Dscp::default(),
            ecn: Ecn::NotEct,
            created: Instant::ZERO,
        };
        Passed { packet, joined: Instant::ZERO, expected }
    }

    fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// Releases packets with these airtimes in microseconds, by port, until none may be. Returns the pending airtime of
    /// each port.
    fn fill(scheduler: &mut Scheduler, lengths: &[u64]) -> Vec<Duration> {
        while let Some(port) = scheduler.next(0) {
            scheduler.passes(Instant::ZERO, port, packet(us(lengths[port.place()])));
        }
        scheduler.shares.iter().map(|share| share.pending).collect()
    }

    #[test]
    fn a_station_alone_fills_the_hardware_to_the_higher_limit() {
        let mut scheduler = scheduler(1);
        scheduler.joins(Instant::ZERO, 0.into());
        // The 13th makes 13 ms: with 12 ms it may not.
        assert_eq!(fill(&mut scheduler, &[1_000, 0]), [us(12_000), us(0)]);
        let taken = scheduler.take(Instant::ZERO, 0.into(), 0).expect("twelve have passed");
        assert!(scheduler.balances(us(1_000)) && !scheduler.balances(us(0)));
        scheduler.completed(0.into(), taken.expected);
        assert_eq!(fill(&mut scheduler, &[1_000, 0]), [us(12_000), us(0)]);
        assert!(scheduler.balances(us(0)));
    }

    #[test]
    fn many_stations_have_the_lower_limit_each() {
        let mut scheduler = scheduler(8);
        (0..8).map(PortId::at).for_each(|port| scheduler.joins(Instant::ZERO, port));
        let pending = fill(&mut scheduler, &[1_000; 9]);
        // Eight with 5 ms each are above the threshold of 24 ms.
        assert_eq!(pending[..8], [us(5_000); 8]);
    }

    #[test]
    fn stations_get_equal_airtime_and_not_equal_packets() {
        let mut scheduler = scheduler(2);
        (0..2).map(PortId::at).for_each(|port| scheduler.joins(Instant::ZERO, port));
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
        (0..2).map(PortId::at).for_each(|port| scheduler.joins(Instant::ZERO, port));
        scheduler.charge(Instant::ZERO, 1.into(), us(2_560));
        let mut order = Vec::new();
        for _ in 0..14 {
            let port = scheduler.next(0).expect("one may");
            order.push(port);
            scheduler.passes(Instant::ZERO, port, packet(us(256)));
        }
        // It pays a quantum whenever the other has used one: ten turns, less the one that the other begins with.
        let first = order.iter().position(|&port| port == 1.into()).expect("it has paid");
        assert!((9..=12).contains(&first), "{order:?}");
    }

    #[test]
    fn a_station_that_had_nothing_for_long_does_not_pay() {
        let mut scheduler = scheduler(1);
        scheduler.joins(Instant::ZERO, 0.into());
        scheduler.charge(Instant::ZERO + ACTIVE, 0.into(), us(300));
        scheduler.charge(Instant::ZERO + ACTIVE + us(1), 0.into(), us(300));
        assert_eq!(scheduler.shares[0.into()].deficit, -300_000);
    }

    #[test]
    fn broadcasts_have_a_limit_of_their_own_and_share_with_the_stations() {
        let mut scheduler = scheduler(1);
        (0..2).map(PortId::at).for_each(|port| scheduler.joins(Instant::ZERO, port));
        assert_eq!(fill(&mut scheduler, &[1_000, 1_000]), [us(12_000), us(50_000)]);
    }

    #[test]
    fn the_limits_hold_whatever_comes_and_goes() {
        let mut scheduler = scheduler(3);
        (0..3).map(PortId::at).for_each(|port| scheduler.joins(Instant::ZERO, port));
        let lengths = [90, 2_100, 4_092, 0];
        for step in 0..10_000_usize {
            let pending = fill(&mut scheduler, &lengths);
            for (pending, length) in pending.iter().zip(lengths).take(3) {
                assert!(*pending < HIGH + us(length) && *pending >= LOW.min(us(length)), "{pending:?} in step {step}");
            }
            let port = step * step % 7 % 3;
            if pending[port] >= us(lengths[port]) {
                scheduler.completed(PortId::at(port), us(lengths[port]));
                scheduler.charge(Instant::ZERO, PortId::at(port), us(lengths[port]));
            }
        }
        // Those that are full may no longer pass above the threshold: one packet beyond it, and 5 ms of each other.
        assert!(scheduler.pending < THRESHOLD + us(4_092) + LOW * 2, "{:?}", scheduler.pending);
    }
}
