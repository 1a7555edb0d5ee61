//! The folders of the simulator are layers (floors). Each uses only those below it, so that there is no cycle.
#![expect(clippy::disallowed_methods, reason = "it reads the sources")]

use std::fs;
use std::path::{Path, PathBuf};

/// The layers, the lowest first.
const FLOORS: [&str; 13] = [
    "engine", "config", "results", "transport", "traffic", "motion", "radio", "mac", "net", "trace", "record",
    "egress", "world",
];

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of sources").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the layer of that name.
fn floor(name: &str) -> usize {
    FLOORS.iter().position(|&floor| floor == name).unwrap_or_else(|| panic!("`{name}` has no place in the house"))
}

#[test]
fn each_floor_uses_only_those_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = [false; FLOORS.len()];
    for path in files(&root) {
        let inside = path.strip_prefix(&root).expect("a file below the root").with_extension("");
        let first = inside.iter().next().and_then(|part| part.to_str()).expect("a name in ASCII");
        if first == "lib" {
            continue;
        }
        let own = floor(first);
        seen[own] = true;
        let text = fs::read_to_string(&path).expect("a source file");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for used in code.flat_map(|line| line.split("crate::").skip(1)) {
            let name = used.split(|letter: char| !letter.is_alphanumeric()).next().expect("a part");
            assert!(floor(name) <= own, "{} uses `{name}`, which lies above it", path.display());
        }
    }
    assert_eq!(seen, [true; FLOORS.len()], "every floor has files");
}
