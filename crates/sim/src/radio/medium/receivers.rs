//! Receivers of all nodes, for the frames in the air.

use super::margin::Margins;
use super::receiver::{Arrival, Header, Lock, Preamble, Receiver};
use super::signal::{Air, Heard, Passing, Signal};
use crate::config::Capture;
use crate::engine::Handle;
use crate::radio::reception::{History, Judge, Mpdu, all};
use crate::radio::{Link, Reception};
use units::Instant;

/// The receivers of all nodes.
pub(crate) struct Receivers {
    pub(super) reception: Reception,
    pub(super) judge: Judge,
    /// Powers do not fade, and silence is not sensed.
    pub(super) are_steady: bool,
    /// And they decode the first frame that begins.
    pub(super) are_plain: bool,
    /// They are steady and held by decodable frames alone, and what disturbs one is judged when it is over, by ratios of
    /// powers.
    pub(super) judge_later: bool,
    /// By node.
    pub(super) of: Vec<Receiver>,
    /// Of every receiver: where the interference with the frame that it decodes matters, how that was.
    pub(super) histories: Vec<History>,
    /// Of every receiver, where powers fade: that of each frame that is here now.
    pub(super) powers: Vec<Vec<(Handle, u64)>>,
    /// Of every receiver, where the strongest preamble is chosen: that one so far.
    pub(super) preambles: Vec<Option<Preamble>>,
    /// Of every receiver: how near its verdicts by the capture threshold were.
    pub(super) margins: Vec<Margins>,
}

impl Receivers {
    /// Makes idle receivers.
    pub(super) fn new(nodes: usize, reception: Reception, judge: Judge) -> Self {
        let are_steady = !judge.fades() && reception.carrier_sense > 0;
        Self {
            are_steady,
            are_plain: are_steady && reception.order == Capture::FirstFrame,
            judge_later: are_steady && reception.order != Capture::AnySignal && judge.by_ratio(),
            reception,
            judge,
            of: vec![Receiver::default(); nodes],
            histories: vec![History::new(); nodes],
            powers: vec![Vec::new(); nodes],
            preambles: vec![None; nodes],
            margins: vec![Margins::default(); nodes],
        }
    }

    /// A node starts to send: it receives nothing meanwhile. True if its medium was idle.
    pub(super) fn silence(&mut self, node: u32, now: Instant) -> bool {
        let receiver = &mut self.of[node as usize];
        debug_assert!(!receiver.sending, "a node sends one frame at a time");
        receiver.sending = true;
        match &mut receiver.lock {
            Some(lock) if self.reception.order == Capture::AnySignal => {
                lock.header = Header::Unsought;
            }
            lock => *lock = None,
        }
        self.preambles[node as usize] = None;
        receiver.settle(now, self.reception.carrier_sense)
    }

    /// The front of a frame reaches a listener. True if the medium was idle there and is now busy.
    ///
    /// Mostly nothing else is there, and the frame is the first that begins; or it is too weak to be decoded.
    #[inline]
    pub(crate) fn front<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant) -> bool {
        let &Link { to, power, decodable, .. } = link;
        let only_power_counts = !decodable && self.only_power_counts(to);
        let receiver = &mut self.of[to as usize];
        if only_power_counts {
            return receiver.is_met(power, &mut self.histories[to as usize], now, self.reception.carrier_sense);
        }
        let is_alone = self.are_plain && decodable && !receiver.busy && receiver.energy == 0;
        if is_alone && self.reception.stands_out(power, frame.sent.bounds.noise()) {
            receiver.energy = power;
            receiver.lock(&self.judge, &mut self.histories[to as usize], frame.of, frame.sent, power, (now, now));
            (receiver.busy, receiver.busy_since) = (true, now);
            return true;
        }
        self.front_among_others(frame, link, now)
    }

    /// Does a signal make no other difference to a node that does not decode it than by its power?
    #[inline]
    fn only_power_counts(&self, node: u32) -> bool {
        if self.of[node as usize].lock.is_some() {
            return self.judge_later;
        }
        let chooses = self.are_steady && self.reception.order == Capture::StrongestPreamble;
        self.are_plain || chooses && self.preambles[node as usize].is_none()
    }

    /// The front of a frame reaches a listener at which other signals may be, by whatever rules.
    #[inline(never)]
    pub(super) fn front_among_others<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant) -> bool {
        let of = frame.of;
        if self.are_steady
            && let Some(turned_busy) = self.begins_simply(frame, link, now)
        {
            return turned_busy;
        }
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(frame.air, link.to, now);
        }
        let (power, decodable) = if self.judge.fades() {
            let faded = self.judge.faded(link.to, link.power);
            self.powers[link.to as usize].push((of, faded.0));
            faded
        } else {
            (link.power, link.decodable)
        };
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
            if self.reception.stands_out(power, others as f64 + frame.sent.bounds.noise()) {
                receiver.lock(&self.judge, &mut self.histories[link.to as usize], of, frame.sent, power, (now, now));
            } else if self.judge.by_threshold() {
                self.margins[link.to as usize].weigh(power, others, self.reception.capture);
            }
        }
        receiver.settle(now, self.reception.carrier_sense)
    }

    /// The tail of a frame leaves a listener; `mpdus` are those of an aggregate.
    ///
    /// Mostly the listener was decoding it, nothing else was there, and noise cannot spoil it; or it is too weak to be decoded,
    /// or the listener decodes nothing.
    #[inline]
    pub(crate) fn tail<F: Copy>(&mut self, frame: Passing<F>, link: &Link, now: Instant, mpdus: &[Mpdu]) -> Heard {
        let &Link { to, power, decodable, .. } = link;
        let only_power_counts = !decodable && self.only_power_counts(to);
        let receiver = &mut self.of[to as usize];
        if only_power_counts {
            return receiver.is_left(power, &mut self.histories[to as usize], now, self.reception.carrier_sense);
        }
        if self.are_plain {
            let Some(lock) = &receiver.lock else {
                return receiver.is_left(power, &mut self.histories[to as usize], now, self.reception.carrier_sense);
            };
            if lock.of == frame.of
                && lock.worst == 0
                && receiver.energy == power
                && self.judge.spares(&frame.sent.bounds, power, 0)
            {
                if self.judge.by_threshold() {
                    self.margins[to as usize].undisturbed();
                }
                receiver.energy = 0;
                receiver.lock = None;
                receiver.busy = false;
                receiver.busy_time += now.since(receiver.busy_since);
                let intact = if frame.sent.shape.aggregate { all(mpdus.len()) } else { 1 };
                return Heard { power, what: Signal::Good(intact), turned_idle: true };
            }
        }
        self.tail_among_others(frame, link, now, mpdus)
    }

    /// The tail of a frame leaves a listener at which other signals may be or may have been, by whatever rules.
    #[inline(never)]
    pub(super) fn tail_among_others<F: Copy>(
        &mut self,
        frame: Passing<F>,
        link: &Link,
        now: Instant,
        mpdus: &[Mpdu],
    ) -> Heard {
        let of = frame.of;
        if self.are_steady
            && let Some(heard) = self.ends_simply(frame, link, now, mpdus)
        {
            return heard;
        }
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(frame.air, link.to, now);
            self.forget(link.to, of);
        }
        let power = if self.judge.fades() { forget_power(&mut self.powers[link.to as usize], of) } else { link.power };
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

    /// What the frame was that a node was decoding.
    #[inline]
    fn verdict<F: Copy>(&mut self, frame: Passing<F>, node: u32, lock: &Lock, mpdus: &[Mpdu]) -> Signal {
        if self.judge.by_threshold() && self.reception.order != Capture::AnySignal {
            self.margins[node as usize].weigh(lock.power, lock.worst, self.reception.capture);
        }
        if lock.header == Header::Lost {
            return Signal::Bad { header_read: false };
        }
        let intact = if !lock.keeps_history && (!lock.intact || self.judge.is_plain()) {
            u64::from(lock.intact)
        } else {
            let frame = lock.decoded(frame.sent);
            if lock.header == Header::Open && !self.judge.reads_header(node, &frame, &self.histories[node as usize]) {
                return Signal::Bad { header_read: false };
            }
            self.judge.survivors(node, &frame, &self.histories[node as usize], &self.reception, mpdus)
        };
        if intact == 0 { Signal::Bad { header_read: true } } else { Signal::Good(intact) }
    }

    /// Does `node` decode a frame whose PHY header it has read?
    pub(super) fn receives<F: Copy>(&mut self, air: &Air<F>, node: u32, now: Instant) -> bool {
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(air, node, now);
        }
        let Some(mut lock) = self.of[node as usize].lock else { return false };
        if now < lock.header_end {
            return false;
        }
        if lock.header == Header::Open {
            let frame = lock.decoded(air.get_ref(lock.of));
            lock.header = self.judge.reads_header(node, &frame, &self.histories[node as usize]).into();
            self.of[node as usize].lock = Some(lock);
        }
        lock.header == Header::Read
    }
}

/// The power with which a frame came; it leaves.
fn forget_power(powers: &mut Vec<(Handle, u64)>, of: Handle) -> u64 {
    let index = powers.iter().position(|&(frame, _)| frame == of).expect("what leaves has come");
    powers.swap_remove(index).1
}
