//! Checks docs/add-a-controller.md: its example is the file beside this one, compiled and tested here. A test in crate
//! `cli` checks, on a copy of the workspace, that the file and its entry suffice.

#[expect(unreachable_pub, reason = "public where it belongs, in the crate's source")]
mod fixed_drain;

use control::Name;
use std::fs;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = include_str!("fixed_drain.rs");
const PAGE: &str = include_str!("../../../../docs/add-a-controller.md");

#[test]
fn the_page_shows_the_file_that_is_compiled() {
    let shown = PAGE.split("```rust\n").filter_map(|block| block.split_once("```")).map(|(block, _)| block);
    assert!(
        shown.into_iter().any(|block| block.contains("fn update") && EXAMPLE.contains(block)),
        "docs/add-a-controller.md and fixed_drain.rs differ"
    );
}

/// Every controller has a page named after it, or a heading with its name in backquotes.
#[test]
#[expect(clippy::disallowed_methods, reason = "it looks for files")]
fn every_controller_has_a_page() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folders = [docs.join("controllers"), docs.join("disciplines"), docs];
    let pages = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let pages: Vec<_> = pages.filter(|page| page.extension().is_some_and(|end| end == "md")).collect();
    for name in Name::ALL {
        let named = |page: &PathBuf| page.file_stem().is_some_and(|stem| stem == name.as_str());
        let heading = format!("`{name}`");
        let headed = |page: &PathBuf| {
            let text = fs::read_to_string(page).unwrap();
            text.lines().any(|line| line.starts_with('#') && line.contains(&heading))
        };
        assert!(pages.iter().any(|page| named(page) || headed(page)), "docs has no page on {name}");
    }
}
