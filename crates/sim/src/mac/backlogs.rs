//! What an access point knows of its stations' backlogs, and which stations it can ask for data or poll.
//!
//! A station that has reported no backlog is asked again after it contends and reports a backlog, or after it was sent
//! data that it may answer. While MU EDCA restrains it, the station is polled. The interval between polls doubles as
//! long as it has no packets.

use super::airtime::UsedAirtime;
use crate::radio::Mimo;
use units::{Bytes, Duration, Instant};

/// First interval between polls without backlog, and the number of doublings: from 4 to 32 ms. A poll takes 0.3 ms.
const FIRST_POLL: Duration = Duration::from_millis(4);
const DOUBLINGS: u8 = 3;

/// What an access point knows of its stations.
#[derive(Debug)]
pub(super) struct Backlogs {
    known: Vec<Known>,
    /// Earliest time at which a station is to be polled.
    pub(super) next_poll: Instant,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) station: u32,
    category: u8,
    /// Mode in which the station last sent.
    pub(super) mode: Mimo,
    pub(super) backlog: Backlog,
    /// True if the station's longest packet fits into an RU beside another station's.
    shares: bool,
    /// Number of requests since the station's last answer.
    unanswered: u8,
    /// Number of consecutive polls that found no backlog.
    empty: u8,
    /// Time until which MU EDCA restrains the station's contention; zero if it does not.
    restrained: Instant,
    /// Time of the next poll of a station that has reported no backlog; `NEVER` for no poll.
    poll: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backlog {
    /// The queue size that the station reported.
    Is(Bytes),
    /// The station may have received packets since its report.
    Unknown,
}

impl Known {
    fn new(station: u32, category: u8, mode: Mimo, shares: bool) -> Self {
        let (restrained, poll) = (Instant::ZERO, Instant::NEVER);
        Self { station, category, mode, backlog: Backlog::Unknown, shares, unanswered: 0, empty: 0, restrained, poll }
    }

    fn may_have_something(&self) -> bool {
        self.backlog != Backlog::Is(Bytes::new(0))
    }

    fn is_restrained(&self) -> bool {
        self.restrained != Instant::ZERO
    }

    /// True if the two stations can send side by side in one PPDU.
    fn joins(&self, other: &Self) -> bool {
        self.shares && other.shares && self.mode.width() == other.mode.width()
    }

    /// Returns the time until the next poll after a poll without backlog.
    fn pause(&self) -> Duration {
        FIRST_POLL * (1 << self.empty.saturating_sub(1).min(DOUBLINGS))
    }

    /// Records that the station has no backlog. A station that cannot contend is polled again later.
    fn has_nothing(&mut self, now: Instant) {
        self.backlog = Backlog::Is(Bytes::new(0));
        self.poll = if self.is_restrained() { now + self.pause() } else { Instant::NEVER };
    }
}

impl Default for Backlogs {
    fn default() -> Self {
        Self { known: Vec::new(), next_poll: Instant::NEVER }
    }
}

impl Backlogs {
    pub(super) fn of(&self, station: u32, category: u8) -> Option<&Known> {
        self.known.iter().find(|known| (known.station, known.category) == (station, category))
    }

    fn entry(&mut self, station: u32, category: u8) -> Option<&mut Known> {
        self.known.iter_mut().find(|known| (known.station, known.category) == (station, category))
    }

    /// Records the backlog reported in a data frame, or in an answer if `polled`. `shares`: see [`Known::shares`].
    pub(super) fn tell(
        &mut self,
        now: Instant,
        (station, category): (u32, u8),
        (mode, shares): (Mimo, bool),
        queued: Bytes,
        polled: bool,
    ) {
        if self.entry(station, category).is_none() {
            self.known.push(Known::new(station, category, mode, shares));
        }
        let Some(known) = self.entry(station, category) else { return };
        (known.mode, known.shares, known.unanswered) = (mode, shares, 0);
        known.empty = if polled && queued.count() == 0 { known.empty.saturating_add(1) } else { 0 };
        if queued.count() == 0 {
            known.has_nothing(now);
        } else {
            (known.backlog, known.poll) = (Backlog::Is(queued), Instant::NEVER);
        }
        debug_assert!(known.poll > now, "a poll is to come");
        debug_assert!(known.may_have_something() == (queued.count() > 0), "the station knows best");
        let poll = known.poll;
        self.next_poll = self.next_poll.min(poll);
    }

    /// Records that data were sent to a station that may answer them. If the station had no answer the last time, it is
    /// not polled at once.
    pub(super) fn sends_to(&mut self, now: Instant, (station, category): (u32, u8), mode: Option<(Mimo, bool)>) {
        let Some(known) = self.entry(station, category) else {
            let new = mode.map(|(mode, shares)| Known::new(station, category, mode, shares));
            self.known.extend(new);
            return;
        };
        if known.may_have_something() {
            return;
        }
        if known.empty == 0 {
            (known.backlog, known.poll) = (Backlog::Unknown, Instant::NEVER);
        } else {
            known.poll = known.poll.min(now + known.pause());
        }
        debug_assert!(known.may_have_something() || known.poll != Instant::NEVER, "it is asked again");
        debug_assert!(known.backlog == Backlog::Unknown || known.empty > 0, "it had something the last time");
        let poll = known.poll;
        self.next_poll = self.next_poll.min(poll);
    }

    /// Records that MU EDCA restrains a station, whose data were acknowledged, until the given time.
    pub(super) fn restrain(&mut self, now: Instant, station: u32, category: u8, until: Instant) {
        debug_assert!(until > now, "the timer of MU EDCA is above zero");
        let Some(known) = self.entry(station, category) else { return };
        known.restrained = until;
        if !known.may_have_something() {
            known.has_nothing(now);
            debug_assert_ne!(known.poll, Instant::NEVER, "it cannot contend for itself");
            let poll = known.poll;
            self.next_poll = self.next_poll.min(poll);
        }
    }

    /// Records that these stations were asked. A station that repeatedly does not answer counts as one without backlog.
    pub(super) fn ask(&mut self, now: Instant, users: &[u32], category: u8, most: u8) {
        debug_assert!(!users.is_empty(), "a trigger is for somebody");
        for &station in users {
            let Some(known) = self.entry(station, category) else { continue };
            known.unanswered = known.unanswered.saturating_add(1);
            if known.unanswered >= most {
                known.empty = known.empty.saturating_add(1);
                known.has_nothing(now);
                debug_assert!(known.poll != Instant::NEVER || !known.is_restrained(), "it is asked, or may contend");
                let poll = known.poll;
                self.next_poll = self.next_poll.min(poll);
            }
        }
    }

    /// Ends restraints whose time is over, and starts polls that are due.
    pub(super) fn refresh(&mut self, now: Instant) {
        let mut next = Instant::NEVER;
        for known in &mut self.known {
            if known.restrained <= now {
                known.restrained = Instant::ZERO;
            }
            if known.poll <= now {
                debug_assert!(!known.may_have_something(), "others are asked without");
                (known.backlog, known.poll) = (Backlog::Unknown, Instant::NEVER);
            }
            next = next.min(known.poll);
        }
        debug_assert!(next > now, "polls that are due have begun");
        self.next_poll = next;
    }

    /// Returns the stations that may have packets in a category; if `told`, only those that have reported packets.
    fn candidates(&self, category: u8, told: bool) -> impl Iterator<Item = &Known> + Clone {
        let may = move |known: &&Known| known.category == category && known.may_have_something();
        self.known.iter().filter(may).filter(move |known| !told || known.backlog != Backlog::Unknown)
    }

    /// True if a station may be the first of those that are asked. A station that can contend is asked only together
    /// with another station. A station that cannot contend is asked even alone.
    fn leads(&self, known: &Known, told: bool) -> bool {
        let others = || self.candidates(known.category, told).filter(|other| other.station != known.station);
        known.is_restrained() || known.shares && others().any(|other| known.joins(other))
    }

    /// True if there is a station to ask in a category.
    pub(super) fn are_askable(&self, category: u8) -> bool {
        self.candidates(category, false).any(|known| self.leads(known, false))
    }

    /// Puts the stations that can be asked into `users`: the one that has used the least airtime, and those that can
    /// send beside it, also in order of used airtime. If `told`, only stations that have reported a backlog.
    pub(super) fn choose(&self, category: u8, told: bool, used: &mut UsedAirtime, users: &mut Vec<u32>) {
        users.clear();
        users.extend(self.candidates(category, told).map(|known| known.station));
        used.wait(users.iter().copied());
        users.sort_by_key(|&station| used.of(station));
        let known = |&station: &u32| self.of(station, category);
        let first = users.iter().filter_map(known).find(|known| self.leads(known, told));
        users.retain(|station| {
            let joins = |first: &Known| first.station == *station || known(station).is_some_and(|own| own.joins(first));
            first.is_some_and(joins)
        });
        debug_assert!(users.is_empty() || self.are_askable(category), "whom it asks it can ask");
        debug_assert!(users.first().copied() == first.map(|known| known.station), "who has used the least goes first");
    }
}
