//! `sluice report`.

use crate::console::print;
use crate::failure::Failure;
use lab::report::ReportError;
use lab::store::{Store, StoreError, write_whole};
use lab::study::Study;
use std::path::{Path, PathBuf};

pub(super) fn report(folder: &Path, out: Option<PathBuf>) -> Result<(), Failure> {
    let studies = studies(folder)?;
    let out = out.unwrap_or_else(|| folder.join("report.html"));
    write(&studies, &out)?.map_err(|error| Failure::failed(error.to_string()))?;
    print(&format!("report: {}\n", out.display()))
}

/// Writes the report of `studies` to `out`; the inner result tells whether there could be one.
pub(super) fn write(studies: &[Study], out: &Path) -> Result<Result<(), ReportError>, Failure> {
    match lab::report::html(studies) {
        Err(error) => Ok(Err(error)),
        Ok(page) => Ok(Ok(write_whole(out, page.as_bytes())?)),
    }
}

/// The study in the folder, or those in the folders of it.
fn studies(folder: &Path) -> Result<Vec<Study>, Failure> {
    match Store::load(folder) {
        Ok(study) => return Ok(vec![study]),
        Err(StoreError::NoStudy { .. }) if folder.is_dir() => {}
        Err(error) => return Err(error.into()),
    }
    let unreadable = |error| Failure::wrong(format!("cannot read {}: {error}", folder.display()));
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.join("manifest.json").is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    if folders.is_empty() {
        return Err(Failure::wrong(format!(
            "{}: there are no results of `sluice reproduce` in this folder",
            folder.display()
        )));
    }
    folders.iter().map(|folder| Ok(Store::load(folder)?)).collect()
}
