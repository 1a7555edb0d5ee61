//! What a file holds, as bytes and as text, and what is said of one that cannot be read.

use super::missing;
use super::source::Refusal;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// No scenario is larger, in bytes.
pub(super) const LARGEST_FILE: u64 = 16 << 20;

/// The file, or as much of it as shows that it is too large: a device may have no end.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a file that is called `name` in refusals.
pub(super) fn opened(path: &Path, name: &str, most: u64) -> Result<Vec<u8>, Refusal> {
    let bytes = read(path, most).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => Refusal::file(name, "is a folder, not a scenario file"),
        io::ErrorKind::NotFound => {
            Refusal::file(name, missing::sentence(path).trim_start_matches(name).trim_start_matches(": "))
        }
        _ => Refusal::file(name, format!("cannot be read: {error}")),
    })?;
    if bytes.len() as u64 > most {
        return Err(Refusal::file(name, "is too large to be a scenario: more than 16 MiB"));
    }
    Ok(bytes)
}

pub(super) fn text<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, Refusal> {
    str::from_utf8(bytes).map_err(|error| {
        let line = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).matches('\n').count() + 1;
        Refusal::file(name, format!("is not text: line {line} is not UTF-8"))
    })
}

pub(super) fn utf8<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, Refusal> {
    let text = text(name, bytes)?;
    if text.trim().is_empty() {
        return Err(
            Refusal::file(name, "is empty").note("a scenario has at least `title`, `duration`, nodes and a flow")
        );
    }
    Ok(text)
}
