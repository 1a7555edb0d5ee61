//! Clock, events, random streams and the packet arena. Knows no radio, no MAC and no packet's meaning.

mod arena;
mod events;
mod numbered;
mod random;

pub(crate) use arena::{Arena, Handle};
pub use events::{EventKey, EventQueue};
pub(crate) use numbered::{FlowId, List, NodeId, Number, PortId, Slot, WireId};
pub(crate) use random::{Purpose, Stream};
