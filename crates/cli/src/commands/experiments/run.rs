use super::reproduce::build;
use super::targets;
use crate::args;
use crate::commands::decisions::line;
use crate::console::{print, print_json, width};
use crate::failure::{DIFFERS, Failure, HOLDS};
use crate::progress::{Console, warn};
use experiment::scenario::Scenario;
use experiment::shell::quoted;
use experiment::study::{self, Run, Study, Verdict};
use experiment::{jobs, tables};
use lab::capture::{self, Wanted};
use lab::store::Store;
use lab::{run, sweep};
use serde::Serialize;
use std::path::Path;

pub(super) fn run(args: args::Run) -> Result<u8, Failure> {
    let scenario = targets::scenario(&args.of, args.case.is_empty())?;
    let mut command = targets::command("sluice run", &scenario, &args.of);
    command.extend(args.case.iter().map(|case| format!("--case {}", quoted(case))));
    let mut varied: Vec<String> = scenario.axes.iter().map(|axis| axis.name.clone()).collect();
    let scenario = if args.case.is_empty() {
        scenario.without_variations(args.of.seed)
    } else {
        varied.clear();
        scenario.only(&args.case, args.of.seed).map_err(Failure::wrong)?
    };
    let file = targets::one(&args.of.file)?;
    for out in args.trace.iter().chain(&args.record_intervals) {
        targets::keep(&file, out)?;
    }
    if args.trace.is_some() && args.trace == args.record_intervals {
        return Err(Failure::wrong("`--trace` and `--record-intervals` name the same file".to_owned()));
    }
    let mut console = Console::new()?;
    console.begin(&scenario.id, jobs::simulated_time(&scenario));
    let args::Run { pcap, trace, chosen, node: nodes, record_intervals: intervals, queue, .. } = args;
    let wanted = Wanted { pcap, trace, filter: chosen.into(), nodes, intervals, queue };
    let done = match &args.out {
        _ if wanted.pcap.is_some() || wanted.trace.is_some() || wanted.intervals.is_some() => {
            observed(&scenario, &wanted, &console)
        }
        None => once(&scenario, &console),
        Some(out) => kept(&scenario, out, command.join(" "), &console),
    };
    console.end();
    let (run, verdicts) = done?;
    warn(&study::warnings(std::slice::from_ref(&run)));
    if args.json {
        print_json(&line(&Judged { run: &run, claims: &verdicts })?)?;
    } else {
        print(&text(&scenario, &run, &verdicts))?;
        if !varied.is_empty() {
            let varied = varied.join(", ");
            print(&format!("the network as the file describes it; `sluice reproduce` varies {varied}\n"))?;
        }
    }
    let fails = verdicts.iter().any(|verdict| verdict.verdict.fails());
    Ok(if fails { DIFFERS } else { HOLDS })
}

/// Runs once and writes the events at nodes to files.
fn observed(scenario: &Scenario, wanted: &Wanted, console: &Console) -> Result<(Run, Vec<Verdict>), Failure> {
    let timed = capture::record(&scenario.base, scenario.seeds[0], console, wanted)?;
    let Some(timed) = timed else { return Err(Failure::interrupted("interrupted: the files are incomplete")) };
    Ok(jobs::judged(scenario, timed))
}

/// Runs once and does not keep the results.
fn once(scenario: &Scenario, console: &Console) -> Result<(Run, Vec<Verdict>), Failure> {
    let seed = scenario.seeds[0];
    let timed = run::run(&scenario.base, seed, console).map_err(sweep::SweepError::from)?;
    let Some(timed) = timed else { return Err(Failure::interrupted("interrupted; nothing is kept")) };
    Ok(jobs::judged(scenario, timed))
}

/// Runs once and keeps the results in the folder `out`.
fn kept(scenario: &Scenario, out: &Path, command: String, console: &Console) -> Result<(Run, Vec<Verdict>), Failure> {
    let settings = sweep::Settings { threads: 1, build: build()?, command, traces: None };
    let store = Store::create(out, &scenario.id)?;
    let Study { runs, claims, .. } = sweep::run(scenario, &store, &settings, console)?;
    let run = runs.into_iter().next().ok_or_else(|| Failure::failed("the scenario has no case"))?;
    Ok((run, claims))
}

/// A run as `--json` prints it.
#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    run: &'a Run,
    claims: &'a [Verdict],
}

fn text(scenario: &Scenario, run: &Run, verdicts: &[Verdict]) -> String {
    let (outcome, width) = (&run.outcome, width());
    let (cells, flows) = (tables::cells(outcome, width), tables::flows(outcome, width));
    let mut text = format!("{}\n\n{cells}{flows}\n{}\n", scenario.title, tables::queues(outcome, width));
    text += &tables::left_out(outcome, width);
    text += &tables::roams(outcome, width);
    text += &tables::receptions(outcome, width);
    if !verdicts.is_empty() {
        text.push_str(&tables::claims(verdicts, width));
        text.push('\n');
    }
    let times_real = outcome.simulated_s / run.wall_s.max(1e-9);
    let (simulated, events) = (outcome.simulated_s, outcome.events);
    let pace = format!("{simulated} simulated seconds in {:.2} s ({times_real:.0} times real time)", run.wall_s);
    text + &format!("seed {}: {pace}, {events} events\n", run.seed)
}
