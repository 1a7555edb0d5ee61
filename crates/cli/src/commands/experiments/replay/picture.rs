//! The page that `sluice replay --report` writes.

use super::Replayed;
use crate::args;
use control::{Limit, Stat};
use experiment::report::timeline::{Chart, Page, Point};
use experiment::shell::quoted;
use lab::recorded::Decision;
use std::path::Path;

/// Builds the page: limits and backlog, delays and targets, service times, drops and rates.
pub(super) fn page(args: &args::Replay, out: &Path, recorded: &[Decision], all: &[Replayed]) -> Page {
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    let about = "What each controller decides when it sees the recorded intervals. These limits had no effect on the \
                 recorded queue: its backlog and delay follow from the recorded limit.";
    let mut charts: Vec<Chart> =
        [Unit::Packets, Unit::Bytes].iter().filter_map(|unit| unit.limits(recorded, all)).collect();
    charts.extend([delay(recorded, all), service(recorded), rate(recorded)]);
    Page {
        title: format!("{}: {}", args.file.display(), names.join(", ")),
        about: about.into(),
        command: command(args, out),
        charts,
    }
}

/// Returns the command that writes the page again.
fn command(args: &args::Replay, out: &Path) -> String {
    let mut words = vec!["sluice replay".to_owned(), quoted(&args.file.display().to_string())];
    words.extend(args.controller.iter().map(|name| format!("--controller {name}")));
    words.extend(args.target_delay.map(|target| format!("--target-delay {}", quoted(&target.to_string()))));
    words.extend(args.set.iter().map(|set| format!("--set {}", quoted(set))));
    words.push(format!("--report {}", quoted(&out.display().to_string())));
    words.join(" ")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Packets,
    Bytes,
}

impl Unit {
    /// Builds the chart of the limits in this unit, next to the backlog; `None` if no limit has this unit.
    fn limits(self, recorded: &[Decision], all: &[Replayed]) -> Option<Chart> {
        let counted = |decisions: &[Decision]| {
            let own = |limit: Limit| matches!(limit, Limit::Packets(_)) == (self == Self::Packets);
            let value = |decision: &Decision| own(decision.limit).then(|| decision.limit.count() as f64);
            points(decisions, value)
        };
        let mut lines = vec![("limit, recorded".to_owned(), counted(recorded))];
        lines.extend(all.iter().map(|one| (one.name.clone(), counted(&one.decided))));
        lines.retain(|(_, points)| points.iter().any(|point| point.value.is_some()));
        if lines.is_empty() {
            return None;
        }
        let (unit, backlog): (_, fn(&Decision) -> Option<f64>) = match self {
            Self::Packets => ("packets", |decision| Some(decision.seen.backlog.packets as f64)),
            Self::Bytes => ("B", |decision| Some(decision.seen.backlog.bytes.count() as f64)),
        };
        lines.insert(0, ("backlog, recorded".to_owned(), points(recorded, backlog)));
        Some(Chart { title: "Limit".into(), y_title: format!("limit, backlog ({unit})"), lines, ..Chart::default() })
    }
}

fn delay(recorded: &[Decision], all: &[Replayed]) -> Chart {
    let lines = [("mean", mean as fn(Stat) -> Option<f64>), ("longest", longest)];
    let lines = lines.map(|(name, of)| (name.to_owned(), points(recorded, |decision| of(decision.seen.sojourn))));
    let mut targets: Vec<(String, f64)> = Vec::new();
    for target in all.iter().filter_map(|one| one.target) {
        let target = (format!("target {target}"), target.as_secs_f64());
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let about = "Time of packets in the queue, as recorded.".into();
    Chart { title: "Queueing delay".into(), about, y_title: "queueing delay (s)".into(), lines: lines.into(), targets }
}

fn service(recorded: &[Decision]) -> Chart {
    let service = |decision: &Decision| mean(decision.seen.service);
    let average = |decision: &Decision| decision.seen.service_ewma.map(units::Duration::as_secs_f64);
    let gap = |decision: &Decision| mean(decision.seen.departure_gap);
    let lines = vec![
        ("service time".to_owned(), points(recorded, service)),
        ("its exponential average".to_owned(), points(recorded, average)),
        ("time between departures".to_owned(), points(recorded, gap)),
    ];
    Chart { title: "Time that the link takes per packet".into(), y_title: "time (s)".into(), lines, ..Chart::default() }
}

fn rate(recorded: &[Decision]) -> Chart {
    let rate = |of: fn(&Decision) -> control::Count| {
        points(recorded, |decision| {
            let length = decision.seen.length.as_secs_f64();
            (length > 0.0).then(|| of(decision).bytes.bits() as f64 / length)
        })
    };
    let lines = vec![
        ("arrived".to_owned(), rate(|decision| decision.seen.arrived)),
        ("left".to_owned(), rate(|decision| decision.seen.sent)),
        ("dropped".to_owned(), rate(|decision| decision.seen.dropped)),
    ];
    Chart { title: "Rate".into(), y_title: "rate (b/s)".into(), lines, ..Chart::default() }
}

fn mean(stat: Stat) -> Option<f64> {
    (stat.n > 0).then(|| stat.mean.as_secs_f64())
}

fn longest(stat: Stat) -> Option<f64> {
    (stat.n > 0).then(|| stat.max.as_secs_f64())
}

fn points(decisions: &[Decision], of: impl Fn(&Decision) -> Option<f64>) -> Vec<Point> {
    decisions.iter().map(|decision| Point { at: decision.at.as_secs_f64(), value: of(decision) }).collect()
}
