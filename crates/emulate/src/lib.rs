//! Real packets over a simulated network.
//!
//! A [`Medium`] is a scenario's network. A program pushes datagrams or whole IP packets into it at real nodes, and
//! pulls them out at other real nodes. Time is virtual and the seed determines all results; no root, threads or clock
//! are needed. Nodes that are not real, and the scenario's flows, are simulated. On Linux, the module `live` gives each
//! real node a network namespace with a TUN device, and paces the same medium with the clock. This crate has no model
//! of a network: `lab` reads the scenarios, and `sim` simulates them. Begin with [`Medium::open`].
#![deny(clippy::print_stdout, clippy::print_stderr, reason = "hosts print")]

pub mod ip;
#[cfg(target_os = "linux")]
pub mod live;
mod medium;
mod refused;

/// The page of this crate in the documentation. Its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/emulation.md")]
struct Page;

pub use medium::{Delivery, Medium, has_radios};
pub use refused::{NotLoaded, NotSent};
