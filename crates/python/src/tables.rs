//! Tables of runs, and their rows.

use crate::shape::{Column, Kind, columns};
use crate::table::{Table, Writer};
use experiment::study::{Axis, Run, Verdict};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sim::results::{Flow, FlowSeries, Hop, Node, NodeSeries, QueueResult, Totals};

/// The names of the tables of runs. `cost` holds what differs between machines.
pub(crate) const NAMES: [&str; 8] = ["runs", "flows", "nodes", "queues", "hops", "flow_series", "queue_series", "cost"];

/// Makes a table of these runs.
///
/// # Errors
/// When no table has this name.
pub(crate) fn table<'r>(name: &str, axes: &[Axis], runs: impl Iterator<Item = &'r Run>) -> PyResult<Table> {
    let (number, text) = (|name| (name, Kind::Number), |name| (name, Kind::Text));
    let of = Filled { axes, runs };
    match name {
        "runs" => of.rows(&[number("simulated_s"), ("events", Kind::Count)], &kept::<Totals>("totals."), |run, row| {
            row(&[json!(run.outcome.simulated_s), json!(run.outcome.events)], &json!(run.outcome.totals), None);
        }),
        "cost" => of.rows(&[number("wall_s"), number("cpu_s")], &[], |run, row| {
            row(&[json!(run.wall_s), json!(run.cpu_s)], &Value::Null, None);
        }),
        "flows" => of.rows(&[text("flow")], &kept::<Flow>(""), |run, row| {
            run.outcome.flows.iter().for_each(|flow| row(&[json!(flow.name)], &json!(flow), None));
        }),
        "nodes" => of.rows(&[text("node")], &kept::<Node>(""), |run, row| {
            run.outcome.nodes.iter().for_each(|node| row(&[json!(node.name)], &json!(node), None));
        }),
        "queues" => of.rows(&[text("node"), text("queue")], &kept::<QueueResult>(""), |run, row| {
            for node in &run.outcome.nodes {
                node.queues.iter().for_each(|of| row(&[json!(node.name), json!(of.name)], &json!(of), None));
            }
        }),
        "hops" => of.rows(&[text("node"), text("to")], &kept::<Hop>(""), |run, row| {
            for node in &run.outcome.nodes {
                node.hops.iter().for_each(|hop| row(&[json!(node.name), json!(hop.name)], &json!(hop), None));
            }
        }),
        "flow_series" => of.rows(&[text("flow"), number("time_s")], &lists::<FlowSeries>(), |run, row| {
            let Some(series) = &run.outcome.series else { return };
            series.flows.iter().for_each(|flow| steps(&flow.name, &json!(flow), series.step_s, row));
        }),
        "queue_series" => of.rows(&[text("queue"), number("time_s")], &lists::<NodeSeries>(), |run, row| {
            let Some(series) = &run.outcome.series else { return };
            series.nodes.iter().for_each(|node| steps(&node.name, &json!(node), series.step_s, row));
        }),
        _ => Err(PyKeyError::new_err(format!("there is no table `{name}`; there are {}", NAMES.join(", ")))),
    }
}

/// Makes the table of verdicts on claims.
pub(crate) fn verdicts(scenario: &str, verdicts: &[Verdict]) -> PyResult<Table> {
    let (scenario, columns) = (json!(scenario), kept::<Verdict>(""));
    let mut writer = Writer::default();
    writer.add("scenario".to_owned(), Kind::Text);
    columns.iter().for_each(|(name, column)| writer.add(name.clone(), column.kind));
    for verdict in verdicts {
        let value = json!(verdict);
        writer.row([Some(&scenario)].into_iter().chain(columns.iter().map(|(_, column)| at(&value, &column.path))));
    }
    writer.finish()
}

/// The columns of a `T` that are not lists, each with its name in the table; without the name, which is a key of the row.
fn kept<T: DeserializeOwned>(prefix: &str) -> Vec<(String, Column)> {
    let kept = columns::<T>().into_iter().filter(|column| !column.list && column.path != ["name"]);
    kept.map(|column| (format!("{prefix}{}", column.name()), column)).collect()
}

fn lists<T: DeserializeOwned>() -> Vec<(String, Column)> {
    let lists = columns::<T>().into_iter().filter(|column| column.list);
    lists.map(|column| (column.name(), column)).collect()
}

/// Adds a row: its keys, the value whose parts are its cells, and the index in them if they are lists.
type Add<'a> = dyn FnMut(&[Value], &Value, Option<usize>) + 'a;

/// Adds a row for each step of an entry; `time_s` is the end of the step.
fn steps(name: &str, entry: &Value, step_s: f64, row: &mut Add) {
    let lists = entry.as_object().into_iter().flat_map(|entry| entry.values()).filter_map(Value::as_array);
    for step in 0..lists.map(Vec::len).max().unwrap_or(0) {
        // Whole nanoseconds, as simulated time is.
        let time = json!(((step + 1) as f64 * step_s * 1e9).round() / 1e9);
        row(&[json!(name), time], entry, Some(step));
    }
}

struct Filled<'a, R> {
    axes: &'a [Axis],
    runs: R,
}

impl<'r, R: Iterator<Item = &'r Run>> Filled<'_, R> {
    /// Makes a table whose first columns tell its rows apart.
    fn rows(
        self,
        keys: &[(&str, Kind)],
        columns: &[(String, Column)],
        each: impl Fn(&Run, &mut Add),
    ) -> PyResult<Table> {
        let mut writer = Writer::default();
        writer.add("scenario".to_owned(), Kind::Text);
        writer.add("seed".to_owned(), Kind::Count);
        for axis in self.axes {
            let kind = if is_numeric(axis) { Kind::Number } else { Kind::Text };
            let name = if writer.has(&axis.name) { format!("case.{}", axis.name) } else { axis.name.clone() };
            writer.add(name, kind);
        }
        keys.iter().for_each(|(name, kind)| writer.add((*name).to_owned(), *kind));
        for (name, column) in columns {
            writer.add(if writer.has(name) { format!("result.{name}") } else { name.clone() }, column.kind);
        }
        for run in self.runs {
            let head = head(self.axes, run);
            each(run, &mut |keys, value, step| {
                let cell = |(_, column): &(String, Column)| {
                    let cell = at(value, &column.path)?;
                    step.map_or(Some(cell), |step| cell.get(step))
                };
                writer.row(head.iter().chain(keys).map(Some).chain(columns.iter().map(cell)));
            });
        }
        writer.finish()
    }
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

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}
