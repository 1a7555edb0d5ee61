//! `sluice new`.

use crate::console::print;
use crate::failure::Failure;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

const SCENARIO: &str = include_str!("new.toml");

/// Writes an example scenario; an existing file is not overwritten.
pub(super) fn new(file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    let made = fs::File::options().write(true).create_new(true).open(file);
    made.and_then(|mut made| made.write_all(SCENARIO.as_bytes())).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::wrong(format!("{shown}: already exists; name another file")),
        _ => Failure::wrong(format!("cannot write {shown}: {error}")),
    })?;
    print(&format!("{shown}: a scenario with a comment for every part; try `sluice reproduce {shown}`\n"))
}
