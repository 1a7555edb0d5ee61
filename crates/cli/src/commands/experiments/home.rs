//! Where experiments are looked for: in `./scenarios`, or among those built into the command.

use crate::failure::Failure;
use lab::store::write_whole;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder that takes precedence over the built-in scenarios.
pub(super) const FOLDER: &str = "scenarios";

/// The repository's scenarios: path below `scenarios` and content.
const CARRIED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// `./scenarios`; if there is none, a folder of the user's cache with the built-in scenarios.
///
/// They are files there, so that a path in a message or in a report leads to a file that can be read and copied. A file
/// that was changed is written again.
pub(super) fn home() -> Result<PathBuf, Failure> {
    let here = PathBuf::from(FOLDER);
    if here.is_dir() {
        return Ok(here);
    }
    let cache = cache().ok_or_else(|| {
        Failure::wrong("there is no folder `scenarios` here, and no HOME to put those that are built into the command")
    })?;
    let folder = cache.join("sluice").join(env!("CARGO_PKG_VERSION")).join(FOLDER);
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

/// The user's folder for files that can be created again (XDG Base Directory Specification).
fn cache() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
}

/// Where its scenarios are, in messages.
pub(super) fn place(home: &Path) -> &'static str {
    if home == Path::new(FOLDER) { "in `scenarios`" } else { "among those built into the command" }
}
