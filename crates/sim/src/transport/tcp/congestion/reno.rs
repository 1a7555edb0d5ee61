//! Congestion avoidance of RFC 5681, by counting octets.

/// Grows by one segment per window acknowledged, halves at congestion.
#[derive(Debug)]
pub(super) struct Reno {
    /// True if the count survives a loss, and one acknowledgement may count for several segments
    /// ([`RecoveryEnd::Counted`](crate::transport::tcp::RecoveryEnd::Counted)).
    pub(super) counted: bool,
    /// Octets acknowledged since the window last grew.
    pub(super) acked: u64,
}

impl Reno {
    /// Growth of `cwnd` (RFC 5681, 3.1: the recommended way).
    pub(super) fn increase(&mut self, cwnd: u64, acked: u64, segment: u64) -> u64 {
        if self.counted {
            return self.count(cwnd, acked, segment);
        }
        self.acked = self.acked.saturating_add(acked);
        if self.acked < cwnd {
            return 0;
        }
        // No more than one segment a call, and no credit of more than a window.
        self.acked = (self.acked - cwnd).min(cwnd);
        segment
    }

    /// Slow start threshold after congestion (RFC 5681, equation 4).
    pub(super) fn decrease(&mut self, flight: u64) -> u64 {
        if !self.counted {
            self.acked = 0;
        }
        flight / 2
    }

    /// Counts as ns-3's `TcpLinuxReno`: the rest of a larger window gives one segment.
    fn count(&mut self, cwnd: u64, acked: u64, segment: u64) -> u64 {
        let left = self.acked >= cwnd;
        let count = if left { acked } else { self.acked.saturating_add(acked) };
        let window = if left { cwnd + segment } else { cwnd };
        self.acked = count % window;
        segment * (u64::from(left) + count / window)
    }
}
