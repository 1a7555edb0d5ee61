//! TOML files that are no scenarios, refused in the words of scenarios: with the line, what was expected, the nearest name.

use super::file::{LARGEST_FILE, opened, text};
use super::reading::{deserialize, table};
use super::source::{Refusal, Source};
use serde::de::DeserializeOwned;
use std::path::Path;

/// Reads a file as a `T`.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn load<T: DeserializeOwned>(path: &Path) -> Result<T, Refusal> {
    let name = path.display().to_string();
    parse(&name, &opened(path, &name, LARGEST_FILE)?)
}

/// Reads bytes as a `T`. `name` stands in refusals.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn parse<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, Refusal> {
    let source = Source::alone(name, text(name, bytes)?, &[]);
    deserialize(&source, table(&source)?)
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
        assert!(refusal("[queue\n").starts_with("agent.toml:1:7: not TOML"));
        assert!(parse::<Settings>("a", &[0xff]).unwrap_err().to_string().contains("is not UTF-8"));
    }
}
