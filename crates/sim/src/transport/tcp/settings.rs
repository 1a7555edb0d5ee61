//! Settings of a connection: plain values, the same for both ends.

use super::bqm;
use units::{Bytes, Duration};

/// Congestion control algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Congestion {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// The BQM thesis, section 3.5.
    Bqm,
    /// Prague (draft-briscoe-iccrg-prague-congestion-control-04).
    Prague,
}

/// Loss recovery algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// Fast retransmit and fast recovery, ended by the first new acknowledgement (RFC 5681, 3.2).
    Reno,
    /// Fast recovery that goes on over partial acknowledgements (RFC 6582).
    NewReno,
    /// Selective acknowledgements (RFC 2018) and the recovery that uses them (RFC 6675).
    Sack,
}

/// Loss detection with selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossDetection {
    /// The time since it was sent (RFC 8985).
    RackTlp,
    /// How much has arrived of what is behind it (RFC 6675, section 4).
    DuplicateAcks,
}

/// Growth of the window in slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlowStart {
    /// By all that is acknowledged (RFC 3465 without its limit, RFC 9406 with L unlimited; Linux, ns-3); of what was
    /// outstanding at a timeout, at most a segment an acknowledgement (RFC 3465, 2.3).
    Bytes,
    /// By at most a segment per acknowledgement (RFC 5681, 3.1; ns-2).
    Acks,
}

/// Window at the end of a fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryEnd {
    /// The threshold; congestion avoidance counts from zero (RFC 5681, 3.2; RFC 6675, 5).
    Threshold,
    /// The threshold plus the growth by the acknowledgement that ends it, with all octets that it acknowledges and the
    /// count from before the loss (ns-3).
    Counted,
    /// The threshold and what follows from the acknowledgement that ends it, without what was SACKed before (Linux).
    News,
}

/// Growth in the Reno-friendly region of CUBIC, in segments a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FriendlyGrowth {
    /// `alpha_cubic`, and 1 from `cwnd_prior` on (RFC 9438, 4.3).
    CatchUp,
    /// `alpha_cubic` (Linux).
    Constant,
    /// The cubic alone (ns-3.37).
    None,
}

/// Weight of round-trip samples from timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RttSamples {
    /// All samples of a window together count as one (RFC 7323, appendix G).
    Window,
    /// Each counts as one (ns-2, ns-3).
    Each,
}

/// Settings of a connection. Whoever builds them has checked that `segment` and `initial_window` are at least 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) congestion: Congestion,
    pub(crate) recovery: Recovery,
    /// Used with [`Recovery::Sack`] only.
    pub(crate) loss_detection: LossDetection,
    pub(crate) slow_start: SlowStart,
    pub(crate) recovery_end: RecoveryEnd,
    /// Of use with [`Congestion::Cubic`] only.
    pub(crate) friendly_growth: FriendlyGrowth,
    pub(crate) rtt_samples: RttSamples,
    /// Explicit congestion notification (RFC 3168), of L4S (RFC 9331) with [`Congestion::Prague`].
    pub(crate) ecn: bool,
    /// Largest payload of a segment, SMSS.
    pub(crate) segment: Bytes,
    /// Initial congestion window in segments (RFC 6928, section 2).
    pub(crate) initial_window: u32,
    /// Receive buffer.
    pub(crate) advertised_window: Bytes,
    /// Longest delay of an acknowledgement that waits for a second segment (RFC 9293, 3.8.6.3); zero: no delay.
    pub(crate) delayed_ack: Duration,
    /// Shortest retransmission timeout (RFC 6298, 2.4).
    pub(crate) rto_min: Duration,
    /// Limited transmit: new segments on the first two duplicate acknowledgements (RFC 3042).
    pub(crate) limited_transmit: bool,
    /// The timestamps option (RFC 7323).
    pub(crate) timestamps: bool,
    /// Discard priorities of packets, if used.
    pub(crate) bqm: Option<bqm::Settings>,
}

impl Settings {
    /// True if losses are found by time, and the receiver reports octets that arrived twice.
    pub(crate) fn has_rack(&self) -> bool {
        self.recovery == Recovery::Sack && self.loss_detection == LossDetection::RackTlp
    }

    /// True if the receiver counts marks, and the sender reacts to their number (L4S).
    pub(super) fn counts_marks(&self) -> bool {
        self.congestion == Congestion::Prague
    }

    /// True if the receiver reports its verdict on losses, because the sender uses it.
    pub(super) fn reports(&self) -> Option<&bqm::Settings> {
        self.bqm.as_ref().filter(|_| self.congestion == Congestion::Bqm)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            congestion: Congestion::Reno,
            recovery: Recovery::Sack,
            loss_detection: LossDetection::RackTlp,
            slow_start: SlowStart::Bytes,
            recovery_end: RecoveryEnd::Threshold,
            friendly_growth: FriendlyGrowth::CatchUp,
            rtt_samples: RttSamples::Window,
            ecn: false,
            segment: Bytes::new(1000),
            initial_window: 10,
            advertised_window: Bytes::new(4_000_000),
            delayed_ack: Duration::from_millis(200),
            rto_min: Duration::from_secs(1),
            limited_transmit: true,
            timestamps: true,
            bqm: None,
        }
    }
}
