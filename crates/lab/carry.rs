// For the build scripts of crates that carry files of the repository.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Writes a list of all files below a folder of the repository, with their contents.
fn carry(name: &str, list: &str) -> io::Result<()> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let mut files = Vec::new();
    // A source package may come without these folders.
    let mut folders = if home.is_dir() { vec![home.clone()] } else { Vec::new() };
    while let Some(folder) = folders.pop() {
        println!("cargo:rerun-if-changed={}", folder.display());
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let entry = |path: &PathBuf| {
        println!("cargo:rerun-if-changed={}", path.display());
        let name = path.strip_prefix(&home).expect("it was found there");
        format!("({:?}, include_bytes!({:?})),\n", name.display().to_string(), path.display().to_string())
    };
    let entries: String = files.iter().map(entry).collect();
    let out = env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts");
    fs::write(Path::new(&out).join(list), format!("&[\n{entries}]\n"))
}
