//! Tables of runs, and their rows.

use crate::shape::{Column, Kind, columns};
use crate::table::{Table, Writer};
use experiment::study::{Axis, Run, Verdict};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sim::results::{Flow, FlowSeries, Hop, Node, NodeSeries, QueueResult, Totals};

/// The names of the tables of runs. `cost` holds what differs between machines.
pub(crate) const NAMES: [&str; 8] = ["runs", "flows", "nodes", "queues", "hops", "flow_series", "queue_series", "cost"];

/// Makes a table of these runs.
///
/// # Errors
/// When no table has this name.
pub(crate) fn table<'r>(name: &str, axes: &[Axis], runs: impl Iterator<Item = &'r Run>) -> PyResult<Table> {
    let mut rows = Rows { axes, runs };
    match name {
        "runs" => rows.by_run(),
        "cost" => rows.cost(),
        "flows" => rows.of("flow", &columns::<Flow>(), |run| named(&run.outcome.flows, |flow| &flow.name)),
        "nodes" => rows.of("node", &columns::<Node>(), |run| named(&run.outcome.nodes, |node| &node.name)),
        "queues" => rows.within("queue", &columns::<QueueResult>(), |node| named(&node.queues, |queue| &queue.name)),
        "hops" => rows.within("to", &columns::<Hop>(), |node| named(&node.hops, |hop| &hop.name)),
        "flow_series" => rows.series("flow", &series_columns::<FlowSeries>(), |run| {
            let series = run.outcome.series.as_ref();
            series.map(|series| (series.step_s, named(&series.flows, |flow| &flow.name)))
        }),
        "queue_series" => rows.series("queue", &series_columns::<NodeSeries>(), |run| {
            let series = run.outcome.series.as_ref();
            series.map(|series| (series.step_s, named(&series.nodes, |node| &node.name)))
        }),
        _ => Err(PyKeyError::new_err(format!("there is no table `{name}`; there are {}", NAMES.join(", ")))),
    }
}

/// Makes the table of verdicts on claims.
pub(crate) fn verdicts(scenario: &str, verdicts: &[Verdict]) -> PyResult<Table> {
    let columns = columns::<Verdict>();
    let mut writer = Writer::default();
    writer.add("scenario".to_owned(), Kind::Text);
    for column in columns.iter().filter(|column| !column.list) {
        writer.add(column.name(), column.kind);
    }
    let scenario = json!(scenario);
    for verdict in verdicts {
        let value = json!(verdict);
        let cells = columns.iter().filter(|column| !column.list).map(|column| at(&value, &column.path));
        writer.row([Some(&scenario)].into_iter().chain(cells));
    }
    writer.finish()
}

/// Entries of a list with their names.
type Named = Vec<(Value, Value)>;

fn named<T: Serialize>(entries: &[T], name: impl Fn(&T) -> &String) -> Named {
    entries.iter().map(|entry| (json!(name(entry)), json!(entry))).collect()
}

fn series_columns<T: JsonSchema>() -> Vec<Column> {
    columns::<T>().into_iter().filter(|column| column.list).collect()
}

struct Rows<'a, R> {
    axes: &'a [Axis],
    runs: R,
}

impl<'r, R: Iterator<Item = &'r Run>> Rows<'_, R> {
    fn by_run(&mut self) -> PyResult<Table> {
        let mut totals = columns::<Totals>();
        totals.retain(|column| !column.list);
        let mut writer = self.writer(&[]);
        writer.add("simulated_s".to_owned(), Kind::Number);
        writer.add("events".to_owned(), Kind::Count);
        for column in &totals {
            writer.add(format!("totals.{}", column.name()), column.kind);
        }
        for run in self.runs.by_ref() {
            let head = head(self.axes, run);
            let own = [json!(run.outcome.simulated_s), json!(run.outcome.events)];
            let value = json!(run.outcome.totals);
            let cells = totals.iter().map(|column| at(&value, &column.path));
            writer.row(head.iter().chain(&own).map(Some).chain(cells));
        }
        writer.finish()
    }

    fn cost(&mut self) -> PyResult<Table> {
        let mut writer = self.writer(&[]);
        for name in ["wall_s", "cpu_s"] {
            writer.add(name.to_owned(), Kind::Number);
        }
        for run in self.runs.by_ref() {
            let cost = [json!(run.wall_s), json!(run.cpu_s)];
            writer.row(head(self.axes, run).iter().chain(&cost).map(Some));
        }
        writer.finish()
    }

    /// Adds a row for each entry of a list of a run.
    fn of(&mut self, what: &str, columns: &[Column], entries: impl Fn(&Run) -> Named) -> PyResult<Table> {
        let mut writer = self.writer(&[what]);
        let columns = add(&mut writer, columns);
        for run in self.runs.by_ref() {
            let head = head(self.axes, run);
            for (name, value) in entries(run) {
                let cells = columns.iter().map(|column| at(&value, &column.path));
                writer.row(head.iter().map(Some).chain([Some(&name)]).chain(cells));
            }
        }
        writer.finish()
    }

    /// Adds a row for each entry of a list of a node.
    fn within(&mut self, what: &str, columns: &[Column], entries: impl Fn(&Node) -> Named) -> PyResult<Table> {
        let mut writer = self.writer(&["node", what]);
        let columns = add(&mut writer, columns);
        for run in self.runs.by_ref() {
            let head = head(self.axes, run);
            for node in &run.outcome.nodes {
                let name = json!(node.name);
                for (inner, value) in entries(node) {
                    let cells = columns.iter().map(|column| at(&value, &column.path));
                    writer.row(head.iter().map(Some).chain([Some(&name), Some(&inner)]).chain(cells));
                }
            }
        }
        writer.finish()
    }

    /// Adds a row for each step of each entry; `time_s` is the end of the step.
    fn series(
        &mut self,
        what: &str,
        columns: &[Column],
        entries: impl Fn(&Run) -> Option<(f64, Named)>,
    ) -> PyResult<Table> {
        let mut writer = self.writer(&[what]);
        writer.add("time_s".to_owned(), Kind::Number);
        for column in columns {
            writer.add(column.name(), column.kind);
        }
        for run in self.runs.by_ref() {
            let head = head(self.axes, run);
            let Some((step_s, entries)) = entries(run) else { continue };
            for (name, value) in entries {
                let lists: Vec<Option<&Vec<Value>>> =
                    columns.iter().map(|column| at(&value, &column.path).and_then(Value::as_array)).collect();
                let length = lists.iter().flatten().map(|list| list.len()).max().unwrap_or(0);
                for step in 0..length {
                    // Whole nanoseconds, as simulated time is.
                    let time = json!(((step + 1) as f64 * step_s * 1e9).round() / 1e9);
                    let cells = lists.iter().map(|list| list.and_then(|list| list.get(step)));
                    writer.row(head.iter().map(Some).chain([Some(&name), Some(&time)]).chain(cells));
                }
            }
        }
        writer.finish()
    }

    /// Starts a table whose first columns tell its rows apart.
    fn writer(&self, names: &[&str]) -> Writer {
        let mut writer = Writer::default();
        writer.add("scenario".to_owned(), Kind::Text);
        writer.add("seed".to_owned(), Kind::Count);
        for axis in self.axes {
            let kind = if is_numeric(axis) { Kind::Number } else { Kind::Text };
            let name = if writer.has(&axis.name) { format!("case.{}", axis.name) } else { axis.name.clone() };
            writer.add(name, kind);
        }
        for name in names {
            writer.add((*name).to_owned(), Kind::Text);
        }
        writer
    }
}

/// Adds the columns that are not lists, except for the name, which stands before them.
fn add<'c>(writer: &mut Writer, columns: &'c [Column]) -> Vec<&'c Column> {
    let kept: Vec<&Column> = columns.iter().filter(|column| !column.list && column.path != ["name"]).collect();
    for column in &kept {
        let name = column.name();
        writer.add(if writer.has(&name) { format!("result.{name}") } else { name }, column.kind);
    }
    kept
}

fn head(axes: &[Axis], run: &Run) -> Vec<Value> {
    let label = |axis: &Axis| {
        let label = run.case.get(&axis.name)?;
        if is_numeric(axis) { label.parse::<f64>().ok().map(|number| json!(number)) } else { Some(json!(label)) }
    };
    let labels = axes.iter().map(|axis| label(axis).unwrap_or_default());
    [json!(run.scenario), json!(run.seed)].into_iter().chain(labels).collect()
}

/// True if all labels are numbers.
fn is_numeric(axis: &Axis) -> bool {
    axis.labels.iter().all(|label| label.parse::<f64>().is_ok())
}

fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}
