//! `sluice check`.

use super::targets;
use crate::console::print;
use crate::failure::Failure;
use lab::scenario::{Scenario, Wishes};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Reads scenarios and builds all of their networks, without running any: what `sluice reproduce` would refuse is
/// refused here.
pub(super) fn check(targets: &[PathBuf]) -> Result<(), Failure> {
    let mut fine = String::new();
    let mut wrong = Vec::new();
    for file in targets::files(targets)? {
        match Scenario::load(&file, &Wishes::default()) {
            Ok(scenario) => {
                let _ = writeln!(fine, "{}: {}", file.display(), summary(&scenario));
            }
            Err(refusal) => wrong.push(refusal.to_string()),
        }
    }
    print(&fine)?;
    if wrong.is_empty() { Ok(()) } else { Err(Failure::wrong(wrong.join("\nerror: "))) }
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
