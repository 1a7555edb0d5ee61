//! Emissions of traffic sources.

use units::{Bytes, Instant};

/// A packet that a source makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Emission {
    pub(crate) at: Instant,
    pub(crate) payload: Bytes,
}
