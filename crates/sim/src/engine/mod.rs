//! Clock, events, random streams and the arena of packets. This module knows no radio, no MAC and no packet's meaning.

mod arena;
mod bitmap;
mod events;
mod numbered;
mod random;

pub(crate) use arena::{Arena, Beside, Handle};
pub use bitmap::Bitmap;
pub use events::{EventKey, EventQueue};
pub(crate) use numbered::{FlowId, List, NodeId, Number, PortId, Slot, WireId};
pub(crate) use random::{Purpose, Stream};
