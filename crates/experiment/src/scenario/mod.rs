//! Scenario files: each is turned into cases to run, or refused with its place in the text and the nearest right name.

mod attachments;
mod base;
mod baseline;
mod cases;
mod ceilings;
mod change;
mod check;
mod conditions;
mod conventions;
mod digest;
mod document;
mod draft;
mod file;
mod hints;
mod idle;
mod keys;
mod load;
mod refusal;
mod remarks;
pub mod schema;
mod source;
#[cfg(test)]
mod tests;
mod variants;
mod vary;

pub use base::{Outline, outline};
pub use cases::{Baseline, Case, Over, Scenario, Varied, Wishes};
pub use digest::{Hashes, fingerprint};
#[cfg(test)]
pub(crate) use file::Beside;
pub use file::{Files, opened, parse, parse_parts};
pub use hints::{nearest, or_meant, or_one_of, told};
pub use refusal::Refusal;
