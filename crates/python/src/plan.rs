//! A sweep in Python, in chunks of runs. Each chunk can run alone on any machine.

use crate::error::{refused, wrong};
use crate::run::simulate;
use crate::scenario::Scenario;
use crate::stop::Stop;
use crate::table::Table;
use crate::tables;
use experiment::scenario::{Over, Scenario as Ready, Varied, Wishes, fingerprint};
use experiment::study::Axis;
use experiment::watch::Watch as _;
use experiment::{jobs, study};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The label of a value, and the settings that it means.
type Value = (String, Vec<String>);

/// All runs of a sweep, in chunks.
#[pyclass(frozen, module = "sluice._sluice")]
pub(crate) struct Plan {
    scenario: Ready,
    build: String,
    /// Indices of the runs in each chunk.
    chunks: Vec<Vec<usize>>,
}

#[pymethods]
impl Plan {
    /// Plans a sweep. `over`: the axes in the place of the file's `[vary]`; `build`: the identity of this build of
    /// Sluice; `chunk`: the largest number of runs in a chunk; `blocks`: the number of seeds that each call added; a
    /// chunk has seeds of one call only, so that later seeds do not change it.
    #[new]
    fn new(
        scenario: &Bound<'_, Scenario>,
        over: Option<Vec<(String, Vec<Value>)>>,
        seeds: Option<Vec<u64>>,
        build: String,
        chunk: usize,
        blocks: Option<Vec<usize>>,
    ) -> PyResult<Self> {
        let (py, words) = (scenario.py(), &scenario.get().words);
        let axes =
            |over: Vec<(String, Vec<Value>)>| over.into_iter().map(|(name, values)| Varied { name, values }).collect();
        let asked = over.map(|over| Over { axes: axes(over), seeds: seeds.clone().unwrap_or_default() });
        let wishes = Wishes { set: words.set.clone(), over: asked, ..Wishes::default() };
        let scenario = py.detach(|| words.read(&wishes)).map_err(|refusal| refused(py, &refusal))?;
        let seeds = seeds.unwrap_or_else(|| scenario.seeds.clone());
        let (cases, all) = (scenario.cases.len(), seeds.len());
        let mut chunks = Vec::new();
        let mut first = 0;
        for block in blocks.unwrap_or_else(|| vec![all]) {
            let seeds = first..(first + block).min(all);
            let numbers: Vec<usize> =
                (0..cases).flat_map(|case| seeds.clone().map(move |seed| case * all + seed)).collect();
            chunks.extend(numbers.chunks(chunk.max(1)).map(<[usize]>::to_vec));
            first = seeds.end;
        }
        Ok(Self { scenario: Ready { seeds, ..scenario }, build, chunks })
    }

    #[getter]
    fn id(&self) -> &str {
        &self.scenario.id
    }

    #[getter]
    fn runs(&self) -> usize {
        self.scenario.cases.len() * self.scenario.seeds.len()
    }

    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.scenario.seeds.clone()
    }

    #[getter]
    fn axes(&self) -> Vec<(&str, &[String])> {
        self.scenario.axes.iter().map(|axis| (axis.name.as_str(), axis.labels.as_slice())).collect()
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.scenario.base.duration.as_secs_f64()
    }

    /// Returns the names of the chunks: hashes of network, seeds and build, on which their results depend.
    fn keys(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.chunks.iter().map(|numbers| self.key(numbers)).collect())
    }

    /// Returns a hash of all cases' networks, each with the first seed. A sweep of other networks has another hash.
    fn networks(&self, py: Python<'_>) -> String {
        let firsts: Vec<usize> = (0..self.runs()).step_by(self.scenario.seeds.len().max(1)).collect();
        py.detach(|| self.key(&firsts))
    }

    /// Makes the runs of a chunk, one after another; `None` if they were stopped.
    fn run(&self, py: Python<'_>, chunk: usize, stop: &Bound<'_, Stop>) -> Option<Chunk> {
        let stop = stop.get();
        py.detach(|| self.run_chunk(chunk, stop))
    }
}

impl Plan {
    fn key(&self, numbers: &[usize]) -> String {
        let keys: String = numbers.iter().map(|number| jobs::job(&self.scenario, *number, &self.build).key).collect();
        format!("{:032x}", fingerprint(keys.as_bytes()))
    }

    fn run_chunk(&self, chunk: usize, stop: &Stop) -> Option<Chunk> {
        let mut done = Chunk { axes: self.scenario.axes.clone(), runs: Vec::new(), failures: Vec::new() };
        for number in &self.chunks[chunk] {
            let job = jobs::job(&self.scenario, *number, &self.build);
            match simulate(&job.network, job.seed, stop) {
                Ok(Some(timed)) => done.runs.push(jobs::record(&self.scenario, job.case, job.seed, timed)),
                Ok(None) => return None,
                Err(failure) => done.failures.push((job.case.labels.clone(), job.seed, failure)),
            }
        }
        (!stop.stopped()).then_some(done)
    }
}

/// The results of some runs of a sweep.
#[pyclass(frozen, module = "sluice._sluice")]
#[derive(Serialize, Deserialize)]
#[expect(
    clippy::unsafe_derive_deserialize,
    reason = "only Python's macros are unsafe, and they do not touch its fields"
)]
pub(crate) struct Chunk {
    axes: Vec<Axis>,
    runs: Vec<study::Run>,
    failures: Vec<(BTreeMap<String, String>, u64, String)>,
}

#[pymethods]
impl Chunk {
    /// Returns the runs that failed: case, seed and error.
    #[getter]
    fn failures(&self) -> Vec<(BTreeMap<String, String>, u64, String)> {
        self.failures.clone()
    }

    /// Returns the number of runs that finished.
    fn __len__(&self) -> usize {
        self.runs.len()
    }

    /// Returns one of the tables of runs.
    fn table(&self, name: &str) -> PyResult<Table> {
        tables::table(name, &self.axes, self.runs.iter())
    }

    /// Serializes the runs without loss of digits, to be sent from one process to another.
    fn to_json(&self) -> PyResult<Vec<u8>> {
        serde_json::to_vec(self).map_err(wrong)
    }

    #[staticmethod]
    fn from_json(json: &[u8]) -> PyResult<Self> {
        serde_json::from_slice(json).map_err(wrong)
    }
}
