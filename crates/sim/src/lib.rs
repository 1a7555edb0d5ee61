//! The simulated wireless network: engine, radio, MAC, network, traffic and the world that joins them.
//!
//! The folders are floors, each of which uses only those below: `engine` (clock, events, random streams, packets) lies
//! under all and uses none, `motion` (positions of nodes) lies below `radio`. A packet goes from `traffic` through
//! `net`, `egress` (the queues) and `mac` to `radio` and up again; `record` takes measurements; `world` builds a
//! network from its description, runs it and returns the results. Sweeps, reports and files belong to the crates
//! `experiment` and `lab` above. This crate reads no wall clock: the same network and seed give the same results
//! everywhere.
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
