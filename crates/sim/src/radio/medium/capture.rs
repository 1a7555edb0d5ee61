//! Which of several signals holds a receiver, where the convention is not that of the first frame.

use super::air::Medium;
use super::receiver::{Arrival, Header, Lock, Preamble};
use super::signal::Passing;
use crate::config::Capture;
use crate::engine::Handle;
use units::{Duration, Instant};

/// How long ns-3's receiver listens before it chooses among preambles: the first OFDM symbol of a preamble.
const DETECTION: Duration = Duration::from_micros(4);

impl<F: Copy> Medium<F> {
    /// A signal begins at a node that decodes nothing, by another rule than that of the first frame.
    #[cold]
    pub(super) fn meet(&mut self, arrival: Arrival, now: Instant) {
        let Arrival { frame, node, power, decodable } = arrival;
        let sending = self.receivers[node as usize].sending;
        match self.reception.order {
            Capture::StrongestPreamble => {
                let preamble = &mut self.preambles[node as usize];
                if !sending && decodable && preamble.is_none_or(|other| power > other.power) {
                    *preamble = Some(Preamble { of: frame.of, power, start: now });
                }
            }
            Capture::AnySignal if decodable && !sending => self.lock(node, frame, power, now, now),
            Capture::AnySignal if power >= self.reception.carrier_sense => self.occupy(node, frame.of, power, now),
            Capture::FirstFrame | Capture::AnySignal => {}
        }
    }

    /// Chooses among the preambles that have begun at a node, if the time has come. Nothing has changed there since then.
    pub(super) fn choose(&mut self, node: u32, now: Instant) {
        let Some(Preamble { of, power, start }) = self.preambles[node as usize] else { return };
        let chosen = start + DETECTION;
        if now < chosen {
            return;
        }
        self.preambles[node as usize] = None;
        let others = self.receivers[node as usize].energy - power;
        let frame = self.passing(of);
        if self.reception.stands_out(power, others as f64 + frame.noise) {
            self.lock(node, &frame, power, start, chosen);
        }
    }

    /// A node decodes a frame that began at `start`, from `now` on.
    fn lock(&mut self, node: u32, frame: &Passing, power: u64, start: Instant, now: Instant) {
        let history = &mut self.histories[node as usize];
        self.receivers[node as usize].lock(&self.judge, history, frame, power, start, now);
    }

    /// A signal is over at a node: it is not chosen any more.
    pub(super) fn forget(&mut self, node: u32, of: Handle) {
        self.preambles[node as usize].take_if(|preamble| preamble.of == of);
    }

    /// A signal begins while another one holds the receiver, which overlooks it or loses both (ns-2).
    #[cold]
    pub(super) fn clash(&mut self, arrival: Arrival, now: Instant) {
        let Arrival { frame: &Passing { of, start, end, .. }, node, power, decodable } = arrival;
        let Some(lock) = &mut self.receivers[node as usize].lock else { return };
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
        let held = self.air.get(lock.of);
        if end.since(start) > held.shape.duration.saturating_sub(now.since(lock.start)) {
            self.occupy(node, of, power, now);
        }
    }

    /// A signal that is not decoded holds the receiver.
    fn occupy(&mut self, node: u32, of: Handle, power: u64, now: Instant) {
        let header = Header::Unsought;
        let (start, header_end) = (now, now);
        let held = Lock { of, power, worst: 0, start, header_end, intact: false, header, keeps_history: false };
        self.receivers[node as usize].lock = Some(held);
    }
}
