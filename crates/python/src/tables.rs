//! Tables of runs and their rows.

use crate::shape::{Column, Kind, columns};
use crate::table::{Table, Writer};
use experiment::study::{Axis, Run, Verdict};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sim::results::{Flow, FlowSeries, Hop, Node, NodeSeries, QueueResult, Series, Totals};

/// Names of the tables of runs. `cost` has the values that differ between machines.
pub(crate) const NAMES: [&str; 8] = ["runs", "flows", "nodes", "queues", "hops", "flow_series", "queue_series", "cost"];

/// Makes the table of these runs that has this name.
pub(crate) fn table<'r>(name: &str, axes: &[Axis], runs: impl Iterator<Item = &'r Run>) -> PyResult<Table> {
    let mut rows = Rows { axes, runs };
    match name {
        "runs" => rows.of(&[], &columns::<Whole>(), |run| {
            let (simulated_s, events) = (run.outcome.simulated_s, run.outcome.events);
            vec![(Vec::new(), json!(Whole { simulated_s, events, totals: &run.outcome.totals }))]
        }),
        "cost" => rows.of(&[], &columns::<Cost>(), |&Run { wall_s, cpu_s, .. }| {
            vec![(Vec::new(), json!(Cost { wall_s, cpu_s }))]
        }),
        "flows" => rows.of(&["flow"], &columns::<Flow>(), |run| named(&[], &run.outcome.flows, |flow| &flow.name)),
        "nodes" => rows.of(&["node"], &columns::<Node>(), |run| named(&[], &run.outcome.nodes, |node| &node.name)),
        "queues" => rows.of(&["node", "queue"], &columns::<QueueResult>(), |run| {
            within(run, |node| named(&[&node.name], &node.queues, |queue| &queue.name))
        }),
        "hops" => rows.of(&["node", "to"], &columns::<Hop>(), |run| {
            within(run, |node| named(&[&node.name], &node.hops, |hop| &hop.name))
        }),
        "flow_series" => {
            rows.series("flow", &series_columns::<FlowSeries>(), |series| named(&[], &series.flows, |flow| &flow.name))
        }
        "queue_series" => {
            rows.series("queue", &series_columns::<NodeSeries>(), |series| named(&[], &series.nodes, |node| &node.name))
        }
        _ => Err(PyKeyError::new_err(format!("there is no table `{name}`; there are {}", NAMES.join(", ")))),
    }
}

pub(crate) fn verdicts(scenario: &str, verdicts: &[Verdict]) -> PyResult<Table> {
    let columns = columns::<Verdict>();
    let mut writer = Writer::default();
    writer.add("scenario".to_owned(), Kind::Text);
    let columns = add(&mut writer, &columns);
    let scenario = json!(scenario);
    for verdict in verdicts {
        let value = json!(verdict);
        writer.row([Some(&scenario)].into_iter().chain(columns.iter().map(|column| at(&value, &column.path))));
    }
    writer.finish()
}

/// Entries of a list, each with the names of its owners and its own name.
type Named = Vec<(Vec<Value>, Value)>;

fn named<T: Serialize>(of: &[&String], entries: &[T], name: impl Fn(&T) -> &String) -> Named {
    let names = |entry| of.iter().copied().chain([name(entry)]).map(|name| json!(name)).collect();
    entries.iter().map(|entry| (names(entry), json!(entry))).collect()
}

fn within(run: &Run, entries: impl Fn(&Node) -> Named) -> Named {
    run.outcome.nodes.iter().flat_map(entries).collect()
}

fn series_columns<T: JsonSchema>() -> Vec<Column> {
    columns::<T>().into_iter().filter(|column| column.list).collect()
}

/// The results of a whole run.
#[derive(Serialize, JsonSchema)]
struct Whole<'r> {
    simulated_s: f64,
    events: u64,
    totals: &'r Totals,
}

/// What a run took of the machine.
#[derive(Serialize, JsonSchema)]
struct Cost {
    wall_s: f64,
    cpu_s: f64,
}

struct Rows<'a, R> {
    axes: &'a [Axis],
    runs: R,
}

impl<'r, R: Iterator<Item = &'r Run>> Rows<'_, R> {
    /// Adds a row for each entry of the lists of a run.
    fn of(&mut self, what: &[&str], columns: &[Column], entries: impl Fn(&Run) -> Named) -> PyResult<Table> {
        let mut writer = self.writer(what);
        let columns = add(&mut writer, columns);
        for run in self.runs.by_ref() {
            let head = head(self.axes, run);
            for (names, value) in entries(run) {
                let cells = columns.iter().map(|column| at(&value, &column.path));
                writer.row(head.iter().chain(&names).map(Some).chain(cells));
            }
        }
        writer.finish()
    }

    /// Adds a row for each step of each entry; `time_s` is the end of the step.
    fn series(&mut self, what: &str, columns: &[Column], entries: impl Fn(&Series) -> Named) -> PyResult<Table> {
        let mut writer = self.writer(&[what]);
        writer.add("time_s".to_owned(), Kind::Number);
        for column in columns {
            writer.add(column.name(), column.kind);
        }
        for run in self.runs.by_ref() {
            let head = head(self.axes, run);
            let Some(series) = &run.outcome.series else { continue };
            for (names, value) in entries(series) {
                let lists: Vec<Option<&Vec<Value>>> =
                    columns.iter().map(|column| at(&value, &column.path).and_then(Value::as_array)).collect();
                let length = lists.iter().flatten().map(|list| list.len()).max().unwrap_or(0);
                for step in 0..length {
                    // Times are rounded to whole nanoseconds, like simulated time.
                    let time = json!(((step + 1) as f64 * series.step_s * 1e9).round() / 1e9);
                    let cells = lists.iter().map(|list| list.and_then(|list| list.get(step)));
                    writer.row(head.iter().chain(&names).chain([&time]).map(Some).chain(cells));
                }
            }
        }
        writer.finish()
    }

    /// Starts a table. Its first columns distinguish its rows.
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
