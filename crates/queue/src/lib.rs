//! Disciplines: the mechanisms that hold packets, enforce a limit, choose what to drop, and measure.
//!
//! Generic over the packet; time is given by the caller; no clock, no I/O, no allocation after construction. A queue
//! never computes a limit: that is a controller's work.

mod account;
mod fifo;
mod level;
mod measure;
mod packet;
mod queue;
mod settings;

pub use fifo::End;
pub use level::Level;
pub use measure::Totals;
pub use packet::{Ecn, Packet};
pub use queue::{Departure, FifoParams, MOST_PACKETS, Queue};
pub use settings::{Discipline, Purge, Settings};
