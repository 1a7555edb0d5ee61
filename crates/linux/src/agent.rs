//! The loop that joins devices to controllers, its configuration, and what it keeps of its powers.

pub mod config;
mod confine;
pub(crate) mod detach;
pub mod govern;
mod governor;
pub mod host;
mod links;
mod needs;
mod notify;
mod pace;
pub mod signals;
mod wakes;
