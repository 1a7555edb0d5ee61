//! The `[tcp]` and `[flow.tcp]` tables: how TCP behaves.

use super::{Bqm, Category};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// How TCP behaves; see `docs/traffic.md`. A key that is left out of a flow's table is as in `[tcp]`, there as said here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// How the congestion window grows and shrinks. Default `reno`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<Congestion>,
    /// How losses are found and repaired. Default `sack`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// What shows that a segment is lost, where `recovery` is "sack". Default `rack-tlp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_detection: Option<LossDetection>,
    /// By what the window grows in slow start. Default `bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<SlowStart>,
    /// What the window is when a fast recovery ends. Default `threshold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_end: Option<RecoveryEnd>,
    /// How samples of the round-trip time weigh that timestamps give. Default `window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_samples: Option<RttSamples>,
    /// Explicit congestion notification (RFC 3168): queues that can, mark packets instead of dropping them. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Most payload of a segment, at most 2244 B (2256 B without `timestamps`): 20 B of TCP with its options, 20 B of IP and
    /// the MAC's headers come on top. Default 1000 B.
    #[serde(deserialize_with = "units::positive", skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// Segments that a connection may send before the first is acknowledged (RFC 6928), from 1 to 10000. Default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// The receiver's buffer: most bytes that it lets be on their way. Below `segment`, segments are that much shorter; with
    /// "0 B" nothing is ever taken. Default 4 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_window: Option<Bytes>,
    /// The longest time that an acknowledgement waits for a second full segment, which is always acknowledged at once;
    /// "0 s": every segment is. Default 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// The least retransmission timeout. Default 1 s (RFC 6298, 2.4); Linux has 200 ms.
    #[serde(deserialize_with = "units::positive", skip_serializing_if = "Option::is_none")]
    pub rto_min: Option<Duration>,
    /// The first two duplicate acknowledgements let a new segment each go out (RFC 3042). Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Segments carry timestamps (RFC 7323): 12 B of header, and a round-trip time of every acknowledgement. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Access category of what the receiver sends back, where `mac.access` is "edca". Default: the flow's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_category: Option<Category>,
    /// Discard priorities, for queues of the discipline `biased`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bqm: Option<Bqm>,
}

/// How the congestion window grows and shrinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    /// Slow start and congestion avoidance (RFC 5681).
    #[default]
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// As reports of losses by discard priority say (BQM); with the defaults of `[tcp.bqm]` if that is left out.
    Bqm,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// By selective acknowledgements (RFC 2018 and 6675).
    #[default]
    Sack,
    /// By partial acknowledgements (RFC 6582).
    #[serde(rename = "newreno")]
    NewReno,
    /// By three duplicate acknowledgements, one loss a window (RFC 5681, 3.2).
    Reno,
}

/// What shows that a segment is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LossDetection {
    /// A segment that was sent later has arrived, and a reordering window has passed; a probe for the last segments of all
    /// (RFC 8985, as in Linux). Lost repetitions are found too.
    #[default]
    RackTlp,
    /// Three ranges, or more than two segments, have arrived of what is behind it (RFC 6675; ns-2, ns-3). A lost repetition
    /// takes a timeout.
    DuplicateAcks,
}

/// By what the window grows in slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// By all that an acknowledgement acknowledges (RFC 3465; Linux, ns-3).
    #[default]
    Bytes,
    /// By at most a segment an acknowledgement (RFC 5681, 3.1; ns-2).
    Acks,
}

/// What the window is when a fast recovery ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryEnd {
    /// The slow start threshold; congestion avoidance counts from then on (RFC 5681, 3.2; RFC 6675; ns-2).
    #[default]
    Threshold,
    /// The threshold, and the acknowledgement that ends the recovery counts with all that it acknowledges, on top of what was
    /// counted before the loss: up to three segments more (ns-3).
    Counted,
}

/// How samples of the round-trip time weigh that timestamps give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RttSamples {
    /// An eighth for all samples of a window together (RFC 7323, appendix G).
    #[default]
    Window,
    /// An eighth for each (ns-2, ns-3).
    Each,
}

impl Tcp {
    /// With the keys of `shared` where this table has none.
    #[must_use]
    pub fn over(&self, shared: &Self) -> Self {
        Self {
            congestion: self.congestion.or(shared.congestion),
            recovery: self.recovery.or(shared.recovery),
            loss_detection: self.loss_detection.or(shared.loss_detection),
            slow_start: self.slow_start.or(shared.slow_start),
            recovery_end: self.recovery_end.or(shared.recovery_end),
            rtt_samples: self.rtt_samples.or(shared.rtt_samples),
            ecn: self.ecn.or(shared.ecn),
            segment: self.segment.or(shared.segment),
            initial_window: self.initial_window.or(shared.initial_window),
            advertised_window: self.advertised_window.or(shared.advertised_window),
            delayed_ack: self.delayed_ack.or(shared.delayed_ack),
            rto_min: self.rto_min.or(shared.rto_min),
            limited_transmit: self.limited_transmit.or(shared.limited_transmit),
            timestamps: self.timestamps.or(shared.timestamps),
            ack_category: self.ack_category.or(shared.ack_category),
            bqm: match (self.bqm, shared.bqm) {
                (Some(own), Some(shared)) => Some(own.over(&shared)),
                (own, shared) => own.or(shared),
            },
        }
    }

    /// Says nothing.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
