//! Queueing disciplines: they hold packets, enforce a limit, choose which packet to drop, and measure. Also the shaper
//! that limits a queue to a rate.
//!
//! The crate is generic over the packet; the caller gives the time. There is no clock and no I/O. Memory grows with the
//! largest backlog until now, not with each packet. A queue computes no limit; a controller does. Begin with [`Queue`].
#![cfg_attr(not(test), warn(clippy::exit, clippy::print_stdout, clippy::print_stderr))]

mod account;
mod batch;
mod discipline;
mod disciplines;
mod flows;
mod level;
mod measure;
pub mod own;
mod packet;
mod pool;
mod queue;
mod registry;
mod settings;
mod shaper;

pub use account::MOST_PACKETS;
pub use batch::Batch;
pub use discipline::{LOOK_AHEAD, Purge};
pub use disciplines::*;
pub use level::{Level, Meter};
pub use measure::{Completion, Totals};
pub use packet::{Ecn, Packet};
pub use queue::{Departure, FifoParams, Queue};
pub use settings::{LONGEST_PACKET, Settings, register};
pub use shaper::Shaper;
