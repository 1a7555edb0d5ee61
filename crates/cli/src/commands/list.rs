//! `sluice list`.

use super::targets;
use crate::console::print;
use crate::failure::Failure;
use lab::scenario::{Scenario, Wishes};
use std::fmt::Write as _;
use std::path::PathBuf;

pub(super) fn list(targets: &[PathBuf]) -> Result<(), Failure> {
    let mut text = format!("{:<16} {:>5} {:>6}  {}\n", "id", "runs", "claims", "title");
    let mut wrong = Vec::new();
    for target in targets {
        if !target.exists() {
            return Err(Failure::wrong(format!("{}: there is no such file or folder", target.display())));
        }
        for file in targets::under(target)? {
            match Scenario::load(&file, &Wishes::default()) {
                Ok(scenario) => {
                    let runs = scenario.cases.len() * scenario.seeds.len();
                    let (id, claims, title) = (&scenario.id, scenario.claims.len(), &scenario.title);
                    let _ = writeln!(text, "{id:<16} {runs:>5} {claims:>6}  {title}");
                }
                Err(refusal) => wrong.push(refusal.to_string()),
            }
        }
    }
    print(&text)?;
    if wrong.is_empty() { Ok(()) } else { Err(Failure::wrong(wrong.join("\nerror: "))) }
}
