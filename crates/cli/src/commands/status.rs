use super::decisions::line;
use super::stations::{self, milliseconds, plain};
use crate::args;
use crate::console::{print, print_json, width};
use crate::failure::Failure;
use experiment::scenario::or_meant;
use experiment::tables::{Columns, table};
use linux::telemetry::ask;
use linux::telemetry::stations::Stations;
use linux::telemetry::status::{Quantity, RealTime, State, Status, grade};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use units::Duration;

pub(super) fn status(args: &args::Status) -> Result<(), Failure> {
    let folder = &args.agents.state;
    let asked = ask(folder)?;
    let running = asked.is_some();
    let mut statuses = asked.unwrap_or_default();
    if let Some(device) = args.agents.device.as_deref().filter(|_| running) {
        is_governed(device, &statuses)?;
        statuses.retain(|status| status.device == device);
    }
    let wireless = wireless(&statuses);
    if args.json {
        let of = |status: &Status| wireless.get(&status.device).filter(|_| status.other_namespace().is_none());
        let statuses: Vec<WithStations> =
            statuses.iter().map(|status| WithStations { status, wireless: of(status) }).collect();
        print_json(&line(&statuses)?)?;
    } else if running {
        let mut text = text(&statuses, width());
        let stations = stations::text(&wireless, width());
        if !stations.is_empty() {
            text.extend(["\n", &stations]);
        }
        print(&text)?;
    }
    if running { Ok(()) } else { Err(none(folder)) }
}

/// Asks all agents in `folder` what they govern; `None` if none runs.
pub(super) fn ask(folder: &Path) -> Result<Option<Vec<Status>>, Failure> {
    let mut asked: Option<Vec<Status>> = None;
    for socket in ask::sockets(folder)? {
        if let Some(told) = ask::status(&socket)? {
            asked.get_or_insert_default().extend(told);
        }
    }
    Ok(asked)
}

/// Returns an error if no agent governs an interface of this name.
pub(super) fn is_governed(device: &str, statuses: &[Status]) -> Result<(), Failure> {
    let mut known: Vec<&str> = statuses.iter().map(|status| status.device.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    if known.contains(&device) {
        return Ok(());
    }
    let device = plain(device);
    if known.is_empty() {
        return Err(Failure::wrong(format!("no agent governs \"{device}\": the agent governs no queue")));
    }
    let meant = plain(&or_meant(&device, known.iter().copied()));
    let known = plain(&known.join(", "));
    Err(Failure::wrong(format!("no agent governs \"{device}\", but agents govern {known}{meant}")))
}

/// A status as JSON, with the stations of a Wi-Fi interface.
#[derive(Serialize)]
struct WithStations<'a> {
    #[serde(flatten)]
    status: &'a Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    wireless: Option<&'a Stations>,
}

/// Reads the stations of governed Wi-Fi interfaces. The agent may lack the privilege, so the command reads them. An
/// interface that is absent or in another network namespace has no stations.
fn wireless(statuses: &[Status]) -> BTreeMap<String, Stations> {
    let look = |status: &Status| Some((status.device.clone(), linux::telemetry::stations::look(&status.device).ok()??));
    statuses.iter().filter(|status| status.other_namespace().is_none()).filter_map(look).collect()
}

/// Returns the name of a queue's interface, with its network namespace unless this command is in it.
pub(super) fn interface(status: &Status) -> String {
    let namespace = status.other_namespace().map_or_else(String::new, |name| format!(" in {name}"));
    plain(&(status.device.clone() + &namespace))
}

/// Makes the failure that no agent runs.
pub(super) fn none(folder: &Path) -> Failure {
    let folder = folder.display();
    Failure::failed(format!(
        "no agent runs (none has a socket in {folder}); `sluice attach DEV` or `sluice agent` starts one"
    ))
}

/// Formats a table; below it, why queues wait, and the last event of each queue.
fn text(statuses: &[Status], width: usize) -> String {
    if statuses.is_empty() {
        return "the agent governs no queue\n".into();
    }
    let head =
        ["interface", "place", "state", "queue", "controller", "limit", "backlog", "delay", "target", "dropped", "for"];
    let rows: Vec<Vec<String>> = statuses.iter().map(row).collect();
    let mut text = table(&head, &rows, &Columns { right: &[6, 7, 8, 9, 10], prose: &[] }, width);
    for status in statuses {
        let device = interface(status);
        if let State::Waiting { why } = &status.state {
            let _ = writeln!(text, "{device} waits: {}", plain(why));
        }
        if let Some(classes) = classes(status) {
            let _ = writeln!(text, "{device} {classes}");
        }
        if let Some(event) = status.events.back() {
            let event = linux::telemetry::events::AgentEvent { device, ..event.clone() };
            let _ = writeln!(text, "{}", plain(&event.to_string()));
        }
    }
    text
}

fn row(status: &Status) -> Vec<String> {
    let Status { place, state, kind, controller, limit, last, totals, .. } = status;
    let seen = last.as_ref().filter(|_| matches!(state, State::Governing | State::DryRun));
    let counts = status.measures(Quantity::Counts);
    let known = |known: bool, text: String| if known { text } else { "-".into() };
    let backlog = seen.map_or(0, |seen| seen.backlog.packets);
    let delay =
        seen.filter(|seen| seen.sojourn.n > 0).map_or_else(|| "-".into(), |seen| milliseconds(seen.sojourn.mean));
    let share = 100.0 * totals.counts.dropped.packets as f64 / totals.counts.arrived.packets.max(1) as f64;
    vec![
        interface(status),
        plain(place),
        state.as_str().into(),
        match grade(&status.kind) {
            Some(grade) => format!("{kind} (grade {grade})"),
            None if kind.is_empty() => "-".into(),
            None => plain(kind),
        },
        plain(controller),
        limit.to_string(),
        known(counts && seen.is_some(), backlog.to_string()),
        known(status.measures(Quantity::Sojourn), delay),
        status.target_delay.map_or_else(|| "-".into(), milliseconds),
        known(counts, format!("{} ({share:.1} %)", totals.counts.dropped.packets)),
        age(status.at),
    ]
}

/// Formats the state of a queue's two service classes, if it has them: `best effort at most 350 kb/s; real time: 3
/// wait, 0.2 ms, 0 dropped`.
pub(super) fn classes(status: &Status) -> Option<String> {
    let best_effort = match status.rate {
        Some(rate) => format!("best effort at most {rate}"),
        None => "best effort not shaped".into(),
    };
    let class = status.real_time.filter(|_| matches!(status.state, State::Governing))?;
    let RealTime { last, totals } = class;
    let delay = if last.sojourn.n > 0 { milliseconds(last.sojourn.mean) } else { "no delay known".into() };
    let (waiting, dropped) = (last.backlog.packets, totals.dropped.packets);
    Some(format!("{best_effort}; real time: {waiting} wait, {delay}, {dropped} dropped"))
}

/// Formats a time in its two largest units.
pub(super) fn age(span: Duration) -> String {
    let seconds = span.as_nanos() / 1_000_000_000;
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use control::{AnyController, Count, Interval, Limit, Name, Parameters, Stat};
    use linux::Beside;
    use linux::telemetry::events::{AgentEvent, AgentEventKind};
    use linux::telemetry::status::Counts;
    use units::{Bytes, Rate};

    /// Makes the status of a queue after its first interval under ADTH.
    pub(crate) fn governed() -> Status {
        let controller = AnyController::new(Name::Adth, &Parameters::default(), &Limit::Packets(1_000).into()).unwrap();
        let mut status = Status::new("wlan0", "root", &controller, Limit::Packets(1_000));
        status.state = State::Governing;
        status.kind = "sluice".into();
        status.target_delay = Some(Duration::from_millis(50));
        let count = |packets| Count { packets, bytes: Bytes::new(packets * 1_500) };
        let seen = Interval {
            length: Duration::from_millis(100),
            arrived: count(200),
            sent: count(100),
            dropped: count(3),
            backlog: count(97),
            sojourn: Stat { n: 100, mean: Duration::from_micros(47_940), ..Stat::default() },
            departure_gap: Stat { n: 99, mean: Duration::from_micros(1_610), ..Stat::default() },
            service_ewma: Some(Duration::from_micros(1_600)),
            ..Interval::default()
        };
        status.advance(Duration::from_secs(7_384), &seen, &Beside::default(), &Limit::Packets(31).into());
        status
    }

    #[test]
    fn a_queue_is_a_row_and_what_is_not_known_is_a_dash() {
        let mut class = governed();
        class.place = "1:10".into();
        class.unmeasured = vec![Quantity::Sojourn];
        let elsewhere = Status { namespace: Some(7), ..governed() };
        let text = text(&[governed(), class, elsewhere], 200);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split("  ").filter(|cell| !cell.is_empty()).map(str::trim).collect())
            .collect();
        let first = [
            "wlan0", "root", "governing", "sluice", "adth", "31 packets", "97", "47.9 ms", "50.0 ms", "3 (1.5 %)",
            "2 h 3 min",
        ];
        assert_eq!(rows[2], first);
        assert_eq!((rows[3][1], rows[3][7], rows[4][0]), ("1:10", "-", "wlan0 in net:[7]"));
    }

    #[test]
    fn why_a_queue_waits_is_said_and_nothing_reaches_the_terminal_as_a_command() {
        let mut status = governed();
        status.state = State::Waiting { why: "no interface \u{1b}[2Jwlan0".into() };
        status.note(AgentEvent::new(0, "wlan0", AgentEventKind::Gone, "unplugged"));
        let text = text(&[status], 200);
        assert!(text.contains("wlan0 waits: no interface ?[2Jwlan0\n"), "{text}");
        assert!(text.ends_with("1970-01-01T00:00:00.000Z wlan0 gone: unplugged\n"), "{text}");
        assert!(!text.contains("47.9"), "{text}");
    }

    #[test]
    fn classes_are_a_line_where_the_queue_tells_them_apart() {
        let mut status = governed();
        assert_eq!(classes(&status), None);
        let sojourn = Stat { n: 9, mean: Duration::from_micros(240), ..Stat::default() };
        let last = Interval { sojourn, ..Interval::default() };
        let dropped = Count { packets: 2, bytes: Bytes::new(300) };
        status.real_time = Some(RealTime { last, totals: Counts { dropped, ..Counts::default() } });
        assert_eq!(classes(&status).unwrap(), "best effort not shaped; real time: 0 wait, 0.2 ms, 2 dropped");
        status.rate = Some(Rate::kbps(350));
        let text = text(&[status.clone()], 200);
        assert!(text.contains("wlan0 best effort at most 350 kb/s; real time: 0 wait, 0.2 ms, 2 dropped\n"), "{text}");
        assert_eq!(classes(&Status { state: State::Ended, ..status }), None);
    }

    #[test]
    fn an_age_has_two_units() {
        let ages = [0, 59, 61, 3_600, 90_000].map(|seconds| age(Duration::from_secs(seconds)));
        assert_eq!(ages, ["0 s", "59 s", "1 min 1 s", "1 h 0 min", "1 d 1 h"]);
    }
}
