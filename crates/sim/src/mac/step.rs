//! How far a station's exchange and TXOP have come, and the state on which an exchange acts.

use super::buffer::{Assembly, Limits, Size};
use super::contention::Contention;
use super::held::{Attempt, Held};
use super::{Answer, BROADCAST, Conventions, Due, Frame, Kind, Rates};
use units::{Bytes, Duration, Instant};

/// What a station waits for before it can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Access to the medium, for a packet or to finish the back-off after the last one.
    Access,
    /// The end of a response (ACK, CTS or BlockAck) that the station sends.
    Responding,
    /// The end of the station's own frame.
    Sending,
    AwaitCts,
    /// The end of the SIFS after a CTS, or after an exchange in a TXOP that continues.
    Cleared,
    AwaitAck,
    AwaitBlockAck,
    /// Answers of several stations to this station's trigger for data or for the size of their queues.
    AwaitParts,
    /// Grants of T-MAC, until all asked stations have had time to answer.
    AwaitGrants,
}

impl Step {
    pub(super) fn awaits_response(self) -> bool {
        matches!(self, Self::AwaitAck | Self::AwaitCts | Self::AwaitBlockAck | Self::AwaitParts)
    }
}

/// What an exchange with several other stations decides at a deadline.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// The TXOP continues: the next step, the next deadline, and what is due.
    On(Step, Instant, Due),
    /// The exchange is over; `answered`: at least one station has answered.
    Over { answered: bool, answer: Answer },
}

/// Whether and how other stations were told of the data of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cleared {
    No,
    /// By a CTS to self, or by an earlier frame of this TXOP.
    Yes,
    /// By RTS and CTS.
    ByRts,
}

/// A transmission opportunity (TXOP) of the category that has won the medium.
#[derive(Debug)]
pub(crate) struct Txop {
    /// Limit of the TXOP; zero for one frame exchange.
    pub(super) limit: Duration,
    pub(super) end: Instant,
    pub(super) cleared: Cleared,
    /// Size of the frame for which the exchange was announced.
    pub(super) fixed: Option<Size>,
    /// End of the last exchange, when the TXOP continues if a fitting packet waits; `NEVER` if it cannot continue.
    pub(super) open_at: Instant,
}

impl Txop {
    /// Makes the state before the first TXOP.
    pub(super) fn none() -> Self {
        let (limit, end, open_at) = (Duration::ZERO, Instant::ZERO, Instant::NEVER);
        Self { limit, end, cleared: Cleared::No, fixed: None, open_at }
    }

    /// Begins a TXOP with this limit, which the station has just won.
    pub(super) fn begin(&mut self, now: Instant, limit: Duration) {
        (self.limit, self.end, self.cleared, self.fixed) = (limit, now + limit, Cleared::No, None);
    }

    /// True if the TXOP may continue after the frame exchange that is due.
    pub(crate) fn bursts(&self) -> bool {
        !self.limit.is_zero()
    }

    /// Ends the TXOP at the end of the last exchange, unless the next exchange fits into the rest of it.
    pub(crate) fn end_unless(&mut self, now: Instant, fits: impl FnOnce(Duration) -> bool) {
        if self.open_at == now && !fits(self.left(now)) {
            self.open_at = Instant::NEVER;
        }
    }

    /// Returns the remaining time; without a limit, the maximum.
    pub(super) fn left(&self, now: Instant) -> Duration {
        if self.bursts() { self.end.since(now) } else { Duration::MAX }
    }

    /// Returns how the frames in flight were sent.
    pub(super) fn attempt(&self) -> Attempt {
        if self.cleared == Cleared::ByRts { Attempt::Cleared } else { Attempt::Plain }
    }
}

/// The parts of a station that an exchange uses: the frames that it holds, its modes, its TXOP and its contention.
pub(crate) struct Context<'s> {
    pub(super) now: Instant,
    pub(super) address: u32,
    pub(super) held: &'s mut Held,
    pub(super) rates: &'s Rates,
    pub(super) txop: &'s mut Txop,
    pub(super) contention: &'s mut Contention,
    pub(super) rules: &'s Conventions,
}

impl Context<'_> {
    /// Makes a frame without data.
    pub(super) fn control(&self, kind: Kind, to: u32, reserves: Duration) -> Frame {
        let (from, category) = (self.address, self.held.holder);
        let announces = matches!(kind, Kind::Rts | Kind::Cts);
        let mode = if announces { self.rules.timing.announcing } else { self.rates.control_mode(to, self.rules) };
        Frame { kind, from, to, category, mode, reserves, sequence: 0, retry: false }
    }

    /// Returns the size of the frame that the host has assembled, or of the category's first frames within the limits.
    /// A single frame is sent whatever its length is.
    pub(super) fn settled(&mut self, assembly: Option<Assembly>, longest: Bytes) -> Size {
        if let Some(assembly) = &assembly {
            self.held.assembled(assembly);
            return assembly.size;
        }
        let buffer = self.held.present();
        if buffer.mpdus.len() == 1 {
            return self.rates.single(buffer.to, buffer.mpdus[0].psdu, self.rules);
        }
        buffer.select(&Limits { agreement: *self.rates.agreement(buffer.to, self.rules), longest })
    }

    /// Returns the receiver of the data that are due if others could share the PPDU with it.
    pub(crate) fn may_share(&self) -> Option<u32> {
        let buffer = self.held.present();
        let is_data = self.txop.fixed.is_none() && buffer.request.is_none() && !buffer.mpdus.is_empty();
        (is_data && buffer.to != BROADCAST && self.rates.shared_mode(buffer.to, self.rules).is_some())
            .then_some(buffer.to)
    }
}
