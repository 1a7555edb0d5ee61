//! Measurements of a queue for a controller. Readable and writable, so that a recorded run can be replayed into a
//! controller.

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// A number of packets and their bytes (network-layer bytes: IP header and above).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How many packets.
    pub packets: u64,
    /// The sum of their lengths, from the IP header on.
    pub bytes: Bytes,
}

/// Statistics of one measured span over an interval. All zero when nothing was measured (`n == 0`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// How many packets or gaps were measured; with none the others are zero.
    pub n: u64,
    /// The arithmetic mean of the samples, in whole nanoseconds.
    pub mean: Duration,
    /// The largest of the samples.
    pub max: Duration,
    /// The newest of the samples.
    pub last: Duration,
}

/// What a queue measured since its controller's last call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Time since the last call.
    pub length: Duration,
    /// Packets that came to the queue, whether kept or not.
    pub arrived: Count,
    /// Packets handed to the MAC.
    pub sent: Count,
    /// Packets discarded by the queue: on arrival or by a shrinking limit.
    pub dropped: Count,
    /// What waits at the end of the interval, without what the MAC has.
    pub backlog: Count,
    /// The most packets that waited at once.
    pub backlog_max: u64,
    /// From the hand-over to the MAC until its ACK or final failure (`T_serv`).
    pub service: Stat,
    /// Between two hand-overs to the MAC with the queue never empty in between (ADTH section 3.2.3: 'MAC delay').
    pub departure_gap: Stat,
    /// Time that packets waited in the queue before their hand-over to the MAC ('queuing delay' in ADTH's document).
    pub sojourn: Stat,
    /// Sojourn plus service of each packet completed.
    pub nodal: Stat,
    /// The exponential average of service times, over all packets completed since the start. Absent until the first of
    /// them, and where the controller gives no [`Measures::service_weight`](crate::Measures::service_weight).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_ewma: Option<Duration>,
    /// How long at most [`Measures::idle_threshold`](crate::Measures::idle_threshold) packets waited. With `busy`, all of the interval; both are zero in
    /// recordings that are older than these fields.
    #[serde(default)]
    pub idle: Duration,
    /// How long more packets waited.
    #[serde(default)]
    pub busy: Duration,
}
