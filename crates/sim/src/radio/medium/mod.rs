//! The medium: decides for each node which powers add up and which frames survive.
//!
//! A frame reaches its listeners one after another, the nearest first: as a *front* when it begins there, and as a
//! *tail* when it ends there. A node that neither sends nor decodes decodes the first frame whose beginning is strong
//! enough above all other signals. (`medium/capture.rs` has other rules.) The error model decides what becomes of that
//! frame. Without an error model, the frame, or its MPDUs in the air, is lost if the sum of all other signals comes
//! within the capture threshold.

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
