//! Requests and grants (rules R2 to R4, R7), and the deferral of a station that knows of packets older than its own (R4,
//! and the variant "table").

use super::{Key, Sign, Tells, TmacRules, TmacState};
use crate::mac::station::Station;
use crate::mac::step::Step;
use crate::mac::{Answer, Conventions, Frame, Kind};
use units::{Duration, Instant, refuse_if};

impl TmacRules {
    /// Returns how many of the asked stations have to grant the request.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of those asked")]
    fn enough(&self, asked: usize) -> usize {
        (self.quorum * asked as f64).ceil() as usize
    }
}

/// Returns the time for the grants of the asked stations: for each a SIFS and a frame like a CTS.
pub(in crate::mac) fn slots(asked: usize, rules: &Conventions) -> Duration {
    (rules.timing.sifs + rules.timing.cts) * asked as u64
}

impl TmacState {
    /// Returns the request that must precede data to a station; `None` if these data need no request. `then`: duration
    /// of the exchange that follows the grants.
    pub(in crate::mac) fn request(&mut self, now: Instant, to: u32, then: Duration) -> Option<Kind> {
        refuse_if!(!self.rules.requests || self.refused >= self.rules.attempts, None);
        self.asked.clear();
        self.asked.push(to);
        self.table.strongest(now, self.rules.activity, self.rules.neighbours, &mut self.asked);
        (self.grants, self.granted_by_receiver) = (0, false);
        let asked = u8::try_from(self.asked.len()).expect("few are asked");
        Some(Kind::Request { asked, then })
    }

    /// Returns, at the end of the time for grants, whether the data may follow.
    pub(in crate::mac) fn has_quorum(&self) -> bool {
        self.granted_by_receiver && self.grants >= self.rules.enough(self.asked.len())
    }
}

impl Station {
    /// Handles a request with this key; `place` is the station's index in the list of asked stations. The station
    /// grants the request unless it has an older packet or may not send.
    pub(crate) fn consider(
        &mut self,
        now: Instant,
        request: &Frame,
        key: Key,
        own: Option<Key>,
        place: usize,
        rules: &Conventions,
    ) {
        let Kind::Request { asked, then } = request.kind else { return };
        let engaged = self.step != Step::Access || self.response.is_some();
        if engaged || now < self.contention.nav || own.is_some_and(|own| own < key) {
            return;
        }
        let rest = slots(usize::from(asked).saturating_sub(place + 1), rules);
        // The receiver's grant acts as a CTS: it reserves the medium for the data, too.
        let reserves = if place == 0 { rest + then } else { rest };
        let (from, to, category, mode) = (self.address, request.from, request.category, rules.timing.announcing);
        self.response =
            Some(Frame { kind: Kind::Grant, from, to, category, mode, reserves, sequence: 0, retry: false });
        self.contention.turning = false;
        self.deadline = now + slots(place, rules) + rules.timing.sifs;
    }

    /// Handles a failed request. This is no attempt at the data. If nobody answered, the request may have collided.
    pub(in crate::mac) fn refused(&mut self, now: Instant, rules: &Conventions) -> Answer {
        let holder = self.held.category();
        let mut heard_nobody = false;
        if let Some(tmac) = &mut self.tmac {
            tmac.refused = tmac.refused.saturating_add(1);
            tmac.hold = now + tmac.rules.request_wait;
            heard_nobody = tmac.grants == 0;
        }
        if heard_nobody {
            self.contention.widen(holder);
        }
        self.contention.timed_out = now;
        self.step = Step::Access;
        self.txop.fixed = None;
        self.contention.draw(holder);
        self.schedule(now, rules);
        Answer::default()
    }
}

impl TmacState {
    /// Returns until when the station defers, counted from now.
    fn wait(&mut self, now: Instant) -> Duration {
        let rules = &self.rules;
        let rank = self.own.map_or(0, |own| self.table.rank(now, own, rules.expiry));
        let wait = (rules.deferral * rank).max(if self.hold > now { self.hold.since(now) } else { Duration::ZERO });
        if wait.is_zero() || self.refused >= rules.attempts {
            return Duration::ZERO;
        }
        // Frames that are heard prolong the wait, at most by a key's lifetime unless older packets are being sent.
        let end = *self.deferring.get_or_insert(now) + rules.expiry;
        if end > now { wait.min(end.since(now)) } else { Duration::ZERO }
    }

    /// Handles a neighbour's frame that reports keys. `power` is in the medium's unit.
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
    /// Resumes the station's back-off if it may send now. `own`: the key of the node's oldest packet.
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
                // Slots that have passed are counted before later ones are postponed.
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
