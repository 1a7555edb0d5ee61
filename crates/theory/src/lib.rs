//! Closed forms and solvers with which the simulator is compared: the saturated 802.11 cell ([`dcf`]), also with
//! aggregates ([`ampdu`]) and with access categories ([`edca`]); the cell of different and unsaturated stations
//! ([`malone`]); two hidden senders ([`hidden`]); the classical single-server queues ([`queueing`]); the buffer that
//! ALT sizes under TCP ([`alt`]); one buffer split over the queues of a collision domain ([`dnb`]); SWAN's real-time
//! and best-effort devices ([`swan`]); losses that a receiver takes for congestion ([`bqm`]); a collision domain whose
//! nodes send in order of the packets' age ([`tmac`]); a node that saves energy by a threshold of its queue
//! ([`energy`]); and users' ratings of a telephone call ([`emodel`]).
//!
//! A reader can compare these models with their sources, equation by equation. No module here simulates, draws random
//! numbers or reads a scenario, so that simulator and models can disagree. Arithmetic goes through `libm`, so that a
//! predicted value is the same on every machine. Begin with [`dcf::Cell`] and its example.
#![cfg_attr(not(test), warn(clippy::exit, clippy::print_stdout, clippy::print_stderr))]

pub mod alt;
pub mod ampdu;
pub mod bqm;
pub mod dcf;
pub mod dnb;
pub mod edca;
pub mod emodel;
pub mod energy;
mod error;
mod fixed_point;
pub mod hidden;
pub mod malone;
pub mod queueing;
mod slot;
pub mod swan;
pub mod tmac;

pub use error::Error;
