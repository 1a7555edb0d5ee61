//! Tests that the header matches the source.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_made_of_the_source() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(home.join("cbindgen.toml")).unwrap();
    let sources = ["src/lib.rs"].map(|file| home.join(file));
    let made = sources.into_iter().fold(cbindgen::Builder::new().with_config(config), cbindgen::Builder::with_src);
    let mut text = Vec::new();
    made.generate().unwrap().write(&mut text);
    let text = String::from_utf8(text).unwrap();
    let kept = fs::read_to_string(home.join("include/sluice.h")).unwrap_or_default();
    let wanted = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sluice.h");
    fs::write(&wanted, &text).unwrap();
    assert_eq!(kept, text, "include/sluice.h differs from what src/lib.rs gives: copy {}", wanted.display());
}
