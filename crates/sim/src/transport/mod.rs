//! Transport protocols as pure state machines: segments in, segments out, and the next deadline. No world, clock or
//! payload.

pub(crate) mod tcp;
