//! The lab: runs experiments, keeps their results, and reads recordings. Begin with [`files::load`].
//!
//! This crate has what the crate `experiment` must not have: files, threads and clocks. It has no model of a network.

pub mod capture;
pub mod charts;
mod error;
pub mod files;
pub mod forecast;
pub mod home;
pub mod interface;
pub mod live;
pub mod recorded;
pub mod recording;
pub mod run;
pub mod site;
pub mod store;
pub mod sweep;

pub use error::Error;
