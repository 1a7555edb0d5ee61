//! Reception at all nodes. There is a fast path for the usual cases, and a plain path for all cases.

use super::bands::Bands;
use super::margin::Margins;
use super::receiver::{Arrival, Header, Lock, Preamble, Receiver};
use super::signal::{Air, Heard, Passing, Signal};
use crate::config::{Capture, Standard};
use crate::engine::{Bitmap, Handle};
use crate::radio::mode::Mode;
use crate::radio::reception::{History, Judge, Mpdu, Shape};
use crate::radio::{Link, Reception};
use units::Instant;

pub(crate) struct Receivers {
    pub(super) reception: Reception,
    pub(super) judge: Judge,
    /// True if frames may take the fast path: powers do not fade, and silence needs no handling of its own.
    pub(super) fast: bool,
    /// True if it is recorded how near powers are to the capture threshold.
    pub(super) weighs: bool,
    /// The receiver of each node.
    pub(super) of: Vec<Receiver>,
    /// For each node, the history of the interference with the frame that it decodes, if it is needed.
    pub(super) histories: Vec<History>,
    /// For each node, the power of each frame that is at the node now, if powers fade.
    pub(super) powers: Vec<Vec<(Handle, u64)>>,
    /// For each node, the strongest preamble so far, if the capture rule chooses it.
    pub(super) preambles: Vec<Option<Preamble>>,
    /// For each node, how near its decisions were to the capture threshold.
    pub(super) margins: Vec<Margins>,
    /// Which MPDUs arrived of the last aggregate that did not arrive completely.
    pub(super) intact: Bitmap,
    /// For each node, the frames in parts of the channel that it decodes together, if the network has such frames.
    pub(super) parts: Vec<Vec<(Handle, u64)>>,
    /// The nodes' channels, if they have more than one.
    pub(super) bands: Option<Box<Bands>>,
    /// For each node, its noise as a multiple of that of `[radio]`, if some nodes differ.
    pub(super) noise: Vec<f64>,
    /// For each node, its standard, if some nodes are too old for the frames of other nodes.
    pub(super) standards: Vec<Standard>,
}

impl Receivers {
    pub(super) fn new(nodes: usize, reception: Reception, judge: Judge) -> Self {
        Self {
            fast: !judge.fades() && reception.carrier_sense > 0,
            weighs: judge.by_threshold() && reception.order != Capture::AnySignal,
            reception,
            judge,
            of: vec![Receiver::default(); nodes],
            histories: vec![History::new(); nodes],
            powers: vec![Vec::new(); nodes],
            preambles: vec![None; nodes],
            margins: vec![Margins::default(); nodes],
            intact: Bitmap::default(),
            parts: Vec::new(),
            bands: None,
            noise: Vec::new(),
            standards: Vec::new(),
        }
    }

    /// Returns a node's noise as a multiple of that of `[radio]`.
    pub(super) fn noise(&self, node: u32) -> f64 {
        self.noise.get(node as usize).copied().unwrap_or(1.0)
    }

    /// True if a node decodes frames of this mode.
    pub(super) fn decodes(&self, node: u32, mode: Mode) -> bool {
        self.standards.get(node as usize).is_none_or(|&standard| mode.is_of(standard))
    }

    /// True if a node detects the preambles of such frames.
    pub(super) fn finds(&self, node: u32, mode: Mode) -> bool {
        self.standards.get(node as usize).is_none_or(|&standard| mode.is_found_by(standard))
    }

    /// True if a frame is a part that a node decodes together with others.
    pub(super) fn is_part(&self, node: u32, shape: &Shape) -> bool {
        shape.is_part() && self.decodes(node, shape.mode)
    }

    /// Starts a transmission of a node, which receives nothing until its end. True if the node's medium was idle.
    pub(super) fn silence(&mut self, node: u32, now: Instant) -> bool {
        let receiver = &mut self.of[node as usize];
        debug_assert!(!receiver.sending, "a node sends one frame at a time");
        receiver.sending = true;
        if let Some(parts) = self.parts.get_mut(node as usize) {
            parts.clear();
        }
        match &mut receiver.lock {
            Some(lock) if self.reception.order == Capture::AnySignal => {
                lock.header = Header::Unsought;
            }
            lock => *lock = None,
        }
        self.preambles[node as usize] = None;
        if self.bands.is_some() {
            self.retune(node);
        }
        self.of[node as usize].settle(now, self.reception.carrier_sense)
    }

    /// Lets the front of a frame pass a listener. True if the listener's medium became busy.
    #[inline]
    pub(crate) fn front<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant) -> bool {
        self.fast_front(frame, link, now).unwrap_or_else(|| self.plain_front(frame, link, now))
    }

    /// Handles the front of a frame in the frequent, simple cases. In the other cases it changes nothing and returns
    /// `None`: use [`plain_front`](Self::plain_front).
    #[inline]
    fn fast_front<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant) -> Option<bool> {
        if !self.fast {
            return None;
        }
        let &Link { to, power, decodable, .. } = link;
        let (receiver, history) = (&mut self.of[to as usize], &mut self.histories[to as usize]);
        let (order, carrier_sense) = (self.reception.order, self.reception.carrier_sense);
        if receiver.lock.is_some() {
            return self.judge.by_ratio().then(|| receiver.is_met(power, history, now, carrier_sense));
        }
        match order {
            Capture::FirstFrame if !decodable => Some(receiver.is_met(power, history, now, carrier_sense)),
            Capture::FirstFrame | Capture::AnySignal => {
                let is_alone = decodable && !receiver.busy && receiver.energy == 0;
                let noise = frame.sent.bounds.noise();
                if !is_alone || (order == Capture::FirstFrame && !self.reception.stands_out(power, noise)) {
                    return None;
                }
                receiver.energy = power;
                receiver.lock(&self.judge, history, frame.of, frame.sent, power, (now, now));
                (receiver.busy, receiver.busy_since) = (true, now);
                Some(true)
            }
            Capture::StrongestPreamble => {
                let preamble = &mut self.preambles[to as usize];
                if preamble.is_some() {
                    return None;
                }
                if decodable && !receiver.sending {
                    *preamble = Some(Preamble { of: frame.of, power, start: now });
                }
                Some(receiver.is_met(power, history, now, carrier_sense))
            }
        }
    }

    /// Plain path of a front, for all other rules and signals.
    #[inline(never)]
    fn plain_front<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant) -> bool {
        let of = frame.of;
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(frame.air, link.to, now);
        }
        if self.bands.is_some() {
            let power = self.power_of(of, link, true);
            return self.front_in_band(frame, link.to, power, now);
        }
        let (power, decodable) = if self.judge.fades() {
            let faded = self.judge.faded(link.to, link.power);
            self.powers[link.to as usize].push((of, faded.0));
            faded
        } else {
            (link.power, link.decodable)
        };
        if self.is_part(link.to, &frame.sent.shape)
            && let Some(turned_busy) = self.part_begins(Arrival { frame, node: link.to, power, decodable }, now)
        {
            return turned_busy;
        }
        let shape = &frame.sent.shape;
        let decodable = self.reception.decodes(shape, power, decodable) && self.finds(link.to, shape.mode);
        let noise = frame.sent.bounds.noise() * self.noise(link.to);
        let receiver = &mut self.of[link.to as usize];
        receiver.energy += power;
        receiver.disturbed(&mut self.histories[link.to as usize], now);
        if let Some(lock) = &mut receiver.lock {
            if !self.judge.by_ratio() {
                if self.reception.order == Capture::AnySignal {
                    self.clash(Arrival { frame, node: link.to, power, decodable }, now);
                    return self.of[link.to as usize].settle(now, self.reception.carrier_sense);
                }
                let others = receiver.energy - lock.power;
                if !self.reception.stands_out(lock.power, others as f64) {
                    lock.intact = false;
                    if now < lock.header_end {
                        lock.header = Header::Lost;
                    }
                }
            }
        } else if self.reception.order != Capture::FirstFrame {
            self.meet(Arrival { frame, node: link.to, power, decodable }, now);
            return self.of[link.to as usize].settle(now, self.reception.carrier_sense);
        } else if !receiver.sending && decodable {
            let others = receiver.energy - power;
            let found = frame.sent.shape.found_by(power);
            if self.reception.stands_out(found, others as f64 + noise) {
                receiver.lock(&self.judge, &mut self.histories[link.to as usize], of, frame.sent, power, (now, now));
            } else if self.weighs {
                self.margins[link.to as usize].weigh(power, others, self.reception.capture);
            }
        }
        receiver.settle(now, self.reception.carrier_sense)
    }

    /// Lets the tail of a frame pass a listener. `mpdus` are the MPDUs of an aggregate.
    #[inline]
    pub(crate) fn tail<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant, mpdus: &[Mpdu]) -> Heard {
        self.fast_tail(frame, link, now).unwrap_or_else(|| self.plain_tail(frame, link, now, mpdus))
    }

    /// Fast path of a tail. The listener decodes nothing, or another frame that is judged at its end, or this frame and
    /// neither noise nor interference can have damaged it. `None` if the tail must take the [plain
    /// path](Self::plain_tail); nothing has changed then.
    #[inline(always)] // once a listener: the call costs a chain 2 %
    fn fast_tail<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant) -> Option<Heard> {
        if !self.fast {
            return None;
        }
        let &Link { to, power, .. } = link;
        let (receiver, histories) = (&mut self.of[to as usize], &mut self.histories);
        let carrier_sense = self.reception.carrier_sense;
        let worst = match &receiver.lock {
            Some(lock) if lock.of == frame.of => {
                let is_judged_now = (lock.worst == 0 && receiver.energy == power) || self.judge.by_ratio();
                if lock.header == Header::Unsought || !is_judged_now {
                    return None;
                }
                lock.worst
            }
            Some(_) => {
                return self
                    .judge
                    .by_ratio()
                    .then(|| receiver.is_left(power, &mut histories[to as usize], now, carrier_sense));
            }
            None => {
                let Some(preamble) = &self.preambles[to as usize] else {
                    return Some(receiver.is_left(power, &mut histories[to as usize], now, carrier_sense));
                };
                // The preamble was chosen, and nothing has changed at this node since.
                let is_chosen = preamble.of == frame.of && now >= preamble.chosen();
                let is_alone = receiver.energy == power;
                if !is_chosen || !is_alone || !self.reception.stands_out(power, frame.sent.bounds.noise()) {
                    return None;
                }
                0
            }
        };
        if !self.judge.spares(&frame.sent.bounds, power, worst) {
            return None;
        }
        if self.weighs {
            self.margins[to as usize].undisturbed();
        }
        receiver.energy -= power;
        receiver.lock = None;
        if self.reception.order == Capture::StrongestPreamble {
            self.preambles[to as usize] = None;
        }
        let turned_idle = receiver.settle(now, carrier_sense);
        Some(Heard { power, what: Signal::Good { whole: true }, turned_idle })
    }

    /// Plain path of a tail, for all other rules and signals.
    #[inline(never)]
    fn plain_tail<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant, mpdus: &[Mpdu]) -> Heard {
        let of = frame.of;
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(frame.air, link.to, now);
            self.forget(link.to, of);
        }
        if self.bands.is_some() {
            let power = self.power_of(of, link, false);
            return self.tail_in_band(frame, link.to, power, (now, mpdus));
        }
        let power = if self.judge.fades() { forget_power(&mut self.powers[link.to as usize], of) } else { link.power };
        if self.is_part(link.to, &frame.sent.shape)
            && let Some(heard) = self.part_ends(frame, link.to, power, (now, mpdus))
        {
            return heard;
        }
        let receiver = &mut self.of[link.to as usize];
        receiver.energy -= power;
        let unlocked = receiver.unlocked(power, self.reception.carrier_sense);
        let what = match receiver.lock {
            Some(ref lock) if lock.of == of => {
                let lock = *lock;
                receiver.lock = None;
                if lock.header == Header::Unsought { unlocked } else { self.verdict(frame, link.to, &lock, mpdus) }
            }
            _ => {
                receiver.disturbed(&mut self.histories[link.to as usize], now);
                unlocked
            }
        };
        let turned_idle = self.of[link.to as usize].settle(now, self.reception.carrier_sense);
        Heard { power, what, turned_idle }
    }

    /// Decides about the frame that a node was decoding.
    #[inline]
    pub(super) fn verdict<F: Copy>(&mut self, frame: Passing<F>, node: u32, lock: &Lock, mpdus: &[Mpdu]) -> Signal {
        if self.weighs {
            self.margins[node as usize].weigh(lock.power, lock.worst, self.reception.capture);
        }
        if lock.header == Header::Lost {
            return Signal::Bad { header_read: false };
        }
        if !lock.keeps_history && (!lock.intact || self.judge.is_plain()) {
            let good = lock.intact && self.decodes(node, frame.sent.shape.mode);
            return if good { Signal::Good { whole: true } } else { Signal::Bad { header_read: true } };
        }
        let (frame, history) = (lock.decoded(frame.sent, self.noise(node)), &self.histories[node as usize]);
        if lock.header == Header::Open && !self.judge.reads_header(node, &frame, history) {
            return Signal::Bad { header_read: false };
        }
        if !self.decodes(node, frame.shape.mode) {
            return Signal::Bad { header_read: true };
        }
        let Some(intact) = self.judge.survivors(node, &frame, history, &self.reception, mpdus) else {
            return Signal::Good { whole: true };
        };
        self.intact = intact;
        if self.intact.is_empty() { Signal::Bad { header_read: true } } else { Signal::Good { whole: false } }
    }

    /// True if `node` is decoding a frame whose PHY header it has read.
    pub(super) fn receives<F: Copy>(&mut self, air: &Air<F>, node: u32, now: Instant) -> bool {
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(air, node, now);
        }
        let noise = self.noise(node);
        let Some(lock) = &mut self.of[node as usize].lock else { return false };
        if now < lock.header_end {
            return false;
        }
        if lock.header == Header::Open {
            let frame = lock.decoded(air.get_ref(lock.of), noise);
            lock.header = self.judge.reads_header(node, &frame, &self.histories[node as usize]).into();
        }
        lock.header == Header::Read
    }
}

/// Removes and returns the power of a frame that leaves.
pub(super) fn forget_power(powers: &mut Vec<(Handle, u64)>, of: Handle) -> u64 {
    let index = powers.iter().position(|&(frame, _)| frame == of).expect("what leaves has come");
    powers.swap_remove(index).1
}
