//! The running network: joins sources, queues, controllers, stations and the air, and dispatches events.
//!
//! A packet goes down by `flows`, `routing`, `queues` and `frames`, and up again by the same. Each further feature is one
//! file: `admission`, `energy`, `notes`, `outside`, `power_save`, `steering`, `tmac`, `wired`. `build` makes the `state` of a network from its
//! description, `run` handles its events, and `outcome` reads off the results.

mod admission;
mod build;
mod control;
mod energy;
mod error;
mod flows;
mod frames;
mod gauge;
mod nodes;
mod notes;
mod outcome;
mod outside;
mod plan;
mod power_save;
mod queues;
mod radio;
mod routing;
mod run;
mod state;
mod statistics;
mod steering;
mod tmac;
mod watch;
mod wired;

pub use error::{BuildError, Unknown};
pub use outside::{Arrival, Datagram, Way};
pub use plan::Plan;
pub use state::World;
pub use steering::{Asked, Governed, Place};
