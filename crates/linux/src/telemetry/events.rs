//! Events of governed queues. Each is written to a log once, and the newest are kept in each
//! [`Status`](crate::telemetry::status::Status).

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An event of a governed queue. A log for machines has one JSON object per line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentEvent {
    /// Time in the form of RFC 3339: UTC, with milliseconds.
    pub at: String,
    /// Name of the interface.
    pub device: String,
    /// Kind of the event.
    pub what: AgentEventKind,
    /// Description for a person.
    pub words: String,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentEventKind {
    /// The agent attached to the queue.
    Attached,
    /// The interface disappeared: it was deleted or moved to another network namespace, or its driver was removed.
    Gone,
    /// The interface was renamed.
    Renamed,
    /// Another program replaced Sluice's queue.
    Replaced,
    /// The agent cannot attach to the queue now and tries again.
    Waiting,
    /// The link's rate was measured, and the controller restarts from a limit derived from the rate.
    Measured,
    /// The controller starves TCP: it drops packets and leaves the link idle.
    Starving,
    /// The settings were read again and apply now.
    Changed,
    /// The machine slept or the agent was stopped, for longer than an interval.
    Resumed,
    /// An operation failed that governing does not need.
    Failed,
    /// The former queue is restored.
    Restored,
    /// A socket for status or metrics listens now, after an attempt that failed.
    Listening,
    /// Probes of admission are answered and forwarded at the interface.
    Admission,
    /// Notes are exchanged with neighbours at the interface.
    Notes,
}

impl AgentEvent {
    /// Makes an event at `millis` milliseconds since the beginning of 1970 (UTC); see [`clock`].
    pub fn new(millis: u64, device: impl Into<String>, what: AgentEventKind, words: impl Into<String>) -> Self {
        Self { at: utc(millis), device: device.into(), what, words: words.into() }
    }
}

/// Returns a line for a person: `2026-11-21T20:55:59.000Z wlan0 gone: its driver was removed`.
impl fmt::Display for AgentEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, device, what, words } = self;
        write!(f, "{at} {device} ")?;
        // The name is that of the JSON.
        what.serialize(&mut *f)?;
        write!(f, ": {words}")
    }
}

/// Returns milliseconds since the beginning of 1970 (UTC) from the calendar clock. Only logs use them.
pub fn clock() -> u64 {
    let time = clock_gettime(ClockId::Realtime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    // A clock before 1970 was never set.
    seconds.unwrap_or_default().saturating_mul(1_000).saturating_add(nanos.unwrap_or_default() / 1_000_000)
}

/// Converts to a date and time of the Gregorian calendar.
fn utc(millis: u64) -> String {
    const DAY: u64 = 86_400_000;
    let [year, month, day] = units::date(millis / DAY);
    let (seconds, millis) = (millis % DAY / 1_000, millis % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_those_of_the_calendar() {
        let known = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ];
        for (millis, expected) in known {
            assert_eq!(utc(millis), expected);
        }
    }

    #[test]
    fn each_day_follows_the_one_before() {
        let mut before = utc(0);
        for day in 1..60_000 {
            let now = utc(day * 86_400_000);
            let date = |text: &str, at: std::ops::Range<usize>| text[at].parse::<u32>().unwrap();
            let next = date(&now, 8..10) == date(&before, 8..10) + 1 && now[..8] == before[..8];
            let turned = date(&now, 8..10) == 1 && date(&before, 8..10) >= 28 && now > before;
            assert!(next || turned, "{before} then {now}");
            before = now;
        }
    }

    #[test]
    fn the_clock_has_been_set() {
        assert!(utc(clock()).as_str() > "2025", "{}", utc(clock()));
    }

    #[test]
    fn an_event_reads_as_a_line() {
        let event = AgentEvent::new(0, "wlan0", AgentEventKind::Gone, "its driver was removed");
        assert_eq!(event.to_string(), "1970-01-01T00:00:00.000Z wlan0 gone: its driver was removed");
        let json = serde_json::to_string(&event).unwrap();
        assert!(json.contains("\"what\":\"gone\""), "{json}");
        assert_eq!(serde_json::from_str::<AgentEvent>(&json).unwrap(), event);
    }
}
