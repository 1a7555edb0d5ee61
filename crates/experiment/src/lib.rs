//! Experiments as data: a scenario is read from its text and checked, its runs are listed, verdicts are given on its
//! claims, and results are shown as tables and reports.
//!
//! This crate uses no files, threads or clocks, so that it also runs in a browser: the caller provides a scenario's
//! [files](scenario::Files) and runs the [jobs]. The crate holds no model of a network, queue or controller.

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
