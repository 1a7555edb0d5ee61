//! The folder of a study. Each run is stored when it finishes, so that an interrupted sweep can continue.
//!
//! `runs/KEY.json` and `runs/series/KEY.json` are written as runs finish. After all runs follow `results.jsonl` (one
//! run per line), `flows.csv`, `nodes.csv`, `flows-mean.csv`, `nodes-mean.csv`, `tables.csv`, `series/CASE.csv`,
//! `claims.json`, `scenario.toml` and `manifest.json`. Every file appears completely or not at all: it is written under
//! a temporary name and then renamed.

use crate::Error;
use experiment::csv;
use experiment::study::{Run, Study, Verdict};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sim::results::Series;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Largest size of a study's file, in bytes. A series has at most 20 million values.
const LARGEST: u64 = 1 << 30;

/// Refuses a folder that has results of these experiments: they cannot be mixed with new ones.
///
/// # Errors
/// The folder has results of one of these experiments.
pub fn untaken(folder: &Path, of: &[String]) -> Result<(), Error> {
    if of.is_empty() {
        return Ok(());
    }
    let ids = of.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    Err(Error::Wrong(format!("{} holds results of {ids}; name another folder with --out", folder.display())))
}

/// The folder that keeps a study's runs, so that an interrupted sweep can continue.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Description of a study, without its runs and verdicts.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest<'s> {
    #[serde(flatten)]
    study: Cow<'s, Study>,
    /// Keys of the runs, in order of case and seed.
    runs: Cow<'s, [String]>,
}

/// The part of a manifest or run in which every version of Sluice stores the experiment's id.
#[derive(Deserialize)]
struct Owner {
    #[serde(alias = "scenario")]
    id: String,
}

impl Store {
    /// Creates the folder of the experiment `id` if it is missing, and checks that it can be written to.
    ///
    /// # Errors
    /// The folder cannot be used, or has results of other experiments.
    pub fn create(folder: &Path, id: &str) -> Result<Self, Error> {
        let of: Vec<String> = owners(folder).into_iter().filter(|owner| owner != id).collect();
        // A folder for several experiments has one folder for each.
        let below: Vec<String> = folders(folder).iter().flat_map(|folder| owners(folder)).collect();
        untaken(folder, &of).and_then(|()| untaken(folder, &below))?;
        for part in ["runs", "runs/series", "series"] {
            make_folder(&folder.join(part))?;
        }
        let store = Self { folder: folder.to_owned() };
        let probe = store.folder.join(format!(".writable-{}", std::process::id()));
        let tried = fs::write(&probe, b"Sluice writes here").and_then(|()| fs::remove_file(&probe));
        tried.map_err(|error| Error::write(folder, error))?;
        Ok(store)
    }

    /// Returns a stored run if it is complete; with its series if `series` is true.
    pub(crate) fn run(&self, key: &str, series: bool) -> Option<Run> {
        let mut run: Run = read_json(&self.run_path(key)).ok()?;
        if series {
            run.outcome.series = Some(read_json(&self.series_path(key)).ok()?);
        }
        Some(run)
    }

    /// Keeps a finished run. Its series is written first, so that every run in the folder has its series.
    pub(crate) fn keep(&self, key: &str, run: &mut Run) -> Result<(), Error> {
        let series = run.outcome.series.take();
        if let Some(series) = &series {
            write_json(&self.series_path(key), series)?;
        }
        write_json(&self.run_path(key), run)?;
        run.outcome.series = series;
        Ok(())
    }

    /// Writes the files that are made from all runs. `keys`: those of the study's runs.
    ///
    /// # Errors
    /// The folder cannot be written to. Earlier files stay complete.
    pub fn finish(&self, study: &Study, keys: &[String]) -> Result<(), Error> {
        let mut lines = Vec::new();
        for run in &study.runs {
            let mut run = run.clone();
            run.outcome.series = None;
            lines.extend(json(&run));
            lines.push(b'\n');
        }
        let manifest = Manifest { study: Cow::Borrowed(study), runs: Cow::Borrowed(keys) };
        self.write("results.jsonl", &lines)?;
        self.write("flows.csv", csv::table(&study.runs, csv::FLOWS).as_bytes())?;
        self.write("nodes.csv", csv::table(&study.runs, csv::NODES).as_bytes())?;
        self.write("flows-mean.csv", csv::means(&study.runs, csv::FLOWS).as_bytes())?;
        self.write("nodes-mean.csv", csv::means(&study.runs, csv::NODES).as_bytes())?;
        self.write("tables.csv", csv::tables(study).as_bytes())?;
        self.write_series(study)?;
        self.write("claims.json", &json(&study.claims))?;
        self.write("scenario.toml", study.alone.as_bytes())?;
        // This file comes last: a folder with a manifest is a finished study.
        self.write("manifest.json", &json(&manifest))
    }

    /// Writes the time series as tables named after their cases. Tables of an earlier command are removed.
    fn write_series(&self, study: &Study) -> Result<(), Error> {
        let folder = self.folder.join("series");
        let of_case =
            study.runs.iter().enumerate().filter_map(|(number, run)| Some((number, run, run.outcome.series.as_ref()?)));
        let mut written: BTreeSet<PathBuf> = BTreeSet::new();
        for (number, run, series) in of_case {
            let name = csv::file_name(&study.axes, &run.case, run.seed);
            let path = folder.join(format!("{name}.csv"));
            // Labels may differ only in characters that file names cannot have.
            let path = if written.contains(&path) { folder.join(format!("{name}_{number}.csv")) } else { path };
            write_whole(&path, csv::series(series).as_bytes())?;
            written.insert(path);
        }
        for path in entries(&folder) {
            if path.extension().is_some_and(|extension| extension == "csv") && !written.contains(&path) {
                fs::remove_file(&path).map_err(|error| Error::write(&path, error))?;
            }
        }
        Ok(())
    }

    /// Reads a finished study.
    ///
    /// # Errors
    /// The folder has no study, or one of its files is missing or damaged.
    pub fn load(folder: &Path) -> Result<Study, Error> {
        let store = Self { folder: folder.to_owned() };
        let manifest = described(folder)?;
        let mut study = manifest.study.into_owned();
        for key in &*manifest.runs {
            let mut run: Run = read_json(&store.run_path(key))?;
            let series = store.series_path(key);
            if series.is_file() {
                run.outcome.series = Some(read_json::<Series>(&series)?);
            }
            study.runs.push(run);
        }
        let path = folder.join("scenario.toml");
        let read = bounded(&path).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        study.alone = read.map_err(|error| unread(&path, &error))?;
        // Earlier versions stored no other text.
        if study.text.is_empty() {
            study.text.clone_from(&study.alone);
        }
        study.claims = read_json(&folder.join("claims.json"))?;
        Ok(study)
    }

    /// Reads a finished study without its runs. Returns its id, the command that made it, and the verdicts.
    ///
    /// # Errors
    /// The folder has no study, or one of its files is missing or damaged.
    pub fn verdicts(folder: &Path) -> Result<(String, String, Vec<Verdict>), Error> {
        let Study { id, command, .. } = described(folder)?.study.into_owned();
        Ok((id, command, read_json(&folder.join("claims.json"))?))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        write_whole(&self.folder.join(name), bytes)
    }

    fn run_path(&self, key: &str) -> PathBuf {
        self.folder.join("runs").join(format!("{key}.json"))
    }

    fn series_path(&self, key: &str) -> PathBuf {
        self.folder.join("runs").join("series").join(format!("{key}.json"))
    }
}

/// Returns the ids of the experiments whose results are in `folder`, finished or not.
pub fn owners(folder: &Path) -> Vec<String> {
    let runs = entries(&folder.join("runs"));
    let mut ids: Vec<String> = Vec::new();
    for path in std::iter::once(folder.join("manifest.json")).chain(runs) {
        if let Ok(Owner { id }) = read_json(&path)
            && !ids.contains(&id)
        {
            ids.push(id);
        }
    }
    ids
}

/// True for a folder that keeps runs of an experiment, finished or not.
pub fn keeps_runs(folder: &Path) -> bool {
    folder.join("runs").join("series").is_dir()
}

/// True for a folder with a finished study.
pub fn holds_study(folder: &Path) -> bool {
    folder.join("manifest.json").is_file()
}

/// Returns the folders in `folder` that have a finished study, in order of name.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found = entries(folder);
    found.retain(|path| holds_study(path));
    found.sort();
    found
}

/// Returns the entries of a folder; empty if it cannot be read or is no folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// Makes a missing folder, and missing folders above it.
///
/// # Errors
/// The system refuses.
pub fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|error| Error::write(path, error))
}

/// Writes a file under a temporary name and then renames it. So a full disk or an interrupt leaves no partial file.
///
/// # Errors
/// The system refuses.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    // If the path is a device or a pipe, this gets the bytes and is not replaced by a file.
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return fs::write(path, bytes).map_err(|error| Error::write(path, error));
    }
    let beside = beside(path);
    let written = fs::File::create(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_data()))
        .and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| {
        // The partial file is of no use, so it does not matter if it cannot be removed.
        let _ = fs::remove_file(&beside);
        Error::write(path, error)
    })
}

/// Checks that [`write_whole`] can write a file at a path, without a change of the file's content.
///
/// # Errors
/// The system refuses.
pub fn check_place(path: &Path) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(Error::write(path, std::io::ErrorKind::IsADirectory.into())),
        Ok(there) if !there.is_file() => Ok(()),
        _ => {
            let beside = beside(path);
            let made = fs::File::create(&beside).and_then(|_| fs::remove_file(&beside));
            made.map_err(|error| Error::write(path, error))
        }
    }
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", std::process::id()))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    write_whole(path, &json(value))
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("results have string keys only")
}

/// Reads the bytes of a file in the folder, up to a limit: it may be a link to an endless device.
fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} MiB", LARGEST >> 20)));
    }
    Ok(bytes)
}

fn unread(path: &Path, error: &io::Error) -> Error {
    Error::Wrong(format!("cannot read {}: {error}", path.display()))
}

/// Reads the description of the finished study in a folder.
fn described(folder: &Path) -> Result<Manifest<'static>, Error> {
    if !holds_study(folder) {
        let why = format!("{} holds no finished study: the folder has no manifest.json", folder.display());
        return Err(Error::Wrong(why));
    }
    read_json(&folder.join("manifest.json"))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = bounded(path).map_err(|error| unread(path, &error))?;
    let foreign = |error| {
        let why = format!("is not a file that this version of Sluice wrote ({error}): reproduce the experiment again");
        Error::Wrong(format!("{} {why}", path.display()))
    };
    serde_json::from_slice(&bytes).map_err(foreign)
}
