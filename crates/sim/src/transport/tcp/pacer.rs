//! Pacing: data leave in bursts, as far apart as a rate says. A sender whose window has no rate never waits.

use units::{Duration, Instant};

/// Rate of sending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Octets per second, above zero.
    pub(crate) rate: f64,
    /// Octets that may be sent at once.
    pub(crate) quantum: u64,
}

impl Pace {
    /// Octets sent within a time.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(super) fn within(&self, time: Duration) -> u64 {
        (self.rate * time.as_secs_f64()) as u64
    }
}

#[derive(Debug)]
pub(super) struct Pacer {
    /// Time at which the next burst may begin.
    next: Instant,
    /// Octets that may still be sent in the present burst.
    left: u64,
    /// The time at which a sender that waits for the next burst is called.
    pub(super) deadline: Instant,
}

impl Pacer {
    pub(super) const fn new() -> Self {
        Self { next: Instant::ZERO, left: 0, deadline: Instant::NEVER }
    }

    /// True if no data may be sent before [`Self::deadline`].
    pub(super) fn waits(&mut self, now: Instant) -> bool {
        if self.left == 0 && now < self.next && self.deadline == Instant::NEVER {
            self.deadline = self.next;
        }
        self.deadline != Instant::NEVER
    }

    /// Records that octets of data were sent.
    pub(super) fn send(&mut self, now: Instant, octets: u64, pace: Pace) {
        if now >= self.next {
            (self.next, self.left) = (now, pace.quantum);
        }
        self.left = self.left.saturating_sub(octets);
        self.next += Duration::from_secs_f64(octets as f64 / pace.rate);
        debug_assert!(self.next >= now);
    }

    /// Ends a wait that is over.
    pub(super) fn wake(&mut self, now: Instant) {
        if self.deadline <= now {
            self.deadline = Instant::NEVER;
        }
    }
}
