//! Experiments: scenarios become runs, runs become results, results become claims and reports.
//!
//! Here live files, sweeps, statistics over seeds and the report. No model of a network, queue or controller ever does.

pub mod report;
pub mod study;
