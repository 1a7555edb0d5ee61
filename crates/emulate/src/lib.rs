//! Real packets over a simulated network.
//!
//! A [`Medium`] is a scenario's network into which a program pushes datagrams, or whole IP packets, at its real nodes
//! and from which it pulls them at others: in virtual time, deterministic by seed, without root, threads or a clock.
//! All other nodes and flows of the scenario stay simulated. On Linux the module `live` gives each real node a network
//! namespace with a TUN device, and paces the same medium by the clock. This crate holds no model of a network: `lab`
//! reads the scenarios, and `sim` simulates them.
#![deny(clippy::print_stdout, clippy::print_stderr, reason = "hosts print")]

pub mod ip;
#[cfg(target_os = "linux")]
pub mod live;
mod medium;
mod refused;

/// This crate's page in the documentation, whose example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/emulation.md")]
struct Page;

pub use medium::{Delivery, Medium, has_radios};
pub use refused::{NotLoaded, NotSent};
