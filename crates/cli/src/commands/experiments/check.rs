use super::targets;
use crate::args;
use crate::console::print;
use crate::failure::Failure;
use experiment::scenario::{Scenario, Wishes};
use lab::files;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Reads scenarios and builds their networks without running them. Refuses what `sluice reproduce` would refuse.
pub(super) fn check(args: &args::Check) -> Result<(), Failure> {
    if args.expand {
        return expand(&args.targets);
    }
    let (mut fine, mut wrong) = (String::new(), Vec::new());
    for file in targets::files(&args.targets)? {
        // With `--quick` the settings must be valid, too.
        let quick = Wishes { quick: true, ..Wishes::default() };
        let loaded = files::load(&file, &Wishes::default());
        match loaded.and_then(|scenario| files::load(&file, &quick).map(|_| scenario)) {
            Ok(scenario) => {
                let _ = writeln!(fine, "{}: {}", file.display(), summary(&scenario));
                if let Some(meaning) = scenario.defaults() {
                    let _ = writeln!(fine, "  {meaning}");
                }
            }
            Err(refusal) => wrong.push(refusal.to_string()),
        }
    }
    print(&fine)?;
    refused(&wrong)
}

pub(super) fn list(targets: &[PathBuf]) -> Result<(), Failure> {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for file in targets::files(targets)? {
        match files::skim(&file, &Wishes::default()) {
            Ok(scenario) => found.push(scenario),
            Err(refusal) => wrong.push(refusal.to_string()),
        }
    }
    print(&table(&found))?;
    refused(&wrong)
}

fn refused(wrong: &[String]) -> Result<(), Failure> {
    if wrong.is_empty() { Ok(()) } else { Err(Failure::wrong(wrong.join("\nerror: "))) }
}

/// Prints a scenario and all that it inherits as one file.
fn expand(targets: &[PathBuf]) -> Result<(), Failure> {
    let [target] = targets else { return Err(Failure::wrong("--expand prints one scenario only: name exactly one")) };
    let file = targets::one(target)?;
    let scenario = files::load(&file, &Wishes::default())?;
    print(&scenario.alone)
}

fn summary(scenario: &Scenario) -> String {
    let (cases, seeds) = (scenario.cases.len(), scenario.seeds.len());
    let (claims, charts) = (counted(scenario.claims.len(), "claim"), counted(scenario.charts.len(), "chart"));
    let (runs, cases, seeds) = (counted(cases * seeds, "run"), counted(cases, "case"), counted(seeds, "seed"));
    format!("fine; {runs} ({cases}, {seeds}), {claims}, {charts}")
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn table(scenarios: &[Scenario]) -> String {
    let width = scenarios.iter().map(|scenario| scenario.id.len()).fold("id".len(), usize::max);
    let mut text = format!("{:<width$}  {:>5}  {:>6}  {}\n", "id", "runs", "claims", "title");
    for scenario in scenarios {
        let runs = scenario.cases.len() * scenario.seeds.len();
        let (id, claims, title) = (&scenario.id, scenario.claims.len(), &scenario.title);
        let _ = writeln!(text, "{id:<width$}  {runs:>5}  {claims:>6}  {title}");
    }
    text
}
