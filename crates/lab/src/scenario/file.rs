//! Files: their bytes, their text, and the refusals of files that cannot be read; and TOML files other than scenarios,
//! refused in the words of scenarios.

use super::missing;
use super::refusal::Refusal;
use super::schema::{self, Tables};
use super::source::Source;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Largest size of a scenario, in bytes.
pub(super) const LARGEST_FILE: u64 = 16 << 20;

/// Reads the file, or as much of it as shows that it is too large: a device may have no end.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the bytes of a file that is called `name` in refusals.
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

/// Reads a TOML file other than a scenario as a `T`.
///
/// # Errors
/// The fault in the file, and its place.
pub fn load<T: DeserializeOwned + JsonSchema>(path: &Path) -> Result<T, Refusal> {
    let name = path.display().to_string();
    parse(&name, &opened(path, &name, LARGEST_FILE)?)
}

/// Reads bytes other than a scenario as a `T`. Refusals call them `name`.
///
/// # Errors
/// The fault in the text, and its place.
pub fn parse<T: DeserializeOwned + JsonSchema>(name: &str, bytes: &[u8]) -> Result<T, Refusal> {
    let source = Source::alone(name, text(name, bytes)?, &[]);
    source.read_with(source.parse()?, || Cow::Owned(Tables::of(&schema::of::<T>())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use queue::Settings;
    use std::collections::BTreeMap;

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
