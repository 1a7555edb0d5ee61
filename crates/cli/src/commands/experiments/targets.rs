//! From ids, files and folders to scenario files.

use crate::failure::Failure;
use lab::scenario::missing::sentence;
use lab::scenario::{Scenario, Wishes, nearest};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where experiments are looked for.
const HOME: &str = "scenarios";

/// The scenario files that the arguments name, in order, each once.
pub(super) fn files(targets: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut known: Vec<PathBuf> = Vec::new();
    let home = [PathBuf::from(HOME)];
    for target in if targets.is_empty() { &home } else { targets } {
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

/// The one scenario file that an argument names: a path, or the id of a scenario.
pub(super) fn one(target: &Path) -> Result<PathBuf, Failure> {
    let is_word = target.components().count() == 1 && target.extension().is_none();
    match target.to_str() {
        Some(id) if is_word && Path::new(HOME).join(id).is_dir() => {
            Err(Failure::wrong(format!("{id}: is a folder of scenarios: name one, or `sluice reproduce {id}` for all")))
        }
        Some(id) if is_word && !target.exists() && Path::new(HOME).is_dir() => by_id(id),
        _ if matches!(target.try_exists(), Ok(false)) => Err(missing(target)),
        _ => Ok(target.to_owned()),
    }
}

/// The scenario files of one argument: a path, a folder of `scenarios`, or the id of a scenario.
fn named(target: &Path) -> Result<Vec<PathBuf>, Failure> {
    match fs::metadata(target) {
        Ok(_) => return under(target),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(Failure::wrong(format!("{}: cannot be read: {error}", target.display())));
        }
        Err(_) => {}
    }
    match target.to_str() {
        Some(HOME) => {
            Err(Failure::wrong("there is no folder `scenarios` here: name a scenario file, or go to where it is"))
        }
        Some(name) if target.components().count() == 1 && Path::new(HOME).join(name).is_dir() => {
            under(&Path::new(HOME).join(name))
        }
        Some(id) if target.extension().is_none() && target.components().count() == 1 => Ok(vec![by_id(id)?]),
        _ => Err(missing(target)),
    }
}

/// A file that is not there, with the name of one that is.
pub(super) fn missing(path: &Path) -> Failure {
    Failure::wrong(sentence(path))
}

fn did_you_mean(name: &str, known: &[String]) -> String {
    let nearest = nearest(name, known.iter().map(String::as_str));
    nearest.map_or_else(String::new, |other| format!("; did you mean `{other}`?"))
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
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            // A link to a folder is not followed: it may lead back.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if !path.is_dir() && path.extension().is_some_and(|extension| extension == "toml") {
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
        // A file's name without its ending is a slip that is easily made.
        let file = format!("{id}.toml");
        let hint = if Path::new(&file).is_file() { format!("; did you mean `{file}`?") } else { String::new() };
        return Err(Failure::wrong(format!(
            "{id}: there is no such file, and no folder `scenarios` here to look for the id in{hint}"
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
    let hint = did_you_mean(id, &known);
    Err(Failure::wrong(format!("{id}: no scenario in `scenarios` has this id{hint}; `sluice list` has all")))
}
