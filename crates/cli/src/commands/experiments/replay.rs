mod picture;

use super::targets;
use crate::args;
use crate::commands::decisions::{line, row, settings};
use crate::console::{complain, print, print_json};
use crate::failure::Failure;
use control::{Controller as _, Name};
use experiment::report::timeline;
use lab::charts;
use lab::live;
use lab::recorded::Decision;
use lab::recording::{self, Recording};
use lab::store::write_whole;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;
use units::Duration;

/// Decisions of one controller.
struct Replayed {
    name: String,
    target: Option<Duration>,
    decided: Vec<Decision>,
}

pub(super) fn replay(args: &args::Replay) -> Result<(), Failure> {
    let recorded = read(&args.file)?;
    let all: Vec<Replayed> =
        policies(args).iter().map(|policy| one(&recorded, &args.file, policy)).collect::<Result<_, _>>()?;
    if let Some(file) = &args.report {
        targets::keep(&args.file, file)?;
        let page = picture::page(args, file, &recorded, &all);
        let library = charts::library().map_err(Failure::failed)?;
        write_whole(file, timeline::html(&page, library).as_bytes())?;
        return print(&format!("report: {}\n", file.display()));
    }
    let lines: Result<String, Failure> = match &all[..] {
        [one] if args.json => one.decided.iter().map(line).collect(),
        [one] => Ok((0..recorded.len()).map(|number| beside(&recorded[number], &one.decided[number])).collect()),
        _ if args.json => (0..recorded.len()).map(|number| object(&recorded, &all, number)).collect(),
        _ => Ok((0..recorded.len()).map(|number| side_by_side(&recorded, &all, number)).collect()),
    };
    if args.json { print_json(&lines?) } else { print(&lines?) }
}

/// Reads the intervals of a recording, which must not be empty.
pub(super) fn read(path: &Path) -> Result<Vec<Decision>, Failure> {
    let Recording { decisions, cut } = recording::open(path)?;
    if let Some(line) = cut {
        complain(format_args!("warning: {}", recording::cut_off(&path.display().to_string(), line)));
    }
    Ok(decisions)
}

/// Returns the settings of each controller. Of several controllers, only those with a target delay get the option.
fn policies(args: &args::Replay) -> Vec<args::Policy> {
    let policy = |controller: Option<Name>, target_delay| {
        let controller = controller.map(|name| args::Scheme(Some(name)));
        args::Policy { controller, target_delay, set: args.set.clone() }
    };
    match &args.controller[..] {
        [] => vec![policy(None, args.target_delay)],
        [one] => vec![policy(Some(*one), args.target_delay)],
        several => {
            let target = |name: Name| args.target_delay.filter(|_| live::target_key(name).is_some());
            several.iter().map(|name| policy(Some(*name), target(*name))).collect()
        }
    }
}

fn one(recorded: &[Decision], file: &Path, policy: &args::Policy) -> Result<Replayed, Failure> {
    let name = file.display().to_string();
    let (controller, decided) = recording::replay(&name, recorded, &settings(policy)?)?;
    Ok(Replayed { name: controller.name().as_str().to_owned(), target: controller.target_delay(), decided })
}

fn beside(was: &Decision, is: &Decision) -> String {
    format!("{}  (was {})\n", row(is), was.limit)
}

fn side_by_side(recorded: &[Decision], all: &[Replayed], number: usize) -> String {
    let mut text = row(&recorded[number]);
    for Replayed { name, decided, .. } in all {
        let _ = write!(text, "  {name} {:<14}", decided[number].limit.to_string());
    }
    text.trim_end().to_owned() + "\n"
}

fn object(recorded: &[Decision], all: &[Replayed], number: usize) -> Result<String, Failure> {
    let mut object = serde_json::to_value(&recorded[number]).map_err(Failure::failed)?;
    let limits: Map<String, Value> =
        all.iter().map(|one| (one.name.clone(), json!(one.decided[number].limit))).collect();
    object["limits"] = Value::Object(limits);
    Ok(format!("{object}\n"))
}
