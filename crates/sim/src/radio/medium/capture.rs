//! Capture: the signal that a receiver locks on to among several, where the convention is not first-frame.

use super::receiver::{Arrival, Header, Lock, Preamble};
use super::receivers::Receivers;
use super::signal::{Air, Heard, Passing, Signal, Transmission};
use crate::config::Capture;
use crate::engine::Handle;
use crate::radio::Link;
use crate::radio::reception::{Mpdu, all};
use units::{Duration, Instant};

/// How long ns-3's receiver listens before it chooses among preambles: the first OFDM symbol of a preamble.
const DETECTION: Duration = Duration::from_micros(4);

impl Preamble {
    /// Returns the time at which it is decided whether this frame is decoded.
    #[inline]
    pub(super) fn chosen(&self) -> Instant {
        self.start + DETECTION
    }
}

impl Receivers {
    /// Fast path for the most common front: nothing is there that is decoded or might be, or the frame that is decoded
    /// is judged when it is over. True if the medium was idle and is now busy; none where the front has to go the long
    /// way.
    #[inline]
    pub(super) fn begins_simply<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant) -> Option<bool> {
        let &Link { to, power, decodable, .. } = link;
        let receiver = &mut self.of[to as usize];
        if receiver.lock.is_some() {
            if !self.judge.by_ratio() {
                return None;
            }
            let history = &mut self.histories[to as usize];
            return Some(receiver.is_met(power, history, now, self.reception.carrier_sense));
        }
        match self.reception.order {
            Capture::AnySignal if decodable && !receiver.busy && receiver.energy == 0 => {
                receiver.energy = power;
                let history = &mut self.histories[to as usize];
                receiver.lock(&self.judge, history, frame.of, frame.sent, power, (now, now));
            }
            Capture::StrongestPreamble if self.preambles[to as usize].is_none() => {
                receiver.energy += power;
                if decodable && !receiver.sending {
                    self.preambles[to as usize] = Some(Preamble { of: frame.of, power, start: now });
                }
            }
            _ => return None,
        }
        Some(receiver.settle(now, self.reception.carrier_sense))
    }

    /// Fast path for a tail: the listener decodes nothing, or another frame that is judged when it is over, or it was
    /// decoding this frame and neither noise nor what else was there can have spoilt it. None where the tail has to go
    /// the long way.
    #[inline]
    pub(super) fn ends_simply<F: Copy>(
        &mut self,
        frame: Passing<F>,
        link: &Link,
        now: Instant,
        mpdus: &[Mpdu],
    ) -> Option<Heard> {
        let &Link { to, power, .. } = link;
        let receiver = &mut self.of[to as usize];
        let preamble = &mut self.preambles[to as usize];
        let (history, carrier_sense) = (&mut self.histories[to as usize], self.reception.carrier_sense);
        let worst = match (&receiver.lock, self.judge.by_ratio()) {
            (Some(lock), by_ratio) if lock.of == frame.of => {
                let is_sought = lock.header != Header::Unsought;
                let is_judged_now = by_ratio || (lock.worst == 0 && receiver.energy == power);
                (is_sought && is_judged_now).then_some(lock.worst)?
            }
            (Some(_), false) => return None,
            (Some(_), true) => return Some(receiver.is_left(power, history, now, carrier_sense)),
            (None, _) => {
                let Some(preamble) = preamble else {
                    return Some(receiver.is_left(power, history, now, carrier_sense));
                };
                // It was chosen, and since then nothing has changed here.
                let is_chosen = preamble.of == frame.of && now >= preamble.chosen();
                let is_alone = receiver.energy == power && self.reception.stands_out(power, frame.sent.bounds.noise());
                (is_chosen && is_alone).then_some(0)?
            }
        };
        if !self.judge.spares(&frame.sent.bounds, power, worst) {
            return None;
        }
        if self.judge.by_threshold() && self.reception.order != Capture::AnySignal {
            self.margins[to as usize].undisturbed();
        }
        receiver.energy -= power;
        (receiver.lock, *preamble) = (None, None);
        let intact = if frame.sent.shape.aggregate { all(mpdus.len()) } else { 1 };
        let turned_idle = receiver.settle(now, self.reception.carrier_sense);
        Some(Heard { power, what: Signal::Good(intact), turned_idle })
    }

    /// A signal begins at a node that decodes nothing, by another rule than that of the first frame.
    #[cold]
    pub(super) fn meet<F: Copy>(&mut self, arrival: Arrival<F>, now: Instant) {
        let Arrival { frame, node, power, decodable } = arrival;
        let sending = self.of[node as usize].sending;
        match self.reception.order {
            Capture::StrongestPreamble => {
                let preamble = &mut self.preambles[node as usize];
                if !sending && decodable && preamble.is_none_or(|other| power > other.power) {
                    *preamble = Some(Preamble { of: frame.of, power, start: now });
                }
            }
            Capture::AnySignal if decodable && !sending => self.lock(node, frame.of, frame.sent, power, (now, now)),
            Capture::AnySignal if power >= self.reception.carrier_sense => self.occupy(node, frame.of, power, now),
            Capture::FirstFrame | Capture::AnySignal => {}
        }
    }

    /// Chooses among the preambles that have begun at a node, if the time has come. Nothing has changed there since then.
    #[inline]
    pub(super) fn choose<F: Copy>(&mut self, air: &Air<F>, node: u32, now: Instant) {
        if let Some(preamble) = self.preambles[node as usize]
            && now >= preamble.chosen()
        {
            self.decide_on(preamble, air, node);
        }
    }

    /// A node decodes the frame of a preamble that it has chosen, if that stands out.
    #[inline(never)]
    fn decide_on<F: Copy>(&mut self, preamble: Preamble, air: &Air<F>, node: u32) {
        let Preamble { of, power, start } = preamble;
        self.preambles[node as usize] = None;
        let others = self.of[node as usize].energy - power;
        let frame = air.get_ref(of);
        if self.reception.stands_out(power, others as f64 + frame.bounds.noise()) {
            self.lock(node, of, frame, power, (start, preamble.chosen()));
        }
    }

    /// A node decodes a frame: since when it has been here, and from when on.
    fn lock<F>(&mut self, node: u32, of: Handle, frame: &Transmission<F>, power: u64, since: (Instant, Instant)) {
        let history = &mut self.histories[node as usize];
        self.of[node as usize].lock(&self.judge, history, of, frame, power, since);
    }

    /// A signal is over at a node: it is not chosen any more.
    pub(super) fn forget(&mut self, node: u32, of: Handle) {
        self.preambles[node as usize].take_if(|preamble| preamble.of == of);
    }

    /// A signal begins while another one holds the receiver, which overlooks it or loses both (ns-2).
    #[cold]
    pub(super) fn clash<F: Copy>(&mut self, arrival: Arrival<F>, now: Instant) {
        let Arrival { frame: Passing { of, sent, air }, node, power, decodable } = arrival;
        let Some(lock) = &mut self.of[node as usize].lock else { return };
        let noticed = decodable || power >= self.reception.carrier_sense;
        if noticed && lock.intact && self.judge.by_threshold() {
            self.margins[node as usize].weigh(lock.power, power, self.reception.capture);
        }
        if !noticed || self.reception.stands_out(lock.power, power as f64) {
            return;
        }
        lock.intact = false;
        if now < lock.header_end && lock.header != Header::Unsought {
            lock.header = Header::Lost;
        }
        // Both have travelled as far as this node when they end here.
        let held = air.get_ref(lock.of);
        if sent.end.since(sent.start) > held.shape.duration.saturating_sub(now.since(lock.start)) {
            self.occupy(node, of, power, now);
        }
    }

    /// A signal that is not decoded holds the receiver.
    fn occupy(&mut self, node: u32, of: Handle, power: u64, now: Instant) {
        let header = Header::Unsought;
        let (start, header_end) = (now, now);
        let held = Lock { of, power, worst: 0, start, header_end, intact: false, header, keeps_history: false };
        self.of[node as usize].lock = Some(held);
    }
}
