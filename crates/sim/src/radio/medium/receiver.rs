//! A node's receiver: the power of signals at the node, and the frame that the node decodes.

use super::signal::{Heard, Passing, Signal, Transmission};
use crate::engine::Handle;
use crate::radio::reception::{Decoded, History, Judge};
use units::{Duration, Instant};

/// The frame that a node is decoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    pub(super) of: Handle,
    pub(super) power: u64,
    /// Largest power of other signals during the frame.
    pub(super) worst: u64,
    pub(super) start: Instant,
    /// End of the preamble: the node then knows that a frame has begun.
    pub(super) header_end: Instant,
    /// True if no other signal has come within the capture threshold. It is used if the threshold alone decides.
    pub(super) intact: bool,
    pub(super) header: Header,
    /// True if the history of interference is needed and recorded.
    pub(super) keeps_history: bool,
    /// The node whose trigger the frame [answers](crate::radio::Shape::answers).
    pub(super) answers: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// The PHY header was read so far; final after the end of the header.
    Read,
    Lost,
    /// An error model will decide.
    Open,
    /// The header is not read: the signal only occupies the receiver.
    Unsought,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    /// Sum of the powers of all frames that are at the receiver now.
    pub(super) energy: u64,
    pub(super) lock: Option<Lock>,
    pub(super) sending: bool,
    /// Number of the node's own frames that have not left all listeners yet.
    pub(super) passing: u32,
    pub(super) busy: bool,
    pub(super) busy_since: Instant,
    pub(super) busy_time: Duration,
}

/// The strongest frame that has begun while the receiver listens for preambles.
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
    /// Returns the frame as input of an error model. `noise`: the receiver's noise relative to the usual noise.
    pub(super) fn decoded<F>(&self, frame: &Transmission<F>, noise: f64) -> Decoded {
        let &Transmission { from, shape, bounds, .. } = frame;
        let &Self { power, worst, start, .. } = self;
        Decoded { shape, bounds: bounds.louder(noise), power, worst, start, from }
    }
}

impl From<bool> for Header {
    fn from(read: bool) -> Self {
        if read { Self::Read } else { Self::Lost }
    }
}

impl Receiver {
    /// Starts at `now` to decode a frame that began at `start`.
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
            // Interference with an earlier frame does not count against this one.
            history.clear();
        }
        let header_end = start + frame.header;
        let header = if by_ratio { Header::Open } else { Header::Read };
        let answers = frame.shape.answers;
        self.lock =
            Some(Lock { of, power, worst: others, start, header_end, intact: true, header, keeps_history, answers });
    }

    /// Records that the interference has changed, if a frame is being decoded.
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

    /// Returns the kind of a signal that is not decoded at this receiver.
    pub(super) fn unlocked(&self, power: u64, carrier_sense: u64) -> Signal {
        if !self.sending && power >= carrier_sense { Signal::Noise } else { Signal::Nothing }
    }

    /// Adds a signal that is not decoded at the receiver. True if the medium became busy.
    #[inline]
    pub(super) fn is_met(&mut self, power: u64, history: &mut History, now: Instant, carrier_sense: u64) -> bool {
        self.energy += power;
        self.disturbed(history, now);
        self.settle(now, carrier_sense)
    }

    /// Removes a signal that was not decoded at the receiver.
    #[inline]
    pub(super) fn is_left(&mut self, power: u64, history: &mut History, now: Instant, carrier_sense: u64) -> Heard {
        self.energy -= power;
        self.disturbed(history, now);
        Heard { power, what: self.unlocked(power, carrier_sense), turned_idle: self.settle(now, carrier_sense) }
    }

    /// Updates whether the medium is busy at the receiver. True if that has changed.
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
