//! Admission control at a flow's source. A gate decides about a flow, a [`Controller`](crate::Controller) about a
//! queue. A gate is told of events as they happen.

use units::{Instant, Rate};

/// Decides at a flow's source whether the flow may send as real time. A gate does no I/O, reads no clock and panics on
/// no input.
///
/// The host carries probes and answers: as packets in the simulator, as UDP in a live agent. A probe goes to the flow's
/// destination. Each node on the path lowers the probe's bottleneck to the rate that the node can still admit
/// ([`Scheme::available`](crate::Scheme::available)). The destination returns the bottleneck with the probe's number.
/// If it receives marked packets, it asks the source to *regulate*. After each call the host executes the [`Act`]. It
/// calls [`elapsed`](Self::elapsed) at the [`deadline`](Self::deadline). Calls come in order of time.
pub trait Gate {
    /// Handles the application's request to send at `rate`, in network-layer bytes. A request replaces earlier ones.
    fn open(&mut self, now: Instant, rate: Rate) -> Act;

    /// Handles an answer to a probe: the number of the probe, and the smallest rate that a node on the path can still
    /// admit. Forged or late answers, whose number is not the last probe's, change nothing.
    fn answered(&mut self, now: Instant, number: u64, bottleneck: Rate) -> Act;

    /// Handles the destination's request to regulate.
    fn regulated(&mut self, now: Instant) -> Act;

    /// Returns the time at which to call [`elapsed`](Self::elapsed); [`Instant::NEVER`] if no timer runs.
    fn deadline(&self) -> Instant;

    /// Handles the deadline. A call before the deadline does nothing.
    fn elapsed(&mut self, now: Instant) -> Act;

    /// True if the flow may send as real time.
    fn is_admitted(&self) -> bool;

    /// True if the flow was recently admitted. Its packets then carry a mark, so that a congested node can choose them.
    fn is_new(&self, now: Instant) -> bool;
}

/// Action that the host carries out for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Change nothing.
    Keep,
    /// Send a probe at once; meanwhile the flow continues unchanged.
    Probe {
        /// Number of the probe, returned in the answer.
        number: u64,
    },
    /// Send the flow's packets as real time from now on.
    Admit,
    /// Send the flow as best effort from now on, or stop the flow, as the application has chosen.
    Refuse,
}
