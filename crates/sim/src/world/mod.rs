//! A network that runs: it joins sources, queues, controllers, stations and the air, and hands events round.
//!
//! Each uses only those before it: `state` is what a network is at a moment, `trace` tells of it, `handlers` are what happens
//! at an event, `build` makes a network from its description, `outcome` reads the results off, and `run` has them happen.

mod build;
mod error;
mod handlers;
mod outcome;
mod run;
mod state;
mod trace;

pub use error::{BuildError, Unknown};
pub use state::{Asked, Governed, World};
