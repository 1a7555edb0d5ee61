//! Sweeps: every case of a scenario with every seed, on all cores. Each run is stored.

use crate::capture::{self, Filter, Wanted};
use crate::store::Store;
use crate::{Error, run};
use experiment::csv;
use experiment::jobs::{self, Job};
use experiment::scenario::{Baseline, Scenario};
use experiment::study::{Run, Study, Verdict};
use experiment::watch::{Fault, Timed, Watch};
use rayon::prelude::*;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of seeds of a quick reproduction. With two, intervals are three times as wide and confirm almost no claim.
pub const QUICK_SEEDS: usize = 3;

/// Why a sweep did not finish.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum SweepError {
    #[error("interrupted: {finished} of {total} runs are finished and stored")]
    Stopped { finished: usize, total: usize },
    /// Results or events could not be stored.
    #[error(transparent)]
    Store(#[from] Error),
    /// A network could not be built.
    #[error(transparent)]
    Build(#[from] sim::BuildError),
    /// A controller of a baseline failed.
    #[error(transparent)]
    Outside(Fault),
    #[error("cannot start {threads} threads: {reason}")]
    Threads { threads: usize, reason: String },
}

/// Settings of a sweep.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of threads; 0: one per core. It does not affect the results.
    pub threads: usize,
    /// Identifies this build of Sluice. A run that another build has stored is made again.
    pub build: String,
    /// Command that makes these runs again.
    pub command: String,
    /// Which events to write; baselines write none. With events, every run is made again.
    pub traces: Option<Traces>,
}

/// The files with the events of a sweep.
#[derive(Clone, Debug)]
pub struct Traces {
    /// Folder with one file per run. The run's case and seed form its name.
    pub folder: PathBuf,
    /// Names of the nodes; all nodes if empty.
    pub nodes: Vec<String>,
    /// Which events to write.
    pub filter: Filter,
}

/// Makes the runs that `store` does not have, stores them, and judges the claims.
///
/// # Errors
/// The watcher stops the sweep, or results cannot be stored. Runs that have finished stay in the store.
pub fn run(scenario: &Scenario, store: &Store, settings: &Settings, watch: &dyn Watch) -> Result<Study, SweepError> {
    let jobs = jobs::jobs(scenario, &settings.build);
    let finished = AtomicUsize::new(0);
    let work = || -> Result<Vec<Option<Run>>, SweepError> {
        let one = |job: &Job| {
            finish(scenario, job, store, settings.traces.as_ref(), watch).inspect(|run| {
                finished.fetch_add(usize::from(run.is_some()), Ordering::Relaxed);
            })
        };
        jobs.par_iter().with_max_len(1).map(one).collect()
    };
    let threads = settings.threads;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| SweepError::Threads { threads, reason: error.to_string() })?;
    let runs: Option<Vec<Run>> = pool.install(work)?.into_iter().collect();
    let Some(runs) = runs else {
        return Err(SweepError::Stopped { finished: finished.into_inner(), total: jobs.len() });
    };
    let study = jobs::study(scenario, runs, &settings.command);
    let keys: Vec<String> = jobs.into_iter().map(|job| job.key).collect();
    store.finish(&study, &keys)?;
    Ok(study)
}

/// Stores an emulation with the verdicts on its claims, as [`run()`] stores a simulated run. It is the only run of a
/// scenario [without variations](Scenario::without_variations), and is never confused with a simulated one.
///
/// # Errors
/// The emulation cannot be stored.
pub fn keep(
    scenario: &Scenario,
    store: &Store,
    settings: &Settings,
    mut run: Run,
    claims: Vec<Verdict>,
) -> Result<Study, Error> {
    let key = jobs::job(scenario, 0, &format!("{}, emulated", settings.build)).key;
    store.keep(&key, &mut run)?;
    let study = jobs::studied(scenario, vec![run], claims, &settings.command);
    store.finish(&study, &[key])?;
    Ok(study)
}

/// Returns a run from the store, or makes and stores a new one; `None` if the watcher stopped. A baseline's run is
/// always new, because its controllers may have changed.
fn finish(
    scenario: &Scenario,
    job: &Job,
    store: &Store,
    traces: Option<&Traces>,
    watch: &dyn Watch,
) -> Result<Option<Run>, SweepError> {
    if watch.stopped() {
        return Ok(None);
    }
    let baseline = job.case.baseline.as_ref();
    if traces.is_none()
        && baseline.is_none()
        && let Some(kept) = store.run(&job.key, job.network.record.series.is_some())
    {
        watch.advanced(job.network.duration);
        return Ok(Some(kept));
    }
    let timed = match (baseline, traces) {
        (Some(Baseline { outside, places }), _) => {
            let done = outside.run(&job.network, job.seed, &job.case.labels, places, watch);
            done.map_err(SweepError::Outside)?
        }
        (None, None) => run::run(&job.network, job.seed, watch)?,
        (None, Some(traces)) => traced(scenario, job, traces, watch)?,
    };
    let Some(timed) = timed else { return Ok(None) };
    let mut run = jobs::record(scenario, job.case, job.seed, timed);
    store.keep(&job.key, &mut run)?;
    Ok(Some(run))
}

/// Makes a new run and writes its events. The file gets its name after it is complete.
fn traced(scenario: &Scenario, job: &Job, traces: &Traces, watch: &dyn Watch) -> Result<Option<Timed>, Error> {
    let name = csv::file_name(&scenario.axes, &job.case.labels, job.seed);
    // Labels may differ only in characters that file names cannot have.
    let alike = scenario.cases.iter().filter(|case| csv::file_name(&scenario.axes, &case.labels, job.seed) == name);
    let rank = alike.take_while(|case| case.labels != job.case.labels).count();
    let name = if rank == 0 { name } else { format!("{name}_{rank}") };
    let whole = traces.folder.join(format!("{name}.jsonl"));
    let part = traces.folder.join(format!("{name}.jsonl.part"));
    let refused = |error| Error::write(&whole, error);
    fs::create_dir_all(&traces.folder).map_err(refused)?;
    let Traces { nodes, filter, .. } = traces.clone();
    let wanted = Wanted { trace: Some(part.clone()), nodes, filter, ..Wanted::default() };
    let timed = capture::record(&job.network, job.seed, watch, &wanted)?;
    if timed.is_some() {
        fs::rename(&part, &whole).map_err(refused)?;
    }
    Ok(timed)
}
