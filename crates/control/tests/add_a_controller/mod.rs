//! Holds docs/add-a-controller.md to its word: its example is the file beside this one, compiled and tested here. That the file
//! and its entry are all that it takes is tested in crate `cli`, on a copy of the workspace.

#[expect(unreachable_pub, reason = "public where it belongs, in the crate's source")]
mod fixed_drain;

use control::Name;
use std::path::Path;

const EXAMPLE: &str = include_str!("fixed_drain.rs");
const PAGE: &str = include_str!("../../../../docs/add-a-controller.md");

#[test]
fn the_page_shows_the_file_that_is_compiled() {
    let shown = PAGE.split("```rust\n").filter_map(|block| block.split_once("```")).map(|(block, _)| block);
    assert!(shown.into_iter().any(|block| block == EXAMPLE), "docs/add-a-controller.md and fixed_drain.rs differ");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it looks for files")]
fn every_controller_has_a_page() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/controllers");
    for name in Name::ALL {
        let page = pages.join(format!("{name}.md"));
        assert!(page.is_file(), "docs/controllers/{name}.md is missing");
    }
}
