//! JSON of a status: numbers in SI units, each named as in results of simulations and ending with its unit.

use super::grade;
use control::{Count, Interval, Limit, Stat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Duration, Rate};

/// Makes a type for `#[serde(with)]` that writes values of one type as values of another, and reads them back.
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
written!(InBytes: Bytes as u64, |bytes| bytes.count(), Bytes::new);
written!(PerhapsMeasured: Option<Interval> as Option<Whole>, |seen| seen.map(Whole), |read| read.map(|Whole(seen)| seen));

/// Makes a type for `#[serde(with)]` that writes packets and their bytes under two keys.
macro_rules! counted {
    ($Name:ident: $packets:literal, $bytes:literal) => {
        #[derive(Serialize, Deserialize)]
        #[serde(remote = "Count")]
        pub(super) struct $Name {
            #[serde(rename = $packets)]
            packets: u64,
            #[serde(rename = $bytes, with = "InBytes")]
            bytes: Bytes,
        }
    };
}

counted!(Arrived: "arrived_packets", "arrived_bytes");
counted!(Sent: "sent_packets", "sent_bytes");
counted!(Dropped: "dropped_packets", "dropped_bytes");
counted!(Waiting: "backlog_packets", "backlog_bytes");

#[derive(Serialize, Deserialize)]
struct Kind {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grade: Option<u8>,
}

/// Writes a limit under a key with its unit.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Limit")]
pub(super) enum WithUnit {
    #[serde(rename = "limit_packets")]
    Packets(u32),
    #[serde(rename = "limit_bytes", with = "InBytes")]
    Bytes(Bytes),
}

#[derive(Serialize, Deserialize)]
struct Whole(#[serde(with = "Measured")] Interval);

/// Writes the newest interval. Quantities that were not measured are left out.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Interval")]
pub(super) struct Measured {
    #[serde(rename = "length_s", with = "Seconds")]
    length: Duration,
    #[serde(flatten, with = "Arrived")]
    arrived: Count,
    #[serde(flatten, with = "Sent")]
    sent: Count,
    #[serde(flatten, with = "Dropped")]
    dropped: Count,
    #[serde(flatten, with = "Waiting")]
    backlog: Count,
    #[serde(rename = "backlog_max_packets")]
    backlog_max: u64,
    #[serde(rename = "sojourn_s", with = "Spans", default, skip_serializing_if = "is_empty")]
    sojourn: Stat,
    #[serde(rename = "departure_gap_s", with = "Spans", default, skip_serializing_if = "is_empty")]
    departure_gap: Stat,
    #[serde(rename = "service_s", with = "Spans", default, skip_serializing_if = "is_empty")]
    service: Stat,
    #[serde(rename = "nodal_delay_s", with = "Spans", default, skip_serializing_if = "is_empty")]
    nodal: Stat,
    #[serde(rename = "service_ewma_s", with = "PerhapsSeconds", default, skip_serializing_if = "Option::is_none")]
    service_ewma: Option<Duration>,
    #[serde(rename = "idle_s", with = "Seconds")]
    idle: Duration,
    #[serde(rename = "busy_s", with = "Seconds")]
    busy: Duration,
}

/// Writes statistics of `n` samples, in seconds.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Stat")]
struct Spans {
    n: u64,
    #[serde(with = "Seconds")]
    mean: Duration,
    #[serde(with = "Seconds")]
    max: Duration,
    #[serde(with = "Seconds")]
    last: Duration,
}

fn is_empty(stat: &Stat) -> bool {
    stat.n == 0
}
