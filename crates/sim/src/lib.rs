#![doc = include_str!("../front.md")]
#![cfg_attr(not(test), warn(clippy::exit, clippy::print_stdout, clippy::print_stderr))]

pub mod config;
mod egress;
pub mod engine;
mod mac;
pub mod motion;
mod net;
pub mod radio;
mod record;
pub mod results;
pub mod trace;
mod traffic;
mod transport;
mod world;

pub use world::{
    Arrival, Asked, BuildError, Datagram, Governed, Outside, Place, Plan, Series, Status, Unknown, Way, World, sound,
};
