//! JSON of a status: numbers in SI units, each with its unit in its key, by the names of simulated results.

use super::{Counts, grade};
use control::{Count, Interval, Limit, Stat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Duration, Rate};

/// Makes a type for `#[serde(with)]` that writes values of a type as another one, and reads them back.
macro_rules! written {
    ($Name:ident: $Type:ty as $Written:ty, $write:expr, $read:expr) => {
        pub(super) struct $Name;

        #[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
        impl $Name {
            pub(super) fn serialize<S: Serializer>(value: &$Type, serializer: S) -> Result<S::Ok, S::Error> {
                let write: fn(&$Type) -> $Written = $write;
                write(value).serialize(serializer)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(reader: D) -> Result<$Type, D::Error> {
                <$Written>::deserialize(reader).map($read)
            }
        }
    };
}

written!(Graded: String as Kind, |kind| Kind { kind: kind.clone(), grade: grade(kind) }, |read| read.kind);
written!(Seconds: Duration as f64, |time| time.as_secs_f64(), Duration::from_secs_f64);
written!(
    PerhapsSeconds: Option<Duration> as Option<f64>,
    |time| time.map(Duration::as_secs_f64),
    |read| read.map(Duration::from_secs_f64)
);
written!(PerhapsBps: Option<Rate> as Option<u64>, |rate| rate.map(Rate::as_bps), |read| read.map(Rate::bps));
written!(WithUnit: Limit as InItsUnit, |limit| (*limit).into(), Limit::from);
written!(Measured: Interval as Last, |seen| (*seen).into(), Interval::from);
written!(
    PerhapsMeasured: Option<Interval> as Option<Last>,
    |seen| seen.map(Last::from),
    |read| read.map(Interval::from)
);

#[derive(Serialize, Deserialize)]
struct Kind {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grade: Option<u8>,
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

/// Writes statistics of `n` samples, in seconds.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Spans {
    n: u64,
    mean: f64,
    max: f64,
    last: f64,
}

impl From<Limit> for InItsUnit {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Packets(packets) => Self::Packets(packets),
            Limit::Bytes(bytes) => Self::Bytes(bytes.count()),
        }
    }
}

impl From<InItsUnit> for Limit {
    fn from(limit: InItsUnit) -> Self {
        match limit {
            InItsUnit::Packets(packets) => Self::Packets(packets),
            InItsUnit::Bytes(bytes) => Self::Bytes(Bytes::new(bytes)),
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
