//! Experiments: scenarios become runs, runs become results, results become claims and reports.
//!
//! Here live files, sweeps, statistics over seeds and the report. No model of a network, queue or controller ever does.

pub mod answer;
pub mod capture;
pub mod claims;
mod csv;
pub mod evidence;
mod grid;
mod label;
pub mod live;
mod measure;
mod model;
pub mod printable;
mod quantity;
pub mod recorded;
pub mod recording;
pub mod report;
pub mod run;
pub mod scenario;
pub mod shell;
pub mod statistics;
pub mod store;
pub mod study;
pub mod sweep;
pub mod tables;
mod title;
