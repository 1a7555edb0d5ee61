//! Capture rules other than first-frame. They decide which of several signals occupies a receiver.

use super::receiver::{Arrival, Header, Lock, Preamble};
use super::receivers::Receivers;
use super::signal::{Air, Passing, Transmission};
use crate::config::Capture;
use crate::engine::Handle;
use crate::radio::Shape;
use units::{Duration, Instant};

/// Time for which ns-3's receiver listens before it chooses among preambles: the first OFDM symbol.
const DETECTION: Duration = Duration::from_micros(4);

impl Preamble {
    /// Returns when the receiver decides whether to decode this frame.
    pub(super) fn chosen(&self) -> Instant {
        self.start + DETECTION
    }
}

impl Receivers {
    /// Handles a signal that begins at an idle receiver, with another rule than first-frame.
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

    /// Chooses among the preambles that have begun at a node, if it is time to choose. No signal at the node has
    /// changed since that time.
    #[inline]
    pub(super) fn choose<F: Copy>(&mut self, air: &Air<F>, node: u32, now: Instant) {
        if let Some(preamble) = self.preambles[node as usize]
            && now >= preamble.chosen()
        {
            self.decide_on(preamble, air, node);
        }
    }

    /// Starts to decode the frame of the chosen preamble, if it exceeds the capture threshold.
    #[inline(never)]
    fn decide_on<F: Copy>(&mut self, preamble: Preamble, air: &Air<F>, node: u32) {
        let Preamble { of, power, start } = preamble;
        self.preambles[node as usize] = None;
        if self.bands.is_some() {
            let since = (start, preamble.chosen());
            return self.choose_in_band((of, air.get_ref(of)), node, power, since);
        }
        let others = self.of[node as usize].energy - power;
        let frame = air.get_ref(of);
        let noise = frame.bounds.noise() * self.noise(node);
        if self.reception.stands_out(frame.shape.found_by(power), others as f64 + noise) {
            self.lock(node, of, frame, power, (start, preamble.chosen()));
        }
    }

    /// Starts to decode a frame. `since`: start of the frame, and of decoding.
    fn lock<F>(&mut self, node: u32, of: Handle, frame: &Transmission<F>, power: u64, since: (Instant, Instant)) {
        let history = &mut self.histories[node as usize];
        self.of[node as usize].lock(&self.judge, history, of, frame, power, since);
    }

    /// Removes a signal that has ended from the candidates.
    pub(super) fn forget(&mut self, node: u32, of: Handle) {
        self.preambles[node as usize].take_if(|preamble| preamble.of == of);
    }

    /// Handles a new signal while another occupies the receiver: the new one is ignored, or both are lost (as in ns-2).
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
        // If both signals end at this node, both have travelled as far as this node.
        let held = air.get_ref(lock.of);
        if sent.end.since(sent.start) > held.shape.duration.saturating_sub(now.since(lock.start)) {
            self.occupy(node, of, power, now);
        }
    }

    /// Makes a signal that is not decoded occupy the receiver.
    fn occupy(&mut self, node: u32, of: Handle, power: u64, now: Instant) {
        let header = Header::Unsought;
        let (start, header_end) = (now, now);
        let (intact, keeps_history, answers) = (false, false, Shape::NOBODY);
        let held = Lock { of, power, worst: 0, start, header_end, intact, header, keeps_history, answers };
        self.of[node as usize].lock = Some(held);
    }
}
