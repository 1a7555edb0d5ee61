//! Scenarios and configurations in files. If a path is missing, the error names the existing folder and similar names.

use experiment::scenario::{Files, Refusal, Scenario, Wishes, nearest, opened, parse};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The folder of a scenario. The names of other files in the scenario are relative to it.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'f>(pub &'f Path);

impl<'f> Folder<'f> {
    /// Returns the folder in which the program was started.
    pub(crate) fn here() -> Self {
        Self(Path::new(""))
    }

    /// Returns the folder of a file.
    pub fn of(file: &'f Path) -> Self {
        Self(file.parent().unwrap_or_else(|| Path::new("")))
    }
}

impl Files for Folder<'_> {
    fn name(&self, path: &Path) -> String {
        self.0.join(path).display().to_string()
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let path = self.0.join(path);
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::Error::new(error.kind(), sentence(&path))),
            Err(error) => Err(error),
        }
    }
}

/// [Reads](Scenario::read) a scenario's file.
///
/// # Errors
/// The fault in the file, and its position.
pub fn load(path: &Path, wishes: &Wishes) -> Result<Scenario, Refusal> {
    let bytes = opened(&Folder::here(), path)?;
    Scenario::read(&Folder::here().name(path), &stem(path), &bytes, &Folder::of(path), wishes)
}

/// [Skims](Scenario::skim) a scenario's file.
///
/// # Errors
/// The fault in the file, and its position.
pub fn skim(path: &Path, wishes: &Wishes) -> Result<Scenario, Refusal> {
    let bytes = opened(&Folder::here(), path)?;
    Scenario::skim(&Folder::here().name(path), &stem(path), &bytes, &Folder::of(path), wishes)
}

/// Reads a TOML file other than a scenario as a `T`.
///
/// # Errors
/// The fault in the file, and its position.
pub fn config<T: DeserializeOwned + JsonSchema>(path: &Path) -> Result<T, Refusal> {
    parse(&Folder::here().name(path), &opened(&Folder::here(), path)?)
}

/// Returns the default id of the scenario in a file.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Formats "a/b.toml: there is no such file or folder; did you mean `a/c.toml`?".
pub fn sentence(path: &Path) -> String {
    let mut at = PathBuf::new();
    for part in path.components() {
        let folder = at.clone();
        at.push(part);
        if at.exists() {
            continue;
        }
        let message = if at == path {
            format!("{}: there is no such file or folder", path.display())
        } else {
            format!("{}: there is no folder {}", path.display(), at.display())
        };
        return message + &instead(&folder, &part.as_os_str().to_string_lossy());
    }
    // The file has appeared meanwhile, or is a dangling link.
    format!("{}: there is no such file or folder", path.display())
}

/// Formats "; did you mean `x`?"; empty if no name is similar.
fn instead(folder: &Path, name: &str) -> String {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(here).into_iter().flatten().flatten();
    // A dangling link is in the folder, but must not be suggested.
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    nearest(name, names.iter().map(String::as_str))
        .map_or_else(String::new, |other| format!("; did you mean `{}`?", folder.join(other).display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use queue::Settings;

    #[test]
    fn what_is_missing_is_told_with_the_nearest_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("base.toml"), "title = \"t\"\nduration = \"1 s\"\n").unwrap();
        fs::write(path("own.toml"), "base = \"bse.toml\"\n").unwrap();
        let told = |path: &Path| load(path, &Wishes::default()).unwrap_err().to_string();
        let said = told(&path("own.toml"));
        assert!(said.contains("own.toml:1:8: ") && said.contains("there is no such file or folder"), "{said}");
        assert!(said.contains(&format!("did you mean `{}`?", path("base.toml").display())), "{said}");
        let said = told(&path("owm.toml"));
        assert!(said.ends_with(&format!("did you mean `{}`?", path("own.toml").display())), "{said}");
        assert_eq!(told(folder.path()), format!("{}: is a folder, not a scenario file", folder.path().display()));
        assert!(
            skim(&path("none/own.toml"), &Wishes::default()).unwrap_err().to_string().contains("there is no folder")
        );
    }

    #[test]
    fn a_base_and_a_configuration_are_read_from_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let nodes = "nodes = { count = 2, placement = \"chain\", spacing = \"9 m\" }\n";
        fs::write(path("base.toml"), format!("title = \"t\"\nduration = \"1 s\"\n{nodes}")).unwrap();
        fs::write(path("own.toml"), "base = \"base.toml\"\n").unwrap();
        let scenario = load(&path("own.toml"), &Wishes::default()).unwrap();
        assert_eq!((scenario.id.as_str(), scenario.title.as_str()), ("own", "t"));
        assert_eq!(scenario.file, path("own.toml").display().to_string());
        fs::write(path("queue.toml"), "limit = 5\n").unwrap();
        assert_eq!(config::<Settings>(&path("queue.toml")).unwrap().limit, control::Limit::Packets(5));
        fs::write(path("queue.toml"), "limt = 5\n").unwrap();
        let said = config::<Settings>(&path("queue.toml")).unwrap_err().to_string();
        assert!(said.contains("queue.toml:1:1: unknown key `limt`"), "{said}");
    }
}
