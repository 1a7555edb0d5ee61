use super::{report, targets};
use crate::args;
use crate::console::{complain, print, print_json, width};
use crate::failure::{DIFFERS, Failure, HOLDS};
use crate::progress::{Console, warn};
use experiment::homes::{self, Home};
use experiment::jobs;
use experiment::report::Simulator;
use experiment::scenario::{self, Scenario, Wishes};
use experiment::shell::quoted;
use experiment::study::Study;
use experiment::tables;
use lab::files;
use lab::home;
use lab::store::{self, Store, make_folder, write_whole};
use lab::sweep::{self, Settings, SweepError, Traces};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// An experiment whose scenario was read and checked.
struct Experiment {
    scenario: Scenario,
    folder: PathBuf,
    command: String,
}

pub(super) fn reproduce(mut args: args::Reproduce) -> Result<u8, Failure> {
    let traces = args.trace.take().map(|folder| {
        let filter = std::mem::take(&mut args.chosen).into();
        Traces { folder, nodes: std::mem::take(&mut args.node), filter }
    });
    let args = &args;
    let experiments = experiments(args)?;
    let simulator = args.interactive.as_deref().map(|page| simulator(page, args)).transpose()?;
    let build = build()?;
    // All folders are made before anything runs, so that a folder that cannot be written is reported at once.
    let store = |experiment: &Experiment| Store::create(&experiment.folder, &experiment.scenario.id);
    let stores = experiments.iter().map(store).collect::<Result<Vec<_>, _>>()?;
    let mut console = Console::new()?;
    let mut studies = Vec::new();
    for (experiment, store) in experiments.iter().zip(&stores) {
        let scenario = &experiment.scenario;
        let threads = args.threads.unwrap_or(0);
        let traces = traces.clone().map(|traces| Traces { folder: traces.folder.join(&scenario.id), ..traces });
        let settings = Settings { threads, build: build.clone(), command: experiment.command.clone(), traces };
        console.begin(&scenario.id, jobs::simulated_time(scenario));
        let done = sweep::run(scenario, store, &settings, &console);
        console.end();
        let study = done.map_err(|error| told(error, &experiment.folder))?;
        warn(&study.warnings());
        if !args.json {
            let gap = if studies.is_empty() { "" } else { "\n" };
            print(&format!("{gap}{}", tables::study(&study, width(), args.all)))?;
        }
        studies.push(study);
    }
    let out = report_path(args, &experiments);
    if !args.json && studies.len() > 1 {
        let claims = tables::tally(studies.iter().flat_map(|study| &study.claims));
        print(&format!("\n{} experiments, {claims}\n", studies.len()))?;
    }
    // Claims are judged even if the build has no charting library.
    let report = report::write(&studies, &out, simulator.as_ref())?
        .map(|()| out)
        .map_err(|error| complain(format_args!("no report: {error}")))
        .ok();
    if args.json {
        for (study, experiment) in studies.iter().zip(&experiments) {
            print_json(&object(study, &experiment.folder, report.as_deref()))?;
        }
    } else if let Some(out) = report {
        print(&format!("report: {}\n", out.display()))?;
    }
    let mut verdicts = studies.iter().flat_map(|study| &study.claims);
    Ok(if verdicts.any(|verdict| verdict.verdict.fails()) { DIFFERS } else { HOLDS })
}

/// Runs all hazards or random homes, or writes the homes as scenarios.
pub(super) fn arena(args: args::Arena) -> Result<u8, Failure> {
    let Some(folder) = args.write.clone() else { return reproduce(args.into()) };
    make_folder(&folder)?;
    for Home { number, text, .. } in args.drawn().unwrap_or_default() {
        let file = folder.join(format!("home-{number}.toml"));
        write_whole(&file, text.as_bytes())?;
        print(&format!("{}\n", file.display()))?;
    }
    Ok(HOLDS)
}

/// Reads all scenarios, before any is run.
fn experiments(args: &args::Reproduce) -> Result<Vec<Experiment>, Failure> {
    if let Some((homes, arms)) = &args.homes {
        let scenario = homes::scenario(homes, arms, args.seeds);
        let scenario = scenario.map_err(Failure::failed)?;
        let folder = args.out.clone().unwrap_or_else(|| Path::new("results").join(&scenario.id));
        let seeds = args.seeds.map_or_else(String::new, |seeds| format!(" --seeds {seeds}"));
        let (count, first, arms) = (homes.len(), homes[0].number, arms.join(","));
        let command = format!("sluice arena --homes {count} --first {first}{seeds} --arms {arms}");
        return Ok(vec![Experiment { scenario, folder, command }]);
    }
    let files = targets::files(&args.targets)?;
    if let Some(out) = &args.out
        && files.len() > 1
    {
        store::untaken(out, &store::owners(out))?;
    }
    let seeds = args.seeds.or(args.quick.then_some(sweep::QUICK_SEEDS));
    let wishes = Wishes { set: args.set.clone(), seeds, quick: args.quick, ..Wishes::default() };
    let mut experiments: Vec<Experiment> = Vec::new();
    for file in &files {
        let mut scenario = files::load(file, &wishes)?;
        scenario.file = home::name(file, &scenario.id);
        if experiments.iter().any(|other| other.scenario.id == scenario.id) {
            let message = format!("{}: two of the given scenarios have the id `{}`", file.display(), scenario.id);
            return Err(Failure::wrong(message));
        }
        let folder = match &args.out {
            None => Path::new("results").join(&scenario.id),
            Some(out) if files.len() == 1 => out.clone(),
            Some(out) => out.join(&scenario.id),
        };
        let command = command(args, &scenario.file);
        experiments.push(Experiment { scenario, folder, command });
    }
    Ok(experiments)
}

/// Reads the web page that contains the simulator.
fn simulator(page: &Path, args: &args::Reproduce) -> Result<Simulator, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure::wrong(format!("--interactive: {}: {why}", page.display()));
    let text = fs::read_to_string(page).map_err(|error| wrong(&format!("{error}; `make page` builds it")))?;
    Simulator::new(text, args.set.clone(), args.quick).map_err(|error| wrong(&error))
}

fn report_path(args: &args::Reproduce, experiments: &[Experiment]) -> PathBuf {
    match (experiments, &args.out) {
        ([one], _) => one.folder.join("report.html"),
        (_, Some(out)) => out.join("report.html"),
        (_, None) => Path::new("results").join("report.html"),
    }
}

/// Turns the error of a sweep into a failure. After an interruption its message says how to continue.
fn told(error: SweepError, folder: &Path) -> Failure {
    match error {
        SweepError::Stopped { .. } => {
            Failure::interrupted(format!("{error} in {}; repeat this command for the remaining runs", folder.display()))
        }
        other => other.into(),
    }
}

fn object(study: &Study, folder: &Path, report: Option<&Path>) -> String {
    let object = json!({
        "scenario": study.id,
        "title": study.title,
        "version": study.version,
        "seeds": study.seeds,
        "runs": study.runs.len(),
        "results": folder.display().to_string(),
        "report": report.map(|report| report.display().to_string()),
        "tables": tables::json(study),
        "spreads": study.spreads,
        "claims": study.claims,
    });
    format!("{object}\n")
}

/// Returns the command that repeats the runs of one experiment.
fn command(args: &args::Reproduce, target: &str) -> String {
    let mut words = vec!["sluice reproduce".to_owned(), quoted(target)];
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.extend(args.seeds.map(|seeds| format!("--seeds {seeds}")));
    words.extend(args.set.iter().map(|set| format!("--set {}", quoted(set))));
    words.join(" ")
}

/// Returns a hash of this program, because results of other builds are not reused.
pub(super) fn build() -> Result<String, Failure> {
    let read = std::env::current_exe().and_then(std::fs::read);
    let bytes = read.map_err(|error| Failure::failed(format!("cannot read this program's own file: {error}")))?;
    Ok(format!("{:032x}", scenario::fingerprint(&bytes)))
}
