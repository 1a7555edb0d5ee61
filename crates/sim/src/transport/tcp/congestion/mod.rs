//! The congestion window: slow start, and one law per file for congestion avoidance.

mod bqm;
mod cubic;
mod prague;
mod reno;
mod window;

pub(crate) use prague::Heard;
pub(crate) use window::Window;

use units::{Duration, Instant};

/// An acknowledgement as the congestion window uses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) now: Instant,
    pub(crate) srtt: Option<Duration>,
    /// Octets newly acknowledged, without octets that were SACKed before.
    pub(crate) acked: u64,
    /// True if only the congestion window limited the sender.
    pub(crate) limited: bool,
    /// True if the octets were outstanding when the retransmission timer expired.
    pub(crate) timed_out: bool,
}
