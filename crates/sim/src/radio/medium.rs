//! The air: which powers add up at which node, and which frame survives there.
//!
//! A frame reaches its listeners one after another, nearest first, as a *front* (it begins there) and a *tail* (it ends
//! there). A node decodes the first frame that begins strong enough above everything else while the node neither sends
//! nor decodes; that frame is lost if the sum of all others ever comes within the capture threshold of it.

use super::{Links, Reception};
use crate::engine::{Arena, Handle};
use units::{Duration, Instant};

#[cfg(test)]
mod tests;

/// A frame in the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission<F> {
    pub(crate) from: u32,
    pub(crate) frame: F,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    /// Preamble and PHY header: when they are over, a listener knows that a frame has begun.
    header: Duration,
}

/// The frame that a node is decoding.
#[derive(Clone, Copy, Debug)]
struct Lock {
    of: Handle,
    power: u64,
    header_end: Instant,
    intact: bool,
    header_intact: bool,
}

/// A node's receiver.
#[derive(Clone, Debug, Default)]
struct Receiver {
    /// Sum of the powers of all frames that are here now.
    energy: u64,
    lock: Option<Lock>,
    sending: bool,
    /// Own frames that have not yet left all listeners.
    passing: u32,
    busy: bool,
    busy_since: Instant,
    busy_time: Duration,
}

/// What a front brought to a listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub(crate) node: u32,
    /// The medium was idle and is now busy.
    pub(crate) turned_busy: bool,
}

/// What a tail left at a listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard<F> {
    pub(crate) node: u32,
    pub(crate) what: Signal<F>,
    /// The medium was busy and is now idle.
    pub(crate) turned_idle: bool,
}

/// What a signal was to a listener, once it is over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal<F> {
    /// A frame, intact.
    Good(F),
    /// A frame that was spoilt; whether its PHY header could still be read.
    Bad { header_read: bool },
    /// Strong enough to be sensed, but never decoded.
    Noise,
    /// Not noticed: too weak, or the node itself was sending.
    Nothing,
}

/// The air between all nodes.
pub(crate) struct Medium<F> {
    links: Links,
    reception: Reception,
    receivers: Vec<Receiver>,
    air: Arena<Transmission<F>>,
    on_air: u32,
    on_air_since: Instant,
    on_air_time: Duration,
}

impl<F: Copy> Medium<F> {
    /// A silent medium.
    pub(crate) fn new(links: Links) -> Self {
        Self {
            receivers: vec![Receiver::default(); links.nodes()],
            reception: links.reception(),
            links,
            air: Arena::default(),
            on_air: 0,
            on_air_since: Instant::ZERO,
            on_air_time: Duration::ZERO,
        }
    }

    /// Node `from` starts to send. What it was decoding is lost: it is half-duplex. True if its medium was idle.
    pub(crate) fn start(&mut self, from: u32, frame: F, now: Instant, times: (Duration, Duration)) -> (Handle, bool) {
        let (duration, header) = times;
        let receiver = &mut self.receivers[from as usize];
        debug_assert!(!receiver.sending, "a node sends one frame at a time");
        receiver.sending = true;
        receiver.lock = None;
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
        (self.air.insert(Transmission { from, frame, start: now, end: now + duration, header }), turned_busy)
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

    /// When the front of a frame reaches its `index`-th listener; `None` after the last.
    #[inline]
    pub(crate) fn front_time(&self, of: Handle, index: u32) -> Option<Instant> {
        let transmission = self.air.get(of);
        let link = self.links.of(transmission.from).get(index as usize)?;
        Some(transmission.start + link.delay)
    }

    /// When its tail does.
    #[inline]
    pub(crate) fn tail_time(&self, of: Handle, index: u32) -> Option<Instant> {
        let transmission = self.air.get(of);
        let link = self.links.of(transmission.from).get(index as usize)?;
        Some(transmission.end + link.delay)
    }

    /// The front of a frame reaches its `index`-th listener.
    #[inline]
    pub(crate) fn front(&mut self, of: Handle, index: u32, now: Instant) -> Reach {
        let transmission = self.air.get(of);
        let link = self.links.of(transmission.from)[index as usize];
        let receiver = &mut self.receivers[link.to as usize];
        receiver.energy += link.power;
        if let Some(lock) = &mut receiver.lock {
            if !self.reception.captures(lock.power, receiver.energy) {
                lock.intact = false;
                lock.header_intact &= now >= lock.header_end;
            }
        } else if !receiver.sending && link.decodable && self.reception.captures(link.power, receiver.energy) {
            let header_end = now + transmission.header;
            receiver.lock = Some(Lock { of, power: link.power, header_end, intact: true, header_intact: true });
        }
        Reach { node: link.to, turned_busy: receiver.settle(now, self.reception.carrier_sense) }
    }

    /// The tail of a frame leaves its `index`-th listener.
    #[inline]
    pub(crate) fn tail(&mut self, of: Handle, index: u32, now: Instant) -> Heard<F> {
        let transmission = self.air.get(of);
        let link = self.links.of(transmission.from)[index as usize];
        let receiver = &mut self.receivers[link.to as usize];
        receiver.energy -= link.power;
        let what = match receiver.lock {
            Some(lock) if lock.of == of => {
                receiver.lock = None;
                if lock.intact {
                    Signal::Good(transmission.frame)
                } else {
                    Signal::Bad { header_read: lock.header_intact }
                }
            }
            _ if receiver.sending || link.power < self.reception.carrier_sense => Signal::Nothing,
            _ => Signal::Noise,
        };
        Heard { node: link.to, what, turned_idle: receiver.settle(now, self.reception.carrier_sense) }
    }

    /// The last tail has passed: forgets the frame and returns it.
    pub(crate) fn clear(&mut self, of: Handle) -> F {
        let transmission = self.air.remove(of);
        self.receivers[transmission.from as usize].passing -= 1;
        transmission.frame
    }

    /// Does `node` decode a frame whose PHY header it has read?
    pub(crate) fn receives(&self, node: u32, now: Instant) -> bool {
        self.receivers[node as usize].lock.is_some_and(|lock| lock.header_intact && now >= lock.header_end)
    }

    /// The listeners of a node that can decode it.
    pub(crate) fn neighbours(&self, node: u32) -> impl Iterator<Item = u32> {
        self.links.of(node).iter().filter(|link| link.decodable).map(|link| link.to)
    }

    /// How long a signal takes from one node to another that hears it.
    pub(crate) fn delay(&self, from: u32, to: u32) -> Option<Duration> {
        self.links.of(from).iter().find(|link| link.to == to).map(|link| link.delay)
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
        let receiver = &self.receivers[node as usize];
        let running = if receiver.busy { now.since(receiver.busy_since) } else { Duration::ZERO };
        receiver.busy_time + running
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
        for receiver in &mut self.receivers {
            receiver.busy_time = Duration::ZERO;
            receiver.busy_since = now;
        }
    }
}

impl Reception {
    /// Does a signal of this power stand out, where all signals together have that energy?
    #[inline]
    fn captures(&self, power: u64, energy: u64) -> bool {
        energy == power || power as f64 >= (energy - power) as f64 * self.capture
    }
}

impl Receiver {
    /// Recomputes whether the medium is busy here; true if that changed.
    #[inline]
    fn settle(&mut self, now: Instant, carrier_sense: u64) -> bool {
        let busy = self.sending || self.lock.is_some() || self.energy >= carrier_sense;
        if busy == self.busy {
            return false;
        }
        self.busy = busy;
        if busy {
            self.busy_since = now;
        } else {
            self.busy_time += now.since(self.busy_since);
        }
        true
    }
}
