//! `sluice trial`.

use super::decisions::line;
use super::live::restore_on_panic;
use crate::args;
use crate::console::{complain, print, print_json};
use crate::failure::Failure;
use lab::live::settings;
use lab::store::{check_place, write_whole};
use linux::agent::signals::Signals;
use linux::agent::trial::{Arm, DISCIPLINES, Live};
use linux::trial::{Ended, LEVEL, Plan, Trial, judge, run, table};
use linux::{Backend, Place, Wish};
use queue::Settings;
use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::Path;
use units::Duration;

pub(super) fn trial(args: &args::Trial) -> Result<(), Failure> {
    let Some(device) = &args.device else { return pool(args) };
    let place = Place { device: device.clone(), parent: args.parent, state_folder: args.state.clone() };
    let arms = args.arms.iter().map(|name| arm(name, &place, args.force)).collect::<Result<Vec<Arm>, Failure>>()?;
    let plan = plan(args)?;
    // What cannot be written is noticed before anything is changed.
    for file in [&args.out, &args.report].into_iter().flatten() {
        check_place(file)?;
    }
    restore_on_panic(vec![place.clone()]);
    let signals = Signals::take_over()?;
    let mut world = Live::open(place, arms, args.ping.clone(), &signals)?;
    let about = world.about();
    let mut unwritten = None;
    let (trial, ended) = run(&plan, about, &mut world, &mut |trial| {
        if let Some(block) = trial.blocks.last().filter(|_| !args.json) {
            let rtt = block.rtt_p95_s.map_or_else(|| "-".to_owned(), |rtt| format!("{:.1} ms", 1e3 * rtt));
            let (round, arm, goodput) = (block.round, &trial.plan.arms[block.arm], block.goodput_bps / 1e6);
            complain(format_args!("{round:>4}/{} {arm:<16} RTT p95 {rtt}, {goodput:.2} Mb/s", trial.plan.rounds));
        }
        match write(args.out.as_deref(), || line(trial)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                unwritten = Some(failure);
                ControlFlow::Break(())
            }
        }
    });
    drop(world);
    unwritten.map_or(Ok(()), Err)?;
    ended?;
    write(args.out.as_deref(), || line(&trial))?;
    let told = told(&[&trial], trial.level)?;
    write(args.report.as_deref(), || Ok(REPORT.replace("$TOLD", &told.1.replace('<', "\\u003c"))))?;
    if let Ended::Harm(what) = &trial.ended {
        let harm =
            format!("the trial ended, and {} has its former queue back: {what}", args.device.as_deref().unwrap_or(""));
        return Err(Failure::failed(harm));
    }
    show(&told, args.json)
}

const REPORT: &str = include_str!("trial.html");

/// Joins trials, which must be of the same arms.
fn pool(args: &args::Trial) -> Result<(), Failure> {
    let mut trials: Vec<Trial> = Vec::new();
    for path in &args.pool {
        let wrong = |why: &dyn Display| Failure::wrong(format!("{} {why}", path.display()));
        let text = std::fs::read(path).map_err(|error| wrong(&format_args!("cannot be read: {error}")))?;
        let trial: Trial =
            serde_json::from_slice(&text).map_err(|error| wrong(&format_args!("is no trial: {error}")))?;
        let arms = &trials.first().unwrap_or(&trial).plan.arms;
        if trial.plan.arms != *arms || trial.blocks.iter().any(|block| block.arm >= arms.len()) {
            return Err(wrong(&format_args!("is of other arms than the first file ({})", arms.join(", "))));
        }
        trials.push(trial);
    }
    show(&told(&trials.iter().collect::<Vec<_>>(), LEVEL)?, args.json)
}

/// Returns a verdict for people, and as a line of JSON.
fn told(trials: &[&Trial], level: f64) -> Result<(String, String), Failure> {
    let verdict = judge(trials, level);
    let (says, table) = (verdict.says(), table(trials, &verdict));
    let json = line(&serde_json::json!({ "says": says, "table": table, "verdict": verdict, "trials": trials }))?;
    Ok((format!("{says}\n{table}"), json))
}

fn show((text, json): &(String, String), is_json: bool) -> Result<(), Failure> {
    if is_json { print_json(json) } else { print(text) }
}

fn write(file: Option<&Path>, text: impl FnOnce() -> Result<String, Failure>) -> Result<(), Failure> {
    file.map_or(Ok(()), |file| Ok(write_whole(file, text()?.as_bytes())?))
}

fn plan(args: &args::Trial) -> Result<Plan, Failure> {
    let (block, arms) = (args.block, args.arms.clone());
    let rounds = args.length.as_nanos() / block.as_nanos().saturating_mul(arms.len() as u64).max(1);
    if block < Duration::from_secs(2) || arms.len() < 2 || rounds == 0 {
        let why = "expected two --arms or more, a --block of 2 s or more, and --for as long as a block of each arm";
        return Err(Failure::wrong(why));
    }
    let (left_out, slice) = (block / 6, (block / 6).min(Duration::from_secs(1)));
    let rounds = usize::try_from(rounds).unwrap_or(usize::MAX);
    Ok(Plan { arms, block, left_out, slice, rounds, seed: args.seed, until_known: args.until_known })
}

/// Reads the name of an arm.
fn arm(name: &str, place: &Place, force: bool) -> Result<Arm, Failure> {
    let attach = |settings, backend, force| Wish { backend, force, ..Wish::new(place.clone(), settings) };
    let wish = match name {
        "default" => return Ok(Arm::Default),
        "turns" => attach(Settings::default(), Backend::Auto, false),
        "knobs" => attach(Settings::default(), Backend::Knobs, false),
        _ if name.contains('=') => {
            let settings = settings(&[name.to_owned()]).map_err(|why| Failure::wrong(format!("--arms: {why}")))?;
            attach(settings, Backend::Auto, force)
        }
        _ => {
            let kind = DISCIPLINES.iter().find(|kind| **kind == name);
            let others = DISCIPLINES.join(", ");
            return kind.map(|kind| Arm::Discipline(kind)).ok_or_else(|| {
                Failure::wrong(format!("--arms {name}: expected default, turns, knobs, {others} or KEY=VALUE"))
            });
        }
    };
    Ok(Arm::Attach(Box::new(wish)))
}
