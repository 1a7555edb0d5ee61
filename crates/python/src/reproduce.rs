//! A whole experiment: every case with every seed, and the verdicts on its claims; Python's form of `sluice reproduce`.

use crate::error::{failed, raised_outside, refused, unkept, wrong};
use crate::run::guarded;
use crate::scenario::Scenario;
use crate::steer::{period, simulate};
use crate::stop::Stop;
use crate::table::Table;
use crate::tables;
use control::Limit;
use experiment::scenario::Wishes;
use experiment::study;
use experiment::watch::{Fault, Outside, Timed, Watch};
use lab::charts;
use lab::store::{Store, write_whole};
use lab::sweep::{self, Settings, SweepError};
use pyo3::prelude::*;
use sim::Governed;
use sim::config::Network;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::Duration;

/// Makes the runs that `folder` lacks, keeps them there, and rules on the claims. `baselines` are labels, each with a
/// function that makes a run's controllers; they are compared with the label `like`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are those of Python's function")]
pub(crate) fn reproduce(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    baselines: Vec<(String, Py<PyAny>)>,
    like: Option<String>,
    seeds: Option<usize>,
    quick: bool,
    folder: PathBuf,
    build: String,
    stop: &Bound<'_, Stop>,
) -> PyResult<Study> {
    let (words, stop) = (&scenario.get().words, stop.get());
    let wishes = Wishes {
        set: words.set.clone(),
        seeds: seeds.or(quick.then_some(sweep::QUICK_SEEDS)),
        quick,
        ..Wishes::default()
    };
    let read = || {
        baselines.into_iter().try_fold(words.read(&wishes)?, |scenario, (label, make)| {
            let outside: Arc<dyn Outside> = Arc::new(InPython { make });
            scenario.with_baseline(&label, like.as_deref(), &outside)
        })
    };
    let ready = py.detach(read).map_err(|refusal| refused(py, &refusal))?;
    let store = Store::create(&folder, &ready.id).map_err(|error| unkept(py, &error.to_string()))?;
    let settings = Settings { threads: 0, build, command: "sluice.reproduce in Python".to_owned(), traces: None };
    let done = py.detach(|| guarded(|| sweep::run(&ready, &store, &settings, stop).map_err(Box::new)));
    let study = done.map_err(|fault| failed(py, &fault))?.map_err(|error| match *error {
        SweepError::Store(error) => unkept(py, &error.to_string()),
        SweepError::Outside(fault) => raised_outside(py, fault),
        other => failed(py, &other.to_string()),
    })?;
    Ok(Study { study })
}

/// Controllers written in Python that replace a scenario's own.
#[derive(Debug)]
struct InPython {
    /// Function that takes a case's labels, a seed and the queues, and makes a controller for each queue: its interval
    /// in seconds, and the function that makes decisions.
    make: Py<PyAny>,
}

/// A queue: its node, its name at the node, its limit in packets, and its controller's target delay in seconds.
type Described<'c> = (&'c str, &'c str, Option<u32>, Option<f64>);

impl Outside for InPython {
    fn run(
        &self,
        network: &Network,
        seed: u64,
        case: &BTreeMap<String, String>,
        places: &[Governed],
        watch: &dyn Watch,
    ) -> Result<Option<Timed>, Fault> {
        let (mut steered, mut deciding) = (Vec::new(), Vec::new());
        Python::attach(|py| {
            let described = places.iter().map(|queue| -> Described<'_> {
                let limit = match queue.limit {
                    Limit::Packets(packets) => Some(packets),
                    Limit::Bytes(_) => None,
                };
                (&queue.node, &queue.queue, limit, queue.target.map(Duration::as_secs_f64))
            });
            let made = self.make.bind(py).call1((case, seed, described.collect::<Vec<_>>()))?;
            let made: Vec<(f64, Py<PyAny>)> = made.extract()?;
            for (queue, (interval_s, decide)) in places.iter().zip(made) {
                steered.push((queue.place, period(interval_s)?));
                deciding.push(decide);
            }
            PyResult::Ok(())
        })?;
        simulate(network, seed, |_| Ok(steered), &deciding, watch)
    }
}

/// A scenario, its runs and the verdicts on its claims.
#[pyclass(frozen, module = "sluice._sluice")]
pub(crate) struct Study {
    study: study::Study,
}

#[pymethods]
impl Study {
    /// Serializes the study without loss of digits, to be sent from one process to another.
    fn to_json(&self) -> PyResult<Vec<u8>> {
        let study::Study { alone, runs, claims, .. } = &self.study;
        let whole = (&self.study, alone, runs, claims);
        serde_json::to_vec(&whole).map_err(wrong)
    }

    #[staticmethod]
    fn from_json(json: &[u8]) -> PyResult<Self> {
        let whole = serde_json::from_slice(json).map_err(wrong)?;
        let (study, alone, runs, claims): (study::Study, _, _, _) = whole;
        Ok(Self { study: study::Study { alone, runs, claims, ..study } })
    }

    #[getter]
    fn id(&self) -> &str {
        &self.study.id
    }

    #[getter]
    fn axes(&self) -> Vec<(&str, &[String])> {
        self.study.axes.iter().map(|axis| (axis.name.as_str(), axis.labels.as_slice())).collect()
    }

    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.study.seeds.clone()
    }

    /// Returns the number of runs.
    fn __len__(&self) -> usize {
        self.study.runs.len()
    }

    /// Returns one of the tables of runs, or `claims`.
    fn table(&self, name: &str) -> PyResult<Table> {
        let study = &self.study;
        match name {
            "claims" => tables::verdicts(&study.id, &study.claims),
            _ => tables::table(name, &study.axes, study.runs.iter()),
        }
    }

    /// Returns the text that `sluice reproduce` prints of the study, at most `width` characters wide.
    fn text(&self, width: usize) -> String {
        experiment::tables::study(&self.study, width, false)
    }

    /// Writes the report to this file.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let library = charts::library().map_err(|error| failed(py, &error.to_string()))?;
        let page = py.detach(|| experiment::report::html(std::slice::from_ref(&self.study), library, None));
        write_whole(Path::new(&path), page.as_bytes()).map_err(|error| unkept(py, &error.to_string()))
    }
}
