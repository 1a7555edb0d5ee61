//! Start, progress and end of loss recovery (RFC 5681, 3.2; RFC 6582; RFC 6675, section 5). This module only decides;
//! the sender acts.

use super::{Recovery, scoreboard::DUP_THRESH};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No loss is known.
    Open,
    /// Fast recovery, until the octets below `point` are acknowledged.
    Fast { point: u64, partial: bool },
    /// Slow start after a timeout, until the octets below `point` are acknowledged.
    TimedOut { point: u64 },
}

/// Meaning of a duplicate acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicate {
    /// Nothing to do.
    Pass,
    /// A segment is lost: fast retransmit.
    Loss,
    /// One more segment has left the network during fast recovery.
    Departure,
}

/// Meaning of a new acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The window may grow.
    Normal,
    /// Recovery continues; SACK options determine the next retransmission.
    Continue,
    /// Recovery continues with the first unacknowledged segment, up to `point`; `first`: this recovery's first time.
    Partial { first: bool, point: u64 },
    /// Fast recovery is over.
    Over,
}

#[derive(Debug)]
pub(super) struct LossRecovery {
    flavour: Recovery,
    phase: Phase,
    /// Duplicate acknowledgements since the last new one.
    duplicates: u32,
    /// Duplicates start a recovery only if more than this number is acknowledged (RFC 6582, 3.2: `recover`).
    recover: u64,
}

impl LossRecovery {
    pub(super) fn new(flavour: Recovery) -> Self {
        Self { flavour, phase: Phase::Open, duplicates: 0, recover: 0 }
    }

    pub(super) fn is_fast(&self) -> bool {
        matches!(self.phase, Phase::Fast { .. })
    }

    /// In slow start after a timeout.
    pub(super) fn is_timed_out(&self) -> bool {
        matches!(self.phase, Phase::TimedOut { .. })
    }

    /// Duplicate acknowledgements since the last new one, up to the number that indicates a loss.
    pub(super) fn duplicates(&self) -> u64 {
        self.duplicates.min(DUP_THRESH).into()
    }

    /// Retransmissions are limited to numbers below this; `None`: no retransmissions.
    pub(super) fn repeat_below(&self) -> Option<u64> {
        match self.phase {
            Phase::Open => None,
            // Without SACK, fast recovery repeats first segments only, as `Duplicate::Loss` and `Progress::Partial` say.
            Phase::Fast { .. } => (self.flavour == Recovery::Sack).then_some(u64::MAX),
            Phase::TimedOut { point } => Some(point),
        }
    }

    /// Segments beyond the window that limited transmit allows now (RFC 3042); with SACK, the pipe allows them (RFC
    /// 6675, 5, step 3).
    pub(super) fn limited_transmit(&self) -> u64 {
        let open = self.phase == Phase::Open && self.flavour != Recovery::Sack;
        if open { u64::from(self.duplicates.min(DUP_THRESH - 1)) } else { 0 }
    }

    /// True if no duplicate acknowledgement or recovery makes the octets sent differ from those in the network.
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Handles a duplicate acknowledgement of `una`; `lost`: SACK options indicate that its segment is lost; `nxt` is
    /// the next new octet.
    pub(super) fn duplicate(&mut self, una: u64, nxt: u64, lost: bool) -> Duplicate {
        match self.phase {
            Phase::TimedOut { .. } => return Duplicate::Pass,
            Phase::Fast { .. } => return Duplicate::Departure,
            Phase::Open => self.duplicates += 1,
        }
        if una <= self.recover || !(lost || self.duplicates >= DUP_THRESH) {
            return Duplicate::Pass;
        }
        self.phase = Phase::Fast { point: nxt, partial: false };
        if self.flavour == Recovery::NewReno {
            self.recover = nxt;
        }
        debug_assert!(una < nxt, "something is outstanding");
        debug_assert!(self.recover <= nxt);
        Duplicate::Loss
    }

    /// Handles losses detected by time (RFC 8985), perhaps including a lost `repetition`; `nxt` is the next new octet.
    /// True if a fast recovery begins. After a timeout a fast recovery begins, as in Linux, when a later retransmission
    /// is lost again.
    pub(super) fn begin_by_time(&mut self, nxt: u64, repetition: bool) -> bool {
        let begins = match self.phase {
            Phase::Open => true,
            Phase::Fast { .. } => false,
            Phase::TimedOut { .. } => repetition,
        };
        if begins {
            self.phase = Phase::Fast { point: nxt, partial: false };
        }
        debug_assert!(self.is_fast() || self.is_timed_out());
        begins
    }

    /// Handles the first acknowledgement of all octets below `una`.
    pub(super) fn progress(&mut self, una: u64) -> Progress {
        self.duplicates = 0;
        match self.phase {
            Phase::Open => Progress::Normal,
            Phase::TimedOut { point } => {
                if una >= point {
                    self.phase = Phase::Open;
                }
                Progress::Normal
            }
            Phase::Fast { point, .. } if una >= point || self.flavour == Recovery::Reno => {
                self.phase = Phase::Open;
                Progress::Over
            }
            Phase::Fast { .. } if self.flavour == Recovery::Sack => Progress::Continue,
            Phase::Fast { point, partial } => {
                self.phase = Phase::Fast { point, partial: true };
                Progress::Partial { first: !partial, point }
            }
        }
    }

    /// Handles a timeout, with `nxt` the next new octet (RFC 6582, 3.2, step 4; RFC 6675, 5.1).
    pub(super) fn time_out(&mut self, nxt: u64) {
        self.duplicates = 0;
        self.phase = Phase::TimedOut { point: nxt };
        if self.flavour != Recovery::Sack {
            self.recover = nxt;
        }
        debug_assert!(self.is_timed_out() && self.recover <= nxt);
    }
}
