//! The law of `turns`: which station sends next and for how long, which packets go first, and how much may wait.
//!
//! Stations take turns of one aggregate each: a deficit round robin in airtime. While one aggregate is on the air, one
//! more waits in the hardware, whatever the number of stations. A packet of a flow that sends less than its share of
//! the medium (a *thin* packet) goes before all turns, as long as its station has credit (airtime) for it. The packets
//! that wait for a station are bounded by the time in which they will be sent. `docs/turns.md` describes the law and
//! the effect of each part.
//!
//! Times are in nanoseconds, ratios in 1024ths, and airtime per byte in picoseconds. All numbers are integers.

use super::Mark;
use super::host::{Pace, Ports, Rule, Turn};
use super::medium::{Medium, ONE, OVERHEAD, SURE, TURN};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant, Positive};

/// Number of bytes of two full packets, the least that two turns hold.
pub(super) const KEPT: u64 = 3_000;
/// Pause of a flow after which its next packet may be thin, however many stations or flows are busy. Calls send every
/// 20 ms; queues and other hops may take half of that.
pub(super) const SPARSE: Duration = Duration::from_millis(10);
/// Longest time for which a station's own frames hold back packets for it. If none of these packets slows the station
/// down, the answers to it would otherwise be delayed for longer than its frames lasted, or for ever.
const PAID_WITHIN: Duration = Duration::from_secs(1);
/// Time after a station's last packet in which the station is still charged for airtime.
const ACTIVE: Duration = Duration::from_millis(100);
/// Least share of frames that is assumed to fail. A station thus counts as absent after three frames without an answer.
const FAILS: u64 = SURE / 33;
/// Part of the bound (a tenth) that may stand in a queue throughout the target delay D.
const PATIENT: u64 = 10;
/// Number of rounds in which a deficit grows by a turn. A port that has used less than others is out of debt first.
const STEPS: u64 = 16;
/// Number of stations as which groups count when they share the airtime, in 1024ths.
const OF_GROUPS: u64 = 2 * ONE;
/// Part of a turn (a quarter) below which a station's packets in flight count as few.
const LITTLE: u64 = 4;
/// Time between two settings of the contention window.
const WIDENED_EVERY: Duration = Duration::from_secs(1);
/// Part of this time (a fiftieth) that a sending station's frames take at least, beyond what a download's ACKs take.
const SENDS: u64 = 50;
/// Slots of the contention window for each sender, the access point included, and the largest window.
const SLOTS: u64 = 4;
const WIDEST: u64 = 1_024;
/// The stretch below which a sender has most of the medium, and its contention window then.
const MOST: u64 = ONE * 5 / 2;
const WINDOW: u64 = 31;

/// The law, with its state.
#[derive(Clone, Debug)]
pub struct Law {
    target: Duration,
    bulk: Option<Duration>,
    ecn: bool,
    without: Option<Rule>,
    lanes: usize,
    /// The first port of groups. Their packets are for all stations.
    groups: usize,
    shares: Vec<Share>,
    categories: Vec<Category>,
    medium: Medium,
    /// Time at which the contention window was last set.
    widened: Instant,
    /// The minimum contention windows, of this sender and of its stations.
    windows: [u16; 2],
}

/// State of a station in one access category.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "marks of a station, each set by an event of its own")]
struct Share {
    listed: bool,
    /// Airtime that the station may use, in ns; below zero if it has used more than its share.
    deficit: i64,
    /// Estimated airtime of the station's packets that were released and are not finished.
    pending: Duration,
    /// True if the last frame to the station has no answer yet.
    asked: bool,
    /// Probability that a present station leaves this many frames in a row without an answer, in units of 1024^-2.
    chance: u64,
    /// True if the port has had its turn since its last frame, and its station did not answer.
    due: bool,
    /// Time at which a packet for the station last waited.
    active: Instant,
    /// Airtime that the station's thin packets may use, in ns.
    credit: i64,
    /// Airtime that the station has used for its own frames beyond its share of the time.
    debt: Duration,
    /// Airtime of the station's frames since the contention window was last set, less half of what it was sent.
    heard: Duration,
    /// Time up to which credit and debt are counted.
    counted: Instant,
    /// Time since which the station's packets have waited for a turn.
    since: Instant,
    /// True if the station was charged for frames that it has sent since its last turn.
    charged: bool,
    /// True if the port is in the list of ports with thin packets.
    hurries: bool,
    /// True if the station wants more airtime than it has: it used up its last turn, or its own frames hold it back.
    wants: bool,
    /// Airtime of a byte in ps, averaged over the station's packets.
    per_byte: u64,
}

/// State of an access category.
#[derive(Clone, Debug, Default)]
struct Category {
    /// Ports with packets, in the order of their turns.
    turns: VecDeque<usize>,
    /// Ports with thin packets, in the order in which they are served.
    first: VecDeque<usize>,
    /// The port whose turn it is, and the rest of its turn.
    current: Option<(usize, Turn)>,
    /// The port that is held back only for its debt and may be released first, and when that may be.
    held: Option<(usize, Instant)>,
    /// Airtime that the last turn has released.
    last: Duration,
    /// Number of ports whose stations want more airtime than they have.
    wanting: u64,
    /// Estimated airtime of released packets that are not finished, without those of stations that do not answer.
    pending: Duration,
}

impl Law {
    /// Creates the law for `ports` ports, `lanes` (categories) for each station. Packets may wait for `target` (D).
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
            widened: Instant::ZERO,
            windows: [0, 0],
        }
    }

    /// Returns the law with turns so short that a round takes at most this time. It also bounds waiting times.
    #[must_use]
    pub fn with_bulk_delay(self, bulk: Option<Positive<Duration>>) -> Self {
        Self { bulk: bulk.map(Positive::<Duration>::get), ..self }
    }

    /// Returns the law with groups: the ports from `first` on belong to them. Each station is charged a part of the
    /// groups' airtime; all stations together are charged half of it.
    #[must_use]
    pub fn with_groups(self, first: usize) -> Self {
        Self { groups: first, ..self }
    }

    /// Returns the law with ECN marks on packets while more than a turn of data waits.
    #[must_use]
    pub fn with_ecn(self, ecn: bool) -> Self {
        Self { ecn, ..self }
    }

    /// Returns the law without one of its rules.
    #[must_use]
    pub fn without(self, rule: Option<Rule>) -> Self {
        Self { without: rule, ..self }
    }

    /// Returns the number of ports.
    pub fn ports(&self) -> usize {
        self.shares.len()
    }

    /// Returns the bounds for a packet of `len` bytes that arrives at a port.
    pub fn pace(&mut self, now: Instant, port: usize, len: Bytes) -> Pace {
        let Self { target, bulk, ecn, without, groups, shares, medium, .. } = self;
        let has = |rule| *without != Some(rule);
        let share = &mut shares[port];
        share.count(now, medium);
        let may_be_thin = share.credit >= 0 && has(Rule::ThinFirst);
        let gap = may_be_thin.then(|| medium.wall_of(share.cost(len), medium.stations + ONE).min(SPARSE));
        // What others send meanwhile makes no packet late.
        let air = if has(Rule::OwnAir) { *target } else { medium.air_of(*target) };
        let air = bulk.map_or(air, |bulk| air.min(medium.air_of(bulk)));
        let wall = medium.wall_of(air, ONE);
        // These are this station's bytes in that time if all busy stations have turns. Groups may have half of the air.
        let per_byte = share.per_byte.max(1);
        let sharing = if port < *groups { medium.stations } else { medium.stations.min(OF_GROUPS) };
        let each = per_byte.saturating_mul(sharing.max(ONE)) / ONE;
        let sent = air.as_nanos().saturating_mul(1_000) / each.max(1);
        // This is two turns, or as many as a round of this length allows.
        let turns = if has(Rule::TwoTurns) { medium.turn * 2 } else { medium.turn };
        let turns = bulk.map_or(turns, |bulk| turns.min(medium.share_of(medium.air_of(bulk))).max(medium.turn));
        let [turn, stays] =
            [medium.turn, turns].map(|air| Bytes::new((air.as_nanos().saturating_mul(1_000) / per_byte).max(KEPT)));
        let mark = ecn.then_some(Mark { target: wall, turn });
        if !has(Rule::Prediction) {
            return Pace { gap, most: stays, patience: None, longest: Some(wall), mark };
        }
        // If turns are short, as they are without aggregates, two of them are less than a sender needs.
        let stands = stays.max(Bytes::new(sent / PATIENT));
        let patience = has(Rule::Patience).then_some((stands, wall));
        Pace { gap, most: stays.max(Bytes::new(sent)), patience, longest: None, mark }
    }

    /// Records that a packet of this length has joined a port. A `thin` packet goes before all turns.
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

    /// Records that packets of a port wait again after their station has slept; meanwhile the host reported none.
    /// `thin`: some of them are thin.
    pub fn joins_again(&mut self, port: usize, thin: bool) {
        self.answered(port);
        let Self { lanes, shares, categories, .. } = self;
        shares[port].list(port, thin, &mut categories[port % *lanes]);
    }

    /// Returns the port of a category from which the next packet is released, if one may be released.
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
            // A station that does not answer gets one packet, to try it.
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

    /// Returns the first port whose thin packets may be released. Their only bound is credit. Stations that send much
    /// are the last ports, because most of their thin packets are ACKs.
    fn thin(&mut self, category: usize, ports: &impl Ports) -> Option<usize> {
        let Self { shares, categories, medium, .. } = self;
        let first = &mut categories[category].first;
        let mut last = None;
        for _ in 0..first.len() {
            let port = *first.front()?;
            if !ports.has_thin(port) {
                shares[port].hurries = false;
                first.pop_front();
                continue;
            }
            if shares[port].answers() && ports.has_room(port) {
                if shares[port].debt <= medium.turn {
                    return Some(port);
                }
                last = last.or(Some(port));
            }
            first.rotate_left(1);
        }
        let place = first.iter().position(|&port| Some(port) == last)?;
        first.rotate_left(place);
        last
    }

    /// True if no packet may be released now, because those in flight exceed one turn.
    fn is_full(&self, category: usize, turn: Duration) -> bool {
        let Category { pending, last, .. } = &self.categories[category];
        *pending >= turn && *pending > *last
    }

    /// Returns the port whose turn begins. A deficit grows only if its station is visited and a packet may be released.
    fn begin(&mut self, now: Instant, category: usize, ports: &impl Ports) -> Option<usize> {
        let Self { shares, categories, medium, .. } = self;
        let Category { turns, held, wanting, .. } = &mut categories[category];
        *held = None;
        let quantum = nanos(medium.turn / STEPS).max(1);
        // If one station waits only for room, stations in debt wait with it; otherwise they would be out of debt when
        // there is room. A station that does not answer may take the room.
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
                // A station's packets in flight may have to be sent again; until then it pays with the others. A
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
                    // The port stays at the front until its turns have put it into debt.
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
            // All are in debt. At once, add as many rounds as the first port needs to get out of debt.
            let rounds = (least? - 1) / quantum;
            for &port in turns.iter() {
                let share = &mut shares[port];
                if share.deficit < nanos(share.pending) && !(stands && share.answers()) {
                    share.deficit = share.deficit.saturating_add(rounds.saturating_mul(quantum));
                }
            }
        }
    }

    /// Records that a packet of this length and this `estimated` airtime has left its port.
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
            // Each station in turn sends one packet.
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
                // Short packets that end a turn early make the turns of others no shorter.
                medium.turn = medium.turn * 7 / 8 + (*last + left.airtime) / 8;
                *current = None;
                share.set_wants(true, wanting);
            }
        }
    }

    /// Records that the MAC has finished packets of a port with this total estimated airtime.
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
            // The MAC reports no airtime of broadcasts, so their estimate counts.
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
        (share.due, share.heard) = (false, share.heard.saturating_sub(airtime / 2));
        // Without a packet in flight, only requests for block ACKs can be answered.
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
    /// packets, mostly ACKs, slow down what it sends. They wait until the station's share of time has paid for its
    /// frames, even if no other station has packets now.
    pub fn received(&mut self, now: Instant, port: usize, airtime: Duration) {
        let Self { shares, medium, without, .. } = self;
        let share = &mut shares[port];
        share.heard += airtime;
        if *without == Some(Rule::ReceivedAirtime) {
            return;
        }
        share.count(now, medium);
        medium.takes(airtime);
        let before = share.debt;
        share.debt = (before + airtime).min(medium.left_of(PAID_WITHIN, share.wants).max(before));
        let charged = share.debt.saturating_sub(before);
        debug_assert!(charged <= airtime && share.debt >= before);
        share.charged |= !charged.is_zero();
        self.charge(now, port, charged);
    }

    /// Returns when a port of a category may have its turn again, if only its station's own frames hold it back.
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

    /// Returns the minimum contention windows of a category, in slots: the sender's own and its stations'. `None` if they
    /// stay as they are, for a second at least. They grow with the number of stations that send, so that fewer frames
    /// collide. A sender that has most of the medium has a wider window, to avoid collisions with its stations' answers.
    /// Next to other networks wider windows would leave these the medium.
    pub fn windows(&mut self, now: Instant, category: usize) -> Option<[u16; 2]> {
        let past = now.since(self.widened);
        if past < WIDENED_EVERY || self.without == Some(Rule::WideWindow) {
            return None;
        }
        self.widened = now;
        let ports = self.shares.iter_mut().skip(category).step_by(self.lanes);
        let heard = ports.map(|share| std::mem::take(&mut share.heard));
        let senders = heard.filter(|&heard| heard * SENDS >= past).count() as u64;
        let needed = (SLOTS * (senders + 1)).next_power_of_two().min(WIDEST) - 1;
        let own = if self.medium.stretch < MOST { needed.max(WINDOW) } else { needed };
        let widened = if self.medium.alone { [own, needed] } else { [0, 0] };
        let windows = widened.map(|slots| u16::try_from(slots).unwrap_or(u16::MAX));
        (windows != std::mem::replace(&mut self.windows, windows)).then_some(windows)
    }

    /// Returns the average length of a turn.
    pub fn turn(&self) -> Duration {
        self.medium.turn
    }

    /// Returns the estimated airtime of all packets that were released and are not finished.
    pub fn pending(&self) -> Duration {
        self.medium.pending
    }

    /// Returns the estimated airtime of a port's packets that were released and are not finished.
    pub fn in_flight(&self, port: usize) -> Duration {
        self.shares[port].pending
    }

    /// True if failed frames of a port may be sent again: at once or, if its station is silent, in its turns.
    pub fn may_repeat(&self, port: usize) -> bool {
        self.shares[port].answers() || self.shares[port].due
    }

    /// True if few packets of a port are in flight, as for a station that has only thin packets.
    pub fn has_little(&self, port: usize) -> bool {
        self.shares[port].pending < self.medium.turn / LITTLE
    }

    /// Counts the stations that have packets.
    fn count(&mut self, now: Instant) {
        let most = |of: fn(&Category) -> u64| self.categories.iter().map(of).max().unwrap_or(0) * ONE;
        let listed = most(|category| category.turns.len() as u64);
        self.medium.count(now, [listed, most(|category| category.wanting)]);
    }
}

impl Share {
    /// Puts the station's port, at which packets wait, on the list.
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

    /// False if the station counts as absent, because too many consecutive frames to it have failed.
    fn answers(&self) -> bool {
        self.chance >= ONE
    }

    /// Returns when the station's packets are no longer held back for its own frames. That is when its share of time
    /// has paid for these, or when the packets have waited for long. No debt is left then.
    fn pays_until(&mut self, now: Instant, medium: &Medium) -> Instant {
        let owes = self.debt.saturating_sub(medium.turn);
        let latest = self.since + PAID_WITHIN;
        if latest <= now && std::mem::take(&mut self.charged) {
            (self.debt, self.deficit) = (Duration::ZERO, self.deficit.max(nanos(self.pending)));
            return now;
        }
        if owes.is_zero() { now } else { (now + medium.time_for(owes, self.wants)).min(latest.max(now)) }
    }

    /// Counts the airtime that the station's share of time gives since the last count.
    fn count(&mut self, now: Instant, medium: &Medium) {
        debug_assert!(self.counted <= now, "time does not run back");
        let past = now.since(self.counted);
        self.counted = now;
        let earned = i64::try_from(medium.earned_in(past)).unwrap_or(i64::MAX);
        self.credit = self.credit.saturating_add(earned).min(nanos(medium.turn));
        if !self.listed {
            // Unused airtime is kept, up to one turn: a burst waits for no round if its station is below its share.
            self.deficit = self.deficit.max(self.deficit.saturating_add(earned).min(nanos(medium.turn)));
        }
        debug_assert!(earned >= 0);
        if !self.debt.is_zero() {
            self.debt = self.debt.saturating_sub(medium.left_of(past, self.wants));
        }
    }

    /// Returns the cost of a thin packet in airtime.
    fn cost(&self, len: Bytes) -> Duration {
        OVERHEAD + Duration::from_nanos(self.per_byte.saturating_mul(len.count()) / 1_000)
    }
}

/// Converts a duration to the unit of deficits.
fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
