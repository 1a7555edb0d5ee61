//! Experiments: scenarios become runs, runs become results, results become claims and reports.
//!
//! This crate holds files, sweeps, statistics over seeds and the report. It holds no model of a network, queue or
//! controller.

pub mod answer;
pub mod capture;
pub mod charts;
pub mod claims;
mod csv;
pub mod evidence;
pub mod files;
mod grid;
pub mod home;
pub mod interface;
pub mod jobs;
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
pub mod watch;
