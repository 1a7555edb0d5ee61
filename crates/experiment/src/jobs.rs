//! The runs of a sweep, each with the name of its results, and the study that they make.

use crate::claims;
use crate::homes;
use crate::model;
use crate::scenario::{Case, Scenario, fingerprint};
use crate::study::{Axis, Models, Run, Study, Verdict};
use crate::watch::Timed;
use sim::config::{Network, Role};
use std::collections::BTreeMap;
use units::{Duration, Length};

/// The version of Sluice that executes the runs.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A pending run of a sweep.
pub struct Job<'s> {
    /// Case of the run.
    pub case: &'s Case,
    /// Seed of the run.
    pub seed: u64,
    /// The network to simulate.
    pub network: Network,
    /// Name of the run's results; equal for runs of the same network, seed and build.
    pub key: String,
}

/// Returns the simulated time of all runs together, including runs with stored results.
pub fn simulated_time(scenario: &Scenario) -> Duration {
    let of_case = |case: &Case| case.network.duration * scenario.seeds.len() as u64;
    scenario.cases.iter().map(of_case).sum()
}

/// Returns the study of all runs of a sweep, sorted by case and then by seed, with the verdicts on its claims.
pub fn study(scenario: &Scenario, runs: Vec<Run>, command: &str) -> Study {
    let own = &runs[..scenario.own_cases().len() * scenario.seeds.len()];
    let judged =
        claims::Sweep { seeds: &scenario.seeds, runs: own, extent: scenario.extent, left_out: &scenario.left_out };
    let verdicts = claims::judge(&scenario.claims, &scenario.rulings, &judged);
    let mut study = studied(scenario, runs, verdicts, command);
    if scenario.id == homes::ID {
        homes::judge(&mut study);
    }
    study
}

/// Returns the study of these runs, with the verdicts on its claims.
pub fn studied(scenario: &Scenario, runs: Vec<Run>, claims: Vec<Verdict>, command: &str) -> Study {
    Study {
        id: scenario.id.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        file: scenario.file.clone(),
        text: scenario.text.clone(),
        alone: scenario.alone.clone(),
        version: VERSION.to_owned(),
        command: command.to_owned(),
        axes: axes(scenario),
        seeds: scenario.seeds.clone(),
        claims,
        runs,
        charts: scenario.charts.clone(),
        tables: scenario.tables.clone(),
        answer: scenario.answer.clone(),
        places: places(&scenario.base),
        ..Study::default()
    }
}

/// Returns the positions of access points that have positions of their own.
fn places(network: &Network) -> BTreeMap<String, [f64; 2]> {
    let points = network.node.iter().filter(|node| node.role == Role::AccessPoint && node.waypoints.is_empty());
    points.filter_map(|node| node.position.map(|at| (node.name.clone(), [at.x, at.y].map(Length::as_metres)))).collect()
}

/// Returns the axes with the labels that occur in cases.
fn axes(scenario: &Scenario) -> Vec<Axis> {
    let occurs =
        |axis: &Axis, label: &String| scenario.cases.iter().any(|case| case.labels.get(&axis.name) == Some(label));
    let with_cases = |axis: &Axis| Axis {
        name: axis.name.clone(),
        labels: axis.labels.iter().filter(|label| occurs(axis, label)).cloned().collect(),
    };
    scenario.axes.iter().map(with_cases).collect()
}

/// Returns the sweep's runs, sorted by case and then by seed.
pub fn jobs<'s>(scenario: &'s Scenario, build: &str) -> Vec<Job<'s>> {
    (0..scenario.cases.len() * scenario.seeds.len()).map(|number| job(scenario, number, build)).collect()
}

/// Returns the run with this index; runs are sorted by case and then by seed.
///
/// # Panics
/// The sweep has fewer runs.
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

/// Returns a hash that names a run's file. It covers all that determines the outcome: the network with all values and
/// files, the seed, the build, the models, and the labels.
fn key(id: &str, models: &Models, case: &Case, network: &mut Network, seed: u64, build: &str) -> String {
    let files = network.attachments().into_iter().map(|(_, file)| fingerprint(file.content().unwrap_or_default()));
    let files: Vec<String> = files.map(|print| format!("{print:032x}")).collect();
    let outside = case.baseline.is_some();
    let whole = serde_json::json!([id, models, case.labels, case.set, network, files, seed, VERSION, build, outside]);
    format!("{:032x}", fingerprint(whole.to_string().as_bytes()))
}

/// Makes the record of a finished run, with its case and seed and the results of models.
pub fn record(scenario: &Scenario, case: &Case, seed: u64, mut timed: Timed) -> Run {
    timed.outcome.warnings.extend(scenario.remarks(case));
    Run {
        scenario: scenario.id.clone(),
        // A network that a model does not cover was refused when the scenario was read.
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

/// Returns the only run of a scenario [without variations](Scenario::without_variations), and its verdicts.
pub fn judged(scenario: &Scenario, timed: Timed) -> (Run, Vec<Verdict>) {
    let run = record(scenario, &scenario.cases[0], scenario.seeds[0], timed);
    let runs = std::slice::from_ref(&run);
    let sweep = claims::Sweep { seeds: &scenario.seeds, runs, extent: scenario.extent, left_out: &[] };
    let verdicts = claims::judge(&scenario.claims, &scenario.rulings, &sweep);
    (run, verdicts)
}
