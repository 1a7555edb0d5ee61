//! Where experiments and the record of their claims are looked for: here, or among those built into the command.

use crate::failure::Failure;
use lab::store::write_whole;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder that takes precedence over the built-in scenarios.
pub(super) const FOLDER: &str = "scenarios";

/// The repository's scenarios: path below `scenarios` and content.
const CARRIED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// The folder with the record of claims, beside that with the scenarios.
pub(super) const RECORD: &str = "evidence";

/// The repository's record: path below `evidence` and content.
const RECORDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/recorded.rs"));

/// The record of every document: its name and its text. Where there are scenarios here, it is the one beside them.
pub(super) fn evidence() -> Result<Vec<(String, String)>, Failure> {
    let named = |name: &str, text: Vec<u8>| {
        let document = name.strip_suffix(".csv")?.to_owned();
        Some((document, String::from_utf8_lossy(&text).into_owned()))
    };
    if !Path::new(FOLDER).is_dir() || !Path::new(RECORD).is_dir() {
        return Ok(RECORDED.iter().filter_map(|(name, text)| named(name, text.to_vec())).collect());
    }
    let unreadable = |error| Failure::wrong(format!("cannot read {RECORD}: {error}"));
    let mut found = Vec::new();
    for entry in fs::read_dir(RECORD).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let text = fs::read(entry.path()).map_err(unreadable)?;
        found.extend(named(&entry.file_name().to_string_lossy(), text));
    }
    Ok(found)
}

/// `./scenarios`; if there is none, a folder of the user's cache with the built-in scenarios.
///
/// The scenarios are files, so that paths in messages and reports lead to something that can be read and copied. A file that
/// was changed is written again.
pub(super) fn home() -> Result<PathBuf, Failure> {
    let here = PathBuf::from(FOLDER);
    if here.is_dir() {
        return Ok(here);
    }
    let folder = kept().ok_or_else(|| {
        Failure::wrong("there is no folder `scenarios` here, and no HOME to put those that are built into the command")
    })?;
    for (name, content) in CARRIED {
        let file = folder.join(name);
        if fs::read(&file).is_ok_and(|there| there == *content) {
            continue;
        }
        let parent = file.parent().unwrap_or(&folder);
        fs::create_dir_all(parent)
            .map_err(|error| Failure::wrong(format!("cannot write {}: {error}", parent.display())))?;
        write_whole(&file, content)?;
    }
    Ok(folder)
}

/// Returns what a command calls a scenario: its id if it is a built-in one, whose path is of no use elsewhere, else the path.
pub(super) fn name(file: &Path, id: &str) -> String {
    if kept().is_some_and(|folder| file.starts_with(folder)) { id.to_owned() } else { file.display().to_string() }
}

/// Returns the folder of the user's cache for the built-in scenarios.
fn kept() -> Option<PathBuf> {
    Some(cache()?.join("sluice").join(env!("CARGO_PKG_VERSION")).join(FOLDER))
}

/// Returns the user's cache folder (XDG Base Directory Specification).
fn cache() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
}

/// Says in messages where the scenarios of `home` are.
pub(super) fn place(home: &Path) -> &'static str {
    if home == Path::new(FOLDER) { "in `scenarios`" } else { "among those built into the command" }
}
