//! Progress of a station in an exchange and in its TXOP.

use super::buffer::Size;
use super::held::Attempt;
use super::{Answer, Due};
use units::{Duration, Instant};

/// Event for which a station's own transmissions wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Access to the medium: for a packet, or to finish the back-off after the last one.
    Access,
    /// The end of a response (ACK, CTS or BlockAck) that the station sends.
    Responding,
    /// The end of the station's own frame.
    Sending,
    AwaitCts,
    /// SIFS: after a CTS, or after an exchange in a TXOP that continues.
    Cleared,
    AwaitAck,
    AwaitBlockAck,
    /// Answers of several stations to the station's trigger for data or the size of their queues.
    AwaitParts,
    /// Grants of T-MAC, until the time of all asked stations is over.
    AwaitGrants,
}

impl Step {
    pub(super) fn awaits_response(self) -> bool {
        matches!(self, Self::AwaitAck | Self::AwaitCts | Self::AwaitBlockAck | Self::AwaitParts)
    }
}

/// Act of an exchange with several others at a deadline.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// The TXOP continues: the step, the next deadline, and the action that is due.
    On(Step, Instant, Due),
    /// The exchange is over; `answered`: at least one station has answered.
    Over { answered: bool, answer: Answer },
}

/// How the data of an exchange were protected by announcements to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cleared {
    No,
    /// Protected by a CTS to self, or by an earlier frame of this TXOP.
    Yes,
    /// By RTS and CTS.
    ByRts,
}

/// A transmission opportunity, of the category that has won the medium.
#[derive(Debug)]
pub(crate) struct Txop {
    /// The TXOP's limit; zero for one frame exchange.
    pub(super) limit: Duration,
    pub(super) end: Instant,
    pub(super) cleared: Cleared,
    /// The frame for which the exchange was announced.
    pub(super) fixed: Option<Size>,
    /// End of the last exchange, at which the TXOP continues if a fitting packet is offered; `NEVER` if it does not.
    pub(super) open_at: Instant,
}

impl Txop {
    /// The state before the first TXOP.
    pub(super) fn none() -> Self {
        let (limit, end, open_at) = (Duration::ZERO, Instant::ZERO, Instant::NEVER);
        Self { limit, end, cleared: Cleared::No, fixed: None, open_at }
    }

    /// Begins a TXOP, won now, of this limit.
    pub(super) fn begin(&mut self, now: Instant, limit: Duration) {
        (self.limit, self.end, self.cleared, self.fixed) = (limit, now + limit, Cleared::No, None);
    }

    /// True if the TXOP may continue after the frame exchange that is due.
    pub(crate) fn bursts(&self) -> bool {
        !self.limit.is_zero()
    }

    /// Ends the TXOP at the end of the last exchange, unless the whole next exchange fits into the rest of the TXOP.
    pub(crate) fn end_unless(&mut self, now: Instant, fits: impl FnOnce(Duration) -> bool) {
        if self.open_at == now && !fits(self.left(now)) {
            self.open_at = Instant::NEVER;
        }
    }

    /// Remaining time; without a limit, the maximum.
    pub(super) fn left(&self, now: Instant) -> Duration {
        if self.bursts() { self.end.since(now) } else { Duration::MAX }
    }

    /// Returns how the frames in flight were sent.
    pub(super) fn attempt(&self) -> Attempt {
        if self.cleared == Cleared::ByRts { Attempt::Cleared } else { Attempt::Plain }
    }
}
