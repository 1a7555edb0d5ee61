//! The simulated wireless network: engine, radio, MAC, network, traffic and the world that joins them.
//!
//! The folders are layers, each of which uses only those below. `engine` (clock, events, random streams, packets) is
//! the lowest; `motion` (positions of nodes) is below `radio`. A packet goes from `traffic` through `net`, `egress`
//! (the queues) and `mac` to `radio`, and up again. `record` takes measurements. `world` builds a network from its
//! description, runs it and returns the results. The crates `experiment` and `lab` above make sweeps, reports and
//! files. This crate reads no wall clock: the same network and seed give the same results everywhere.
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
