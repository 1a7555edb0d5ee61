//! Requests and grants (R2 to R4, R7).

use super::{Key, TmacRules};
use crate::mac::buffer::Size;
use crate::mac::station::{Cleared, Station, Step};
use crate::mac::{Answer, Conventions, Frame, Kind};
use units::{Duration, Instant};

impl TmacRules {
    /// Number of the asked stations that have to grant.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of those asked")]
    fn enough(&self, asked: usize) -> usize {
        (self.quorum * asked as f64).ceil() as usize
    }
}

/// Time for the grants of those asked: a CTS each, SIFS after the frame before it.
fn slots(asked: usize, rules: &Conventions) -> Duration {
    (rules.timing.sifs + rules.timing.cts) * asked as u64
}

impl Station {
    /// The request that must precede data of this size; none if data go without.
    pub(in crate::mac) fn request(&mut self, now: Instant, to: u32, size: Size, rules: &Conventions) -> Option<Frame> {
        let tmac = self.tmac.as_mut().filter(|tmac| tmac.rules.requests && tmac.refused < tmac.rules.attempts)?;
        let age = tmac.rules;
        tmac.asked.clear();
        tmac.asked.push(to);
        tmac.table.strongest(now, age.activity, age.neighbours, &mut tmac.asked);
        (tmac.grants, tmac.granted_by_receiver) = (0, false);
        let asked = tmac.asked.len();
        let then = rules.timing.sifs + self.rates.exchange(to, size, rules);
        self.fixed = Some(size);
        let asked_for = u8::try_from(asked).expect("few are asked");
        Some(self.control(Kind::Request { asked: asked_for, then }, to, slots(asked, rules), rules))
    }

    /// Handles the end of its own request.
    pub(in crate::mac) fn await_grants(&mut self, now: Instant, asked: u8, rules: &Conventions) {
        self.step = Step::AwaitGrants;
        self.deadline = now + slots(asked.into(), rules) + rules.timing.sifs;
    }

    /// Handles a request with this key that asks the station as the `place`-th. It grants unless it has an older packet
    /// or may not send.
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
        // The receiver's grant is what a CTS is: it reserves the medium for the data too.
        let reserves = if place == 0 { rest + then } else { rest };
        let (from, to, category, mode) = (self.address, request.from, request.category, rules.timing.announcing);
        self.response =
            Some(Frame { kind: Kind::Grant, from, to, category, mode, reserves, sequence: 0, retry: false });
        self.contention.turning = false;
        self.deadline = now + slots(place, rules) + rules.timing.sifs;
    }

    /// Ends the time for grants. True if the data may follow.
    pub(in crate::mac) fn has_quorum(&mut self) -> bool {
        let Some(tmac) = &self.tmac else { return true };
        let enough = tmac.granted_by_receiver && tmac.grants >= tmac.rules.enough(tmac.asked.len());
        if enough {
            self.cleared = Cleared::ByRts;
        }
        enough
    }

    /// A request was in vain. It counts as no attempt at the data. Without any answer, it may have collided.
    pub(in crate::mac) fn refused(&mut self, now: Instant, rules: &Conventions) -> Answer {
        let holder = usize::from(self.holder);
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
        self.fixed = None;
        self.contention.draw(holder);
        self.schedule(now, rules);
        Answer::default()
    }
}
