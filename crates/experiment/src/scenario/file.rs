//! Files that the caller reads: their text, and refusals of files that cannot be read. Also parses TOML other than
//! scenarios, with refusals in the same words.

use super::refusal::Refusal;
use super::schema::{self, Tables};
use super::source::Source;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Largest size of a scenario, in bytes.
const LARGEST_FILE: u64 = 16 << 20;

/// The files that a scenario names: its base, and the files attached to its network.
pub trait Files {
    /// Returns the file's name, as refusals give it.
    fn name(&self, path: &Path) -> String;

    /// Reads a file, or as much as shows that it has more than `most` bytes: a device file may have no end.
    ///
    /// # Errors
    /// The file cannot be read; if it does not exist, the reason is a whole sentence.
    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>>;
}

/// A scenario that is given as text has no files next to it.
impl Files for () {
    fn name(&self, path: &Path) -> String {
        path.display().to_string()
    }

    fn read(&self, path: &Path, _most: u64) -> io::Result<Vec<u8>> {
        let why = format!(
            "`{}` is relative to the scenario's file, but this scenario is a text without a file",
            path.display()
        );
        Err(io::Error::new(io::ErrorKind::NotFound, why))
    }
}

/// Files with their names, in memory.
#[cfg(test)]
pub(crate) struct Beside<'b>(pub(crate) &'b [(&'b str, &'b [u8])]);

#[cfg(test)]
impl Files for Beside<'_> {
    fn name(&self, path: &Path) -> String {
        path.display().to_string()
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        found.map_or_else(|| ().read(path, most), |(_, bytes)| Ok(bytes.to_vec()))
    }
}

/// Reads the bytes of a scenario or another TOML file.
///
/// # Errors
/// The reason why the file cannot be read.
pub fn opened(files: &dyn Files, path: &Path) -> Result<Vec<u8>, Refusal> {
    let name = files.name(path);
    found(files, path, |why| Refusal::file(&name, why.trim_start_matches(&name).trim_start_matches(": ")))
}

/// Like [`opened`], but `missing` makes the refusal if the file does not exist.
pub(super) fn found(files: &dyn Files, path: &Path, missing: impl FnOnce(&str) -> Refusal) -> Result<Vec<u8>, Refusal> {
    let name = &files.name(path);
    let bytes = files.read(path, LARGEST_FILE).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(&error.to_string()),
        io::ErrorKind::IsADirectory => Refusal::file(name, "is a folder, not a scenario file"),
        _ => Refusal::file(name, format!("cannot be read: {error}")),
    })?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(Refusal::file(name, "is larger than 16 MiB, the maximum for a scenario"));
    }
    Ok(bytes)
}

fn text<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, Refusal> {
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

/// Reads bytes of another file than a scenario as a `T`. Refusals name the file `name`.
///
/// # Errors
/// The text has a fault; the refusal gives its span.
pub fn parse<T: DeserializeOwned + JsonSchema>(name: &str, bytes: &[u8]) -> Result<T, Refusal> {
    let source = Source::alone(name, text(name, bytes)?, &[]);
    source.read_with(source.parse(source.own())?, || Cow::Owned(Tables::of(&schema::of::<T>())))
}

/// Like [`parse`], but leaves out each part of table `of` that is wrong on its own, even if its text is not TOML. Also
/// returns the fault of each such part; a single fault with its span.
///
/// # Errors
/// There is a fault elsewhere (the first is returned), or no part is left.
pub fn parse_parts<T, P>(name: &str, bytes: &[u8], of: &str) -> Result<(T, Vec<String>), Refusal>
where
    T: DeserializeOwned + JsonSchema,
    P: DeserializeOwned,
{
    let refusal = match parse(name, bytes) {
        Ok(whole) => return Ok((whole, Vec::new())),
        Err(refusal) => refusal,
    };
    let without_wrong = || {
        let (text, mut wrong) = without_broken(std::str::from_utf8(bytes).ok()?, of)?;
        let mut table: toml::Table = text.parse().ok()?;
        let parts = table.get_mut(of)?.as_table_mut()?;
        parts.retain(|part, value| {
            let read = value.clone().try_into::<P>();
            wrong.extend(read.as_ref().err().map(|why| format!("{of}.{part}: {}", why.message())));
            read.is_ok()
        });
        if let [only] = &mut wrong[..] {
            *only = refusal.to_string();
        }
        if parts.is_empty() { None } else { Some((table.try_into().ok()?, wrong)) }
    };
    let read = without_wrong();
    read.ok_or(refusal)
}

/// Leaves out the parts of table `of` whose text is not TOML. A part is everything below its headers, such as
/// `[interface.wlan0.queue]`. Also returns their faults; `None` if other text is not TOML.
fn without_broken(text: &str, of: &str) -> Option<(String, Vec<String>)> {
    if text.parse::<toml::Table>().is_ok() {
        return Some((text.to_owned(), Vec::new()));
    }
    let mut pieces = vec![(None, String::new())];
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') {
            pieces.push((part_of(line, of), String::new()));
        }
        pieces.last_mut()?.1.push_str(line);
    }
    let mut broken = BTreeMap::new();
    for (part, piece) in &pieces {
        if let Err(why) = piece.parse::<toml::Table>() {
            broken.entry(part.clone()?).or_insert_with(|| why.message().to_owned());
        }
    }
    pieces.retain(|(part, _)| part.as_ref().is_none_or(|part| !broken.contains_key(part)));
    let wrong = broken.iter().map(|(part, why)| format!("{of}.{part}: not TOML: {why}")).collect();
    Some((pieces.into_iter().map(|(_, piece)| piece).collect(), wrong))
}

/// Returns the part of table `of` that a header begins.
fn part_of(header: &str, of: &str) -> Option<String> {
    let table: toml::Table = header.parse().ok()?;
    table.get(of)?.as_table()?.keys().next().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use queue::Settings;

    fn refusal(text: &str) -> String {
        parse::<BTreeMap<String, Settings>>("agent.toml", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_pointed_at_and_the_nearest_name_told() {
        let said = refusal("[queue]\nlimt = 5\n");
        assert!(said.starts_with("agent.toml:2:1: unknown key `limt`"), "{said}");
        assert!(said.contains("did you mean `limit`?"), "{said}");
        let said = refusal("[queue]\ncontroller = \"adht\"\n");
        assert!(said.starts_with("agent.toml:2:14: unknown value `adht`"), "{said}");
        assert!(said.contains("did you mean `adth`?"), "{said}");
        for (table, name) in [("eth0.20", "eth0.20"), ("eth0.20.queue", "eth0.20"), ("br-lan.7", "br-lan.7")] {
            let text = format!("[interface.{table}]\nlimit = 5\n");
            let said =
                parse::<BTreeMap<String, BTreeMap<String, Settings>>>("agent.toml", text.as_bytes()).unwrap_err();
            let hint = format!("a name with a dot needs quotes: [interface.\"{name}\"]");
            assert!(said.to_string().contains(&hint), "{said}");
        }
        assert!(refusal("[queue\n").starts_with("agent.toml:1:7: not TOML"));
        assert!(parse::<Settings>("a", &[0xff]).unwrap_err().to_string().contains("is not UTF-8"));
    }
}
