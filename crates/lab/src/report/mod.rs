//! The report of studies: one HTML file that works offline, in light and dark, on a phone and on paper.
//!
//! `page` writes the document, `verdicts` its claims, `figure` its charts. `lines` turns the charts of a scenario into
//! `picture`s, which the page's script (`page.js`) draws with the library that `build.rs` embeds. All text from scenarios
//! is escaped.

mod distribution;
mod figure;
mod lines;
mod page;
mod picture;
mod text;
pub mod timeline;
mod trial;
mod verdicts;
mod words;

#[cfg(test)]
use crate::study;
use crate::study::Study;

pub(crate) use lines::CDF;
pub use page::{Redrawn, charts};
pub use trial::Simulator;

/// The charting library; empty when this crate was built before `make charts`.
const LIBRARY: &str = include_str!(concat!(env!("OUT_DIR"), "/charts.js"));

/// The reason why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// This binary was built without the charting library.
    #[error("this build has no charting library, which the report needs: run `make charts`, then build again")]
    NoLibrary,
}

/// Writes the report of `studies`, in their order, as one HTML file.
///
/// # Errors
///
/// [`ReportError::NoLibrary`] when the charting library was not there when this crate was built.
pub fn html(studies: &[Study]) -> Result<String, ReportError> {
    with_library(studies, LIBRARY, None)
}

/// Like [`html`], with the simulator in it: a reader changes keys of an experiment and sees its charts drawn anew.
///
/// # Errors
///
/// [`ReportError::NoLibrary`] when the charting library was not there when this crate was built.
pub fn interactive(studies: &[Study], simulator: &Simulator) -> Result<String, ReportError> {
    with_library(studies, LIBRARY, Some(simulator))
}

fn with_library(studies: &[Study], library: &str, simulator: Option<&Simulator>) -> Result<String, ReportError> {
    if library.is_empty() {
        return Err(ReportError::NoLibrary);
    }
    Ok(page::document(studies, library, simulator))
}

/// Writes a Vega-Lite chart as one HTML file that fetches nothing. `spec` is the chart's JSON.
///
/// # Errors
///
/// [`ReportError::NoLibrary`] when the charting library was not there when this crate was built.
pub fn chart(title: &str, spec: &str) -> Result<String, ReportError> {
    if LIBRARY.is_empty() {
        return Err(ReportError::NoLibrary);
    }
    Ok(page::of_chart(title, spec, LIBRARY))
}

#[cfg(test)]
mod keys;
#[cfg(test)]
#[path = "../../examples/sample-report/sample.rs"]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
