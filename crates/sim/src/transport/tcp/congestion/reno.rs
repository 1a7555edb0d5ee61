//! Congestion avoidance of RFC 5681, by counting octets.

/// One segment more a window acknowledged, half of it at congestion.
#[derive(Debug, Default)]
pub(super) struct Reno {
    /// Octets acknowledged since the window last grew.
    acked: u64,
}

impl Reno {
    /// By how much `cwnd` grows (RFC 5681, 3.1: the recommended way).
    pub(super) fn increase(&mut self, cwnd: u64, acked: u64, segment: u64) -> u64 {
        self.acked = self.acked.saturating_add(acked);
        if self.acked < cwnd {
            return 0;
        }
        // No more than one segment a call, and no credit of more than a window.
        self.acked = (self.acked - cwnd).min(cwnd);
        segment
    }

    /// The slow start threshold after congestion (RFC 5681, equation 4).
    pub(super) fn decrease(&mut self, flight: u64) -> u64 {
        self.acked = 0;
        flight / 2
    }
}
