//! What is said of a file that is not there: how far its path leads, and what is there instead.

use super::hints::nearest;
use std::fs;
use std::path::{Path, PathBuf};

/// "a/b.toml: there is no such file or folder; did you mean `a/c.toml`?"
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
    // It has come since, or is a link that leads nowhere.
    format!("{}: there is no such file or folder", path.display())
}

/// "; did you mean `x`?", or nothing.
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
