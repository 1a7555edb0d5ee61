//! Admission control at a flow's source. Unlike a [`Controller`](crate::Controller) a gate decides about a flow, not a
//! queue, and is told events as they happen.

use units::{Instant, Rate};

/// Decides at a flow's source whether the flow may send as real time. Like a controller it is a value: it does no I/O,
/// reads no clock and panics on no input.
///
/// The host carries probes and answers: simulated as packets, live as UDP. A probe goes to the flow's destination; each
/// node on the path lowers its bottleneck to the rate that it can still admit
/// ([`Scheme::available`](crate::Scheme::available)), and the destination returns the bottleneck with the probe's
/// number. A destination that receives marked packets asks the source to *regulate*. After each call the host executes
/// the [`Act`], and calls [`elapsed`](Self::elapsed) at the [`deadline`](Self::deadline). Calls come in order of time.
pub trait Gate {
    /// Handles the application's request to send at this rate, in network-layer bytes. It replaces earlier requests.
    fn open(&mut self, now: Instant, rate: Rate) -> Act;

    /// Handles an answer to a probe: the number of the probe, and the smallest rate that a node on the path can still
    /// admit. Answers to any probe but the last, whether forged or late, change nothing.
    fn answered(&mut self, now: Instant, number: u64, bottleneck: Rate) -> Act;

    /// Handles the destination's request to regulate.
    fn regulated(&mut self, now: Instant) -> Act;

    /// Returns the time at which to call [`elapsed`](Self::elapsed); [`Instant::NEVER`] if no timer runs.
    fn deadline(&self) -> Instant;

    /// Handles the deadline. Before this time, a call does nothing.
    fn elapsed(&mut self, now: Instant) -> Act;

    /// True if the flow may send as real time.
    fn is_admitted(&self) -> bool;

    /// True if the flow was recently admitted. Packets then carry this mark, by which a congested node may choose.
    fn is_new(&self, now: Instant) -> bool;
}

/// Action that the host carries out for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Change nothing.
    Keep,
    /// Send a probe at once; the flow continues unchanged meanwhile.
    Probe {
        /// Number of the probe, returned in the answer.
        number: u64,
    },
    /// Send the flow's packets as real time from now on.
    Admit,
    /// Send the flow as best effort from now on, or stop the flow, as the application has chosen.
    Refuse,
}
