//! Deferral of a station that knows of packets older than its own (R4, and the variant "table").

use super::{Key, Sign, Tells, TmacState};
use crate::mac::conventions::Conventions;
use crate::mac::station::Station;
use crate::mac::step::Step;
use units::{Duration, Instant};

impl TmacState {
    /// Time to defer from now on.
    fn wait(&mut self, now: Instant) -> Duration {
        let rules = &self.rules;
        let rank = self.own.map_or(0, |own| self.table.rank(now, own, rules.expiry));
        let wait = (rules.deferral * rank).max(if self.hold > now { self.hold.since(now) } else { Duration::ZERO });
        if wait.is_zero() || self.refused >= rules.attempts {
            return Duration::ZERO;
        }
        // Heard frames renew a wait, but not beyond the lifetime of a key, unless older packets are on their way.
        let end = *self.deferring.get_or_insert(now) + rules.expiry;
        if end > now { wait.min(end.since(now)) } else { Duration::ZERO }
    }

    /// Handles a neighbour's frame with its keys, and its power in the medium's unit.
    pub(crate) fn hear_key(&mut self, now: Instant, from: u32, tells: Tells, sign: Sign, power: u64) {
        let before = self.table.hear(now, from, tells, sign, power);
        let older = before.zip(self.own).is_some_and(|(key, own)| key < own);
        if older && sign == Sign::Sends && self.deferring.is_some() {
            self.deferring = Some(now);
        }
        let younger = match (tells, self.own) {
            (Tells::Next(key), Some(own)) => key > own,
            (Tells::Empty, _) => true,
            (Tells::Nothing | Tells::Next(_), _) => false,
        };
        if younger {
            self.hold = Instant::ZERO;
        }
    }
}

impl Station {
    /// Resumes the station's back-off if its turn may have come. `own`: the key of the oldest packet of the node.
    pub(crate) fn take_turn(&mut self, now: Instant, own: Option<Key>, rules: &Conventions) {
        let Some(tmac) = &mut self.tmac else { return };
        tmac.own = own;
        let deferred = tmac.deferring.is_some();
        let wait = tmac.wait(now);
        if wait.is_zero() && !deferred {
            return;
        }
        let contends = self.step == Step::Access && self.response.is_none() && !self.contention.turning;
        for category in 0..rules.categories {
            if wait.is_zero() {
                let earliest = &mut self.contention.contenders[category].earliest;
                *earliest = (*earliest).min(now);
            } else {
                // Slots that have passed are counted before the later ones are postponed.
                if contends && !self.contention.busy {
                    self.contention.freeze(now, category, rules);
                }
                self.contention.contenders[category].earliest = now + wait;
            }
        }
        if contends {
            self.schedule(now, rules);
        }
    }
}
