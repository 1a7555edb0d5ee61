//! The `[tcp]` and `[flow.tcp]` tables: how TCP behaves.

use super::{Bqm, Category};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, apply, choice};

/// TCP parameters; see `docs/tcp.md`. Keys missing in `[flow.tcp]` come from `[tcp]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// Congestion control. Default `reno`.
    pub congestion: Option<Congestion>,
    /// Loss recovery. Default `sack`.
    pub recovery: Option<Recovery>,
    /// Loss detection, for `recovery` "sack". Default `rack-tlp`.
    pub loss_detection: Option<LossDetection>,
    /// Window growth in slow start. Default `bytes`.
    pub slow_start: Option<SlowStart>,
    /// Window at the end of fast recovery. Default `threshold`.
    pub recovery_end: Option<RecoveryEnd>,
    /// Growth in CUBIC's Reno-friendly region, in segments per round trip, for `congestion` "cubic". Default
    /// `catch-up`.
    pub friendly_growth: Option<FriendlyGrowth>,
    /// Weight of round-trip samples from timestamps. Default `window`.
    pub rtt_samples: Option<RttSamples>,
    /// Explicit congestion notification (RFC 3168). Default false.
    pub ecn: Option<bool>,
    /// Largest payload of a segment, without headers, up to 2244 B (2256 B without `timestamps`). Default 1000 B.
    #[serde(deserialize_with = "units::positive")]
    pub segment: Option<Bytes>,
    /// Segments sent before the first acknowledgement (RFC 6928): 1 to 10000. Default 10.
    pub initial_window: Option<u32>,
    /// Receiver's buffer. A value below `segment` shortens segments; "0 B" stops the flow. Default 4 MB.
    pub advertised_window: Option<Bytes>,
    /// Longest wait of an acknowledgement for a second full segment; "0 s" acknowledges each segment. Default 200 ms.
    pub delayed_ack: Option<Duration>,
    /// Time after two full segments in which further segments share their acknowledgement, as in Linux. Default none.
    pub ack_burst: Option<Duration>,
    /// Bounds the data below TCP in the sender's node to twice what the pacing rate sends in this time. Linux over
    /// Wi-Fi: 8 ms. Default unbounded.
    pub small_queue: Option<Duration>,
    /// Minimum retransmission timeout. Linux: 200 ms. Default 1 s (RFC 6298).
    #[serde(deserialize_with = "units::positive")]
    pub rto_min: Option<Duration>,
    /// Sends a new segment at each of the first two duplicate acknowledgements (RFC 3042). Default true.
    pub limited_transmit: Option<bool>,
    /// Timestamps (RFC 7323): 12 B of header, and a round-trip sample per acknowledgement. Default true.
    pub timestamps: Option<bool>,
    /// Access category of acknowledgements, for `mac.access` "edca". Default: the flow's.
    pub ack_category: Option<Category>,
    /// Discard priorities, for queues of the discipline `biased`.
    pub bqm: Option<Bqm>,
}

/// Congestion control.
#[apply(choice)]
pub enum Congestion {
    /// Slow start and congestion avoidance (RFC 5681).
    #[default]
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BQM: the window follows from lost packets' discard priorities.
    Bqm,
    /// Prague: L4S (RFC 9331).
    Prague,
    /// BBR, version 1, with pacing.
    Bbr,
}

/// Loss recovery.
#[apply(choice)]
pub enum Recovery {
    /// Selective acknowledgements (RFC 2018, 6675).
    #[default]
    Sack,
    /// Partial acknowledgements (RFC 6582).
    #[serde(rename = "newreno")]
    NewReno,
    /// Three duplicate acknowledgements, one loss per window (RFC 5681, 3.2).
    Reno,
}

/// Loss detection.
#[apply(choice)]
pub enum LossDetection {
    /// By time: RACK-TLP (RFC 8985, Linux). Finds lost retransmissions too.
    #[default]
    RackTlp,
    /// By counting (RFC 6675; ns-2, ns-3). A lost retransmission needs a timeout.
    DuplicateAcks,
}

/// Window growth in slow start.
#[apply(choice)]
pub enum SlowStart {
    /// Grows by all acknowledged bytes (RFC 3465; Linux, ns-3).
    #[default]
    Bytes,
    /// Grows by at most one segment per acknowledgement (RFC 5681, 3.1; ns-2).
    Acks,
}

/// Window at the end of fast recovery.
#[apply(choice)]
pub enum RecoveryEnd {
    /// Slow start threshold (RFC 5681, 3.2; RFC 6675; ns-2).
    #[default]
    Threshold,
    /// As `threshold`; all octets of the last acknowledgement count in congestion avoidance: up to 3 segments (ns-3).
    Counted,
    /// As `threshold`; octets of the last acknowledgement that were already SACKed do not count (Linux).
    News,
}

/// Growth of the window in CUBIC's Reno-friendly region, in segments per round trip.
#[apply(choice)]
pub enum FriendlyGrowth {
    /// 0.53, and 1 once the window exceeds its size before the last reduction (RFC 9438, 4.3).
    #[default]
    CatchUp,
    /// 0.53 (Linux).
    Constant,
    /// No such region (ns-3.37).
    None,
}

/// Weight of round-trip samples from timestamps.
#[apply(choice)]
pub enum RttSamples {
    /// An eighth for all samples of a window together (RFC 7323, appendix G).
    #[default]
    Window,
    /// An eighth per sample (ns-2, ns-3).
    Each,
}

impl Tcp {
    /// With the keys of `shared` where this table has none.
    #[must_use]
    pub fn over(&self, shared: &Self) -> Self {
        let bqm = self.bqm.zip(shared.bqm).map(|(own, shared)| own.over(&shared));
        over! { self, shared;
            congestion recovery loss_detection slow_start recovery_end friendly_growth rtt_samples ecn segment
            initial_window advertised_window delayed_ack ack_burst small_queue rto_min limited_transmit timestamps ack_category;
            bqm: bqm.or(self.bqm).or(shared.bqm)
        }
    }
}
