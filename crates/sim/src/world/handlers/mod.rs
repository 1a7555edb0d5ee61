//! What happens at each event.

mod aggregate;
mod air;
mod handover;
pub(crate) mod routing;
pub(crate) mod transport;
pub(crate) mod wired;
