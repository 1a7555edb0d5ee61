//! `sluice new`.

use crate::console::print;
use crate::failure::Failure;
use lab::store::write_whole;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const SCENARIO: &str = include_str!("new.toml");

/// Writes an example scenario; an existing file is not overwritten.
pub(super) fn new(file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    fs::File::options().write(true).create_new(true).open(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::wrong(format!("{shown}: already exists; name another file")),
        _ => Failure::unwritten(&error, format!("cannot write {shown}: {error}")),
    })?;
    // The empty file reserved the name; it is removed if the disk is full.
    write_whole(file, SCENARIO.as_bytes()).inspect_err(|_| drop(fs::remove_file(file)))?;
    print(&format!("{shown}: a scenario with a comment for every part; try `sluice reproduce {shown}`\n"))
}
