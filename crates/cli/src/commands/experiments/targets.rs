//! Finds the scenario files that ids, files and folders name.

use crate::args::Once;
use crate::failure::Failure;
use experiment::scenario::{Scenario, Wishes};
use experiment::shell::quoted;
use lab::files::{load, sentence};
use lab::home::{FOLDER, by_id, home, is_word, name, under};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Returns the scenario files that the arguments name, in the same order and each once.
pub(super) fn files(targets: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut known: Vec<PathBuf> = Vec::new();
    let all = [PathBuf::from(FOLDER)];
    for target in if targets.is_empty() { &all } else { targets } {
        for file in named(target)? {
            // A file may be named in several ways: `a.toml` and `./a.toml`.
            let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
            if !known.contains(&real) {
                known.push(real);
                found.push(file);
            }
        }
    }
    Ok(found)
}

/// Reads the scenario of a single run, and keeps its file's name in a form that the user can repeat.
pub(super) fn scenario(of: &Once, base_only: bool) -> Result<Scenario, Failure> {
    let file = one(&of.file)?;
    let mut scenario = load(&file, &Wishes { set: of.set.clone(), base_only, ..Wishes::default() })?;
    scenario.file = name(&file, &scenario.id);
    Ok(scenario)
}

/// Refuses a file to be written that is the source.
pub(super) fn keep(source: &Path, out: &Path) -> Result<(), Failure> {
    let is_same = fs::canonicalize(out).is_ok_and(|out| fs::canonicalize(source).is_ok_and(|source| source == out));
    let why = || Failure::wrong(format!("{} is what the command reads: name another file to write", out.display()));
    if is_same { Err(why()) } else { Ok(()) }
}

/// Returns the command that repeats this run.
pub(super) fn command(name: &str, scenario: &Scenario, of: &Once) -> Vec<String> {
    let mut words = vec![name.to_owned(), quoted(&scenario.file), format!("--seed {}", of.seed)];
    words.extend(of.set.iter().map(|set| format!("--set {}", quoted(set))));
    words
}

/// Returns the only scenario file that an argument names: a path, or the id of a scenario.
pub(super) fn one(target: &Path) -> Result<PathBuf, Failure> {
    let is_word = is_word(target);
    match target.to_str() {
        Some(id) if is_word && !target.exists() => {
            let home = home()?;
            if home.join(id).is_dir() {
                let all = format!("`sluice reproduce {id}` for all");
                return Err(Failure::wrong(format!("{id} is a folder of scenarios: name one of them, or {all}")));
            }
            Ok(by_id(id, &home)?)
        }
        _ if matches!(target.try_exists(), Ok(false)) => Err(Failure::wrong(sentence(target))),
        _ => Ok(target.to_owned()),
    }
}

/// Returns the scenario files of one argument: a path, a folder of `scenarios`, or the id of a scenario.
fn named(target: &Path) -> Result<Vec<PathBuf>, Failure> {
    match fs::metadata(target) {
        Ok(_) => return Ok(under(target)?),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(Failure::wrong(format!("{}: cannot be read: {error}", target.display())));
        }
        Err(_) => {}
    }
    let is_word = is_word(target);
    match target.to_str() {
        Some(FOLDER) => Ok(under(&home()?)?),
        Some(word) if is_word => {
            let home = home()?;
            let folder = home.join(word);
            if folder.is_dir() { Ok(under(&folder)?) } else { Ok(vec![by_id(word, &home)?]) }
        }
        _ => Err(Failure::wrong(sentence(target))),
    }
}
