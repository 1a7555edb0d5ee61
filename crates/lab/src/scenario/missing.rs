//! Refusals of a file that does not exist: the part of its path that exists, and the names there.

use super::hints::nearest;
use std::fs;
use std::path::{Path, PathBuf};

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
    // The file has appeared since, or is a link that leads nowhere.
    format!("{}: there is no such file or folder", path.display())
}

/// Formats "; did you mean `x`?"; empty if no name is near.
fn instead(folder: &Path, name: &str) -> String {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(here).into_iter().flatten().flatten();
    // A link that leads nowhere is in the folder, but is of no help.
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    nearest(name, names.iter().map(String::as_str))
        .map_or_else(String::new, |other| format!("; did you mean `{}`?", folder.join(other).display()))
}
