//! The loop that joins devices to controllers, its configuration, and what it keeps of its powers.

pub mod config;
pub(crate) mod confine;
pub mod govern;
mod governor;
pub(crate) mod links;
mod notify;
mod pace;
pub mod signals;
mod wakes;
