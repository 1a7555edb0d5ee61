//! A scenario's claims, ruled on by all of its runs: `sluice reproduce` in Python.

use crate::error::{failed, refused, unkept};
use crate::run::said;
use crate::scenario::Scenario;
use crate::stop::Stop;
use crate::table::Table;
use crate::tables;
use lab::scenario::Wishes;
use lab::store::Store;
use lab::sweep::{self, Settings, SweepError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// Makes the runs that `folder` does not hold yet, keeps them there, and rules on the claims.
#[pyfunction]
pub(crate) fn claims(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    seeds: Option<usize>,
    quick: bool,
    folder: PathBuf,
    build: String,
    stop: &Bound<'_, Stop>,
) -> PyResult<Table> {
    let (words, stop) = (&scenario.get().words, stop.get());
    let wishes = Wishes {
        set: words.set.clone(),
        seeds: seeds.or(quick.then_some(sweep::QUICK_SEEDS)),
        quick,
        ..Wishes::default()
    };
    let ready = py.detach(|| words.read(&wishes)).map_err(|refusal| refused(py, &refusal))?;
    let store = Store::create(&folder, &ready.id).map_err(|error| unkept(py, &error.to_string()))?;
    let settings = Settings { threads: 0, build, command: "sluice.claims in Python".to_owned(), traces: None };
    let done =
        py.detach(|| catch_unwind(AssertUnwindSafe(|| sweep::run(&ready, &store, &settings, stop).map_err(Box::new))));
    let done = done.map_err(|panic| failed(py, &format!("this is a fault in Sluice: {}", said(&*panic))))?;
    let study = done.map_err(|error| match *error {
        SweepError::Store(error) => unkept(py, &error.to_string()),
        other => failed(py, &other.to_string()),
    })?;
    tables::verdicts(&study.id, &study.claims, &study.explanations)
}
