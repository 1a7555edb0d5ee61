//! A finished run in Python.

use crate::error::{failed, wrong};
use crate::table::Table;
use crate::tables;
use experiment::jobs;
use experiment::scenario::Scenario;
use experiment::study::{self, Verdict};
use experiment::watch::{Timed, Watch};
use lab::charts;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sim::config::Network;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// A run and the verdicts on its claims.
#[pyclass(frozen, module = "sluice._sluice")]
#[derive(Serialize, Deserialize)]
#[expect(
    clippy::unsafe_derive_deserialize,
    reason = "only Python's macros are unsafe, and they do not touch its fields"
)]
pub(crate) struct Run {
    done: study::Run,
    verdicts: Vec<Verdict>,
}

impl Run {
    /// Creates the run from the outcome of `scenario`, which varies nothing.
    pub(crate) fn new(scenario: Scenario, timed: Timed) -> Self {
        let (done, verdicts) = jobs::judged(&scenario, timed);
        Self { done, verdicts }
    }
}

/// Runs a network to its end; `None` when stopped.
pub(crate) fn simulate(network: &Network, seed: u64, watch: &dyn Watch) -> Result<Option<Timed>, String> {
    guarded(|| lab::run::run(network, seed, watch))?.map_err(|error| error.to_string())
}

/// Does some work in parallel, without the interpreter. A forked process makes threads of its own: it lacks those of
/// the process that it was copied from, whose pool would wait for ever.
pub(crate) fn parallel<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.as_ref().is_none_or(|(process, _)| *process != std::process::id()) {
        std::mem::forget(kept.take());
        let pool = ThreadPoolBuilder::new().build().ok();
        *kept = pool.map(|pool| (std::process::id(), Arc::new(pool)));
    }
    let pool = kept.as_ref().map(|(_, pool)| Arc::clone(pool));
    drop(kept);
    py.detach(|| match pool {
        Some(pool) => pool.install(work),
        None => work(),
    })
}

/// Does some work. A panic, which is a fault in a model, ends the work, but not the interpreter.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("this is a fault in Sluice: {}", text.unwrap_or("a panic"))
    })
}

#[pymethods]
impl Run {
    #[getter]
    fn seed(&self) -> u64 {
        self.done.seed
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.done.outcome.warnings.clone()
    }

    /// Returns the object that `sluice run --json` prints.
    fn json(&self) -> PyResult<String> {
        let mut object = serde_json::to_value(&self.done).map_err(wrong)?;
        object["claims"] = json!(self.verdicts);
        Ok(object.to_string())
    }

    /// Serializes the run without loss of digits, to be sent from one process to another.
    fn to_json(&self) -> PyResult<Vec<u8>> {
        serde_json::to_vec(self).map_err(wrong)
    }

    #[staticmethod]
    fn from_json(json: &[u8]) -> PyResult<Self> {
        serde_json::from_slice(json).map_err(wrong)
    }

    /// Returns one of the tables of runs, or `claims`.
    fn table(&self, name: &str) -> PyResult<Table> {
        match name {
            "claims" => tables::verdicts(&self.done.scenario, &self.verdicts),
            _ => tables::table(name, &[], std::iter::once(&self.done)),
        }
    }

    /// Returns the tables of flows and queues as `sluice run` prints them, at most `width` characters wide.
    fn text(&self, width: usize) -> String {
        let outcome = &self.done.outcome;
        format!("{}\n{}", experiment::tables::flows(outcome, width), experiment::tables::queues(outcome, width))
    }
}

/// Returns the mean of some values and the ends of its 95 % interval.
#[pyfunction]
pub(crate) fn interval(values: Vec<f64>) -> (f64, f64, f64) {
    let interval = experiment::statistics::interval(&values);
    (interval.mean, interval.low, interval.high)
}

/// Returns a page with a Vega-Lite chart that fetches nothing; `spec` is the chart's JSON.
#[pyfunction]
pub(crate) fn chart_page(py: Python<'_>, title: &str, spec: &str) -> PyResult<String> {
    let library = charts::library().map_err(|error| failed(py, &error.to_string()))?;
    Ok(experiment::report::chart(title, spec, library))
}
