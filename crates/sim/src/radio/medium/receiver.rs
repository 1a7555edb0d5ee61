//! A node's receiver: what is there, and which frame it decodes.

use super::signal::{Heard, Passing, Signal, Transmission};
use crate::engine::Handle;
use crate::radio::reception::{Decoded, History, Judge};
use units::{Duration, Instant};

/// The frame that a node is decoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    pub(super) of: Handle,
    pub(super) power: u64,
    /// The most power that others ever had meanwhile.
    pub(super) worst: u64,
    pub(super) start: Instant,
    /// End of the preamble: the node then knows that a frame has begun.
    pub(super) header_end: Instant,
    /// Others have not come near yet; by the capture threshold alone.
    pub(super) intact: bool,
    pub(super) header: Header,
    /// The interference in the meantime matters, and is kept.
    pub(super) keeps_history: bool,
}

/// Whether a PHY header was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// So far, or for good once it is over.
    Read,
    Lost,
    /// An error model has to say.
    Open,
    /// Nobody looks for one: the signal only holds the receiver.
    Unsought,
}

/// A node's receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    /// Sum of the powers of all frames that are here now.
    pub(super) energy: u64,
    pub(super) lock: Option<Lock>,
    pub(super) sending: bool,
    /// Own frames that have not yet left all listeners.
    pub(super) passing: u32,
    pub(super) busy: bool,
    pub(super) busy_since: Instant,
    pub(super) busy_time: Duration,
}

/// The strongest frame that has begun while a receiver listens for preambles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preamble {
    pub(super) of: Handle,
    pub(super) power: u64,
    pub(super) start: Instant,
}

/// A signal that begins at a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'a, F> {
    pub(super) frame: Passing<'a, F>,
    pub(super) node: u32,
    pub(super) power: u64,
    pub(super) decodable: bool,
}

impl Lock {
    /// What an error model has to know of the frame.
    pub(super) fn decoded<F>(&self, frame: &Transmission<F>) -> Decoded {
        let &Transmission { shape, bounds, .. } = frame;
        Decoded { shape, bounds, power: self.power, worst: self.worst, start: self.start }
    }
}

impl From<bool> for Header {
    fn from(read: bool) -> Self {
        if read { Self::Read } else { Self::Lost }
    }
}

impl Receiver {
    /// Decodes a frame that began at `start`, from `now` on.
    #[inline]
    pub(super) fn lock<F>(
        &mut self,
        judge: &Judge,
        history: &mut History,
        of: Handle,
        frame: &Transmission<F>,
        power: u64,
        (start, now): (Instant, Instant),
    ) {
        let by_ratio = judge.by_ratio();
        let keeps_history = by_ratio || frame.shape.aggregate;
        let others = self.energy - power;
        if keeps_history {
            history.clear();
            history.push((now, others));
        } else if !judge.is_plain() {
            // What disturbed an earlier frame is not held against this one.
            history.clear();
        }
        let header_end = start + frame.header;
        let header = if by_ratio { Header::Open } else { Header::Read };
        self.lock = Some(Lock { of, power, worst: others, start, header_end, intact: true, header, keeps_history });
    }

    /// What else is here while a frame is decoded, if one is, has changed.
    #[inline]
    pub(super) fn disturbed(&mut self, history: &mut History, now: Instant) {
        if let Some(lock) = &mut self.lock {
            let others = self.energy - lock.power;
            lock.worst = lock.worst.max(others);
            if lock.keeps_history {
                history.push((now, others));
            }
        }
    }

    /// What a signal was that is not decoded here.
    #[inline]
    pub(super) fn unlocked(&self, power: u64, carrier_sense: u64) -> Signal {
        if !self.sending && power >= carrier_sense { Signal::Noise } else { Signal::Nothing }
    }

    /// A signal begins that is not decoded here. True if the medium was idle and is now busy.
    #[inline]
    pub(super) fn is_met(&mut self, power: u64, history: &mut History, now: Instant, carrier_sense: u64) -> bool {
        self.energy += power;
        self.disturbed(history, now);
        self.settle(now, carrier_sense)
    }

    /// A signal is over that was not decoded here.
    #[inline]
    pub(super) fn is_left(&mut self, power: u64, history: &mut History, now: Instant, carrier_sense: u64) -> Heard {
        self.energy -= power;
        self.disturbed(history, now);
        Heard { power, what: self.unlocked(power, carrier_sense), turned_idle: self.settle(now, carrier_sense) }
    }

    /// Recomputes whether the medium is busy here; true if that changed.
    #[inline]
    pub(super) fn settle(&mut self, now: Instant, carrier_sense: u64) -> bool {
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
