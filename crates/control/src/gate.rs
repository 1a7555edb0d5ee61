//! Admission at a flow's source. It is no [`Controller`](crate::Controller): it is asked for each flow, not for each interval,
//! and the host carries its probes, in the simulator as packets, live as UDP.

use units::{Duration, Rate};

/// Decides at a flow's source whether the flow may send as real time.
pub trait Gate {
    /// The application wants to send at this rate.
    fn open(&mut self, rate: Rate) -> Act;

    /// The probe has come back with the least that a node of the path can still admit.
    fn answered(&mut self, bottleneck: Rate) -> Act;

    /// No answer came within the patience of [`Act::Probe`].
    fn unanswered(&mut self) -> Act;

    /// The destination got a marked packet. `draw` is uniform from 0 to 1.
    fn regulated(&mut self, draw: f64) -> Act;
}

/// What becomes of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing changes.
    Keep,
    /// A probe is sent; the flow goes on as it is meanwhile.
    Probe {
        /// So long from now.
        after: Duration,
        /// How long to wait for the answer.
        patience: Duration,
    },
    /// Its packets are real time.
    Admit,
    /// It stops, or sends as best effort.
    Refuse,
}
