//! The congestion window: slow start, and one law a file for what comes after it.

mod bqm;
mod cubic;
mod growth;
mod reno;
mod window;

pub(crate) use growth::Growth;
pub(crate) use window::Window;
