//! The medium: decides which powers add up at which node, and which frames survive there.
//!
//! A frame reaches its listeners one after another, nearest first, as a *front* (its beginning there) and a *tail* (its
//! end there). A node decodes the first frame that begins strong enough above all other signals while the node neither
//! sends nor decodes (other conventions: `medium/capture.rs`). The error model decides the fate of that frame. Without
//! an error model, the frame or its MPDUs in the air are lost when the sum of all other signals comes within the
//! capture threshold.

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
