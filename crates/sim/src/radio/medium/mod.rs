//! The medium: which powers add up at which node, and which frames survive there.
//!
//! A frame reaches its listeners one after another, nearest first, as a *front* (it begins there) and a *tail* (it ends
//! there). A node decodes the first frame that begins strong enough above everything else while the node neither sends
//! nor decodes (or another by another convention: `medium/capture.rs`). The error model decides the fate of that frame;
//! without one it is lost, or the MPDUs are that are in the air then, where the sum of all others comes within the
//! capture threshold of it.

mod air;
mod bands;
mod capture;
mod in_band;
mod margin;
mod parts;
mod receiver;
mod receivers;
mod reuse;
mod signal;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod verdicts;

pub(crate) use air::Medium;
pub(crate) use reuse::Reuse;
pub(crate) use signal::{Heard, Signal};
