//! Finds the scenario files of ids, files and folders.

use super::home::{FOLDER, home, place};
use crate::failure::Failure;
use lab::scenario::missing::sentence;
use lab::scenario::{Outline, nearest, outline};
use lab::store;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Returns the scenario files that the arguments name, in order, each once.
pub(super) fn files(targets: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut known: Vec<PathBuf> = Vec::new();
    let all = [PathBuf::from(FOLDER)];
    for target in if targets.is_empty() { &all } else { targets } {
        for file in named(target)? {
            // One file may be named in two ways: `a.toml` and `./a.toml`.
            let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
            if !known.contains(&real) {
                known.push(real);
                found.push(file);
            }
        }
    }
    Ok(found)
}

/// Returns the one scenario file that an argument names: a path, or the id of a scenario.
pub(super) fn one(target: &Path) -> Result<PathBuf, Failure> {
    let is_word = is_word(target);
    match target.to_str() {
        Some(id) if is_word && !target.exists() => {
            let home = home()?;
            if home.join(id).is_dir() {
                let all = format!("`sluice reproduce {id}` for all");
                return Err(Failure::wrong(format!("{id}: is a folder of scenarios: name one, or {all}")));
            }
            by_id(id, &home)
        }
        _ if matches!(target.try_exists(), Ok(false)) => Err(missing(target)),
        _ => Ok(target.to_owned()),
    }
}

/// Returns the scenario files of one argument: a path, a folder of `scenarios`, or the id of a scenario.
fn named(target: &Path) -> Result<Vec<PathBuf>, Failure> {
    match fs::metadata(target) {
        Ok(_) => return under(target),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(Failure::wrong(format!("{}: cannot be read: {error}", target.display())));
        }
        Err(_) => {}
    }
    let is_word = is_word(target);
    match target.to_str() {
        Some(FOLDER) => under(&home()?),
        Some(word) if is_word => {
            let home = home()?;
            let folder = home.join(word);
            if folder.is_dir() { under(&folder) } else { Ok(vec![by_id(word, &home)?]) }
        }
        _ => Err(missing(target)),
    }
}

/// Returns true for an argument that may be an id or the name of a folder: `adth-s1a`, `bqm-fig6.1`.
fn is_word(target: &Path) -> bool {
    target.components().count() == 1 && target.extension().is_none_or(|extension| extension != "toml")
}

/// Creates the failure for a missing file; it suggests the nearest existing one.
pub(super) fn missing(path: &Path) -> Failure {
    Failure::wrong(sentence(path))
}

fn did_you_mean(name: &str, known: &[String]) -> String {
    let nearest = nearest(name, known.iter().map(String::as_str));
    nearest.map_or_else(String::new, |other| format!("; did you mean `{other}`?"))
}

/// Returns the file itself, or all scenarios in the folder and below.
pub(super) fn under(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let unreadable = |error| Failure::wrong(format!("cannot read {}: {error}", folder.display()));
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            // A link to a folder is not followed: it may lead back.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                // Results hold copies of the scenarios that they are of.
                if !store::keeps_runs(&path) {
                    folders.push(path);
                }
            } else if !path.is_dir() && path.extension().is_some_and(|extension| extension == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    without_bases(&mut files);
    if files.is_empty() {
        return Err(Failure::wrong(format!("{}: there is no scenario (*.toml) in this folder", path.display())));
    }
    Ok(files)
}

/// Removes the files that have no id and from which others inherit: they are no experiments.
fn without_bases(files: &mut Vec<PathBuf>) {
    let outlines: Vec<Outline> = files.iter().map(|file| outline(file)).collect();
    let bases: Vec<PathBuf> =
        outlines.iter().filter_map(|outline| fs::canonicalize(outline.base.as_ref()?).ok()).collect();
    let mut outlines = outlines.iter();
    files.retain(|file| {
        let has_id = outlines.next().is_none_or(|outline| outline.id.is_some());
        has_id || bases.is_empty() || !fs::canonicalize(file).is_ok_and(|file| bases.contains(&file))
    });
}

/// Returns the file in `home` with this id.
pub(super) fn by_id(id: &str, home: &Path) -> Result<PathBuf, Failure> {
    let mut known = Vec::new();
    for file in under(home)? {
        let stem = || file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let Some(own) = outline(&file).id.or_else(stem) else { continue };
        if own == id {
            return Ok(file);
        }
        known.push(own);
    }
    // The name of a file without its ending is an easy mistake.
    let file = format!("{id}.toml");
    let hint = if Path::new(&file).is_file() { format!("; did you mean `{file}`?") } else { did_you_mean(id, &known) };
    let place = place(home);
    Err(Failure::wrong(format!("{id}: no such file, and no scenario {place} has this id{hint}; `sluice list` has all")))
}
