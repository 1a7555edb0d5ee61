//! The law of `turns`: which station sends next and for how long, which packets go first, and how much may wait.
//!
//! Stations take turns of one aggregate each, by deficit round robin in airtime. While one aggregate is on the air, one
//! more waits in the hardware, whatever the number of stations. A packet of a flow that sends less than its share of
//! the medium (a *thin* packet) goes before all turns, as far as its station has credit (airtime) for it. Packets that
//! wait for a station are bounded by the time in which they will be sent. `docs/turns.md` describes the law and the
//! effect of each part.
//!
//! Times are in nanoseconds, ratios in 1024ths and airtime per byte in picoseconds: all numbers are integers, as in the
//! kernel.

use super::Mark;
use super::host::{Pace, Ports, Rule, Turn};
use super::medium::{Medium, ONE, OVERHEAD, SURE, TURN};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant, Positive};

/// Bytes of two full packets, the least that two turns hold.
pub(super) const KEPT: u64 = 3_000;
/// Pause of a flow after which its next packet may be thin, however many stations or flows are busy: calls send every
/// 20 ms, of which queues and other hops may take half.
pub(super) const SPARSE: Duration = Duration::from_millis(10);
/// Longest time for which a station's own transmissions hold its packets back: transmissions that no packet of the
/// station slows down would otherwise delay the answers to the station for longer than they lasted, or for ever.
const PAID_WITHIN: Duration = Duration::from_secs(1);
/// Time after a station's last packet during which it pays for airtime.
const ACTIVE: Duration = Duration::from_millis(100);
/// Least share of frames that is assumed to fail: a station then counts as absent after three frames without an answer.
const FAILS: u64 = SURE / 33;
/// Share of the bound that may stand in a queue throughout D.
const PATIENT: u64 = 10;
/// Number of rounds in which a deficit grows by a turn: a port that used less than others leaves its debt first.
const STEPS: u64 = 16;
/// Number that stands for the stations with which groups share the airtime.
const OF_GROUPS: u64 = 2 * ONE;
/// Share of a turn below which a station's packets in flight count as few.
const LITTLE: u64 = 4;

/// The law, with its state.
#[derive(Clone, Debug)]
pub struct Law {
    target: Duration,
    bulk: Option<Duration>,
    ecn: bool,
    without: Option<Rule>,
    lanes: usize,
    /// The first port of groups, whose packets are for all stations.
    groups: usize,
    shares: Vec<Share>,
    categories: Vec<Category>,
    medium: Medium,
}

/// A station in one access category.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "marks of a station, each set by an event of its own")]
struct Share {
    listed: bool,
    /// Airtime that the station may use, in nanoseconds; below zero if it has used more than its share.
    deficit: i64,
    /// Airtime estimated for the station's released packets that are not finished.
    pending: Duration,
    /// True if the station's last frame has no answer yet.
    asked: bool,
    /// Probability that a present station leaves this many consecutive frames without an answer, in 1024ths of 1024ths.
    chance: u64,
    /// True if the port had its turn since its last frame, and its station did not answer.
    due: bool,
    /// Time at which a packet of the station last waited.
    active: Instant,
    /// Airtime that the station's thin packets may use, in nanoseconds.
    credit: i64,
    /// Airtime that the station has used for sending beyond its share of the time.
    debt: Duration,
    /// Time at which credit and debt were last counted.
    counted: Instant,
    /// Time since which the station's packets wait for a turn.
    since: Instant,
    /// True if the station was charged for frames that it sent since its last turn.
    charged: bool,
    /// True if the port is in the list of ports with thin packets.
    hurries: bool,
    /// True if the station wants more airtime than it has: its last turn was used up, or its sending holds it back.
    wants: bool,
    /// Airtime of a byte in picoseconds, averaged over the station's packets.
    per_byte: u64,
}

/// An access category.
#[derive(Clone, Debug, Default)]
struct Category {
    /// Ports with packets, in order of their turns.
    turns: VecDeque<usize>,
    /// Ports with thin packets, in the order in which they are served.
    first: VecDeque<usize>,
    /// The port whose turn it is, and the rest of its turn.
    current: Option<(usize, Turn)>,
    /// The port that is held back for its debt alone and may be released first, and the time of that.
    held: Option<(usize, Instant)>,
    /// Airtime that the last turn has released.
    last: Duration,
    /// Number of ports whose stations want more airtime than they have.
    wanting: u64,
    /// Airtime estimated for released packets that are not finished, without packets of stations that do not answer.
    pending: Duration,
}

impl Law {
    /// Creates the law for this number of ports, `lanes` of each station: one per access category. `target`: the time
    /// for which packets may wait (D).
    pub fn new(target: Positive<Duration>, ports: usize, lanes: usize) -> Self {
        let share = Share { chance: SURE, credit: nanos(TURN), per_byte: 150_000, ..Share::default() };
        Self {
            target: target.get(),
            bulk: None,
            ecn: false,
            without: None,
            lanes,
            groups: ports,
            shares: vec![share; ports],
            categories: vec![Category::default(); lanes],
            medium: Medium::new(),
        }
    }

    /// The law with turns shortened so that a round takes at most this time, which also bounds how long packets may
    /// wait.
    #[must_use]
    pub fn with_bulk_delay(self, bulk: Option<Positive<Duration>>) -> Self {
        Self { bulk: bulk.map(Positive::<Duration>::get), ..self }
    }

    /// The law whose ports from this number on belong to groups. Each station is charged a part of the groups' airtime;
    /// all stations together are charged half.
    #[must_use]
    pub fn with_groups(self, first: usize) -> Self {
        Self { groups: first, ..self }
    }

    /// The law with ECN marks on packets while more than a turn of data waits.
    #[must_use]
    pub fn with_ecn(self, ecn: bool) -> Self {
        Self { ecn, ..self }
    }

    /// The law without one of its rules.
    #[must_use]
    pub fn without(self, rule: Option<Rule>) -> Self {
        Self { without: rule, ..self }
    }

    /// Number of ports.
    pub fn ports(&self) -> usize {
        self.shares.len()
    }

    /// Bounds for a packet of this number of bytes that arrives at a port.
    pub fn pace(&mut self, now: Instant, port: usize, len: Bytes) -> Pace {
        let Self { target, bulk, ecn, without, groups, shares, medium, .. } = self;
        let has = |rule| *without != Some(rule);
        let share = &mut shares[port];
        share.count(now, medium);
        let may_be_thin = share.credit >= 0 && has(Rule::ThinFirst);
        let gap = may_be_thin.then(|| medium.wall_of(share.cost(len), medium.stations + ONE).min(SPARSE));
        // What others send meanwhile makes nothing late.
        let air = if has(Rule::OwnAir) { *target } else { medium.air_of(*target) };
        let air = bulk.map_or(air, |bulk| air.min(medium.air_of(bulk)));
        let wall = medium.wall_of(air, ONE);
        // Bytes of this station sent in it, if all busy stations have turns. Groups may have half of the air.
        let per_byte = share.per_byte.max(1);
        let sharing = if port < *groups { medium.stations } else { medium.stations.min(OF_GROUPS) };
        let each = per_byte.saturating_mul(sharing.max(ONE)) / ONE;
        let sent = air.as_nanos().saturating_mul(1_000) / each.max(1);
        // Two turns, or as many as a round of this length leaves.
        let turns = if has(Rule::TwoTurns) { medium.turn * 2 } else { medium.turn };
        let turns = bulk.map_or(turns, |bulk| turns.min(medium.share_of(medium.air_of(bulk))).max(medium.turn));
        let [turn, stays] =
            [medium.turn, turns].map(|air| Bytes::new((air.as_nanos().saturating_mul(1_000) / per_byte).max(KEPT)));
        let mark = ecn.then_some(Mark { target: wall, turn });
        if !has(Rule::Prediction) {
            return Pace { gap, most: stays, patience: None, longest: Some(wall), mark };
        }
        // Where turns are short, as without aggregates, two of them are less than a sender needs.
        let stands = stays.max(Bytes::new(sent / PATIENT));
        let patience = has(Rule::Patience).then_some((stands, wall));
        Pace { gap, most: stays.max(Bytes::new(sent)), patience, longest: None, mark }
    }

    /// Records that a packet of this length has joined a port; a `thin` one goes before all turns.
    pub fn joined(&mut self, now: Instant, port: usize, len: Bytes, thin: bool) {
        let Self { lanes, shares, categories, .. } = self;
        let share = &mut shares[port];
        debug_assert!(share.active <= now, "time does not run back");
        share.active = now;
        if !share.listed {
            share.since = now;
        }
        if thin {
            share.credit = share.credit.saturating_sub(nanos(share.cost(len)));
        }
        share.list(port, thin, &mut categories[port % *lanes]);
        debug_assert!(self.shares[port].listed && (!thin || self.shares[port].hurries));
    }

    /// Records that packets of a port wait again after their station slept, while the host reported none; `thin`: some
    /// of them are thin.
    pub fn joins_again(&mut self, port: usize, thin: bool) {
        self.answered(port);
        let Self { lanes, shares, categories, .. } = self;
        shares[port].list(port, thin, &mut categories[port % *lanes]);
    }

    /// The port of a category from which the next packet is released, if one may be released.
    pub fn next(&mut self, now: Instant, category: usize, ports: &impl Ports) -> Option<usize> {
        self.count(now);
        loop {
            if let Some((port, _)) = self.categories[category].current {
                if !ports.waits(port) {
                    self.categories[category].current = None;
                    self.shares[port].set_wants(false, &mut self.categories[category].wanting);
                    continue;
                }
                if self.without != Some(Rule::WholeTurns) || !self.is_full(category, self.medium.turn) {
                    return ports.has_room(port).then_some(port);
                }
            }
            if let Some(port) = self.thin(category, ports) {
                return Some(port);
            }
            if self.is_full(category, self.medium.turn) {
                return None;
            }
            let port = self.begin(now, category, ports)?;
            let longest = self.bulk.map_or(Duration::MAX, |round| self.medium.share_of(self.medium.air_of(round)));
            let Turn { airtime, packets } = ports.turn(port);
            // A station that does not answer is tried with one packet.
            let packets = if self.shares[port].answers() { packets } else { 1 };
            let turn = Turn { airtime: airtime.min(longest).max(Duration::from_nanos(1)), packets };
            if self.is_full(category, turn.airtime) {
                return None;
            }
            let Category { current, last, .. } = &mut self.categories[category];
            debug_assert!(current.is_none() && port % self.lanes == category);
            (*current, *last) = (Some((port, turn)), Duration::ZERO);
        }
    }

    /// The first port with thin packets that may be released: whatever is in flight, because credit bounds them.
    fn thin(&mut self, category: usize, ports: &impl Ports) -> Option<usize> {
        let Self { shares, categories, .. } = self;
        let first = &mut categories[category].first;
        for _ in 0..first.len() {
            let port = *first.front()?;
            if !ports.has_thin(port) {
                shares[port].hurries = false;
                first.pop_front();
            } else if shares[port].answers() && ports.has_room(port) {
                return Some(port);
            } else {
                first.rotate_left(1);
            }
        }
        None
    }

    /// True if no packet may be released in addition to those in flight, because they exceed one turn.
    fn is_full(&self, category: usize, turn: Duration) -> bool {
        let Category { pending, last, .. } = &self.categories[category];
        *pending >= turn && *pending > *last
    }

    /// The port whose turn begins. A deficit grows only when its station is visited and a packet may be released.
    fn begin(&mut self, now: Instant, category: usize, ports: &impl Ports) -> Option<usize> {
        let Self { shares, categories, medium, .. } = self;
        let Category { turns, held, wanting, .. } = &mut categories[category];
        *held = None;
        let quantum = nanos(medium.turn / STEPS).max(1);
        // If one station only waits for room, stations in debt wait with it: else they would be out of debt once there
        // is room. A station that does not answer may take the room.
        let is_next = |port: usize| {
            shares[port].answers() && ports.waits(port) && shares[port].deficit >= nanos(shares[port].pending)
        };
        let stands = turns.iter().all(|&port| !ports.has_room(port)) && turns.iter().any(|&port| is_next(port));
        loop {
            let mut least = None;
            for _ in 0..turns.len() {
                let port = *turns.front()?;
                let share = &mut shares[port];
                let waits = ports.waits(port);
                share.count(now, medium);
                let owed = |share: &Share| nanos(share.pending).saturating_sub(share.deficit);
                // A station's packets in flight may have to be sent again: until then it pays with the others. A
                // sleeping station has waited, too, since it fell asleep.
                if !waits && (owed(share) <= 0 || share.pending.is_zero()) {
                    share.listed = false;
                    share.set_wants(false, wanting);
                    turns.pop_front();
                    continue;
                }
                if !waits {
                    share.since = now;
                }
                let paid_at = share.pays_until(now, medium);
                let owed = owed(share);
                if paid_at > now {
                    share.set_wants(true, wanting);
                    if waits && held.is_none_or(|(_, at)| paid_at < at) {
                        *held = Some((port, paid_at));
                    }
                } else if owed <= 0 && (share.answers() || share.pending.is_zero()) && ports.has_room(port) {
                    // It stays at the front until its turns have put it into debt.
                    (share.since, share.charged) = (now, false);
                    return Some(port);
                }
                if owed <= 0 {
                    share.due = true;
                }
                if owed > 0 && !(stands && share.answers()) {
                    share.deficit = share.deficit.saturating_add(quantum);
                    least = Some(least.map_or(owed, |least: i64| least.min(owed)));
                }
                turns.rotate_left(1);
            }
            // All are in debt: adds at once as many rounds as the first needs to get out of debt.
            let rounds = (least? - 1) / quantum;
            for &port in turns.iter() {
                let share = &mut shares[port];
                if share.deficit < nanos(share.pending) && !(stands && share.answers()) {
                    share.deficit = share.deficit.saturating_add(rounds.saturating_mul(quantum));
                }
            }
        }
    }

    /// Records that a packet of this length has left its port; its airtime is `estimated`.
    pub fn released(&mut self, now: Instant, port: usize, len: Bytes, estimated: Duration, thin: bool) {
        let Self { lanes, shares, categories, medium, .. } = self;
        let share = &mut shares[port];
        let Category { first, current, last, wanting, pending, .. } = &mut categories[port % *lanes];
        if medium.pending.is_zero() {
            medium.since = now;
        }
        let answers = share.answers();
        share.pending += estimated;
        medium.pending += estimated;
        if answers {
            *pending += estimated;
        }
        debug_assert!(share.pending <= medium.pending && *pending <= medium.pending);
        share.active = now;
        let seen = estimated.as_nanos().saturating_mul(1_000) / len.count().max(1);
        share.per_byte = share.per_byte - share.per_byte / 10 + seen / 10;
        if thin && first.front() == Some(&port) {
            // One packet of each station in turn.
            first.rotate_left(1);
        }
        if thin && current.is_none_or(|(turn, _)| turn != port) {
            return;
        }
        *last += estimated;
        debug_assert!(current.is_none_or(|(turn, _)| turn == port), "the turn is this port's");
        if let Some((_, left)) = current {
            left.airtime = left.airtime.saturating_sub(estimated);
            left.packets = left.packets.saturating_sub(1);
            if left.airtime.is_zero() || left.packets == 0 {
                // Short packets that end it early make the turns of others no shorter.
                medium.turn = medium.turn * 7 / 8 + (*last + left.airtime) / 8;
                *current = None;
                share.set_wants(true, wanting);
            }
        }
    }

    /// Records that the MAC has finished with packets of a port for which this total airtime was estimated.
    pub fn completed(&mut self, now: Instant, port: usize, estimated: Duration) {
        let Self { lanes, shares, categories, medium, .. } = self;
        medium.completed(now, estimated);
        let share = &mut shares[port];
        let pending = &mut categories[port % *lanes].pending;
        debug_assert!(share.pending >= estimated && medium.pending >= share.pending, "it was in flight");
        share.pending = share.pending.saturating_sub(estimated);
        medium.pending = medium.pending.saturating_sub(estimated);
        if share.answers() {
            debug_assert!(*pending >= estimated, "it was counted in");
            *pending = pending.saturating_sub(estimated);
        }
        if port >= self.groups {
            // The MAC reports no airtime of broadcasts.
            self.medium.takes(estimated);
            self.charge(now, port, self.medium.share_of(estimated));
        }
    }

    /// Records that the station of a port has answered a frame.
    pub fn answered(&mut self, port: usize) {
        let Self { lanes, shares, categories, medium, .. } = self;
        let share = &mut shares[port];
        if !share.answers() {
            categories[port % *lanes].pending += share.pending;
        } else if share.asked {
            medium.fails -= medium.fails / 64;
        }
        (share.asked, share.chance) = (false, SURE);
        debug_assert!(share.answers() && !share.asked);
    }

    /// Records that a frame to a station was on the air for this time.
    pub fn sent(&mut self, now: Instant, port: usize, airtime: Duration) {
        let Self { lanes, shares, categories, medium, .. } = self;
        let share = &mut shares[port];
        share.due = false;
        // Without a packet there is nothing to answer but requests for block ACKs.
        let has_failed = !share.pending.is_zero() && std::mem::replace(&mut share.asked, true);
        if has_failed && share.answers() {
            share.chance = share.chance * medium.fails.max(FAILS) / SURE;
            medium.fails += (SURE - medium.fails) / 64;
            if !share.answers() {
                let pending = &mut categories[port % *lanes].pending;
                debug_assert!(*pending >= share.pending, "it was counted in");
                *pending = pending.saturating_sub(share.pending);
            }
        }
        medium.takes(airtime);
        self.charge(now, port, airtime);
    }

    /// Records, at an access point, that a frame from a station was on the air for this time. The station's own
    /// packets, mostly ACKs, slow down what it sends: they wait until its share of the time has paid for it, even if no
    /// other station has packets now.
    pub fn received(&mut self, now: Instant, port: usize, airtime: Duration) {
        if self.without == Some(Rule::ReceivedAirtime) {
            return;
        }
        let Self { shares, medium, .. } = self;
        let share = &mut shares[port];
        share.count(now, medium);
        medium.takes(airtime);
        let before = share.debt;
        share.debt = (before + airtime).min(medium.left_of(PAID_WITHIN, share.wants).max(before));
        let charged = share.debt.saturating_sub(before);
        debug_assert!(charged <= airtime && share.debt >= before);
        share.charged |= !charged.is_zero();
        self.charge(now, port, charged);
    }

    /// Time at which a port of a category, held back only by its station's transmissions, may have its turn again.
    pub fn ready_at(&self, category: usize) -> Option<(usize, Instant)> {
        self.categories[category].held
    }

    /// Charges a station for airtime.
    pub fn charge(&mut self, now: Instant, port: usize, airtime: Duration) {
        let Self { shares, medium, .. } = self;
        let share = &mut shares[port];
        if !share.wants && share.debt <= medium.turn {
            medium.uses(airtime);
        }
        if now.since(share.active) <= ACTIVE {
            share.deficit = share.deficit.saturating_sub(nanos(airtime));
        }
    }

    /// True if this sender alone uses the medium, so that a larger contention window costs it little and avoids
    /// collisions with the stations' answers.
    pub fn owns_medium(&mut self) -> bool {
        self.medium.is_own(self.without != Some(Rule::WideWindow))
    }

    /// Length of a turn, averaged.
    pub fn turn(&self) -> Duration {
        self.medium.turn
    }

    /// Airtime estimated for all released packets that are not finished.
    pub fn pending(&self) -> Duration {
        self.medium.pending
    }

    /// Airtime estimated for the released packets of a port that are not finished.
    pub fn in_flight(&self, port: usize) -> Duration {
        self.shares[port].pending
    }

    /// True if the failed frames of a port may be sent again: at once, or, for a silent station, in its turns.
    pub fn may_repeat(&self, port: usize) -> bool {
        self.shares[port].answers() || self.shares[port].due
    }

    /// True if few packets of a port are in flight, as for a station with nothing but thin packets.
    pub fn has_little(&self, port: usize) -> bool {
        self.shares[port].pending < self.medium.turn / LITTLE
    }

    /// Counts the stations with packets.
    fn count(&mut self, now: Instant) {
        let most = |of: fn(&Category) -> u64| self.categories.iter().map(of).max().unwrap_or(0) * ONE;
        let listed = most(|category| category.turns.len() as u64);
        self.medium.count(now, [listed, most(|category| category.wanting)]);
    }
}

impl Share {
    /// Lists the station's port, at which packets wait, with the others.
    fn list(&mut self, port: usize, thin: bool, category: &mut Category) {
        if !std::mem::replace(&mut self.listed, true) {
            category.turns.push_front(port);
        }
        if thin && !std::mem::replace(&mut self.hurries, true) {
            category.first.push_back(port);
        }
        debug_assert_eq!(category.turns.iter().filter(|&&other| other == port).count(), 1, "listed once");
    }

    /// Records whether the station wants more airtime than it has, in the number of such stations.
    fn set_wants(&mut self, wants: bool, wanting: &mut u64) {
        *wanting = *wanting + u64::from(wants) - u64::from(std::mem::replace(&mut self.wants, wants));
    }

    /// False if the station counts as absent because too many consecutive frames to it have failed.
    fn answers(&self) -> bool {
        self.chance >= ONE
    }

    /// Time at which the station's packets are no longer held back for its own transmissions: once its share of the
    /// time has paid for them, and at the latest when the packets have waited for long. Then no debt is left.
    fn pays_until(&mut self, now: Instant, medium: &Medium) -> Instant {
        let owes = self.debt.saturating_sub(medium.turn);
        let latest = self.since + PAID_WITHIN;
        if latest <= now && std::mem::take(&mut self.charged) {
            (self.debt, self.deficit) = (Duration::ZERO, self.deficit.max(nanos(self.pending)));
            return now;
        }
        if owes.is_zero() { now } else { (now + medium.time_for(owes, self.wants)).min(latest.max(now)) }
    }

    /// Counts the airtime of the station's share of the time since it was last counted.
    fn count(&mut self, now: Instant, medium: &Medium) {
        debug_assert!(self.counted <= now, "time does not run back");
        let past = now.since(self.counted);
        self.counted = now;
        // In the medium's own air, by which packets are charged.
        let earned = past.as_nanos().saturating_mul(ONE * ONE) / ((medium.stations + ONE) * medium.stretch);
        let earned = i64::try_from(earned).unwrap_or(i64::MAX);
        self.credit = self.credit.saturating_add(earned).min(nanos(medium.turn));
        if !self.listed {
            // Unused airtime is kept, up to one turn: a burst waits for no round while its station is below its share.
            self.deficit = self.deficit.max(self.deficit.saturating_add(earned).min(nanos(medium.turn)));
        }
        debug_assert!(earned >= 0);
        if !self.debt.is_zero() {
            self.debt = self.debt.saturating_sub(medium.left_of(past, self.wants));
        }
    }

    /// Cost of a thin packet in airtime.
    fn cost(&self, len: Bytes) -> Duration {
        OVERHEAD + Duration::from_nanos(self.per_byte.saturating_mul(len.count()) / 1_000)
    }
}

/// A duration in the unit of deficits.
fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
