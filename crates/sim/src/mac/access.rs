//! When a station contends for the medium, for its own frames or for triggers, and how it reacts when the medium
//! becomes busy or idle. Clause numbers are those of IEEE 802.11-2016.

use super::station::Station;
use super::step::Step;
use super::uplink::{LOOK_AGAIN, NotNow};
use super::{Conventions, Frame};
use crate::config::FirstAccess;
use crate::radio::Mimo;
use units::{Bytes, Instant};

impl Station {
    /// Starts contention for a category's new frame. If the medium has been idle for the interframe space, the frame is
    /// sent at once (10.3.4.2), or after the wait that another convention requires.
    #[inline(always)] // once a packet: the call costs a chain 1 %
    pub(super) fn contend(&mut self, now: Instant, category: usize, rules: &Conventions) {
        if let Some(uplink) = &mut self.uplink {
            uplink.end_managed(now, &mut self.contention);
        }
        let engaged = self.step != Step::Access || self.response.is_some() || self.contention.turning;
        if engaged || self.contention.busy || now < self.contention.nav {
            let after_response = matches!(rules.first_access, FirstAccess::Difs | FirstAccess::DifsOrBackOff);
            // The station defers only for a response that it owes: the frame that it answers may have just ended.
            let only_owes = || {
                let idle = !self.contention.busy || self.deadline == now + rules.timing.sifs;
                let responds = self.response.is_some() && self.step == Step::Access && !self.contention.turning;
                responds && idle && self.contention.nav <= now
            };
            let excused = after_response && only_owes();
            if self.contention.contenders[category].backoff.is_none() && !excused {
                self.contention.draw(category);
            }
            if engaged {
                return;
            }
        } else if self.contention.contenders[category].backoff.is_none()
            || self.contention.access_time(category, rules) <= now
        {
            self.contention.contenders[category].backoff = None;
            let space = self.contention.access[category].space;
            match rules.first_access {
                FirstAccess::Immediate => {}
                FirstAccess::Difs | FirstAccess::DifsOrBackOff if rules.edca() => {}
                FirstAccess::Difs | FirstAccess::DifsOrBackOff => {
                    self.contention.contenders[category].earliest = now + space;
                }
                FirstAccess::BackOff => {
                    self.contention.contenders[category].earliest = now + space;
                    self.contention.draw(category);
                }
            }
        }
        self.schedule(now, rules);
    }

    #[inline]
    pub(crate) fn turned_busy(&mut self, now: Instant, rules: &Conventions) {
        self.contention.busy = true;
        if self.step != Step::Access || self.response.is_some() {
            return;
        }
        // A slot cannot be taken back if its boundary is nearer than the turn-around time.
        let seen = now + rules.timing.turnaround;
        if self.deadline <= seen && self.contention.due != 0 {
            self.contention.turning = true;
            return;
        }
        for category in 0..rules.categories {
            if self.contention.contends(category) {
                self.contention.freeze(seen, category, rules);
            }
        }
        self.deadline = Instant::NEVER;
    }

    #[inline]
    pub(crate) fn turned_idle(&mut self, now: Instant, rules: &Conventions) {
        self.contention.busy = false;
        // A radio that is turning to send needs no deadline: the frame that it will send is already known.
        if self.contention.turning {
            return;
        }
        self.contention.idle_from = now;
        if let Some(uplink) = &mut self.uplink {
            uplink.end_managed(now, &mut self.contention);
        }
        if self.step == Step::Access && self.response.is_none() {
            self.schedule(now, rules);
        }
    }

    /// Sets the deadline to the time at which the earliest category sends.
    pub(super) fn schedule(&mut self, now: Instant, rules: &Conventions) {
        self.deadline = self.contention.next(now, rules);
        debug_assert!(!self.contention.busy || self.deadline == Instant::NEVER, "slots count on an idle medium");
    }

    /// Records the backlog that a station reported in a data frame, or in the answer to a poll.
    pub(crate) fn told(&mut self, now: Instant, of: (u32, u8), mode: Mimo, queued: (Bytes, bool), rules: &Conventions) {
        debug_assert_ne!(of.0, self.address, "others tell");
        let (_, Some(uplink), mut cx) = self.several(now, rules) else { return };
        uplink.told(of, mode, queued, &mut cx);
        if self.step == Step::Access {
            self.seek(now, of.1.into(), rules);
        }
    }

    /// Lets a category without frames contend for a trigger if there are stations to ask for data.
    fn seek(&mut self, now: Instant, category: usize, rules: &Conventions) {
        let Some(uplink) = &self.uplink else { return };
        if self.contention.wanting & 1 << category == 0 && uplink.seeks(category, &self.held) {
            uplink.seek(category, &self.held, &mut self.contention);
            self.contend(now, category, rules);
        }
    }

    /// Checks again, at `look_again`, whether stations are to be asked for data.
    pub(super) fn looks_again(&mut self, now: Instant, rules: &Conventions) {
        debug_assert!(self.step == Step::Access && !self.contention.busy, "it could send");
        if let Some(uplink) = &mut self.uplink {
            uplink.look_again(now, &mut self.contention);
        }
        for category in 0..rules.categories {
            self.seek(now, category, rules);
        }
        self.schedule(now, rules);
        debug_assert!(self.contention.look_again > now, "it does not look again at once");
    }

    /// Handles a category that has won the medium only for a trigger, but has no trigger to send now.
    pub(crate) fn forgoes(&mut self, now: Instant, why: NotNow, rules: &Conventions) -> bool {
        let bit = 1 << self.held.holder;
        if self.contention.soliciting & bit == 0 {
            return false;
        }
        debug_assert_ne!(why, NotNow::Downlink, "it has no frames");
        self.contention.wanting &= !bit;
        self.contention.soliciting &= !bit;
        self.step = Step::Access;
        match why {
            NotNow::TxopTooShort | NotNow::NobodyKnown | NotNow::Downlink => {
                if let Some(uplink) = &self.uplink {
                    uplink.seek(self.held.category(), &self.held, &mut self.contention);
                }
            }
            // Until then the channel may have its full width again.
            NotNow::TooLong => self.contention.look_again = self.contention.look_again.min(now + LOOK_AGAIN),
        }
        self.begins_later(now, rules);
        debug_assert!(self.contention.soliciting & bit != 0 || why != NotNow::TxopTooShort, "what it put off comes");
        true
    }

    /// Returns the trigger that is due if it is the uplink's turn in the category that has won the medium.
    pub(crate) fn solicit(&mut self, now: Instant, rules: &Conventions) -> Result<Frame, NotNow> {
        let (_, Some(uplink), mut cx) = self.several(now, rules) else { return Err(NotNow::Downlink) };
        let frame = uplink.solicit(&mut cx)?;
        self.step = Step::Sending;
        Ok(frame)
    }
}
