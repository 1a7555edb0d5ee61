use crate::console::print;
use crate::failure::Failure;
use experiment::report::{self, Simulator};
use experiment::study::Study;
use lab::charts::{self, NoLibrary};
use lab::files::sentence;
use lab::store::{self, Store, write_whole};
use std::path::{Path, PathBuf};

pub(super) fn report(folder: &Path, out: Option<PathBuf>) -> Result<(), Failure> {
    let studies = studies(folder)?;
    let out = out.unwrap_or_else(|| folder.join("report.html"));
    write(&studies, &out, None)?.map_err(Failure::failed)?;
    print(&format!("report: {}\n", out.display()))
}

/// Writes the report of `studies` to `out`. The inner error: the build has no charting library.
pub(super) fn write(
    studies: &[Study],
    out: &Path,
    simulator: Option<&Simulator>,
) -> Result<Result<(), NoLibrary>, Failure> {
    match charts::library() {
        Err(error) => Ok(Err(error)),
        Ok(library) => Ok(Ok(write_whole(out, report::html(studies, library, simulator).as_bytes())?)),
    }
}

/// Loads the study in the folder, or those in its subfolders.
fn studies(folder: &Path) -> Result<Vec<Study>, Failure> {
    let wrong = |why: &str| Failure::wrong(format!("{}: {why}", folder.display()));
    if store::holds_study(folder) {
        return Ok(vec![Store::load(folder)?]);
    }
    if !folder.is_dir() {
        let no_file = || Failure::wrong(sentence(folder));
        return Err(if folder.exists() { wrong("is a file, not a folder of results") } else { no_file() });
    }
    let folders = store::folders(folder);
    if folders.is_empty() {
        let unfinished = !store::owners(folder).is_empty();
        return Err(wrong(if unfinished {
            "the runs in this folder are not complete: repeat the `sluice reproduce` that began them"
        } else {
            "there are no results of `sluice reproduce` in this folder"
        }));
    }
    folders.iter().map(|folder| Ok(Store::load(folder)?)).collect()
}
