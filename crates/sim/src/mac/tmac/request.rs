//! Requests and grants (R2 to R4, R7).

use super::{Key, TmacRules, TmacState};
use crate::mac::station::Station;
use crate::mac::step::Step;
use crate::mac::{Answer, Conventions, Frame, Kind};
use units::{Duration, Instant};

impl TmacRules {
    /// Number of the asked stations that have to grant the request.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of those asked")]
    fn enough(&self, asked: usize) -> usize {
        (self.quorum * asked as f64).ceil() as usize
    }
}

/// Time for the grants of the stations asked: one CTS each, SIFS after the previous frame.
pub(in crate::mac) fn slots(asked: usize, rules: &Conventions) -> Duration {
    (rules.timing.sifs + rules.timing.cts) * asked as u64
}

impl TmacState {
    /// The request that must precede data to a station; none if data need no request. `then`: duration of the exchange
    /// that follows the grants.
    pub(in crate::mac) fn request(&mut self, now: Instant, to: u32, then: Duration) -> Option<Kind> {
        refuse_if!(!self.rules.requests || self.refused >= self.rules.attempts, None);
        self.asked.clear();
        self.asked.push(to);
        self.table.strongest(now, self.rules.activity, self.rules.neighbours, &mut self.asked);
        (self.grants, self.granted_by_receiver) = (0, false);
        let asked = u8::try_from(self.asked.len()).expect("few are asked");
        Some(Kind::Request { asked, then })
    }

    /// Handles the end of the time for grants. True if the data may follow.
    pub(in crate::mac) fn has_quorum(&self) -> bool {
        self.granted_by_receiver && self.grants >= self.rules.enough(self.asked.len())
    }
}

impl Station {
    /// Handles a request with this key that asks the station as the `place`-th. The station grants unless it has an
    /// older packet or may not send.
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

    /// Handles a failed request, which does not count as an attempt at the data. Without any answer, the request may
    /// have collided.
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
