//! Copies into this crate the files that it embeds: for `charts` the charting library that `make charts` wrote, or an
//! empty file; for `home` the scenarios of the repository, so that ids work from any folder.

include!("carry.rs");

fn main() -> io::Result<()> {
    // Not CARGO_TARGET_DIR: `make charts` knows only the workspace.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/charts");
    // A watched path that does not exist makes Cargo build this crate every time; a folder does not.
    let watched = match fs::create_dir_all(&folder) {
        Ok(()) => folder.clone(),
        Err(_) => folder.join("vega.js"),
    };
    println!("cargo:rerun-if-changed={}", watched.display());
    println!("cargo:rerun-if-changed=build.rs");

    let library = match fs::read(folder.join("vega.js")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let out = env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts");
    fs::write(Path::new(&out).join("charts.js"), library)?;
    carry("scenarios", "carried.rs")
}
