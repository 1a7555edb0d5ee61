//! Acknowledgements as input of congestion control.

use units::{Duration, Instant};

/// An acknowledgement as the congestion window uses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) now: Instant,
    pub(crate) srtt: Option<Duration>,
    /// Octets newly acknowledged, without those that were SACKed before.
    pub(crate) acked: u64,
    /// The congestion window, and nothing else, held back the sender.
    pub(crate) limited: bool,
    /// The octets were outstanding when the retransmission timer expired.
    pub(crate) timed_out: bool,
}
