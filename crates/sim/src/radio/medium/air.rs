//! The air between all nodes.

use super::margin::Margins;
use super::receiver::{Arrival, Header, Lock, Preamble, Receiver};
use super::signal::{Heard, Passing, Signal};
use crate::config::Capture;
use crate::engine::{Arena, Handle};
use crate::radio::mode::Mode;
use crate::radio::reception::{Bounds, Decoded, History, Judge, Mpdu, Shape};
use crate::radio::{Link, Links, Reception};
use units::{Duration, Instant};

/// A frame in the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission<F> {
    pub(crate) from: u32,
    pub(crate) frame: F,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(super) shape: Shape,
    /// How long its PHY header lasts.
    pub(super) header: Duration,
    bounds: Bounds,
}

/// The air between all nodes.
pub(crate) struct Medium<F> {
    pub(super) links: Links,
    pub(super) reception: Reception,
    pub(super) judge: Judge,
    pub(super) receivers: Vec<Receiver>,
    /// Of every receiver: where the interference with the frame that it decodes matters, how that was.
    pub(super) histories: Vec<History>,
    /// Of every receiver, where powers fade: that of each frame that is here now.
    pub(super) powers: Vec<Vec<(Handle, u64)>>,
    /// Of every receiver, where the strongest preamble is chosen: that one so far.
    pub(super) preambles: Vec<Option<Preamble>>,
    /// Of every receiver: how near its verdicts by the capture threshold were.
    pub(super) margins: Vec<Margins>,
    /// Of every node: how long it had sensed the medium busy when the statistics began.
    busy_before: Vec<Duration>,
    pub(super) air: Arena<Transmission<F>>,
    pub(super) on_air: u32,
    on_air_since: Instant,
    pub(super) on_air_time: Duration,
}

impl<F: Copy> Medium<F> {
    /// A silent medium.
    pub(crate) fn new(links: Links, judge: Judge) -> Self {
        Self {
            receivers: vec![Receiver::default(); links.nodes()],
            histories: vec![History::new(); links.nodes()],
            powers: vec![Vec::new(); links.nodes()],
            preambles: vec![None; links.nodes()],
            margins: vec![Margins::default(); links.nodes()],
            busy_before: vec![Duration::ZERO; links.nodes()],
            reception: links.reception(),
            judge,
            links,
            air: Arena::default(),
            on_air: 0,
            on_air_since: Instant::ZERO,
            on_air_time: Duration::ZERO,
        }
    }

    /// Node `from` starts to send. What it was decoding is lost: it is half-duplex. True if its medium was idle.
    pub(crate) fn start(&mut self, from: u32, frame: F, now: Instant, shape: Shape) -> (Handle, bool) {
        let receiver = &mut self.receivers[from as usize];
        debug_assert!(!receiver.sending, "a node sends one frame at a time");
        receiver.sending = true;
        match &mut receiver.lock {
            Some(lock) if self.reception.order == Capture::AnySignal => {
                lock.header = Header::Unsought;
            }
            lock => *lock = None,
        }
        self.preambles[from as usize] = None;
        let turned_busy = receiver.settle(now, self.reception.carrier_sense);
        // A frame keeps its listeners: while one still passes them, the sender's links stay as they are.
        if receiver.passing == 0 {
            self.links.refresh(from, now);
        }
        receiver.passing += 1;
        if self.on_air == 0 {
            self.on_air_since = now;
        }
        self.on_air += 1;
        let (end, header) = (now + shape.duration, shape.mode.header());
        let bounds = self.judge.bounds(shape.mode);
        (self.air.insert(Transmission { from, frame, start: now, end, shape, header, bounds }), turned_busy)
    }

    /// The sender has sent the last bit. True if its medium is idle now.
    pub(crate) fn end(&mut self, of: Handle) -> (Transmission<F>, bool) {
        let transmission = self.air.get(of);
        let now = transmission.end;
        let receiver = &mut self.receivers[transmission.from as usize];
        receiver.sending = false;
        let turned_idle = receiver.settle(now, self.reception.carrier_sense);
        self.on_air -= 1;
        if self.on_air == 0 {
            self.on_air_time += now.since(self.on_air_since);
        }
        (transmission, turned_idle)
    }

    /// When the front of a frame reaches its first listener, if it has any.
    pub(crate) fn front_time(&self, of: Handle) -> Option<Instant> {
        let transmission = self.air.get(of);
        self.links.of(transmission.from).first().map(|link| transmission.start + link.delay)
    }

    /// When its tail does.
    pub(crate) fn tail_time(&self, of: Handle) -> Option<Instant> {
        let transmission = self.air.get(of);
        self.links.of(transmission.from).first().map(|link| transmission.end + link.delay)
    }

    /// What its listeners need not look up for each of them.
    #[inline]
    pub(crate) fn passing(&self, of: Handle) -> Passing {
        let Transmission { from, start, end, shape, header, bounds, .. } = self.air.get(of);
        Passing { of, from, start, end, header, noise: bounds.noise(), aggregate: shape.aggregate }
    }

    /// Lends the links to a frame's listeners while it passes some of them; they [come back](Self::take_back) after that.
    #[inline]
    pub(crate) fn lend_links(&mut self, frame: &Passing) -> Vec<Link> {
        self.links.lend(frame.from)
    }

    /// Takes back the [links](Self::lend_links) to a frame's listeners.
    #[inline]
    pub(crate) fn take_back(&mut self, frame: &Passing, links: Vec<Link>) {
        self.links.take_back(frame.from, links);
    }

    /// The front of a frame reaches a listener. True if the medium was idle there and is now busy.
    #[inline]
    pub(crate) fn front(&mut self, frame: &Passing, link: &Link, now: Instant) -> bool {
        let of = frame.of;
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(link.to, now);
        }
        let (power, decodable) = if self.judge.fades() {
            let faded = self.judge.faded(link.to, link.power);
            self.powers[link.to as usize].push((of, faded.0));
            faded
        } else {
            (link.power, link.decodable)
        };
        let receiver = &mut self.receivers[link.to as usize];
        receiver.energy += power;
        let by_threshold = !self.judge.by_ratio();
        if let Some(lock) = &mut receiver.lock {
            let others = receiver.energy - lock.power;
            lock.worst = lock.worst.max(others);
            if lock.keeps_history {
                self.histories[link.to as usize].push((now, others));
            }
            if by_threshold {
                if self.reception.order == Capture::AnySignal {
                    self.clash(Arrival { frame, node: link.to, power, decodable }, now);
                    return self.receivers[link.to as usize].settle(now, self.reception.carrier_sense);
                }
                if !self.reception.stands_out(lock.power, others as f64) {
                    lock.intact = false;
                    if now < lock.header_end {
                        lock.header = Header::Lost;
                    }
                }
            }
        } else if self.reception.order != Capture::FirstFrame {
            self.meet(Arrival { frame, node: link.to, power, decodable }, now);
            return self.receivers[link.to as usize].settle(now, self.reception.carrier_sense);
        } else if !receiver.sending && decodable {
            let others = receiver.energy - power;
            if self.reception.stands_out(power, others as f64 + frame.noise) {
                receiver.lock(&self.judge, &mut self.histories[link.to as usize], frame, power, now, now);
            } else if self.judge.by_threshold() {
                self.margins[link.to as usize].weigh(power, others, self.reception.capture);
            }
        }
        receiver.settle(now, self.reception.carrier_sense)
    }

    /// The tail of a frame leaves a listener; `mpdus` are those of an aggregate.
    #[inline]
    pub(crate) fn tail(&mut self, frame: &Passing, link: &Link, now: Instant, mpdus: &[Mpdu]) -> Heard {
        let of = frame.of;
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(link.to, now);
            self.forget(link.to, of);
        }
        let power = if self.judge.fades() { forget_power(&mut self.powers[link.to as usize], of) } else { link.power };
        let receiver = &mut self.receivers[link.to as usize];
        receiver.energy -= power;
        let sensed = !receiver.sending && power >= self.reception.carrier_sense;
        let unlocked = if sensed { Signal::Noise } else { Signal::Nothing };
        let what = match receiver.lock {
            Some(ref lock) if lock.of == of => {
                let lock = *lock;
                receiver.lock = None;
                if lock.header == Header::Unsought { unlocked } else { self.verdict(link.to, &lock, mpdus) }
            }
            Some(ref lock) if lock.keeps_history => {
                self.histories[link.to as usize].push((now, receiver.energy - lock.power));
                unlocked
            }
            _ => unlocked,
        };
        let turned_idle = self.receivers[link.to as usize].settle(now, self.reception.carrier_sense);
        Heard { power, what, turned_idle }
    }

    /// What the frame was that a node was decoding.
    #[inline]
    fn verdict(&mut self, node: u32, lock: &Lock, mpdus: &[Mpdu]) -> Signal {
        if self.judge.by_threshold() && self.reception.order != Capture::AnySignal {
            self.margins[node as usize].weigh(lock.power, lock.worst, self.reception.capture);
        }
        if lock.header == Header::Lost {
            return Signal::Bad { header_read: false };
        }
        let intact = if !lock.keeps_history && (!lock.intact || self.judge.is_plain()) {
            u64::from(lock.intact)
        } else {
            let frame = self.decoded(lock);
            if lock.header == Header::Open && !self.judge.reads_header(node, &frame, &self.histories[node as usize]) {
                return Signal::Bad { header_read: false };
            }
            self.judge.survivors(node, &frame, &self.histories[node as usize], &self.reception, mpdus)
        };
        if intact == 0 { Signal::Bad { header_read: true } } else { Signal::Good(intact) }
    }

    fn decoded(&self, lock: &Lock) -> Decoded {
        let Transmission { shape, bounds, .. } = self.air.get(lock.of);
        Decoded { shape, bounds, power: lock.power, worst: lock.worst, start: lock.start }
    }

    /// A frame that is in the air.
    pub(crate) fn frame(&self, of: Handle) -> F {
        self.air.get(of).frame
    }

    /// The last tail has passed: forgets the frame and returns it.
    pub(crate) fn clear(&mut self, of: Handle) -> F {
        let transmission = self.air.remove(of);
        self.receivers[transmission.from as usize].passing -= 1;
        transmission.frame
    }

    /// Does `node` decode a frame whose PHY header it has read?
    pub(crate) fn receives(&mut self, node: u32, now: Instant) -> bool {
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(node, now);
        }
        let Some(mut lock) = self.receivers[node as usize].lock else { return false };
        if now < lock.header_end {
            return false;
        }
        if lock.header == Header::Open {
            let frame = self.decoded(&lock);
            lock.header = self.judge.reads_header(node, &frame, &self.histories[node as usize]).into();
            self.receivers[node as usize].lock = Some(lock);
        }
        lock.header == Header::Read
    }

    /// Who hears a node that starts to send now, nearest first, and after how long.
    pub(crate) fn listeners(&self, node: u32) -> impl Iterator<Item = (u32, Duration)> {
        self.links.of(node).iter().map(|link| (link.to, link.delay))
    }

    /// The listeners of a node that can decode it.
    pub(crate) fn neighbours(&self, node: u32) -> impl Iterator<Item = u32> {
        self.links.of(node).iter().filter(|link| link.decodable).map(|link| link.to)
    }

    /// How long a signal takes from one node to another that hears it.
    pub(crate) fn delay(&self, from: u32, to: u32) -> Option<Duration> {
        self.links.of(from).iter().find(|link| link.to == to).map(|link| link.delay)
    }

    /// The chance that so many bits of a frame survive the noise from one node to another that hears it, by the mean power.
    pub(crate) fn chance_alone(&mut self, from: u32, to: u32, mode: Mode, bits: f64) -> Option<f64> {
        let power = self.links.of(from).iter().find(|link| link.to == to)?.power;
        Some(self.judge.chance_alone(mode, power, bits))
    }

    /// Do nodes move, so that links come and go?
    pub(crate) fn is_moving(&self) -> bool {
        self.links.are_moving()
    }

    /// No frame that is decoded ever takes longer on its way.
    pub(crate) fn longest_delay(&self) -> Duration {
        self.links.longest_delay()
    }

    /// How long `node` has sensed the medium busy since the statistics began.
    pub(crate) fn busy_time(&self, node: u32, now: Instant) -> Duration {
        self.busy_from_start(node, now) - self.busy_before[node as usize]
    }

    /// How long `node` has sensed the medium busy since the start of the run, own frames included.
    pub(crate) fn busy_from_start(&self, node: u32, now: Instant) -> Duration {
        let receiver = &self.receivers[node as usize];
        let running = if receiver.busy { now.since(receiver.busy_since) } else { Duration::ZERO };
        receiver.busy_time + running
    }

    /// How near the verdicts of every node were by the capture threshold (as a ratio) since the statistics began.
    pub(crate) fn margins(&self) -> (&[Margins], f64) {
        (&self.margins, self.reception.capture)
    }

    /// How long at least one node has been sending since the statistics began.
    pub(crate) fn on_air_time(&self, now: Instant) -> Duration {
        let running = if self.on_air > 0 { now.since(self.on_air_since) } else { Duration::ZERO };
        self.on_air_time + running
    }

    /// Counts busy time from now on.
    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.on_air_time = Duration::ZERO;
        self.on_air_since = now;
        self.margins.fill(Margins::default());
        for node in 0..self.busy_before.len() {
            self.busy_before[node] = self.busy_from_start(u32::try_from(node).expect("fewer than 2^32 nodes"), now);
        }
    }
}

/// The power with which a frame came; it leaves.
fn forget_power(powers: &mut Vec<(Handle, u64)>, of: Handle) -> u64 {
    let index = powers.iter().position(|&(frame, _)| frame == of).expect("what leaves has come");
    powers.swap_remove(index).1
}
