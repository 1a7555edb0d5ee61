//! The scheduler of an access point under Linux, between the stations' ports and the MAC. It shares airtime, and
//! releases only as many packets as keep the MAC busy for some milliseconds.
//!
//! The rules are those of mac80211 in Linux 6.0 and later (`net/mac80211/tx.c`, `sta_info.c`);
//! `docs/disciplines/mac80211.md` describes them. They are deficit round robin over stations in airtime
//! (Høiland-Jørgensen and others, "Ending the Anomaly", 2017), in rounds, and Airtime Queue Limits.

mod airtime;

use super::hardware::Hardware;
use super::layout::Layout;
use super::outlook::Outlook;
use super::port::Port;
use super::sleepers::Sleepers;
use crate::config::{Class, HardwareQueue, Mac80211, PullLoop};
use crate::engine::{List, Number as _, PortId};
use crate::mac::{BROADCAST, Costs};
use crate::net::Waiting;
use crate::radio::{Format, Mode};
use control::Limit;
use queue::{Departure, DisciplineName, Settings, fq_codel};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant, Positive, Within};

/// Default hardware queue of a category: the ring of mt76 (2048 descriptors, of which `MT_TXQ_FREE_THR` stay free).
pub(super) const RING: HardwareQueue = HardwareQueue::Packets(2_016);
/// Time after a station's last packet in which the station is still charged for airtime (`AIRTIME_ACTIVE_DURATION`).
const ACTIVE: Duration = Duration::from_millis(100);
/// Largest airtime estimate of a packet. Linux stores it in ten bits, in steps of 4 us.
const LONGEST: Duration = Duration::from_micros(4_092);
/// Number of flow queues in all ports together.
const FLOWS: u32 = 4_096;
/// A station is slow if its expected throughput in bit/s is below this value times the number of stations
/// (`STA_SLOW_THRESHOLD`).
const SLOW: f64 = 6e6;

/// Target and interval of CoDel, first for fast, then for slow stations.
pub(super) const CODEL: (Positive<Duration>, Positive<Duration>) = (millis(20), millis(100));
const SLOW_CODEL: (Positive<Duration>, Positive<Duration>) = (millis(50), millis(300));

const fn millis(n: u64) -> Positive<Duration> {
    Positive::<Duration>::new(Duration::from_millis(n)).expect("above zero")
}

/// The scheduler of an access point, with the packets that it has released.
#[derive(Debug)]
pub(crate) struct Scheduler {
    rules: Mac80211,
    categories: Vec<Category>,
    /// State of each port, except those of wired links.
    shares: List<PortId, Share>,
    /// Sum of the estimated airtimes of all unicast packets that were released and are not finished.
    pending: Duration,
    /// The same for broadcasts.
    broadcasting: Duration,
    /// The ports together have room for at least this number of packets.
    room: u64,
    /// Costs of frames. They decide which stations are slow and get CoDel's larger target; `None` if none gets it.
    patience: Option<Costs>,
}

/// Scheduling state of an access category.
#[derive(Debug, Default)]
struct Category {
    /// Ports that have packets or are in debt, in the order of the round robin.
    turns: VecDeque<PortId>,
    /// Number of the present round, from 1; zero before the first.
    round: u64,
    /// False if no round may begin now.
    is_open: bool,
    /// True from the start of a round until no packet of the category may pass any more.
    is_pulling: bool,
    /// True if a packet has passed in the present round.
    has_passed: bool,
    /// The port whose turn it is. It is not in `turns` then.
    turn: Option<PortId>,
    /// Sum of the estimated airtimes of the category's unicast packets that were released and are not finished.
    pending: Duration,
    /// The ports of stations for which the MAC holds frames to retransmit; a driver has a queue of these for each
    /// station. As long as there are such ports, the stations whose frames the MAC holds get equal airtime.
    retried: Vec<PortId>,
    /// Least airtime that any of these stations had used at the last decision.
    clock: Duration,
}

/// Scheduling state of a port.
#[derive(Debug, Default)]
struct Share {
    category: usize,
    broadcasts: bool,
    listed: bool,
    /// Number of the round in which the station last had a turn.
    round: u64,
    /// Airtime deficit in ns; below zero if the station has used more than its share.
    deficit: i64,
    /// Sum of the estimated airtimes of the port's packets that were released and are not finished.
    pending: Duration,
    /// Time at which the port was last listed for its packets, or a frame to retransmit had its turn.
    active: Instant,
    /// Airtime charged to the station while there were frames to retransmit; comparable with the category's `clock`.
    used: Duration,
}

impl Scheduler {
    /// Makes a scheduler for an access point's empty ports. `patience`: slow stations get CoDel's larger target.
    pub(super) fn new(layout: &Layout, rules: Mac80211, patience: Option<Costs>) -> Self {
        let share = |port: usize| Share {
            category: port % layout.lanes,
            broadcasts: port / layout.lanes >= layout.stations.len(),
            deficit: nanos(rules.airtime_weight.get()),
            ..Share::default()
        };
        Self {
            rules,
            categories: (0..layout.lanes).map(|_| Category::default()).collect(),
            shares: (0..layout.radio_ports()).map(share).collect::<Vec<_>>().into(),
            pending: Duration::ZERO,
            broadcasting: Duration::ZERO,
            room: 0,
            patience,
        }
    }

    /// Returns the settings of the scheduler's ports: no controller and so no rate. Packets are thus always ready.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            discipline: DisciplineName::FqCodel,
            limit: Limit::Packets(self.rules.txq_limit.get()),
            fq_codel: Some(self.params(false)),
            ..Settings::default()
        }
    }

    /// Returns the parameters of a station's port.
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

    /// Makes room for one more packet: if the packet limit is reached, the longest port drops one.
    pub(super) fn make_room(&mut self, now: Instant, ports: &mut List<PortId, Port>, drops: &mut impl FnMut(Waiting)) {
        self.room = self.room.saturating_sub(1);
        if self.room == 0 {
            let own = self.shares.len();
            let waiting: u64 = ports.iter().take(own).map(|port| port.queue.backlog().packets).sum();
            self.room = u64::from(self.rules.txq_limit.get()).saturating_sub(waiting);
            let longest = ports.iter_mut().take(own).rev().max_by_key(|port| port.queue.backlog().bytes);
            if let (0, Some(longest)) = (self.room, longest) {
                longest.queue.make_way(now, drops);
            }
        }
    }

    /// Lists the port of an arriving packet. A station that had no packets goes to the front, broadcasts to the end.
    pub(super) fn joins(&mut self, now: Instant, port: PortId) {
        if port.place() < self.shares.len() {
            self.list(now, port, true);
        }
    }

    /// Lists a port that has packets or debt, until its debt is paid or it has been empty for long.
    fn list(&mut self, now: Instant, port: PortId, waits: bool) {
        let share = &mut self.shares[port];
        let pays = !share.broadcasts && share.deficit < nanos(share.pending) && now.since(share.active) <= ACTIVE;
        if share.listed || !waits && !pays {
            return;
        }
        share.listed = true;
        let turns = &mut self.categories[share.category].turns;
        if waits && !share.broadcasts {
            turns.push_front(port);
        } else {
            turns.push_back(port);
        }
        if waits {
            debug_assert!(share.active <= now, "time does not run back");
            share.active = now;
        }
        let category = &self.categories[self.shares[port].category];
        debug_assert_eq!(category.turns.iter().filter(|&&other| other == port).count(), 1, "listed once");
    }

    /// Releases the next packet of a category, if one may be released. Returns port, packet and estimated airtime.
    #[expect(clippy::too_many_arguments, reason = "the parts of an egress, which it does not own")]
    pub(super) fn pull(
        &mut self,
        now: Instant,
        category: u8,
        layout: &Layout,
        ports: &mut List<PortId, Port>,
        (hardware, sleepers): (&Hardware, &Sleepers),
        outlook: Outlook,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<(PortId, Departure<Waiting>, Duration)> {
        let to = |port: PortId| layout.stations.get(port.place() / layout.lanes).copied().unwrap_or(BROADCAST);
        loop {
            let waits = |port: PortId| !ports[port].queue.is_empty() && !sleepers.is_asleep(to(port));
            let has_room = |port| hardware.has_room(category, to(port));
            let port = self.grant(now, category.into(), waits, has_room)?;
            self.be_patient(port, layout, &mut ports[port], outlook);
            let Some(departure) = ports[port].take(now, 0, dropped) else { continue };
            debug_assert!(layout.category(port) == category && !sleepers.is_asleep(departure.packet.to));
            let expected = self.passes(port, expected(outlook, &departure.packet, category).min(LONGEST));
            return Some((port, departure, expected));
        }
    }

    /// Sets CoDel's parameters according to the expected throughput of the port's station. Broadcasts have no station.
    fn be_patient(&self, at: PortId, layout: &Layout, port: &mut Port, outlook: Outlook) {
        let (Some(costs), Some(&to)) = (&self.patience, layout.stations.get(at.place() / layout.lanes)) else { return };
        let expected = outlook.throughput(to, costs);
        let slow = expected > 0.0 && expected < SLOW * layout.stations.len() as f64;
        port.queue.follow(&self.params(slow));
    }

    /// True if another packet of a port may be released, given the airtime that is pending.
    fn allows(&self, share: &Share) -> bool {
        if share.broadcasts {
            return self.rules.broadcast_limit.is_none_or(|limit| self.broadcasting < limit);
        }
        let Mac80211 { aql_low, aql_high, aql_threshold, .. } = self.rules;
        share.pending < aql_low || self.pending < aql_threshold && share.pending < aql_high
    }

    /// Returns the port from which the next packet of a category is released, if one may be released. `waits` says
    /// whether a port has packets, `has_room` whether its hardware queue has room.
    ///
    /// This is the driver's loop. It begins a round, lets each port in its turn send up to its limit, and ends when no
    /// port has a turn left in the round. mt76's loop then begins another round if the last one sent a packet.
    fn grant(
        &mut self,
        now: Instant,
        category: usize,
        waits: impl Fn(PortId) -> bool,
        has_room: impl Fn(PortId) -> bool,
    ) -> Option<PortId> {
        if !std::mem::replace(&mut self.categories[category].is_pulling, true) {
            self.begin_round(category);
        }
        loop {
            if let Some(port) = self.categories[category].turn {
                if has_room(port) && waits(port) && self.allows(&self.shares[port]) {
                    return Some(port);
                }
                self.categories[category].turn = None;
                self.list(now, port, waits(port));
            }
            if let Some(port) = self.next(category) {
                self.categories[category].turn = Some(port);
            } else if self.rules.pull_loop == PullLoop::Mt76 && self.categories[category].has_passed {
                self.begin_round(category);
            } else {
                self.categories[category].is_pulling = false;
                return None;
            }
        }
    }

    /// Begins a round, unless too much airtime is pending in the category for the number of listed ports
    /// (`ieee80211_txq_schedule_airtime_check`, whose bound for no port overflows). After a refusal rounds are counted
    /// from 1 again, as in Linux. So a port may have had its last turn in an earlier round of the same number.
    fn begin_round(&mut self, category: usize) {
        let Category { turns, round, is_open, has_passed, pending, .. } = &mut self.categories[category];
        let ports = u64::try_from(turns.len()).unwrap_or(u64::MAX);
        let least = self.rules.aql_high + self.rules.aql_low * ports.saturating_sub(1) / 2;
        *is_open = ports == 0 || *pending < least;
        *round = if *is_open { *round + 1 } else { 0 };
        *has_passed = false;
    }

    /// Removes and returns the port of a category whose turn is next in this round (`ieee80211_next_txq`).
    fn next(&mut self, category: usize) -> Option<PortId> {
        if !self.categories[category].is_open {
            return None;
        }
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
                share.deficit += nanos(self.rules.airtime_weight.get());
            }
            if owes || !allowed {
                self.categories[category].turns.rotate_left(1);
                continue;
            }
            let round = self.categories[category].round;
            if std::mem::replace(&mut share.round, round) == round {
                return None;
            }
            debug_assert!(share.listed && share.category == category);
            share.listed = false;
            return self.categories[category].turns.pop_front();
        }
    }

    /// Returns the next station in a category in which the MAC `holds` frames for some stations. It is the one that has
    /// used the least airtime, among these and the stations with packets that wait for the MAC. `None` if such a
    /// waiting packet is next.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        category: u8,
        layout: &Layout,
        hardware: &mut Hardware,
        holds: impl Iterator<Item = u32> + Clone,
    ) -> Option<u32> {
        let Self { categories, shares, .. } = self;
        let Category { retried, clock, .. } = &mut categories[usize::from(category)];
        let port = |to: u32| layout.port(to, category, Class::BestEffort);
        for port in holds.clone().map(port) {
            if !retried.contains(&port) {
                shares[port].active = now;
                retried.push(port);
            }
        }
        let used = |to: u32| shares[port(to)].used.max(*clock);
        let other = hardware.least(category, |to| holds.clone().all(|held| held != to), used);
        let held = holds.min_by_key(|&to| used(to));
        let first = held.map(used).into_iter().chain(other.map(used)).min();
        let is_other = other.is_some_and(|to| Some(used(to)) == first);
        *clock = first.unwrap_or(*clock);
        if let Some(to) = other.filter(|_| is_other) {
            hardware.promote(category, to);
            return None;
        }
        if let Some(to) = held {
            // This is as if a driver returned a queue that has packets. It is not renewed while the queue waits.
            shares[port(to)].active = now;
        }
        held
    }

    /// Releases a packet of a port with this estimated airtime. Returns the airtime that counts as pending.
    fn passes(&mut self, port: PortId, mut expected: Duration) -> Duration {
        let share = &mut self.shares[port];
        let category = &mut self.categories[share.category];
        if share.broadcasts {
            // Without a limit for broadcasts, Linux does not estimate their airtime.
            expected = self.rules.broadcast_limit.map_or(Duration::ZERO, |_| expected);
            self.broadcasting += expected;
        } else {
            self.pending += expected;
            category.pending += expected;
        }
        share.pending += expected;
        category.has_passed = true;
        debug_assert!(share.pending <= self.pending + self.broadcasting);
        debug_assert!(category.pending <= self.pending);
        expected
    }

    /// Completes a packet of a port that had this estimated airtime.
    #[inline]
    pub(super) fn completed(&mut self, port: PortId, expected: Duration) {
        let Some(share) = self.shares.get_mut(port) else { return };
        debug_assert!(share.pending >= expected, "it was released");
        debug_assert!(self.pending + self.broadcasting >= share.pending);
        share.pending = share.pending - expected;
        if share.broadcasts {
            self.broadcasting = self.broadcasting - expected;
        } else {
            self.pending = self.pending - expected;
            let of_category = &mut self.categories[share.category].pending;
            *of_category = *of_category - expected;
        }
        if share.pending.is_zero() {
            self.categories[share.category].retried.retain(|&retried| retried != port);
        }
    }

    /// Charges a station, while it is active, for a frame to it or from it.
    pub(super) fn charge(&mut self, now: Instant, port: PortId, airtime: Duration) {
        let share = &mut self.shares[port];
        debug_assert!(share.active <= now, "time does not run back");
        if now.since(share.active) > ACTIVE {
            return;
        }
        share.deficit -= nanos(airtime);
        let Category { retried, clock, .. } = &self.categories[share.category];
        if !retried.is_empty() {
            share.used = share.used.max(*clock) + airtime;
        }
    }

    /// Returns the sum of the estimated airtimes of all packets that were released and are not finished.
    pub(super) fn pending(&self) -> Duration {
        let shares = self.shares.iter().fold(Duration::ZERO, |sum, share| sum + share.pending);
        debug_assert_eq!(shares, self.pending + self.broadcasting, "of all stations together");
        shares
    }
}

/// Returns the airtime expected of a packet: from 802.11ac on as in Linux, else its frame's in the present mode.
fn expected(outlook: Outlook, packet: &Waiting, category: u8) -> Duration {
    if outlook.rules.newest == Format::Ht {
        return outlook.airtime(packet);
    }
    match outlook.station.rates.mode_to(packet.to, &outlook.rules.timing) {
        Mode::Mimo(mimo) if mimo.format() > Format::Ht => {
            // Linux assumes that all categories except voice are aggregated.
            let shares = outlook.rules.aggregates() && category > 0;
            airtime::expected(mimo, packet.length, shares)
        }
        _ => outlook.airtime(packet),
    }
}

/// Converts a duration to the unit of the deficit.
fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
