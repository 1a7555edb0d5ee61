//! Transport protocols as pure state machines: segments in, segments out, and the next deadline. The state machines
//! know no world, clock or payload.

pub(crate) mod tcp;
