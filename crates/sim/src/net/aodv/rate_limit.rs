//! Rate limits of route requests and errors.

use std::collections::VecDeque;
use units::{Duration, Instant};

/// Limit of messages in any second (`RREQ_RATELIMIT`, `RERR_RATELIMIT`).
#[derive(Debug)]
pub(super) struct RateLimit {
    most: usize,
    last: VecDeque<Instant>,
}

impl RateLimit {
    pub(super) fn new(most: u8) -> Self {
        let most = usize::from(most);
        Self { most, last: VecDeque::with_capacity(most) }
    }

    /// Returns the time at which the next may be sent, at the earliest.
    pub(super) fn next(&self, now: Instant) -> Instant {
        match self.last.front() {
            Some(&first) if self.last.len() == self.most => now.max(first + Duration::from_secs(1)),
            _ => now,
        }
    }

    pub(super) fn count(&mut self, now: Instant) {
        if self.last.len() == self.most {
            self.last.pop_front();
        }
        self.last.push_back(now);
    }
}
