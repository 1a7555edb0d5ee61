//! Sources: when the packets of a flow are made. Knows no packet, queue or network.

mod source;

pub(crate) use source::{Segment, Source};
