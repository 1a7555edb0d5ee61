use super::decisions::line;
use super::live::restore_on_panic;
use crate::args;
use crate::console::{complain, print, print_json};
use crate::failure::Failure;
use lab::live::settings;
use lab::store::{check_place, write_whole};
use linux::agent::signals::Signals;
use linux::agent::trial::{Arm, DISCIPLINES, Live};
use linux::trial::{Effect, Ended, LEVEL, Plan, Trial, Verdict, judge, run, table};
use linux::{Backend, Place, Wish};
use queue::Settings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use units::Duration;

pub(super) fn trial(args: &args::Trial) -> Result<(), Failure> {
    let Some(device) = &args.device else { return pool(args) };
    let place = Place { device: device.clone(), parent: args.parent, state_folder: args.state.clone() };
    let arms = args.arms.iter().map(|name| arm(name, &place, args.force)).collect::<Result<Vec<Arm>, Failure>>()?;
    let plan = plan(args)?;
    // Files that cannot be read or written are reported before any change.
    let forecast = forecast(args)?;
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
    let told = told(&[&trial], trial.level, &forecast)?;
    write(args.report.as_deref(), || Ok(REPORT.replace("$TOLD", &told.1.replace('<', "\\u003c"))))?;
    if let Ended::Harm(what) = &trial.ended {
        let harm =
            format!("the trial ended, and {} has its former queue back: {what}", args.device.as_deref().unwrap_or(""));
        return Err(Failure::failed(harm));
    }
    show(&told, args.json)
}

const REPORT: &str = include_str!("trial.html");

/// Combines trials, which must all compare the same arms.
fn pool(args: &args::Trial) -> Result<(), Failure> {
    let mut trials: Vec<Trial> = Vec::new();
    for path in &args.pool {
        let trial: Trial = read(path, "trial")?;
        let arms = &trials.first().unwrap_or(&trial).plan.arms;
        if trial.plan.arms != *arms || trial.blocks.iter().any(|block| block.arm >= arms.len()) {
            return Err(wrong(path, &format!("compares other queues than the first file ({})", arms.join(", "))));
        }
        trials.push(trial);
    }
    // A trial that ended as soon as it knew has spent a part of the level on earlier looks.
    let level = trials.iter().map(|trial| trial.level).fold(LEVEL, f64::min);
    show(&told(&trials.iter().collect::<Vec<_>>(), level, &forecast(args)?)?, args.json)
}

fn wrong(path: &Path, why: &str) -> Failure {
    Failure::wrong(format!("{} {why}", path.display()))
}

fn read<T: DeserializeOwned>(path: &Path, what: &str) -> Result<T, Failure> {
    let text = std::fs::read(path).map_err(|error| wrong(path, &format!("cannot be read: {error}")))?;
    serde_json::from_slice(&text).map_err(|error| wrong(path, &format!("is not a {what}: {error}")))
}

/// Returns the arms of a forecast; empty without a forecast.
fn forecast(args: &args::Trial) -> Result<Vec<Value>, Failure> {
    let Some(path) = &args.forecast else { return Ok(Vec::new()) };
    let file: Value = read(path, "forecast")?;
    match file["forecast"]["arms"].as_array() {
        None => Err(wrong(path, "is not a forecast: expected the output of `sluice forecast --json`")),
        Some(arms) if arms.is_empty() => Err(wrong(path, "contains no forecast: its measurements did not suffice")),
        Some(arms) => Ok(arms.clone()),
    }
}

/// Compares the forecast with the measurement for each arm that has both.
fn compared(forecast: &[Value], verdict: &Verdict, first: Option<&String>) -> String {
    let mut text = String::new();
    for Effect { arm, measure, ratio, low, high, .. } in &verdict.effects {
        let key = if *measure == "RTT p99" { "echo" } else { measure };
        let said = forecast.iter().find(|told| told["name"] == **arm && first.is_some_and(|first| first == "default"));
        let said = said.map(|told| &told[key]);
        let ends = said.and_then(|said| Some((said["low"].as_f64()?, said["high"].as_f64()?)));
        if let Some((from, to)) = ends {
            let judged = match ((from..=to).contains(ratio), *high < from || *low > to) {
                (true, _) => "inside",
                (_, true) => "outside",
                _ => "outside the forecast, but the trial's confidence interval overlaps it",
            };
            let times = format!("{from:.2} to {to:.2} times");
            let _ = writeln!(text, "{measure} with {arm}: forecast {times}, measured {ratio:.2}, {judged}.");
        }
    }
    if text.is_empty() && !forecast.is_empty() { "No queue of the trial has a forecast.\n".to_owned() } else { text }
}

/// Returns a verdict as text and as a line of JSON. Text and JSON include the forecast if there is one.
fn told(trials: &[&Trial], level: f64, forecast: &[Value]) -> Result<(String, String), Failure> {
    let verdict = judge(trials, level);
    let (says, table) =
        (verdict.says() + &compared(forecast, &verdict, trials[0].plan.arms.first()), table(trials, &verdict));
    let json = line(
        &serde_json::json!({ "says": says, "table": table, "verdict": verdict, "forecast": forecast, "trials": trials }),
    )?;
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
        let why = "expected two or more --arms, a --block of at least 2 s, and a --for that holds a block of each arm";
        return Err(Failure::wrong(why));
    }
    let (left_out, slice) = (block / 6, (block / 6).min(Duration::from_secs(1)));
    let rounds = usize::try_from(rounds).unwrap_or(usize::MAX);
    Ok(Plan { arms, block, left_out, slice, rounds, seed: args.seed, until_known: args.until_known })
}

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
