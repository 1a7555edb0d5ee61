//! Delivery rate of a connection (draft-cheng-iccrg-delivery-rate-estimation): the octets that arrived between the
//! transmission of a segment and its acknowledgement, per the longer of the times in which they were sent and acknowledged.

use super::Block;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Octets that were last sent together, and the connection's state at that time.
#[derive(Clone, Copy, Debug)]
struct Sent {
    block: Block,
    /// `P.sent_time`.
    at: Instant,
    repeated: bool,
    /// `P.first_sent_time`.
    first: Instant,
    /// `P.delivered`.
    delivered: u64,
    /// `P.delivered_time`.
    delivered_at: Instant,
    /// `P.is_app_limited`.
    limited: bool,
}

/// The rate sample of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Octets delivered when the newest acknowledged segment was sent (`rs.prior_delivered`).
    pub(crate) prior_delivered: u64,
    /// Octets delivered since (`rs.delivered`), above zero.
    pub(crate) delivered: u64,
    /// Time in which they were delivered (`rs.interval`).
    pub(crate) interval: Duration,
    /// True if the sender lacked data, so that the rate may be below that of the path (`rs.is_app_limited`).
    pub(crate) limited: bool,
    /// Round-trip time of the newest acknowledged segment, if it was sent once.
    pub(crate) rtt: Option<Duration>,
}

/// Deliveries of a connection.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// Outstanding octets without gaps, by number.
    sent: VecDeque<Sent>,
    /// Octets delivered so far (`C.delivered`).
    pub(super) delivered: u64,
    /// `C.delivered_time`.
    delivered_at: Instant,
    /// `C.first_sent_time`.
    first: Instant,
    /// Until more than this number of octets is delivered, samples are limited by a lack of data (`C.app_limited`).
    limited_to: Option<u64>,
    /// The most recently sent octets of this acknowledgement.
    newest: Option<Sent>,
}

impl Delivery {
    /// Records that octets are sent: either the first octets not yet sent, or repetitions.
    pub(super) fn send(&mut self, block: Block, now: Instant) {
        if self.sent.is_empty() {
            (self.first, self.delivered_at) = (now, now);
        }
        let &mut Self { first, delivered, delivered_at, limited_to, .. } = self;
        let sent =
            Sent { block, at: now, repeated: false, first, delivered, delivered_at, limited: limited_to.is_some() };
        for index in self.within(block) {
            self.sent[index] = Sent { block: self.sent[index].block, repeated: true, ..sent };
        }
        let start = self.sent.back().map_or(block.start, |last| last.block.end.max(block.start));
        if start < block.end {
            self.sent.push_back(Sent { block: Block { start, ..block }, ..sent });
        }
    }

    /// Records that `block` has arrived; no part of it had already arrived.
    pub(super) fn arrive(&mut self, block: Block, now: Instant) {
        self.delivered += block.len();
        self.delivered_at = now;
        for sent in self.sent.range(self.within(block)) {
            if self.newest.is_none_or(|newest| (sent.at, sent.block.end) > (newest.at, newest.block.end)) {
                self.newest = Some(*sent);
            }
        }
    }

    /// Records that all octets below `una` are acknowledged.
    pub(super) fn acknowledge(&mut self, una: u64) {
        while self.sent.front().is_some_and(|sent| sent.block.end <= una) {
            self.sent.pop_front();
        }
    }

    /// Marks the `pipe` octets in the network, and those sent until these are delivered, as application-limited.
    pub(super) fn limit(&mut self, pipe: u64) {
        self.limited_to = Some(self.delivered + pipe);
    }

    /// Ends an acknowledgement. Returns its sample, if it acknowledged anything for the first time.
    pub(super) fn sample(&mut self, now: Instant) -> Option<Sample> {
        self.limited_to = self.limited_to.filter(|&end| self.delivered <= end);
        let Sent { at, repeated, first, delivered, delivered_at, limited, .. } = self.newest.take()?;
        self.first = at;
        debug_assert!(first <= at && at <= now && delivered < self.delivered);
        Some(Sample {
            prior_delivered: delivered,
            delivered: self.delivered - delivered,
            interval: at.since(first).max(now.since(delivered_at)),
            limited,
            rtt: (!repeated).then(|| now.since(at)),
        })
    }

    /// Range of indices of the octets of `block` in [`Self::sent`].
    fn within(&self, block: Block) -> std::ops::Range<usize> {
        let first = self.sent.partition_point(|sent| sent.block.end <= block.start);
        first..first + self.sent.range(first..).take_while(|sent| sent.block.start < block.end).count()
    }
}

#[cfg(test)]
#[path = "tests/delivery.rs"]
mod tests;
