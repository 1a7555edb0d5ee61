//! JSON of a status: numbers in SI units, each with its unit in its key, by the names of simulated results.

use super::{Counts, Quantity, RealTime, State, Status, Totals};
use crate::telemetry::events::AgentEvent;
use control::{Count, Interval, Limit, Stat};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{Bytes, Duration, Rate};

/// Writes the object of a queue.
#[derive(Serialize, Deserialize)]
pub(super) struct QueueFields {
    device: String,
    place: String,
    #[serde(flatten)]
    state: State,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grade: Option<u8>,
    unmeasured: Vec<Quantity>,
    controller: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target_delay_s: Option<f64>,
    #[serde(flatten)]
    limit: InItsUnit,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate_bps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    real_time: Option<RealTime>,
    at_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Last>,
    totals: Totals,
    events: VecDeque<AgentEvent>,
}

/// Writes the packets and bytes that arrived, were sent and were dropped.
#[derive(Serialize, Deserialize)]
pub(super) struct CountFields {
    arrived_packets: u64,
    arrived_bytes: u64,
    sent_packets: u64,
    sent_bytes: u64,
    dropped_packets: u64,
    dropped_bytes: u64,
}

#[derive(Serialize, Deserialize)]
enum InItsUnit {
    #[serde(rename = "limit_packets")]
    Packets(u32),
    #[serde(rename = "limit_bytes")]
    Bytes(u64),
}

/// Writes the newest interval. Quantities that were not measured are absent.
#[derive(Serialize, Deserialize)]
struct Last {
    length_s: f64,
    #[serde(flatten)]
    counts: CountFields,
    backlog_packets: u64,
    backlog_bytes: u64,
    backlog_max_packets: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sojourn_s: Option<Spans>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    departure_gap_s: Option<Spans>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    service_s: Option<Spans>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodal_delay_s: Option<Spans>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    service_ewma_s: Option<f64>,
    idle_s: f64,
    busy_s: f64,
}

/// Writes an interval, and reads it back.
pub(super) mod interval {
    use super::{Deserialize as _, Interval, Last, Serialize as _};
    use serde::{Deserializer, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(seen: &Interval, serializer: S) -> Result<S::Ok, S::Error> {
        Last::from(*seen).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Interval, D::Error> {
        Last::deserialize(deserializer).map(Interval::from)
    }
}

/// Writes statistics of `n` samples, in seconds.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Spans {
    n: u64,
    mean: f64,
    max: f64,
    last: f64,
}

impl From<Status> for QueueFields {
    fn from(status: Status) -> Self {
        let grade = status.grade();
        let Status { device, place, state, kind, unmeasured, controller, target_delay, limit, .. } = status;
        let limit = match limit {
            Limit::Packets(packets) => InItsUnit::Packets(packets),
            Limit::Bytes(bytes) => InItsUnit::Bytes(bytes.count()),
        };
        let target_delay_s = target_delay.map(Duration::as_secs_f64);
        let rate_bps = status.rate.map(Rate::as_bps);
        let (at_s, last) = (status.at.as_secs_f64(), status.last.map(Last::from));
        let Status { real_time, totals, events, .. } = status;
        Self {
            device,
            place,
            state,
            kind,
            grade,
            unmeasured,
            controller,
            target_delay_s,
            limit,
            rate_bps,
            real_time,
            at_s,
            last,
            totals,
            events,
        }
    }
}

impl From<QueueFields> for Status {
    fn from(queue: QueueFields) -> Self {
        let QueueFields { device, place, state, kind, unmeasured, controller, target_delay_s, limit, .. } = queue;
        let limit = match limit {
            InItsUnit::Packets(packets) => Limit::Packets(packets),
            InItsUnit::Bytes(bytes) => Limit::Bytes(Bytes::new(bytes)),
        };
        let target_delay = target_delay_s.map(Duration::from_secs_f64);
        let rate = queue.rate_bps.map(Rate::bps);
        let (at, last) = (Duration::from_secs_f64(queue.at_s), queue.last.map(Interval::from));
        let QueueFields { real_time, totals, events, .. } = queue;
        Self {
            device,
            place,
            state,
            kind,
            unmeasured,
            controller,
            target_delay,
            limit,
            rate,
            real_time,
            at,
            last,
            totals,
            events,
        }
    }
}

impl From<Counts> for CountFields {
    fn from(Counts { arrived, sent, dropped }: Counts) -> Self {
        Self {
            arrived_packets: arrived.packets,
            arrived_bytes: arrived.bytes.count(),
            sent_packets: sent.packets,
            sent_bytes: sent.bytes.count(),
            dropped_packets: dropped.packets,
            dropped_bytes: dropped.bytes.count(),
        }
    }
}

impl From<CountFields> for Counts {
    fn from(counts: CountFields) -> Self {
        Self {
            arrived: count(counts.arrived_packets, counts.arrived_bytes),
            sent: count(counts.sent_packets, counts.sent_bytes),
            dropped: count(counts.dropped_packets, counts.dropped_bytes),
        }
    }
}

impl From<Interval> for Last {
    fn from(seen: Interval) -> Self {
        Self {
            length_s: seen.length.as_secs_f64(),
            counts: Counts { arrived: seen.arrived, sent: seen.sent, dropped: seen.dropped }.into(),
            backlog_packets: seen.backlog.packets,
            backlog_bytes: seen.backlog.bytes.count(),
            backlog_max_packets: seen.backlog_max,
            sojourn_s: Spans::of(seen.sojourn),
            departure_gap_s: Spans::of(seen.departure_gap),
            service_s: Spans::of(seen.service),
            nodal_delay_s: Spans::of(seen.nodal),
            service_ewma_s: seen.service_ewma.map(Duration::as_secs_f64),
            idle_s: seen.idle.as_secs_f64(),
            busy_s: seen.busy.as_secs_f64(),
        }
    }
}

impl From<Last> for Interval {
    fn from(last: Last) -> Self {
        let Counts { arrived, sent, dropped } = last.counts.into();
        Self {
            length: Duration::from_secs_f64(last.length_s),
            arrived,
            sent,
            dropped,
            backlog: count(last.backlog_packets, last.backlog_bytes),
            backlog_max: last.backlog_max_packets,
            sojourn: Spans::stat(last.sojourn_s),
            departure_gap: Spans::stat(last.departure_gap_s),
            service: Spans::stat(last.service_s),
            nodal: Spans::stat(last.nodal_delay_s),
            service_ewma: last.service_ewma_s.map(Duration::from_secs_f64),
            idle: Duration::from_secs_f64(last.idle_s),
            busy: Duration::from_secs_f64(last.busy_s),
        }
    }
}

impl Spans {
    fn of(Stat { n, mean, max, last }: Stat) -> Option<Self> {
        let [mean, max, last] = [mean, max, last].map(Duration::as_secs_f64);
        (n > 0).then_some(Self { n, mean, max, last })
    }

    fn stat(spans: Option<Self>) -> Stat {
        let Some(Self { n, mean, max, last }) = spans else { return Stat::default() };
        let [mean, max, last] = [mean, max, last].map(Duration::from_secs_f64);
        Stat { n, mean, max, last }
    }
}

const fn count(packets: u64, bytes: u64) -> Count {
    Count { packets, bytes: Bytes::new(bytes) }
}
