//! Scenario files: read, refused with the place and the nearest right name, or turned into cases to run.

mod attachments;
mod base;
mod baseline;
mod ceilings;
mod check;
mod conditions;
mod conventions;
mod digest;
mod document;
mod draft;
mod file;
mod head;
mod hints;
mod load;
pub mod missing;
mod other;
mod reading;
mod ready;
mod source;
#[cfg(test)]
mod tests;
mod vary;

pub use base::{Outline, outline};
pub(crate) use conventions::{Choice as ConventionsKey, markdown as conventions};
pub use digest::Digest;
pub(crate) use head::Head;
pub use hints::nearest;
pub use other::{load, parse};
pub use ready::{Baseline, Case, Over, Scenario, Varied, Wishes};
pub use source::Refusal;
