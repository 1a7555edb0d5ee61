//! Running nodes.

pub(crate) mod access;
pub(crate) mod build;
pub(crate) mod channels;
pub(crate) mod generations;
pub(crate) mod infrastructure;
mod keys;
pub(crate) mod motion;
mod node;
pub(crate) mod roaming;
pub(crate) mod sites;

pub(crate) use node::{Node, port_name, port_names};
