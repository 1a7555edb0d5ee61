//! From ids, files and folders to scenario files.

use crate::failure::Failure;
use lab::scenario::{Scenario, Wishes};
use std::fs;
use std::path::{Path, PathBuf};

/// Where experiments are looked for.
const HOME: &str = "scenarios";

/// The scenario files that the arguments name, in order, each once.
pub(super) fn files(targets: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut found: Vec<PathBuf> = Vec::new();
    let home = [HOME.to_owned()];
    for target in if targets.is_empty() { &home } else { targets } {
        let path = Path::new(target);
        let files = if path.exists() {
            under(path)?
        } else if path.extension().is_some() || target.contains('/') {
            return Err(Failure::wrong(format!("{target}: there is no such file or folder")));
        } else if target == HOME {
            return Err(Failure::wrong(
                "there is no folder `scenarios` here: name a scenario file, or go to where it is",
            ));
        } else {
            vec![by_id(target)?]
        };
        for file in files {
            if !found.contains(&file) {
                found.push(file);
            }
        }
    }
    Ok(found)
}

/// A file itself; of a folder, all scenarios in it and below.
pub(super) fn under(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let unreadable = |error| Failure::wrong(format!("cannot read {}: {error}", folder.display()));
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::wrong(format!("{}: there is no scenario (*.toml) in this folder", path.display())));
    }
    Ok(files)
}

/// The file in `scenarios` with this id.
fn by_id(id: &str) -> Result<PathBuf, Failure> {
    let home = Path::new(HOME);
    if !home.is_dir() {
        return Err(Failure::wrong(format!(
            "{id}: there is no such file, and no folder `scenarios` here to look for the id in"
        )));
    }
    let mut known = Vec::new();
    for file in under(home)? {
        // A file that cannot be read has no id; `sluice list` says what is wrong with it.
        let bytes = fs::read(&file).unwrap_or_default();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if let Ok(scenario) = Scenario::parse(&name, &bytes, &Wishes::default()) {
            if scenario.id == id {
                return Ok(file);
            }
            known.push(scenario.id);
        }
    }
    Err(Failure::wrong(format!("{id}: no scenario in `scenarios` has this id; there are {}", known.join(", "))))
}
