//! The congestion window: slow start, and one law a file for what comes after it.

mod bqm;
mod cubic;
mod reno;
mod window;

pub(crate) use window::{Growth, Window};
