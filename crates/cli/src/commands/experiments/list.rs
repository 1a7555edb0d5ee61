use super::targets;
use crate::console::print;
use crate::failure::Failure;
use experiment::scenario::{Scenario, Wishes};
use lab::files;
use std::fmt::Write as _;
use std::path::PathBuf;

pub(super) fn list(targets: &[PathBuf]) -> Result<(), Failure> {
    let mut found = Vec::new();
    let mut wrong = Vec::new();
    for file in targets::files(targets)? {
        match files::skim(&file, &Wishes::default()) {
            Ok(scenario) => found.push(scenario),
            Err(refusal) => wrong.push(refusal.to_string()),
        }
    }
    print(&table(&found))?;
    if wrong.is_empty() { Ok(()) } else { Err(Failure::wrong(wrong.join("\nerror: "))) }
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
