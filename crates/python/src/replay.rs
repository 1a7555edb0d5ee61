//! Recordings of queues in Python. They can be read, and replayed into controllers.

use crate::error::unreplayed;
use crate::shape::{Cell, Kind};
use crate::steer::{measures, ordered};
use crate::table::{Table, Writer};
use control::{Limit, Mark, Orders};
use lab::live;
use lab::recorded::Decision;
use lab::{Error, recording};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use units::Duration;

/// The intervals of a queue with the decisions that followed.
#[pyclass(frozen, module = "sluice._sluice")]
pub(crate) struct Recording {
    /// Name of the file, as messages give it.
    name: String,
    decisions: Vec<Decision>,
    cut: Option<usize>,
}

#[pymethods]
impl Recording {
    /// Reads a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::of(py, path.display().to_string(), py.detach(|| recording::open(&path)))
    }

    /// Reads lines; `name` is the file's name in messages.
    #[staticmethod]
    fn read(py: Python<'_>, name: String, lines: Vec<u8>) -> PyResult<Self> {
        let read = py.detach(|| recording::read_all(&name, &lines[..]));
        Self::of(py, name, read)
    }

    /// Returns the warning that the last line was cut off, if it was.
    #[getter]
    fn warning(&self) -> Option<String> {
        self.cut.map(|line| recording::cut_off(&self.name, line))
    }

    /// Returns a table of the recording.
    fn table(&self) -> PyResult<Table> {
        table(&self.decisions, &self.decisions)
    }

    /// Replays the recording into the controller of these settings; each is `KEY=VALUE` with a key of `[queue]`.
    fn replay(&self, py: Python<'_>, settings: Vec<String>) -> PyResult<Table> {
        let replayed = py.detach(|| {
            // If a setting was made in Python, the message leaves out the option of the command line.
            let told = |message: String| Error::Wrong(message.trim_start_matches("--set ").to_owned());
            let settings = live::settings(&settings).map_err(told)?;
            recording::replay(&self.name, &self.decisions, &settings)
        });
        let (_, decided) = replayed.map_err(|error| unreplayed(py, &error.to_string()))?;
        table(&self.decisions, &decided)
    }

    /// Replays the recording into a controller that is written in Python; see `run_steered`.
    fn replay_steered(&self, decide: &Bound<'_, PyAny>) -> PyResult<Table> {
        let one = |recorded: &Decision| {
            let orders: Orders = ordered(decide, &recorded.seen)?;
            Ok(recorded.clone().with(&orders))
        };
        let decided: Vec<Decision> = self.decisions.iter().map(one).collect::<PyResult<_>>()?;
        table(&self.decisions, &decided)
    }
}

impl Recording {
    fn of(py: Python<'_>, name: String, read: Result<recording::Recording, Error>) -> PyResult<Self> {
        let recording::Recording { decisions, cut } = read.map_err(|error| unreplayed(py, &error.to_string()))?;
        Ok(Self { name, decisions, cut })
    }
}

/// Makes a table with a row for each interval.
fn table(recorded: &[Decision], decided: &[Decision]) -> PyResult<Table> {
    let mut writer = Writer::default();
    for (was, is) in recorded.iter().zip(decided) {
        let cells = row(was, is);
        for (name, kind, _) in &cells {
            if !writer.has(name) {
                writer.add(name.clone(), *kind);
            }
        }
        writer.row(cells.iter().map(|(.., value)| Some(value)));
    }
    writer.finish()
}

/// Makes a row; every row has the same columns.
fn row(was: &Decision, is: &Decision) -> Vec<Cell> {
    let number = |name: &str, value: Option<f64>| (name.to_owned(), Kind::Number, json!(value));
    let text = |name: &str, value: Option<Value>| (name.to_owned(), Kind::Text, value.unwrap_or_default());
    let mut cells = vec![number("at_s", Some(was.at.as_secs_f64()))];
    cells.extend(measures(&was.seen));
    cells.push(number("service_ewma_s", was.seen.service_ewma.map(Duration::as_secs_f64)));
    for (before, decision) in [("recorded_", was), ("", is)] {
        let (packets, bytes) = match decision.limit {
            Limit::Packets(packets) => (Some(packets), None),
            Limit::Bytes(bytes) => (None, Some(bytes.count())),
        };
        cells.push((format!("{before}limit_packets"), Kind::Count, json!(packets)));
        cells.push((format!("{before}limit_bytes"), Kind::Count, json!(bytes)));
        cells.push(number(&format!("{before}rate_bps"), decision.rate.map(|rate| rate.as_bps() as f64)));
    }
    cells.push(text("mark", (is.mark != Mark::None).then(|| json!(is.mark))));
    cells.push(text("access", is.access.map(|access| json!(access))));
    cells.push(("low_up_to_packets".to_owned(), Kind::Count, json!(is.low_up_to)));
    cells.push(text("note", is.note.map(|note| json!(note))));
    cells
}
