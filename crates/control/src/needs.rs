//! Requirements of a controller on its host, and the check that a host meets them.

use units::{Duration, Within};

/// Shortest interval between two updates. No link serves packets fast enough to give more frequent decisions new
/// inputs. A host called every nanosecond would do nothing else.
pub const SHORTEST_INTERVAL: Duration = Duration::from_micros(100);

/// The interval of a controller as a parameter: at least [`SHORTEST_INTERVAL`].
pub type Period = Within<Duration, { SHORTEST_INTERVAL.as_nanos() }>;

/// Requirements of a controller on its host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needs {
    /// Time between two calls of [`Controller::update`](crate::Controller::update), at least [`SHORTEST_INTERVAL`];
    /// [`Duration::MAX`] if it is never called.
    pub interval: Duration,
    /// Optional measurements of the queue.
    pub measures: Measures,
    /// MAC delay above which packets count in [`Radio::late`](crate::Radio::late). `None`: the host counts none.
    pub late_after: Option<Duration>,
    /// Measurements that the controller reads. Measurements outside this set change no order, as a test checks.
    pub reads: Reads,
    /// Kinds of orders that the controller may give.
    pub sets: Sets,
}

impl Needs {
    /// Makes the requirements of a controller that is called every `interval`, reads `reads` and orders `sets`.
    pub const fn new(interval: Duration, reads: Reads, sets: Sets) -> Self {
        let measures = Measures { service_weight: None, idle_threshold: 0 };
        Self { interval, measures, late_after: None, reads, sets }
    }

    /// Returns the first requirement that a host does not meet if it measures `reads` and executes `sets`, with its
    /// words for messages, such as `queueing delay`. A host refuses a controller that it cannot serve. No order is
    /// dropped silently.
    pub fn obstacle(&self, reads: Reads, sets: Sets) -> Option<Lacking> {
        let unread = self.reads.without(reads).next().map(Lacking::Reading);
        unread.or_else(|| self.sets.without(sets).next().map(Lacking::Setting))
    }
}

/// A requirement that a host does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lacking {
    /// A measurement, such as the queueing delay.
    #[error("no {0} is measured")]
    Reading(&'static str),
    /// A kind of order, such as a sending rate.
    #[error("no {0} can be set")]
    Setting(&'static str),
}

/// Optional measurements that a controller requests of its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// Weight `W` of the newest packet in [`Interval::service_ewma`](crate::Interval::service_ewma), above 0 and at
    /// most 1. The first completed packet sets the average, each later one moves it to `(1 - W) average + W service`.
    /// `None`: no average is kept.
    ///
    /// A packet's service time begins when the MAC has the packet and the previous packet is completed. If several
    /// packets share a frame, the first takes the whole time of the frame. The mean is thus the time per packet.
    pub service_weight: Option<f64>,
    /// Largest backlog, in packets, with which the queue counts as idle, see [`Interval::idle`](crate::Interval::idle).
    pub idle_threshold: u32,
}

macro_rules! bits {
    ($(#[$doc:meta])* $Name:ident: $($(#[$d:meta])* $bit:ident = $n:expr, $word:literal;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $Name(u16);

        impl $Name {
            $($(#[$d])* pub const $bit: Self = Self(1 << $n);)*
            /// The empty set.
            pub const NONE: Self = Self(0);
            /// Each kind, with the words that messages use for it.
            pub const EACH: &'static [(Self, &'static str)] = &[$((Self::$bit, $word)),*];

            /// Returns the union of both sets.
            #[must_use]
            pub const fn and(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// True if all members of `other` are in this set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// True if any member of `other` is in this set.
            pub const fn any_of(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// Returns the members of this set that `other` lacks, as words for messages.
            pub fn without(self, other: Self) -> impl Iterator<Item = &'static str> {
                Self::EACH.iter().filter(move |(bit, _)| self.0 & !other.0 & bit.0 != 0).map(|(_, word)| *word)
            }
        }
    };
}

bits! {
    /// Quantities of [`Seen`](crate::Seen). The length of an interval is always measured.
    Reads:
    /// Counts of packets that arrived, left, were dropped or wait.
    COUNTS = 0, "packets";
    /// [`Interval::sojourn`](crate::Interval::sojourn).
    SOJOURN = 1, "queueing delay";
    /// [`Interval::departure_gap`](crate::Interval::departure_gap).
    GAP = 2, "time between departures";
    /// [`Interval::service`](crate::Interval::service) and [`Interval::nodal`](crate::Interval::nodal).
    SERVICE = 3, "service time";
    /// [`Interval::service_ewma`](crate::Interval::service_ewma).
    AVERAGE = 4, "average service time";
    /// [`Interval::idle`](crate::Interval::idle) and [`Interval::busy`](crate::Interval::busy).
    OCCUPANCY = 5, "idle and busy time";
    /// [`Radio::busy`](crate::Radio::busy) and [`Radio::sending`](crate::Radio::sending).
    MEDIUM = 6, "channel time";
    /// [`Radio::phy_rate`](crate::Radio::phy_rate).
    LINK = 7, "link rate";
    /// [`Radio::late`](crate::Radio::late).
    LATE = 8, "MAC delay of each packet";
    /// [`Radio::real_time`](crate::Radio::real_time) and [`Radio::real_time_new`](crate::Radio::real_time_new).
    OVERHEARD = 9, "overheard traffic";
    /// [`Radio::hops`](crate::Radio::hops).
    HOPS = 10, "hops of each packet";
    /// [`Seen::heard`](crate::Seen::heard).
    NOTES = 11, "neighbours' notes";
    /// [`Radio::contenders`](crate::Radio::contenders).
    CONTENDERS = 12, "number of stations heard";
    /// [`Radio::frames`](crate::Radio::frames), [`Radio::mpdus`](crate::Radio::mpdus),
    /// [`Radio::aggregate_max`](crate::Radio::aggregate_max) and
    /// [`Radio::aggregate_mpdus_max`](crate::Radio::aggregate_mpdus_max).
    AGGREGATES = 13, "frame aggregation";
    /// [`Radio::levels`](crate::Radio::levels).
    LEVELS = 14, "energy by transmission level";
}

impl Reads {
    /// Quantities that every radio has in [`Seen::radio`](crate::Seen::radio). [`LEVELS`](Self::LEVELS) is not among
    /// them: it needs a radio with two transmission levels.
    pub const RADIO: Self = Self::MEDIUM
        .and(Self::CONTENDERS)
        .and(Self::LINK)
        .and(Self::AGGREGATES)
        .and(Self::LATE)
        .and(Self::OVERHEARD)
        .and(Self::HOPS);
}

bits! {
    /// Kinds of [`Orders`](crate::Orders).
    Sets:
    /// [`Orders::limit`](crate::Orders::limit).
    LIMIT = 0, "queue limit";
    /// [`Orders::rate`](crate::Orders::rate).
    RATE = 1, "sending rate";
    /// [`Orders::mark`](crate::Orders::mark).
    MARK = 2, "ECN marks";
    /// [`Orders::access`](crate::Orders::access).
    ACCESS = 3, "contention parameters";
    /// [`Orders::note`](crate::Orders::note).
    NOTE = 4, "notes to neighbours";
    /// [`Orders::low_up_to`](crate::Orders::low_up_to).
    LEVEL = 5, "low transmission level";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_lacks_something_is_told_what() {
        let reads = Reads::COUNTS.and(Reads::LATE);
        let needs = Needs::new(Duration::from_secs(1), reads, Sets::LIMIT.and(Sets::RATE));
        assert_eq!(needs.obstacle(reads, Sets::LIMIT.and(Sets::RATE)), None);
        assert_eq!(needs.obstacle(reads.and(Reads::GAP), Sets::LIMIT), Some(Lacking::Setting("sending rate")));
        assert_eq!(needs.obstacle(Reads::COUNTS, Sets::LIMIT), Some(Lacking::Reading("MAC delay of each packet")));
        assert!(reads.contains(Reads::LATE) && !Reads::LATE.contains(reads) && reads.contains(Reads::NONE));
    }
}
