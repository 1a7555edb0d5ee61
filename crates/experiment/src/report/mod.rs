//! The report of studies: one HTML file that works offline, in light and dark, on a phone and on paper.
//!
//! `page` writes the document, `verdicts` its claims, `figure` its charts. `lines` turns the charts of a scenario into
//! `picture`s. The page's script (`page.js`) draws these with a library that the caller gives; `still` draws them
//! without a script. All text from scenarios is escaped.

mod distribution;
mod figure;
mod lines;
mod page;
mod picture;
mod site;
mod spread;
mod still;
mod text;
pub mod timeline;
mod trial;
mod verdicts;
mod words;

pub use page::{Redrawn, chart, charts, html};
pub use trial::Simulator;

#[cfg(test)]
mod keys;
#[cfg(test)]
pub(crate) mod tests;
