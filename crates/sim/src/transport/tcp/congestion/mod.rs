//! The congestion window: slow start, and one law per file for congestion avoidance.

mod bbr;
mod bqm;
mod cubic;
mod prague;
mod reno;
mod window;

pub(crate) use prague::Heard;
pub(crate) use window::Window;

use super::Sample;
use units::{Duration, Instant};

/// An acknowledgement as the congestion window uses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) now: Instant,
    pub(crate) srtt: Option<Duration>,
    /// Octets newly acknowledged, without octets that were already SACKed.
    pub(crate) acked: u64,
    /// True if only the congestion window limited the sender.
    pub(crate) limited: bool,
    /// True if the octets were outstanding when the retransmission timer expired.
    pub(crate) timed_out: bool,
}

/// An acknowledgement as a model of the path uses it. Numbers are octets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) now: Instant,
    pub(crate) sample: Option<Sample>,
    /// Delivered so far.
    pub(crate) delivered: u64,
    /// Newly delivered, in order or by SACK.
    pub(crate) acked: u64,
    /// Newly detected as lost.
    pub(crate) lost: u64,
    /// In the network before the acknowledgement.
    pub(crate) before: u64,
    /// In the network now.
    pub(crate) pipe: u64,
    /// True until the losses are repaired.
    pub(crate) recovering: bool,
    /// True in a fast recovery with SACK: for a round trip, as much may be sent as is delivered.
    pub(crate) conserves: bool,
}
