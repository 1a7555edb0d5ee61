//! Contention for the medium (IEEE 802.11-2016): interframe space, slots and back-off of each access category.
//!
//! Slots are not events. While the medium is idle, the time of sending is known. When the medium becomes busy, the
//! slots that have passed are counted.

use super::{Access, BROADCAST, CATEGORIES, Conventions};
use crate::config::{Eifs, FirstAccess, WindowReset};
use crate::engine::Stream;
use units::{Duration, Instant};

/// State of one access category's contention.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contender {
    /// Number of remaining back-off slots. `None`: no back-off is due.
    pub(super) backoff: Option<u16>,
    pub(super) cw: u16,
    /// Number of consecutive failures since the window was smallest (QSRC).
    failures: u8,
    /// Earliest time from which the category's slots count.
    pub(super) earliest: Instant,
}

impl Contender {
    pub(super) fn new(access: &Access) -> Self {
        Self { backoff: None, cw: access.cw_min, failures: 0, earliest: Instant::ZERO }
    }

    /// Counts `slots` after the medium has been idle for `idle` since the slots began to count. The DCF counts a slot
    /// at its end (10.3.4.3). EDCA counts the first slot at the end of AIFS, and further slots at their start.
    #[inline]
    pub(super) fn count_down(&mut self, slots: u16, idle: Duration, wants: bool, rules: &Conventions) {
        let passed = idle.div_floor(rules.timing.slot) + u64::from(rules.edca());
        self.backoff = if passed < u64::from(slots) {
            Some(slots - u16::try_from(passed).expect("fewer than the slots left"))
        } else {
            wants.then_some(0)
        };
    }
}

/// A station's contention for its medium: its back-offs, and what freezes them. This type knows no frames.
#[derive(Debug)]
#[repr(C, align(64))] // what each frame of others changes comes first, in two cache lines
pub(crate) struct Contention {
    pub(super) contenders: [Contender; CATEGORIES],
    pub(super) busy: bool,
    /// True while the radio turns from reception to transmission: the deadline stays, whatever the medium does.
    pub(super) turning: bool,
    /// Bitmask of categories that send at the deadline.
    pub(super) due: u8,
    /// Bitmask of categories that have a frame to send.
    pub(super) wanting: u8,
    /// Bitmask of categories that contend to send a trigger, although they have no data.
    pub(super) soliciting: u8,
    /// Bitmask of all categories.
    categories: u8,
    /// If there are no frames to send: time of the next check for stations to ask for data; `NEVER` for no check.
    pub(super) look_again: Instant,
    pub(super) idle_from: Instant,
    /// Extension of DIFS or AIFS to EIFS after a bad frame; otherwise zero.
    pub(super) eifs_surplus: Duration,
    pub(super) nav: Instant,
    /// Address of the station whose exchange last set the NAV, under EDCA.
    pub(super) txop_holder: u32,
    /// Time at which the station last stopped waiting for a response.
    pub(super) timed_out: Instant,
    /// Present contention parameters of the station's categories; the next field has the configured ones.
    pub(super) access: [Access; CATEGORIES],
    pub(super) configured: [Access; CATEGORIES],
    /// New contention parameters. They apply from the back-off after the next attempt on.
    ordered: Vec<(usize, Access)>,
    random: Stream,
}

impl Contention {
    /// Makes the contention of a station without frames to send, on an idle medium.
    pub(super) fn new(conventions: &Conventions, random: Stream) -> Self {
        Self {
            busy: false,
            turning: false,
            due: 0,
            wanting: 0,
            soliciting: 0,
            categories: (1 << conventions.categories) - 1,
            look_again: Instant::NEVER,
            idle_from: Instant::ZERO,
            eifs_surplus: Duration::ZERO,
            nav: Instant::ZERO,
            txop_holder: BROADCAST,
            timed_out: Instant::ZERO,
            access: conventions.access,
            configured: conventions.access,
            ordered: Vec::new(),
            contenders: conventions.access.map(|access| Contender::new(&access)),
            random,
        }
    }

    /// Returns the bitmask of categories in which the station accepts a packet.
    pub(crate) fn free(&self) -> u8 {
        (!self.wanting | self.soliciting) & self.categories
    }

    /// Sets the configured contention parameters before the simulation starts.
    pub(crate) fn configure(&mut self, access: [Access; CATEGORIES]) {
        (self.access, self.configured) = (access, access);
        self.contenders = access.map(|access| Contender::new(&access));
    }

    /// True if no contention parameters were configured for this station alone.
    pub(crate) fn has_usual(&self, rules: &Conventions) -> bool {
        self.configured == rules.access
    }

    /// Sets a category's contention parameters, derived from the configured ones. They apply at once if the category
    /// has nothing to send and no back-off, otherwise from the back-off after its next attempt on.
    pub(crate) fn set_access(&mut self, category: u8, access: impl FnOnce(Access) -> Access) {
        let index = usize::from(category);
        let access = access(self.configured[index]);
        self.ordered.retain(|&(other, _)| other != index);
        self.ordered.push((index, access));
        if self.contenders[index].backoff.is_none() && self.wanting & 1 << category == 0 {
            self.adopt(index);
        }
    }

    /// Applies contention parameters that were set earlier. A grown window keeps its size within the new bounds.
    fn adopt(&mut self, category: usize) {
        if let Some(place) = self.ordered.iter().position(|&(other, _)| other == category) {
            let (_, access) = self.ordered.swap_remove(place);
            let before = std::mem::replace(&mut self.access[category], access);
            let cw = &mut self.contenders[category].cw;
            *cw = if *cw == before.cw_min { access.cw_min } else { (*cw).clamp(access.cw_min, access.cw_max) };
        }
    }

    /// True if a category has a back-off to finish or a frame to send. Usually this is one of four categories.
    pub(super) fn contends(&self, category: usize) -> bool {
        self.contenders[category].backoff.is_some() || self.wanting & 1 << category != 0
    }

    /// Freezes the back-off of a category: the medium was seen busy at `seen`.
    #[inline]
    pub(super) fn freeze(&mut self, seen: Instant, category: usize, rules: &Conventions) {
        let wants = self.wanting & 1 << category != 0;
        match self.contenders[category].backoff {
            Some(slots) => {
                let start = self.start(category);
                if start <= seen {
                    self.contenders[category].count_down(slots, seen.since(start), wants, rules);
                }
            }
            None if wants && rules.first_access != FirstAccess::Difs => self.draw(category),
            None => {}
        }
    }

    /// Returns the time at which a category's slots begin to count, if the medium stays idle.
    fn start(&self, category: usize) -> Instant {
        let access = &self.access[category];
        let timed_out = self.timed_out + access.after_timeout;
        let idle = (self.idle_from + self.eifs_surplus).max(self.nav) + access.space;
        idle.max(timed_out).max(self.contenders[category].earliest)
    }

    /// Returns the time at which a category's back-off ends, if the medium stays idle.
    pub(super) fn access_time(&self, category: usize, rules: &Conventions) -> Instant {
        let slots = u64::from(self.contenders[category].backoff.unwrap_or(0));
        self.start(category) + rules.timing.slot * slots
    }

    /// Returns the time at which the earliest category sends, and remembers which categories send then.
    #[inline]
    pub(super) fn next(&mut self, now: Instant, rules: &Conventions) -> Instant {
        let mut next = Instant::NEVER;
        self.due = 0;
        if self.busy {
            return next;
        }
        if self.look_again != Instant::NEVER {
            next = self.look_again.max(now);
        }
        let mut wanting = self.wanting;
        while wanting != 0 {
            let category = wanting.trailing_zeros() as usize % CATEGORIES;
            wanting &= wanting - 1;
            let time = self.access_time(category, rules).max(now);
            if time < next {
                next = time;
                self.due = 0;
            }
            if time == next {
                self.due |= 1 << category;
            }
        }
        debug_assert!(next >= now, "what is due is not over");
        debug_assert_eq!(self.due & !self.wanting, 0, "only who wants to send is due");
        next
    }

    pub(super) fn draw(&mut self, category: usize) {
        let cw = self.contenders[category].cw;
        self.contenders[category].backoff =
            Some(u16::try_from(self.random.up_to(u64::from(cw))).expect("at most the window"));
    }

    /// Widens the window after a failure. Resets it if the consecutive failures, of any frames, exceed the retry limit
    /// (IEEE 802.11-2020, 10.23.2.2).
    pub(super) fn fail(&mut self, category: usize, rules: &Conventions) {
        let failures = &mut self.contenders[category].failures;
        if *failures >= rules.short_retry_limit && rules.window_reset == WindowReset::RetryLimit {
            return self.narrow(category);
        }
        *failures = failures.saturating_add(1);
        self.widen(category);
    }

    /// Doubles the contention window (10.3.3).
    pub(super) fn widen(&mut self, category: usize) {
        let contender = &mut self.contenders[category];
        contender.cw = contender.cw.saturating_mul(2).saturating_add(1).min(self.access[category].cw_max);
        self.adopt(category);
    }

    /// Resets the contention window to the smallest.
    pub(super) fn narrow(&mut self, category: usize) {
        let contender = &mut self.contenders[category];
        (contender.cw, contender.failures) = (self.access[category].cw_min, 0);
        self.adopt(category);
    }

    /// Handles an intact frame for other stations that reserves the medium until `end`, in the TXOP of `holder`.
    pub(crate) fn overhears(&mut self, end: Instant, holder: impl Fn() -> u32, rules: &Conventions) {
        self.end_eifs(rules);
        self.reserve(end, holder, rules);
    }

    /// Reserves the medium until `end` for a frame of other stations, in the TXOP of `holder`.
    #[inline]
    pub(super) fn reserve(&mut self, end: Instant, holder: impl Fn() -> u32, rules: &Conventions) {
        if end > self.nav {
            self.nav = end;
            if rules.edca() {
                self.txop_holder = holder();
            }
        }
    }

    /// Ends EIFS: after a good frame DIFS or AIFS suffices (10.3.2.3.7).
    pub(super) fn end_eifs(&mut self, rules: &Conventions) {
        if rules.eifs != Eifs::AnySignalKept {
            self.eifs_surplus = Duration::ZERO;
        }
    }

    /// Handles a received frame with errors while no response is awaited.
    #[inline]
    pub(crate) fn overhears_spoilt(&mut self, now: Instant, header_read: bool, rules: &Conventions) {
        match rules.eifs {
            Eifs::BadFrame if header_read => self.eifs_surplus = rules.timing.eifs - rules.timing.difs,
            Eifs::BadFrame | Eifs::Never => {}
            Eifs::AnySignal | Eifs::AnySignalKept => self.noise(now, rules),
        }
    }

    /// Handles the end of a signal that could not be decoded.
    #[inline]
    pub(crate) fn noise(&mut self, now: Instant, rules: &Conventions) {
        match rules.eifs {
            Eifs::AnySignal => self.eifs_surplus = rules.timing.eifs - rules.timing.difs,
            Eifs::AnySignalKept => self.nav = self.nav.max(now + rules.timing.eifs),
            Eifs::BadFrame | Eifs::Never => {}
        }
    }
}
