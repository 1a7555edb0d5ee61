//! The library with which reports draw charts.

use thiserror::Error;

/// The library; empty if this crate was built before `make charts`.
const LIBRARY: &str = include_str!(concat!(env!("OUT_DIR"), "/charts.js"));

/// This program was built without the library for charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this build has no charting library, which the report needs: run `make charts`, then build again")]
pub struct NoLibrary;

/// Returns the library, as JavaScript that a report embeds.
///
/// # Errors
/// This crate was built without the library.
pub fn library() -> Result<&'static str, NoLibrary> {
    if LIBRARY.is_empty() { Err(NoLibrary) } else { Ok(LIBRARY) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_can_stand_in_a_page_or_the_error_says_what_to_run() {
        match library() {
            Ok(library) => assert!(library.contains("vegaEmbed") && !library.contains("</script")),
            Err(error) => assert!(error.to_string().contains("make charts")),
        }
    }
}
