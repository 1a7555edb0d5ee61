//! Measurements of a queue for a controller. They can be serialised, so that recorded measurements can be given to a
//! controller again.

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// A number of packets and their size in network-layer bytes (IP header and above).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Number of packets.
    pub packets: u64,
    /// Sum of their lengths in bytes, from the IP header on.
    pub bytes: Bytes,
}

/// Statistics of a duration over an interval. Without samples (`n == 0`) all fields are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Number of samples (packets or gaps); without samples `mean`, `max` and `last` are zero.
    pub n: u64,
    /// Arithmetic mean of the samples, in whole nanoseconds.
    pub mean: Duration,
    /// Largest sample.
    pub max: Duration,
    /// Newest sample.
    pub last: Duration,
}

/// Measurements of a queue since its controller's last update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Time since the last call.
    pub length: Duration,
    /// Packets that arrived at the queue, whether it kept them or not.
    pub arrived: Count,
    /// Packets that the queue handed to the MAC.
    pub sent: Count,
    /// Packets discarded by the queue: on arrival, or because the limit shrank.
    pub dropped: Count,
    /// Backlog at the end of the interval. Packets with the MAC do not count.
    pub backlog: Count,
    /// Largest number of packets that waited at the same time.
    pub backlog_max: u64,
    /// Service time: from the hand-over to the MAC until the ACK or final failure (`T_serv`).
    pub service: Stat,
    /// Departure gap: time between two hand-overs to the MAC, if the queue never empties in between (ADTH 3.2.3).
    pub departure_gap: Stat,
    /// Sojourn time: time in the queue before the hand-over to the MAC ('queuing delay' in ADTH's document).
    pub sojourn: Stat,
    /// Nodal delay: sojourn plus service time of each completed packet.
    pub nodal: Stat,
    /// Exponential average of the service times of all packets completed since the start. `None` before the first such
    /// packet, and if the controller sets no [`Measures::service_weight`](crate::Measures::service_weight).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_ewma: Option<Duration>,
    /// Time in which at most [`Measures::idle_threshold`](crate::Measures::idle_threshold) packets waited. `idle` and
    /// `busy` add up to the interval. Both are zero in recordings older than these fields.
    #[serde(default)]
    pub idle: Duration,
    /// Time in which more packets than the idle threshold waited.
    #[serde(default)]
    pub busy: Duration,
}
