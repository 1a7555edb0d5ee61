//! The running network: joins sources, queues, controllers, stations and the air, and dispatches events.
//!
//! `build` makes the `state` of a network from its description, `run` handles its events, and `outcome` reads the
//! results. A packet goes down through `sources`, `forwarding`, `queues` and `frames`, and up through `frames` and
//! `delivery`. Like `wires`, `steering` and `statistics`, these modules pass events between the parts of a network. The
//! parts do not refer to the network: `flows`, `nodes`, `routing` and `wired`, and for individual features `energy`,
//! `notes` and `power_save`.

mod accounts;
mod basis;
mod build;
mod delivery;
mod energy;
mod error;
mod event;
mod flows;
mod forwarding;
mod frames;
mod gauge;
mod nodes;
mod notes;
mod outcome;
mod outside;
mod places;
mod plan;
mod power_save;
mod queues;
mod radio;
mod real;
mod roaming;
mod routing;
mod run;
mod scene;
mod sources;
mod state;
mod statistics;
mod steering;
mod tmac;
mod watch;
mod wired;
mod wires;
mod witness;

pub use error::{BuildError, Unknown};
pub use outside::Outside;
pub use places::{Asked, Governed, Place};
pub use plan::Plan;
pub use real::{Arrival, Datagram, Series, Status, Way};
pub use state::World;
pub use steering::sound;
