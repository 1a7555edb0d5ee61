//! Disciplines: the mechanisms that hold packets, enforce a limit, choose what to drop, and measure; and the mechanism behind
//! a rate.
//!
//! Generic over the packet; time is given by the caller; no clock, no I/O, no allocation after construction, but that
//! FQ-CoDel takes memory for more than 1024 packets when it is needed first. A queue never computes a limit: that is a
//! controller's work.

mod account;
pub mod codel;
mod codel_queue;
mod early;
mod fifo;
pub mod fq_codel;
mod level;
mod measure;
mod packet;
pub mod pie;
mod pool;
mod queue;
mod random;
pub mod red;
mod settings;
mod shaper;

pub use fifo::End;
pub use level::Level;
pub use measure::Totals;
pub use packet::{Ecn, Packet};
pub use queue::{Departure, FifoParams, LOOK_AHEAD, MOST_PACKETS, Queue};
pub use settings::{Discipline, Purge, Settings};
pub use shaper::Shaper;
