//! Sweeps: every case of a scenario with every seed, on all cores, kept run by run.

use crate::capture::{self, CaptureError, Filter, Wanted};
use crate::claims;
use crate::csv;
use crate::model;
use crate::run::{self, Fault, Timed, Watch};
use crate::scenario::{Baseline, Case, Scenario, fingerprint};
use crate::store::{Store, StoreError};
use crate::study::{Axis, Models, Run, Study, Verdict};
use rayon::prelude::*;
use sim::config::Network;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use thiserror::Error;
use units::Duration;

/// The version of Sluice that makes the runs.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Seeds of a quick reproduction: with two seeds the interval is three times as wide, and confirms hardly anything.
pub const QUICK_SEEDS: usize = 3;

/// Reasons why a sweep did not finish.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The watcher stopped it. Finished runs are kept.
    #[error("interrupted: {finished} of {total} runs are finished and kept")]
    Stopped {
        /// Number of runs kept.
        finished: usize,
        /// Number of runs in the sweep.
        total: usize,
    },
    /// Results could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A network could not be built.
    #[error(transparent)]
    Build(#[from] sim::BuildError),
    /// Events could not be written down.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The controllers of a baseline failed.
    #[error(transparent)]
    Outside(Fault),
    /// The system gave no threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// Number of threads requested.
        threads: usize,
        /// The system's reason.
        reason: String,
    },
}

/// Settings of a sweep.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of threads; 0: one per core. Results do not depend on it.
    pub threads: usize,
    /// Identity of this build of Sluice: a run kept by another build is made again.
    pub build: String,
    /// The command that makes these runs again.
    pub command: String,
    /// Events to write, except for those of baselines: every run is then made again.
    pub traces: Option<Traces>,
}

/// The files of events of a sweep.
#[derive(Clone, Debug)]
pub struct Traces {
    /// The folder, with one file per run, named by its case and seed.
    pub folder: PathBuf,
    /// The nodes; all if empty.
    pub nodes: Vec<String>,
    /// The filter of the events.
    pub filter: Filter,
}

/// A run of a sweep that is to be made.
pub struct Job<'s> {
    /// Its case.
    pub case: &'s Case,
    /// Its seed.
    pub seed: u64,
    /// The network to simulate.
    pub network: Network,
    /// The name of its results, equal for runs of the same network, seed and build.
    pub key: String,
}

/// Returns the simulated time of all runs together, kept ones included.
pub fn simulated_time(scenario: &Scenario) -> Duration {
    let of_case = |case: &Case| case.network.duration * scenario.seeds.len() as u64;
    scenario.cases.iter().map(of_case).sum()
}

/// Runs what `store` does not hold yet, keeps it there, and rules on the claims.
///
/// # Errors
/// When the watcher stops the sweep or results cannot be kept; runs finished by then stay in the store.
pub fn run(scenario: &Scenario, store: &Store, settings: &Settings, watch: &dyn Watch) -> Result<Study, SweepError> {
    let jobs = jobs(scenario, &settings.build);
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
    let study = study(scenario, runs, &settings.command);
    let keys: Vec<String> = jobs.into_iter().map(|job| job.key).collect();
    store.finish(&study, &keys)?;
    Ok(study)
}

/// Returns the study of all runs of a sweep, by case and then by seed, with the verdicts on its claims.
pub fn study(scenario: &Scenario, runs: Vec<Run>, command: &str) -> Study {
    let own = &runs[..scenario.own_cases().len() * scenario.seeds.len()];
    let judged =
        claims::Sweep { seeds: &scenario.seeds, runs: own, extent: scenario.extent, left_out: &scenario.left_out };
    let verdicts = claims::judge(&scenario.claims, &scenario.rulings, &judged);
    studied(scenario, runs, verdicts, command)
}

/// Keeps the only run of a scenario [without variations](Scenario::without_variations) that was an emulation, with the
/// verdicts on its claims, as [`run()`] keeps a simulated one, for which it is never taken.
///
/// # Errors
/// When it cannot be kept.
pub fn keep(
    scenario: &Scenario,
    store: &Store,
    settings: &Settings,
    mut run: Run,
    claims: Vec<Verdict>,
) -> Result<Study, StoreError> {
    let key = job(scenario, 0, &format!("{}, emulated", settings.build)).key;
    store.keep(&key, &mut run)?;
    let study = studied(scenario, vec![run], claims, &settings.command);
    store.finish(&study, &[key])?;
    Ok(study)
}

/// Returns the study of these runs.
fn studied(scenario: &Scenario, runs: Vec<Run>, claims: Vec<Verdict>, command: &str) -> Study {
    Study {
        id: scenario.id.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        file: scenario.file.clone(),
        text: scenario.text.clone(),
        version: VERSION.to_owned(),
        command: command.to_owned(),
        axes: axes(scenario),
        seeds: scenario.seeds.clone(),
        claims,
        runs,
        charts: scenario.charts.clone(),
        tables: scenario.tables.clone(),
        answer: scenario.answer.clone(),
    }
}

/// Returns the axes, with the labels that cases have.
fn axes(scenario: &Scenario) -> Vec<Axis> {
    let occurs =
        |axis: &Axis, label: &String| scenario.cases.iter().any(|case| case.labels.get(&axis.name) == Some(label));
    let with_cases = |axis: &Axis| Axis {
        name: axis.name.clone(),
        labels: axis.labels.iter().filter(|label| occurs(axis, label)).cloned().collect(),
    };
    scenario.axes.iter().map(with_cases).collect()
}

/// Returns the sweep's runs, by case and then by seed.
fn jobs<'s>(scenario: &'s Scenario, build: &str) -> Vec<Job<'s>> {
    (0..scenario.cases.len() * scenario.seeds.len()).map(|number| job(scenario, number, build)).collect()
}

/// Returns one run of the sweep by its index, by case and then by seed.
///
/// # Panics
/// If the sweep has fewer runs.
pub fn job<'s>(scenario: &'s Scenario, number: usize, build: &str) -> Job<'s> {
    let (case, index) = (&scenario.cases[number / scenario.seeds.len()], number % scenario.seeds.len());
    let seed = scenario.seeds[index];
    let mut network = case.network.clone();
    // Charts show the first seed; claims are about all seeds.
    let of_series = scenario.claims.iter().any(|claim| claim.series.is_some());
    if index > 0 && !of_series {
        network.record.series = None;
    }
    let key = key(&scenario.id, &scenario.models, case, &mut network, seed, build);
    Job { case, seed, network, key }
}

/// Returns a hash of everything on which a run's outcome depends, as a name for its file: the network with every value
/// and every file that it names, the seed, the build; the models beside it, and the labels that are written.
fn key(id: &str, models: &Models, case: &Case, network: &mut Network, seed: u64, build: &str) -> String {
    let files = network.attachments().into_iter().map(|(_, file)| fingerprint(file.content().unwrap_or_default()));
    let files: Vec<String> = files.map(|print| format!("{print:032x}")).collect();
    let outside = case.baseline.is_some();
    let whole = serde_json::json!([id, models, case.labels, case.set, network, files, seed, VERSION, build, outside]);
    format!("{:032x}", fingerprint(whole.to_string().as_bytes()))
}

/// Makes the record of a finished run, with its case and seed and the results of models.
pub fn record(scenario: &Scenario, case: &Case, seed: u64, timed: Timed) -> Run {
    Run {
        scenario: scenario.id.clone(),
        // Networks that a model does not cover were refused when the scenario was read.
        model: model::of(&scenario.models, &case.network, &timed.outcome).unwrap_or_default(),
        seed,
        case: case.labels.clone(),
        set: case.set.clone(),
        version: VERSION.to_owned(),
        wall_s: timed.wall_s,
        cpu_s: timed.cpu_s,
        outcome: timed.outcome,
        emulation: None,
    }
}

/// Returns the only run of a scenario [without variations](Scenario::without_variations), and the verdicts on its
/// claims.
pub fn judged(scenario: &Scenario, timed: Timed) -> (Run, Vec<Verdict>) {
    let run = record(scenario, &scenario.cases[0], scenario.seeds[0], timed);
    let runs = std::slice::from_ref(&run);
    let sweep = claims::Sweep { seeds: &scenario.seeds, runs, extent: scenario.extent, left_out: &[] };
    let verdicts = claims::judge(&scenario.claims, &scenario.rulings, &sweep);
    (run, verdicts)
}

/// Returns a run from the store, or a new one, which is kept there; `None` when stopped. A baseline's run is always
/// new, because its controllers may have changed.
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
    let mut run = record(scenario, job.case, job.seed, timed);
    store.keep(&job.key, &mut run)?;
    Ok(Some(run))
}

/// Makes a new run and writes its events. The file gets its name when it is whole.
fn traced(scenario: &Scenario, job: &Job, traces: &Traces, watch: &dyn Watch) -> Result<Option<Timed>, CaptureError> {
    let name = csv::file_name(&scenario.axes, &job.case.labels, job.seed);
    // Labels may differ only in characters that file names do not have.
    let alike = scenario.cases.iter().filter(|case| csv::file_name(&scenario.axes, &case.labels, job.seed) == name);
    let rank = alike.take_while(|case| case.labels != job.case.labels).count();
    let name = if rank == 0 { name } else { format!("{name}_{rank}") };
    let whole = traces.folder.join(format!("{name}.jsonl"));
    let part = traces.folder.join(format!("{name}.jsonl.part"));
    let refused = |error| CaptureError::Write { path: whole.clone(), error };
    fs::create_dir_all(&traces.folder).map_err(refused)?;
    let Traces { nodes, filter, .. } = traces.clone();
    let wanted = Wanted { trace: Some(part.clone()), nodes, filter, ..Wanted::default() };
    let timed = capture::record(&job.network, job.seed, watch, &wanted)?;
    if timed.is_some() {
        fs::rename(&part, &whole).map_err(refused)?;
    }
    Ok(timed)
}
