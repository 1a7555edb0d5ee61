//! What a running network is.

pub(crate) mod connections;
pub(crate) mod names;
