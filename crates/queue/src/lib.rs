//! Disciplines: the mechanisms that hold packets, enforce a limit, choose what to drop, and measure.
//!
//! Generic over the packet; time is given by the caller; no clock, no I/O, no allocation after construction. A queue
//! never computes a limit: that is a controller's work.

mod fifo;
mod level;
mod measure;
mod settings;

pub use fifo::{Departure, End, Fifo, FifoParams, MOST_PACKETS};
pub use level::Level;
pub use measure::Totals;
pub use settings::{Discipline, Settings};

use units::Bytes;

/// What a queue needs to know of a packet. The packet itself may be a handle.
#[expect(clippy::len_without_is_empty, reason = "a packet is not a collection")]
pub trait Packet: Copy {
    /// Its size: network-layer bytes, IP header and above.
    fn len(&self) -> Bytes;
}
