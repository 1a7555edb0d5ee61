//! The congestion window: slow start, and one law per file for congestion avoidance.

mod bqm;
mod cubic;
mod prague;
mod reno;
mod window;

pub(crate) use prague::Heard;
pub(crate) use window::{Growth, Window};
