//! Status of the queues that an agent governs. The agent keeps it current, and other programs read it.

mod json;

use crate::device::contract::{Beside, Capabilities, TURNS_OF_ONE, TURNS_OF_STATIONS};
use crate::device::{knobs, state::namespace};
use crate::telemetry::events::AgentEvent;
use control::{AnyController, Controller as _, Count, Interval, Limit, Orders, Reads};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use units::{Bytes, Duration, Rate};

/// Maximum number of events that a status keeps: the newest ones.
pub const EVENTS_KEPT: usize = 32;

/// Present state of a governed queue. In JSON one object, whose numbers have their units in the keys (`target_delay_s`,
/// `limit_packets`). Readers ignore unknown fields, so an older reader understands a newer agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Name of the interface, as in `ip link`.
    pub device: String,
    /// Number of the interface's network namespace, as in `lsns`; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u64>,
    /// Attachment point on the interface: `root`, or a class of a shaper in the form of `tc`, `1:10`.
    pub place: String,
    /// Whether and how the queue is governed.
    #[serde(flatten)]
    pub state: State,
    /// Kind of queue that holds the packets, as in `tc qdisc`; empty while there is none.
    #[serde(flatten, with = "json::Graded")]
    pub kind: String,
    /// Quantities that the device cannot measure: zero or absent in [`last`](Self::last).
    pub unmeasured: Vec<Quantity>,
    /// Name of the controller that sets the limit.
    pub controller: String,
    /// Queueing delay at which the controller aims; `None` if it has no such aim.
    #[serde(
        rename = "target_delay_s",
        with = "json::PerhapsSeconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub target_delay: Option<Duration>,
    /// Present limit; in a dry run the limit that would be set.
    #[serde(flatten, with = "json::WithUnit")]
    pub limit: Limit,
    /// Rate at which best-effort packets are released; `None`: the link alone sets the rate.
    #[serde(rename = "rate_bps", with = "json::PerhapsBps", default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The real-time queue next to this queue, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_time: Option<RealTime>,
    /// Time since the agent attached to this queue, without time for which the machine slept.
    #[serde(rename = "at_s", with = "json::Seconds")]
    pub at: Duration,
    /// The newest interval; `None` before the first one.
    #[serde(with = "json::PerhapsMeasured", default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Interval>,
    /// Sums since the agent attached to this queue.
    pub totals: Totals,
    /// The newest events in order of time, at most [`EVENTS_KEPT`].
    pub events: VecDeque<AgentEvent>,
}

/// The real-time queue: its newest interval, and sums since the agent attached to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealTime {
    /// The newest interval.
    #[serde(with = "json::Measured")]
    pub last: Interval,
    /// Packets of the real-time queue, in total.
    pub totals: Counts,
}

/// State of governing. In JSON it has the key `state`, and next to it `why`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum State {
    /// The agent measures the queue and sets its limit.
    Governing,
    /// The agent measures and decides, but changes nothing.
    DryRun,
    /// The agent cannot govern the queue now and tries again.
    Waiting {
        /// The reason: `no interface wlan0`.
        why: String,
    },
    /// The agent has released the queue, and the former one is restored.
    Ended,
}

/// Returns the grade of a kind of queue without a controller: 1 for the scheduler of mac80211, 2 for turns of stations,
/// 3 for turns on a driver that pushes back.
pub fn grade(kind: &str) -> Option<u8> {
    let grades = [(knobs::KIND, 1), (TURNS_OF_STATIONS, 2), (TURNS_OF_ONE, 3)];
    grades.into_iter().find_map(|(known, grade)| (kind == known).then_some(grade))
}

impl State {
    /// Returns the state's name in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Governing => "governing",
            Self::DryRun => "dry-run",
            Self::Waiting { .. } => "waiting",
            Self::Ended => "ended",
        }
    }
}

/// Quantities of [`Interval`] that some devices cannot measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// [`Interval::arrived`], `sent`, `dropped` and `backlog`.
    Counts,
    /// [`Interval::sojourn`].
    Sojourn,
    /// [`Interval::departure_gap`].
    DepartureGap,
    /// [`Interval::service`] and [`Interval::nodal`].
    Service,
    /// [`Interval::service_ewma`].
    ServiceEwma,
    /// [`Interval::idle`] and [`Interval::busy`].
    Occupancy,
}

impl Quantity {
    /// The quantities and how controllers name them.
    const ALL: [(Self, Reads); 6] = [
        (Self::Counts, Reads::COUNTS),
        (Self::Sojourn, Reads::SOJOURN),
        (Self::DepartureGap, Reads::GAP),
        (Self::Service, Reads::SERVICE),
        (Self::ServiceEwma, Reads::AVERAGE),
        (Self::Occupancy, Reads::OCCUPANCY),
    ];

    /// Returns the quantities that a device with these `reads` cannot measure.
    pub fn absent(reads: Reads) -> Vec<Self> {
        let absent = Self::ALL.iter().filter(|(_, of)| !reads.contains(*of));
        absent.map(|(quantity, _)| *quantity).collect()
    }
}

/// Packets of all intervals. The sums only grow, and saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Packets that arrived, including those that were dropped.
    #[serde(flatten, with = "json::Arrived")]
    pub arrived: Count,
    /// Packets that left the queue for the driver.
    #[serde(flatten, with = "json::Sent")]
    pub sent: Count,
    /// Packets that the queue dropped.
    #[serde(flatten, with = "json::Dropped")]
    pub dropped: Count,
}

impl Counts {
    fn add(&mut self, seen: &Interval) {
        add(&mut self.arrived, seen.arrived);
        add(&mut self.sent, seen.sent);
        add(&mut self.dropped, seen.dropped);
    }
}

/// Sums over intervals. The sums only grow, and saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Sums of packets.
    #[serde(flatten)]
    pub counts: Counts,
    /// Number of changes of the limit.
    pub limit_changes: u64,
    /// Number of times that the agent attached again, because the interface had been absent or its queue replaced.
    pub restarts: u64,
}

impl Status {
    /// Makes the status of a queue before its first interval, waiting for its interface.
    pub fn new(device: impl Into<String>, place: impl Into<String>, controller: &AnyController, limit: Limit) -> Self {
        Self {
            device: device.into(),
            namespace: namespace().ok(),
            place: place.into(),
            state: State::Waiting { why: "not begun".into() },
            kind: String::new(),
            unmeasured: Vec::new(),
            controller: controller.name().as_str().into(),
            target_delay: controller.target_delay(),
            limit,
            rate: None,
            real_time: None,
            at: Duration::ZERO,
            last: None,
            totals: Totals::default(),
            events: VecDeque::with_capacity(EVENTS_KEPT),
        }
    }

    /// Returns the name of the interface's network namespace, unless this process is in it: as in `ip netns`, or else
    /// as the kernel writes it, `net:[4026532281]`.
    pub fn other_namespace(&self) -> Option<String> {
        let number = self.namespace.filter(|number| namespace().is_ok_and(|own| own != *number))?;
        let mounted = fs::read_dir("/run/netns").into_iter().flatten().flatten();
        let is_its = |entry: &DirEntry| rustix::fs::stat(entry.path()).is_ok_and(|stat| stat.st_ino == number);
        let named = mounted.filter(is_its).map(|entry| entry.file_name().to_string_lossy().into_owned()).min();
        Some(named.unwrap_or_else(|| format!("net:[{number}]")))
    }

    /// Records what the device that holds the queue can do.
    pub(crate) fn held_by(&mut self, capabilities: &Capabilities) {
        capabilities.kind.clone_into(&mut self.kind);
        self.unmeasured = Quantity::absent(capabilities.reads);
    }

    /// Adds an interval that ended at `at`, and the orders that follow it.
    pub fn advance(&mut self, at: Duration, seen: &Interval, beside: &Beside, orders: &Orders) {
        self.pass_over(seen, beside);
        let Orders { limit, rate, .. } = *orders;
        self.rate = rate;
        self.totals.limit_changes = self.totals.limit_changes.saturating_add(u64::from(limit != self.limit));
        self.limit = limit;
        self.at = at;
        self.last = Some(*seen);
    }

    /// Counts the packets of an interval that no controller saw; it is not shown.
    pub(crate) fn pass_over(&mut self, seen: &Interval, beside: &Beside) {
        self.totals.counts.add(seen);
        self.real_time = beside.class.map(|last| {
            let mut totals = self.real_time.unwrap_or_default().totals;
            totals.add(&last);
            RealTime { last, totals }
        });
    }

    /// Adds an event, and removes the oldest one if there are too many.
    pub fn note(&mut self, event: AgentEvent) {
        if self.events.len() == EVENTS_KEPT {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// True if the queue's device measures `quantity`.
    pub fn measures(&self, quantity: Quantity) -> bool {
        !self.unmeasured.contains(&quantity)
    }
}

fn add(sum: &mut Count, part: Count) {
    sum.packets = sum.packets.saturating_add(part.packets);
    sum.bytes = Bytes::new(sum.bytes.count().saturating_add(part.bytes.count()));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::telemetry::events::AgentEventKind;
    use control::{Name, Parameters, Stat};

    /// A status with every field set.
    pub(crate) fn busy() -> Status {
        let controller = AnyController::new(Name::Adth, &Parameters::default(), &Limit::Packets(1_000).into()).unwrap();
        let mut status = Status::new("wlan0", "root", &controller, Limit::Packets(1_000));
        status.state = State::Governing;
        status.kind = "pfifo".into();
        status.unmeasured = vec![Quantity::Service];
        let count = |packets| Count { packets, bytes: Bytes::new(packets * 1_500) };
        let seen = Interval {
            length: Duration::from_millis(100),
            arrived: count(30),
            sent: count(20),
            dropped: count(4),
            backlog: count(6),
            backlog_max: 9,
            sojourn: Stat { n: 20, mean: Duration::from_millis(48), ..Stat::default() },
            departure_gap: Stat { n: 19, mean: Duration::from_millis(5), ..Stat::default() },
            service_ewma: Some(Duration::from_micros(5_200)),
            busy: Duration::from_millis(100),
            ..Interval::default()
        };
        let sojourn = Stat { n: 3, mean: Duration::from_micros(300), ..Stat::default() };
        let class = Interval { sent: count(3), arrived: count(4), backlog: count(1), sojourn, ..Interval::default() };
        let (beside, limit) = (Beside { class: Some(class), ..Beside::default() }, Limit::Packets(10));
        let orders = Orders { rate: Some(Rate::kbps(350)), ..limit.into() };
        status.advance(Duration::from_millis(100), &seen, &beside, &orders);
        status.note(AgentEvent::new(1_790_000_000_250, "wlan0", AgentEventKind::Attached, "pfifo, governed by adth"));
        status
    }

    #[test]
    fn a_status_is_read_as_it_was_written() {
        let waiting = State::Waiting { why: "no interface wlan0".into() };
        for state in [State::Governing, State::DryRun, waiting, State::Ended] {
            let status = Status { state, ..busy() };
            let json = serde_json::to_string(&status).unwrap();
            assert_eq!(serde_json::from_str::<Status>(&json).unwrap(), status, "{json}");
            assert!(json.contains(&format!("\"state\":\"{}\"", status.state.as_str())), "{json}");
        }
    }

    #[test]
    fn a_field_of_a_newer_agent_is_passed_over() {
        let json = serde_json::to_string(&busy()).unwrap().replacen('{', "{\"mood\":\"fine\",", 1);
        assert_eq!(serde_json::from_str::<Status>(&json).unwrap(), busy());
    }

    #[test]
    fn every_quantity_is_a_number_with_its_unit_in_its_key() {
        let units = ["s", "packets", "bytes", "bps"];
        // These are other counts, statistics whose key has the unit, and the interval's own table.
        let without = ["limit_changes", "restarts", "n", "mean", "max", "last", "namespace"];
        let mut status = busy();
        for limit in [Limit::Packets(10), Limit::Bytes(Bytes::new(15_000))] {
            status.limit = limit;
            let mut left = vec![(String::new(), serde_json::to_value(&status).unwrap())];
            let mut numbers = 0;
            while let Some((key, value)) = left.pop() {
                match value {
                    serde_json::Value::Object(map) => left.extend(map),
                    serde_json::Value::Number(_) => {
                        let has_unit = units.contains(&key.rsplit('_').next().unwrap());
                        assert!(has_unit || without.contains(&key.as_str()), "{key}");
                        numbers += 1;
                    }
                    serde_json::Value::String(text) => {
                        let words = ["device", "place", "state", "kind", "controller"];
                        assert!(words.contains(&key.as_str()), "{key}: {text}");
                    }
                    // Values that are not measured are not compared, nor are events, which are texts.
                    value => assert!(value.is_array(), "{key}: {value}"),
                }
            }
            assert_eq!(numbers, 56);
        }
        let json = serde_json::to_value(&status).unwrap();
        assert_eq!((&json["limit_bytes"], &json["target_delay_s"]), (&15_000.into(), &0.2.into()));
        assert_eq!(json["last"]["sojourn_s"]["mean"], 0.048);
        assert_eq!(json["last"].get("service_s"), None, "what was not measured is absent");
    }

    #[test]
    fn intervals_are_summed_and_a_limit_that_stays_is_no_change() {
        let mut status = busy();
        let seen = status.last.unwrap();
        let (beside, orders) = (Beside::default(), Orders::from(Limit::Packets(10)));
        status.advance(Duration::from_millis(200), &seen, &beside, &orders);
        let packets = |count: Count| count.packets;
        let Totals { counts: Counts { arrived, sent, dropped }, limit_changes, .. } = status.totals;
        assert_eq!((packets(arrived), packets(sent), packets(dropped), limit_changes), (60, 40, 8, 1));
        status.totals.counts.sent.packets = u64::MAX;
        status.advance(Duration::from_millis(300), &seen, &beside, &Limit::Packets(11).into());
        assert_eq!((status.totals.counts.sent.packets, status.totals.limit_changes), (u64::MAX, 2));
    }

    #[test]
    fn only_the_newest_events_are_kept() {
        let mut status = busy();
        for at in 0..100 {
            status.note(AgentEvent::new(at, "wlan0", AgentEventKind::Gone, "unplugged"));
        }
        assert_eq!(status.events.len(), EVENTS_KEPT);
        assert_eq!(status.events[0], AgentEvent::new(68, "wlan0", AgentEventKind::Gone, "unplugged"));
    }
}
