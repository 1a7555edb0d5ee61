//! Transport protocols as pure machines: segments in, segments out, and the next deadline. No world, clock or payload.

pub(crate) mod tcp;
