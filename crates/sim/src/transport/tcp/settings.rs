//! Settings of a connection: plain values, the same for both ends.

use super::bqm;
use crate::config::{
    self, Congestion, FriendlyGrowth, LossDetection, Recovery, RecoveryEnd, RttSamples, SlowStart, Tcp,
};
use units::{Bytes, Duration};

/// Settings of a connection. Their builder has checked that `segment` and `initial_window` are at least 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) congestion: Congestion,
    pub(crate) recovery: Recovery,
    /// Used with [`Recovery::Sack`] only.
    pub(crate) loss_detection: LossDetection,
    /// By bytes; data outstanding at a timeout count for at most one segment per acknowledgement (RFC 3465, 2.3).
    pub(crate) slow_start: SlowStart,
    pub(crate) recovery_end: RecoveryEnd,
    /// Used with [`Congestion::Cubic`] only.
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
    /// Time within which all segments share one acknowledgement; `None`: every two segments have one.
    pub(crate) ack_burst: Option<Duration>,
    /// Longest time of data below TCP at the pacing rate; `None` without a limit.
    pub(crate) small_queue: Option<Duration>,
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
    /// True if losses are detected by time, and the receiver reports octets that arrived twice.
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

impl From<&Tcp> for Settings {
    /// Settings that a scenario describes, with defaults for missing keys.
    fn from(described: &Tcp) -> Self {
        let congestion = described.congestion.unwrap_or_default();
        let bqm = described.bqm.or((congestion == Congestion::Bqm).then(config::Bqm::default));
        Self {
            congestion,
            recovery: described.recovery.unwrap_or_default(),
            loss_detection: described.loss_detection.unwrap_or_default(),
            slow_start: described.slow_start.unwrap_or_default(),
            recovery_end: described.recovery_end.unwrap_or_default(),
            friendly_growth: described.friendly_growth.unwrap_or_default(),
            rtt_samples: described.rtt_samples.unwrap_or_default(),
            ecn: described.ecn.unwrap_or(false) || congestion == Congestion::Prague,
            segment: described.segment.unwrap_or(Bytes::new(1000)),
            initial_window: described.initial_window.unwrap_or(10),
            advertised_window: described.advertised_window.unwrap_or(Bytes::new(4_000_000)),
            delayed_ack: described.delayed_ack.unwrap_or(Duration::from_millis(200)),
            ack_burst: described.ack_burst,
            small_queue: described.small_queue,
            rto_min: described.rto_min.unwrap_or(Duration::from_secs(1)),
            limited_transmit: described.limited_transmit.unwrap_or(true),
            timestamps: described.timestamps.unwrap_or(true),
            bqm: bqm.as_ref().map(bqm::Settings::from),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::from(&Tcp::default())
    }
}
