//! Experiments as data. A scenario is read from its text and checked, and its runs are listed. Verdicts are given on
//! its claims, and results become tables and reports. Begin with [`Scenario::read`](scenario::Scenario::read).
//!
//! This crate uses no files, threads or clocks, so it also runs in a browser: the caller provides a scenario's
//! [files](scenario::Files) and executes the [jobs]. The crate has no model of networks, queues or controllers.

mod answer;
pub mod claims;
pub mod csv;
mod grid;
pub mod homes;
pub mod jobs;
mod label;
pub mod measure;
mod model;
pub mod printable;
pub mod quantity;
pub mod report;
pub mod scenario;
pub mod shell;
pub mod statistics;
pub mod study;
pub mod tables;
mod title;
pub mod watch;
