//! The screen of `sluice watch` as text, so that it can be tested without a terminal.

use crate::commands::stations::{milliseconds, plain};
use crate::commands::status::{age, classes, interface};
use control::{Limit, Stat};
use experiment::tables::wrapped;
use linux::telemetry::status::{Quantity, State, Status};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use units::Duration;

/// Number of values kept of each quantity: more than a terminal has columns.
const KEPT: usize = 512;
/// Widths of a quantity's name and of its value, in columns.
const LABEL: usize = 12;
const VALUE: usize = 22;

/// The queues as last reported, with their history.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Queues, under the agent's socket, the interface, and the attachment point on it.
    queues: BTreeMap<(PathBuf, String, String), QueueRow>,
}

#[derive(Debug)]
struct QueueRow {
    status: Status,
    history: VecDeque<Sample>,
}

/// Values of a queue at one time: limit, backlog, delay, service time and drops.
type Sample = [f64; 5];

impl View {
    /// Stores a report of the agent with the socket `agent`, which governs only these queues. Returns the queues whose
    /// status changed.
    pub(super) fn take(&mut self, agent: &Path, statuses: Vec<Status>) -> Vec<Status> {
        let mut known = std::mem::take(&mut self.queues);
        let mut moved = Vec::new();
        for status in statuses {
            let key = (agent.to_owned(), status.device.clone(), status.place.clone());
            let mut history = VecDeque::with_capacity(KEPT);
            if let Some(queue) = known.remove(&key) {
                if queue.status == status {
                    self.queues.insert(key, queue);
                    continue;
                }
                history = queue.history;
            }
            if history.len() == KEPT {
                history.pop_front();
            }
            history.push_back(sample(&status));
            moved.push(status.clone());
            self.queues.insert(key, QueueRow { status, history });
        }
        known.retain(|(other, ..), _| other != agent);
        self.queues.append(&mut known);
        moved
    }

    /// Draws the lines of the screen; none is wider than `width`.
    pub(super) fn draw(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if self.queues.is_empty() {
            lines.push("no agent reports a queue; waiting for one".into());
        }
        for queue in self.queues.values() {
            queue.draw(&mut lines, width);
            lines.push(String::new());
        }
        lines.push("q ends".into());
        lines.iter().flat_map(|line| fitted(line, width)).collect()
    }
}

/// Breaks a long line between words, and cuts a word that is longer than a line.
fn fitted(line: &str, width: usize) -> Vec<String> {
    let whole = if line.chars().count() <= width { line.to_owned() } else { wrapped(line, width, 4) };
    whole.split('\n').map(|line| line.chars().take(width).collect()).collect()
}

impl QueueRow {
    fn draw(&self, lines: &mut Vec<String>, width: usize) {
        let Status { place, state, kind, controller, at, .. } = &self.status;
        let mut title = format!("{} ({})  {}", interface(&self.status), plain(place), state.as_str());
        match state {
            State::Waiting { why } => _ = write!(title, ": {}", plain(why)),
            _ => _ = write!(title, "  {}, {}, for {}", plain(kind), plain(controller), age(*at)),
        }
        lines.push(title);
        for (quantity, name) in ["limit", "backlog", "delay", self.service().0, "dropped"].into_iter().enumerate() {
            let floor = match (name, self.status.target_delay) {
                ("delay", Some(target)) => target.as_secs_f64(),
                _ => 0.0,
            };
            let shown = self.history.iter().map(|sample| sample[quantity]);
            let bars = bars(shown, floor, width.saturating_sub(LABEL + VALUE + 4));
            lines.push(format!("  {name:<LABEL$}{:<VALUE$}  {bars}", self.value(name)));
        }
        lines.extend(classes(&self.status).map(|classes| format!("  {classes}")));
        if let Some(event) = self.status.events.back() {
            lines.push(format!("  {}", plain(&event.to_string())));
        }
    }

    /// Formats a quantity's present value.
    fn value(&self, name: &str) -> String {
        let status = &self.status;
        let dash = || "-".to_owned();
        let live = matches!(status.state, State::Governing | State::DryRun);
        let Some(seen) = status.last.as_ref().filter(|_| live) else { return dash() };
        let counts = status.measures(Quantity::Counts);
        match name {
            "limit" => status.limit.to_string(),
            "backlog" if counts => format!("{} packets", seen.backlog.packets),
            "delay" if seen.sojourn.n > 0 => {
                let target = status.target_delay.map(|target| format!(" of {}", milliseconds(target)));
                milliseconds(seen.sojourn.mean) + &target.unwrap_or_default()
            }
            "dropped" if counts => format!("{:.0} packets/s", drops(status)),
            "backlog" | "delay" | "dropped" => dash(),
            _ => self.service().1.map_or_else(dash, |span| format!("{:.2} ms", span.as_secs_f64() * 1e3)),
        }
    }

    /// Returns the best available measure of the link's time for a packet, with the name of this measure.
    fn service(&self) -> (&'static str, Option<Duration>) {
        service(&self.status)
    }
}

fn service(status: &Status) -> (&'static str, Option<Duration>) {
    let Some(seen) = &status.last else { return ("service", None) };
    let mean = |stat: Stat| (stat.n > 0).then_some(stat.mean);
    match mean(seen.service).or(seen.service_ewma) {
        None => ("gap", mean(seen.departure_gap)),
        known => ("service", known),
    }
}

/// Returns the packets dropped per second in the newest interval.
fn drops(status: &Status) -> f64 {
    let Some(seen) = status.last.filter(|seen| !seen.length.is_zero()) else { return 0.0 };
    seen.dropped.packets as f64 / seen.length.as_secs_f64()
}

fn sample(status: &Status) -> Sample {
    let limit = match status.limit {
        Limit::Packets(packets) => f64::from(packets),
        Limit::Bytes(bytes) => bytes.count() as f64,
    };
    let seen = status.last.unwrap_or_default();
    let service = service(status).1.unwrap_or_default();
    [limit, seen.backlog.packets as f64, seen.sojourn.mean.as_secs_f64(), service.as_secs_f64(), drops(status)]
}

/// Draws the newest values as bars of eight heights; the newest is at the right. A full bar stands for the larger of
/// the largest value and `floor`.
fn bars(values: impl DoubleEndedIterator<Item = f64> + Clone, floor: f64, width: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let newest = values.rev().take(width);
    let most = newest.clone().fold(floor, f64::max);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 8")]
    let bar = |value: f64| match (value / most * 8.0) as usize {
        _ if value <= 0.0 => ' ',
        height => HEIGHTS[height.min(7)],
    };
    let reversed: Vec<char> = newest.map(bar).collect();
    reversed.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::status::tests::governed;

    #[test]
    fn a_queue_is_drawn_with_its_figures_and_their_past() {
        let (mut view, agent) = (View::default(), Path::new("agent-1.sock"));
        let mut status = governed();
        for packets in [10, 20, 40, 80] {
            status.limit = Limit::Packets(packets);
            assert_eq!(view.take(agent, vec![status.clone()]).len(), 1);
        }
        assert!(view.take(agent, vec![status]).is_empty(), "nothing moved");
        let lines = view.draw(60);
        assert_eq!(lines[0], "wlan0 (root)  governing  sluice, adth, for 2 h 3 min");
        assert_eq!(lines[1], "  limit       80 packets              ▂▃▅█");
        assert_eq!(lines[3], "  delay       47.9 ms of 50.0 ms      ████");
        assert_eq!(lines[4], "  service     1.60 ms                 ████");
        assert_eq!(lines[5], "  dropped     30 packets/s            ████");
        let narrow = view.draw(20);
        assert!(narrow.iter().all(|line| line.chars().count() <= 20));
        assert_eq!(narrow[..3], ["wlan0 (root)", "    governing", "    sluice, adth,"], "no word is cut");
    }

    #[test]
    fn queues_that_an_agent_no_longer_tells_of_are_gone_and_those_of_others_stay() {
        let mut view = View::default();
        let other = Status { device: "wlan1".into(), ..governed() };
        view.take(Path::new("agent-1.sock"), vec![governed()]);
        view.take(Path::new("agent-2.sock"), vec![other.clone(), governed()]);
        assert_eq!(view.queues.len(), 3);
        view.take(Path::new("agent-2.sock"), vec![other]);
        assert_eq!(view.queues.len(), 2);
        view.take(Path::new("agent-1.sock"), Vec::new());
        view.take(Path::new("agent-2.sock"), Vec::new());
        assert_eq!(view.draw(60)[0], "no agent reports a queue; waiting for one");
    }

    #[test]
    fn bars_reach_from_nothing_to_the_largest_and_keep_the_newest() {
        assert_eq!(bars([0.0, 1.0, 4.0, 8.0].into_iter(), 0.0, 9), " ▂▅█");
        assert_eq!(bars([1.0, 2.0].into_iter(), 8.0, 9), "▂▃");
        assert_eq!(bars([1.0, 2.0, 3.0].into_iter(), 0.0, 1), "█");
        assert_eq!(bars([0.0, 0.0].into_iter(), 0.0, 9), "  ");
    }
}
