//! Metrics in Prometheus's text exposition format, version 0.0.4. Names begin with `sluice_` and end with a base unit
//! (seconds, bytes); names of counters end with `_total`.

use crate::telemetry::status::{Counts, Quantity, RealTime, State, Status};
use control::{Interval, Limit, Stat};
use std::fmt::Write as _;

/// Media type of [`text`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A family of samples: a name, a type and a line of help.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name with the unit: `sluice_queue_limit_packets`.
    pub name: &'static str,
    /// `gauge` for a value that rises and falls; `counter` for one that only grows until the agent restarts.
    pub kind: &'static str,
    /// Help text: one sentence.
    pub help: &'static str,
    /// Returns the value for a queue; `None` if it is not known and thus not written.
    value: fn(&Status) -> Option<f64>,
}

/// Makes the list of metrics from the type, name, help and value of each; a value may be `None`.
macro_rules! metrics {
    ($($kind:ident $name:literal, $help:literal, |$status:ident| $value:expr;)*) => {
        /// All metrics of a queue, in the order in which they are written.
        pub const ALL: &[Metric] = &[$(
            Metric { name: $name, kind: stringify!($kind), help: $help, value: |$status| Some($value) },
        )*];
    };
}

metrics! {
    gauge "sluice_queue_governed", "Whether a controller sees the queue now: 1, or 0 while it waits.",
        |status| f64::from(u8::from(live(status)));
    gauge "sluice_queue_limit_packets", "The present limit, if it is a number of packets.",
        |status| match status.limit { Limit::Packets(packets) if live(status) => packets.into(), _ => return None };
    gauge "sluice_queue_limit_bytes", "The present limit, if it is a size.",
        |status| match status.limit { Limit::Bytes(bytes) if live(status) => bytes.count() as f64, _ => return None };
    gauge "sluice_queue_rate_bits_per_second", "Rate to which best effort is shaped, if it is.",
        |status| status.rate.filter(|_| live(status))?.as_bps() as f64;
    gauge "sluice_queue_backlog_packets", "Packets waiting at the end of the newest interval.",
        |status| seen(status, Quantity::Counts)?.backlog.packets as f64;
    gauge "sluice_queue_backlog_bytes", "Bytes waiting at the end of the newest interval.",
        |status| seen(status, Quantity::Counts)?.backlog.bytes.count() as f64;
    gauge "sluice_queue_backlog_max_packets", "Most packets that waited at once in the newest interval.",
        |status| seen(status, Quantity::Counts)?.backlog_max as f64;
    gauge "sluice_queue_delay_seconds", "Mean time in the queue of packets in the newest interval.",
        |status| mean(seen(status, Quantity::Sojourn)?.sojourn)?;
    gauge "sluice_queue_delay_target_seconds", "The queueing delay that the controller aims at.",
        |status| status.target_delay?.as_secs_f64();
    gauge "sluice_queue_departure_gap_seconds", "Mean time between two departures while packets waited.",
        |status| mean(seen(status, Quantity::DepartureGap)?.departure_gap)?;
    gauge "sluice_queue_service_time_seconds", "Mean service time of packets in the newest interval.",
        |status| mean(seen(status, Quantity::Service)?.service)?;
    gauge "sluice_queue_service_time_average_seconds", "Exponential average of service times.",
        |status| seen(status, Quantity::ServiceEwma)?.service_ewma?.as_secs_f64();
    gauge "sluice_queue_busy_ratio", "Share of the newest interval in which packets waited.",
        |status| busy(seen(status, Quantity::Occupancy)?)?;
    gauge "sluice_queue_interval_seconds", "Length of the newest interval.",
        |status| status.last.filter(|_| live(status))?.length.as_secs_f64();
    counter "sluice_queue_arrived_packets_total", "Packets that arrived, whether kept or not.",
        |status| counts(status)?.arrived.packets as f64;
    counter "sluice_queue_arrived_bytes_total", "Bytes of the packets that arrived.",
        |status| counts(status)?.arrived.bytes.count() as f64;
    counter "sluice_queue_sent_packets_total", "Packets that left for the driver.",
        |status| counts(status)?.sent.packets as f64;
    counter "sluice_queue_sent_bytes_total", "Bytes of the packets that left for the driver.",
        |status| counts(status)?.sent.bytes.count() as f64;
    counter "sluice_queue_dropped_packets_total", "Packets that the queue discarded.",
        |status| counts(status)?.dropped.packets as f64;
    counter "sluice_queue_dropped_bytes_total", "Bytes of the packets that the queue discarded.",
        |status| counts(status)?.dropped.bytes.count() as f64;
    gauge "sluice_queue_real_time_backlog_packets", "Waiting real-time packets, if they have a queue.",
        |status| real_time(status)?.last.backlog.packets as f64;
    gauge "sluice_queue_real_time_delay_seconds", "Mean time of real-time packets in their queue.",
        |status| mean(real_time(status)?.last.sojourn)?;
    counter "sluice_queue_real_time_arrived_packets_total", "Real-time packets that arrived.",
        |status| status.real_time?.totals.arrived.packets as f64;
    counter "sluice_queue_real_time_sent_packets_total", "Real-time packets that left.",
        |status| status.real_time?.totals.sent.packets as f64;
    counter "sluice_queue_real_time_sent_bytes_total", "Bytes of the real-time packets that left.",
        |status| status.real_time?.totals.sent.bytes.count() as f64;
    counter "sluice_queue_real_time_dropped_packets_total", "Real-time packets that were discarded.",
        |status| status.real_time?.totals.dropped.packets as f64;
    counter "sluice_queue_limit_changes_total", "How often the limit changed.",
        |status| status.totals.limit_changes as f64;
    counter "sluice_queue_restarts_total", "How often the agent governed the queue again after losing it.",
        |status| status.totals.restarts as f64;
}

/// Writes the metrics of all queues. Each series has the labels `device`, `place` (`root`, or a class) and
/// `controller`.
pub fn text(statuses: &[Status]) -> String {
    let mut text = String::new();
    for metric in ALL {
        family(&mut text, metric, statuses);
    }
    text
}

/// Writes one metric for all queues that have it, if any.
fn family(text: &mut String, metric: &Metric, statuses: &[Status]) {
    let mut headed = false;
    for status in statuses {
        let Some(value) = (metric.value)(status) else { continue };
        let Metric { name, kind, help, .. } = metric;
        if !std::mem::replace(&mut headed, true) {
            write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n").expect("writing to a string never fails");
        }
        let [device, place, controller] = [&status.device, &status.place, &status.controller].map(|text| escaped(text));
        let labels = format!("device=\"{device}\",place=\"{place}\",controller=\"{controller}\"");
        writeln!(text, "{name}{{{labels}}} {value}").expect("writing to a string never fails");
    }
}

/// Escapes backslash, quotation mark and line feed in a label's value.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// True if the queue is governed or observed now.
fn live(status: &Status) -> bool {
    matches!(status.state, State::Governing | State::DryRun)
}

/// Returns the newest interval if there is a queue and its device measures `quantity`.
fn seen(status: &Status, quantity: Quantity) -> Option<&Interval> {
    status.last.as_ref().filter(|_| live(status) && status.measures(quantity))
}

/// Returns the real-time queue, if there is one.
fn real_time(status: &Status) -> Option<RealTime> {
    status.real_time.filter(|_| live(status))
}

fn mean(stat: Stat) -> Option<f64> {
    (stat.n > 0).then(|| stat.mean.as_secs_f64())
}

fn busy(seen: &Interval) -> Option<f64> {
    let whole = seen.busy + seen.idle;
    (!whole.is_zero()).then(|| seen.busy.as_secs_f64() / whole.as_secs_f64())
}

/// Returns the sums over all intervals if the device measures them.
fn counts(status: &Status) -> Option<Counts> {
    status.measures(Quantity::Counts).then_some(status.totals.counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::status::tests::busy;
    use std::collections::BTreeSet;
    use std::path::Path;
    use units::Bytes;
    use units::Duration;

    /// Checks a text against the format. HELP and TYPE of a family come once, before its samples, which stand together.
    /// No series occurs twice, and a line feed ends the text. Returns the series.
    fn checked(text: &str) -> BTreeSet<(String, String)> {
        assert!(text.is_empty() || text.ends_with('\n'));
        let (mut series, mut families, mut family) = (BTreeSet::new(), BTreeSet::new(), "");
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                family = help.split(' ').next().unwrap();
                assert!(families.insert(family), "{family} comes twice");
                let kind = lines.next().unwrap();
                let ending = if family.ends_with("_total") { "counter" } else { "gauge" };
                assert_eq!(kind, format!("# TYPE {family} {ending}"));
                continue;
            }
            let (name, rest) = line.split_once('{').unwrap();
            assert_eq!(name, family, "samples of a family stand together");
            let (labels, value) = rest.rsplit_once("} ").unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
            assert!(series.insert((name.to_owned(), labels.to_owned())), "{line} comes twice");
        }
        series
    }

    #[test]
    fn names_and_units_are_those_of_the_conventions() {
        let units = ["packets", "bytes", "second", "seconds", "ratio", "governed", "changes", "restarts"];
        let mut names = BTreeSet::new();
        for Metric { name, kind, help, .. } in ALL {
            assert!(name.starts_with("sluice_queue_") && names.insert(name), "{name}");
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
            let stem = name.strip_suffix("_total").unwrap_or(name);
            assert_eq!(stem != *name, *kind == "counter", "{name}");
            assert!(units.contains(&stem.rsplit('_').next().unwrap()), "{name} ends with its unit");
            assert!(help.ends_with('.') && !help.contains(['\n', '\\']), "{help}");
        }
    }

    #[test]
    fn a_queue_is_told_in_base_units() {
        let text = text(&[busy()]);
        checked(&text);
        let labels = "{device=\"wlan0\",place=\"root\",controller=\"adth\"}";
        for (name, value) in [
            ("governed", "1"),
            ("limit_packets", "10"),
            ("backlog_bytes", "9000"),
            ("delay_seconds", "0.048"),
            ("service_time_average_seconds", "0.0052"),
            ("busy_ratio", "1"),
            ("sent_packets_total", "20"),
            ("dropped_bytes_total", "6000"),
            ("rate_bits_per_second", "350000"),
            ("real_time_backlog_packets", "1"),
            ("real_time_sent_packets_total", "3"),
        ] {
            let line = format!("sluice_queue_{name}{labels} {value}\n");
            assert!(text.contains(&line), "{line} is missing in\n{text}");
        }
        assert!(!text.contains("limit_bytes") && !text.contains("service_time_seconds"), "{text}");
    }

    #[test]
    fn what_is_not_known_is_not_told_as_zero() {
        let mut status = busy();
        status.limit = Limit::Bytes(Bytes::new(64_000));
        status.unmeasured.push(Quantity::Counts);
        status.real_time = None;
        status.last.as_mut().unwrap().sojourn = Stat::default();
        let told = text(&[status.clone()]);
        assert!(told.contains("sluice_queue_limit_bytes{") && told.contains(" 64000\n"), "{told}");
        for absent in ["limit_packets{", "backlog", "queue_delay_seconds", "_packets_total"] {
            assert!(!told.contains(absent), "{absent} in\n{told}");
        }
        status.state = State::Waiting { why: "no interface".into() };
        let told = text(&[status]);
        assert!(told.contains("} 0\n") && !told.contains("busy_ratio") && !told.contains("limit_bytes"), "{told}");
    }

    #[test]
    fn queues_stand_together_and_names_are_escaped() {
        let other = Status { device: "a\"b\\c\nd".into(), ..busy() };
        let class = Status { place: "1:10".into(), ..busy() };
        let text = text(&[busy(), class, other]);
        let series = checked(&text);
        assert!(series.iter().any(|(_, labels)| labels.contains("device=\"a\\\"b\\\\c\\nd\"")), "{text}");
        assert_eq!(series.len() % 3, 0);
        assert_eq!(super::text(&[]), "");
    }

    /// Checks all metrics but `governed` and `busy_ratio`, which no status has as a number.
    #[test]
    fn a_metric_is_a_number_of_the_status() {
        let mut full = busy();
        let spans = Stat { n: 3, mean: Duration::from_micros(2_500), ..Stat::default() };
        full.unmeasured.clear();
        full.last.as_mut().unwrap().service = spans;
        let sized = Status { limit: Limit::Bytes(Bytes::new(64_000)), ..full.clone() };
        let mut compared = 0;
        for status in [full, sized] {
            let json = serde_json::to_value(&status).unwrap();
            for metric in ALL {
                let name = metric.name.strip_prefix("sluice_queue_").unwrap();
                let path = match name {
                    "governed" | "busy_ratio" => continue,
                    "limit_packets" | "limit_bytes" => format!("/{name}"),
                    "delay_seconds" => "/last/sojourn_s/mean".into(),
                    "delay_target_seconds" => "/target_delay_s".into(),
                    "departure_gap_seconds" => "/last/departure_gap_s/mean".into(),
                    "service_time_seconds" => "/last/service_s/mean".into(),
                    "service_time_average_seconds" => "/last/service_ewma_s".into(),
                    "interval_seconds" => "/last/length_s".into(),
                    "rate_bits_per_second" => "/rate_bps".into(),
                    "real_time_backlog_packets" => "/real_time/last/backlog_packets".into(),
                    "real_time_delay_seconds" => "/real_time/last/sojourn_s/mean".into(),
                    _ => match name.strip_suffix("_total") {
                        Some(sum) if sum.starts_with("real_time_") => {
                            format!("/real_time/totals/{}", sum.trim_start_matches("real_time_"))
                        }
                        Some(sum) => format!("/totals/{sum}"),
                        None => format!("/last/{name}"),
                    },
                };
                let told = json.pointer(&path).and_then(serde_json::Value::as_f64);
                assert_eq!((metric.value)(&status), told, "{name}");
                compared += usize::from(told.is_some());
            }
        }
        assert_eq!(compared, 2 * (ALL.len() - 3), "one of the limits is absent");
    }

    /// Returns all words of a text that begin with `sluice_`.
    fn named(text: &str) -> BTreeSet<&str> {
        let part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text.split(|c| !part_of_name(c));
        words.filter(|word| word.starts_with("sluice_")).collect()
    }

    #[test]
    fn the_dashboard_names_only_metrics_that_there_are_and_leaves_few_out() {
        let dashboard = include_str!("../../../../packaging/grafana/sluice.json");
        let read: serde_json::Value = serde_json::from_str(dashboard).unwrap();
        assert!(read["panels"].as_array().unwrap().len() >= 6);
        let (shown, known) = (named(dashboard), ALL.iter().map(|metric| metric.name).collect::<BTreeSet<_>>());
        assert_eq!(shown.difference(&known).count(), 0, "{shown:?}");
        let left_out = [
            "backlog_max_packets",
            "interval_seconds",
            "sent_packets_total",
            "dropped_bytes_total",
            "real_time_sent_packets_total",
        ];
        let left_out: BTreeSet<String> = left_out.iter().map(|name| format!("sluice_queue_{name}")).collect();
        assert!(known.difference(&shown).all(|name| left_out.contains(*name)), "{shown:?}");
    }

    /// The script calls a program that prints the metrics, in place of wget.
    #[test]
    fn collectd_gets_a_value_of_each_metric_that_the_script_names() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/openwrt/sluice/files/sluice.collectd");
        let of_class = Status { place: "1:10".into(), ..busy() };
        let run = format!("wget() {{ printf '%s' \"$TEXT\"; }}; sleep() {{ exit 0; }}; . {script:?}");
        let mut command = std::process::Command::new("sh");
        command.args(["-euc", &run]).env("TEXT", text(&[busy(), of_class]));
        let output = command.env("COLLECTD_HOSTNAME", "router").env("COLLECTD_INTERVAL", "30.000").output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let value = |queue: &str, of: &str, value: &str| {
            let line = format!("PUTVAL \"router/sluice-{queue}/{of}\" interval=30.000 N:{value}\n");
            assert!(told.contains(&line), "{line} is not in\n{told}");
        };
        for queue in ["wlan0", "wlan0_1_10"] {
            value(queue, "latency-queue", "0.048");
            value(queue, "latency-target", "0.2");
            value(queue, "queue_length-waiting", "6");
            value(queue, "queue_length-limit", "10");
            value(queue, "total_bytes-sent", "30000");
            value(queue, "total_bytes-dropped", "6000");
        }
        assert_eq!(told.lines().count(), 12, "{told}");
    }
}
