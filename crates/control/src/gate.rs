//! Admission at a flow's source. It is no [`Controller`](crate::Controller): it decides about a flow, not about a queue, and it
//! is told what happens as it happens.

use units::{Instant, Rate};

/// Decides at a flow's source whether the flow may send as real time. It is a value like a controller: it does no I/O, reads no
/// clock and panics on no input.
///
/// The host carries probes and answers, in the simulator as packets, live as UDP. A probe travels to the flow's destination;
/// each node on the way lowers its bottleneck to what it can still admit itself
/// ([`Controller::available`](crate::Controller::available)), and the destination sends it back with the probe's number. A
/// destination that gets marked packets tells the source to *regulate*. After each call the host carries out the [`Act`], and
/// it calls [`elapsed`](Self::elapsed) at the [`deadline`](Self::deadline). Calls must come in order of time.
pub trait Gate {
    /// The application wants to send at this rate, in network-layer bytes. An earlier wish is forgotten, an admission too.
    fn open(&mut self, now: Instant, rate: Rate) -> Act;

    /// An answer has come back: the number of its probe, and the least that a node on the path can still admit. Answers to
    /// other probes than the last one, forged or late, change nothing.
    fn answered(&mut self, now: Instant, number: u64, bottleneck: Rate) -> Act;

    /// The destination asks to regulate.
    fn regulated(&mut self, now: Instant) -> Act;

    /// When to call [`elapsed`](Self::elapsed); [`Instant::NEVER`] where nothing is waited for.
    fn deadline(&self) -> Instant;

    /// Time has passed. Before the deadline nothing happens.
    fn elapsed(&mut self, now: Instant) -> Act;

    /// May the flow send as real time?
    fn is_admitted(&self) -> bool;

    /// Was the flow admitted a short time ago? Its packets say so, and a congested node can mark them before others.
    fn is_new(&self, now: Instant) -> bool;
}

/// What becomes of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The flow goes on as it is.
    Keep,
    /// A probe is sent at once; the flow goes on as it is meanwhile.
    Probe {
        /// It comes back in the answer.
        number: u64,
    },
    /// From now on its packets are real time.
    Admit,
    /// From now on it sends as best effort, or stops, as the application has said.
    Refuse,
}
