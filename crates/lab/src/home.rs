//! Finds experiments in the working directory, or among those built into the command.

use crate::Error;
use crate::files::Folder;
use crate::store::{self, make_folder, write_whole};
use experiment::scenario::{Files, Outline, Refusal, Scenario, Wishes, opened, or_meant, outline};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folder that takes precedence over the built-in scenarios.
pub const FOLDER: &str = "scenarios";

/// The repository's scenarios: the path of each below `scenarios`, and its content.
const CARRIED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// Returns `./scenarios`. If that is missing: a folder of the user's cache with the built-in scenarios or, without a
/// cache, a folder of the user among the temporary files.
///
/// The scenarios are files, so that users can read and copy what messages and reports refer to. A cached file that was
/// changed is written anew.
///
/// # Errors
/// There is no folder that can be written to.
pub fn home() -> Result<PathBuf, Error> {
    let here = PathBuf::from(FOLDER);
    if here.is_dir() {
        return Ok(here);
    }
    if let Some(folder) = cached()
        && carry(&folder).is_ok()
    {
        return Ok(folder);
    }
    let own = temporary();
    owned(&own).map_err(|error| Error::write(&own, error))?;
    let folder = below(&own);
    carry(&folder)?;
    Ok(folder)
}

/// Makes a folder in the temporary directory. Others can write there, so it must belong to the user and be no link.
#[cfg(unix)]
fn owned(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    let made = fs::DirBuilder::new().mode(0o700).create(folder);
    let found = fs::symlink_metadata(folder)?;
    let is_own = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
    match made {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ if is_own => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is another user's")),
    }
}

/// Makes a folder in the temporary directory, which belongs to the user.
#[cfg(not(unix))]
fn owned(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Writes the built-in scenarios that a folder lacks.
fn carry(folder: &Path) -> Result<(), Error> {
    for (name, content) in CARRIED {
        let file = folder.join(name);
        if fs::read(&file).is_ok_and(|there| there == *content) {
            continue;
        }
        make_folder(file.parent().unwrap_or(folder))?;
        write_whole(&file, content)?;
    }
    Ok(())
}

/// The folder of the built-in scenarios, for a program that writes no files.
struct Carried(&'static Path);

impl Files for Carried {
    fn name(&self, path: &Path) -> String {
        self.0.join(path).display().to_string()
    }

    fn read(&self, path: &Path, _most: u64) -> io::Result<Vec<u8>> {
        let path = self.0.join(path);
        let found = CARRIED.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, content)| content.to_vec()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// [Reads](Scenario::read) the built-in scenario with this id. The function reads and writes no files.
///
/// # Errors
/// There is no such id (the nearest is named), or the scenario lacks a key, case or label that `wishes` names.
pub fn built_in(id: &str, wishes: &Wishes) -> Result<Scenario, Refusal> {
    if let Some((name, content, _)) = identified().find(|(.., own)| own == id) {
        let path = Path::new(name);
        let folder = Carried(path.parent().unwrap_or(path));
        return Scenario::read(name, id, content, &folder, wishes);
    }
    let hint = or_meant(id, ids().iter().map(String::as_str));
    Err(Refusal::file(id, format!("no such file, and no built-in scenario has this id{hint}")))
}

/// Returns the ids of the built-in scenarios, in order.
pub fn ids() -> Vec<String> {
    let mut ids: Vec<String> = identified().map(|(.., id)| id).collect();
    ids.sort_unstable();
    ids
}

/// Returns name, content and id of each built-in scenario.
fn identified() -> impl Iterator<Item = (&'static str, &'static [u8], String)> {
    let scenarios = CARRIED.iter().filter(|(name, _)| Path::new(name).extension().is_some_and(|kind| kind == "toml"));
    scenarios.map(|&(name, content)| {
        let stem = || Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name, content, outline(content).id.unwrap_or_else(stem))
    })
}

/// Returns the name of a scenario on the command line. For a built-in scenario it is the id, because its path is
/// useless in other folders; for all other files it is the path.
pub fn name(file: &Path, id: &str) -> String {
    if cached().into_iter().chain([below(&temporary())]).any(|folder| file.starts_with(folder)) {
        id.to_owned()
    } else {
        file.display().to_string()
    }
}

/// Returns the folder for the built-in scenarios in the user's cache.
fn cached() -> Option<PathBuf> {
    Some(below(&cache()?.join("sluice")))
}

/// Returns the folder for the built-in scenarios among the user's temporary files.
fn temporary() -> PathBuf {
    #[cfg(unix)]
    let user = rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    let user = 0;
    env::temp_dir().join(format!("sluice-{user}"))
}

/// Returns the folder for the built-in scenarios below one of Sluice's folders.
fn below(folder: &Path) -> PathBuf {
    folder.join(env!("CARGO_PKG_VERSION")).join(FOLDER)
}

/// Returns the user's cache folder (XDG Base Directory Specification).
fn cache() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
}

/// Returns what messages call the folder `home`.
pub fn place(home: &Path) -> &'static str {
    if home == Path::new(FOLDER) { "in `scenarios`" } else { "among those built into the command" }
}

/// True for an argument that may be an id or the name of a folder, such as `adth-s1a` or `bqm-fig6.1`.
pub fn is_word(target: &Path) -> bool {
    target.components().count() == 1 && target.extension().is_none_or(|extension| extension != "toml")
}

/// Returns the file itself, or all scenarios in the folder and in folders below it.
///
/// # Errors
/// The folder cannot be read or has no scenarios.
pub fn under(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let unreadable = |error| Error::Wrong(format!("cannot read {}: {error}", folder.display()));
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            // Links to folders are not followed, because they may form a loop.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                // Folders of results have copies of their scenarios.
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
        let why = format!("{}: there is no scenario (*.toml) in this folder", path.display());
        return Err(Error::Wrong(why));
    }
    Ok(files)
}

/// Removes files without an id: they are bases of other files, not experiments.
fn without_bases(files: &mut Vec<PathBuf>) {
    let outlines: Vec<Outline> = files.iter().map(|file| outlined(file)).collect();
    let base =
        |(file, outline): (&PathBuf, &Outline)| fs::canonicalize(Folder::of(file).0.join(outline.base.as_ref()?)).ok();
    let bases: Vec<PathBuf> = files.iter().zip(&outlines).filter_map(base).collect();
    let mut outlines = outlines.iter();
    files.retain(|file| {
        let has_id = outlines.next().is_none_or(|outline| outline.id.is_some());
        has_id || bases.is_empty() || !fs::canonicalize(file).is_ok_and(|file| bases.contains(&file))
    });
}

/// Returns the outline of a file; empty if the file cannot be read.
fn outlined(file: &Path) -> Outline {
    outline(&opened(&Folder::here(), file).unwrap_or_default())
}

/// Returns the file in `home` with this id.
///
/// # Errors
/// No file has the id. The error names the nearest one.
pub fn by_id(id: &str, home: &Path) -> Result<PathBuf, Error> {
    let mut known = Vec::new();
    for file in under(home)? {
        let stem = || file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let Some(own) = outlined(&file).id.or_else(stem) else { continue };
        if own == id {
            return Ok(file);
        }
        known.push(own);
    }
    // A user may have given the file's name without its ending.
    let file = format!("{id}.toml");
    let hint = if Path::new(&file).is_file() {
        format!("; did you mean `{file}`?")
    } else {
        or_meant(id, known.iter().map(String::as_str))
    };
    let place = place(home);
    let why = format!("{id}: no such file, and no scenario {place} has this id{hint}; `sluice list` has all");
    Err(Error::Wrong(why))
}
