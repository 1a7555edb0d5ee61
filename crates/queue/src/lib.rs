//! Disciplines: the mechanisms that hold packets, enforce a limit, choose what to drop, and measure; and the mechanism behind
//! a rate.
//!
//! Generic over the packet; time is given by the caller; no clock, no I/O, no allocation after construction, but that
//! FQ-CoDel takes memory for more than 1024 packets when it is needed first. A queue never computes a limit: that is a
//! controller's work.

mod account;
mod build;
pub mod codel;
mod codel_queue;
mod discipline;
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
mod registry;
mod settings;
mod shaper;

pub use account::MOST_PACKETS;
pub use fifo::End;
pub use level::Level;
pub use measure::Totals;
pub use packet::{Ecn, Packet};
pub use queue::{Departure, FifoParams, LOOK_AHEAD, Queue};
pub use settings::{Purge, Settings};
pub use shaper::Shaper;

use discipline::Discipline;

registry::disciplines! {
    /// CoDel (RFC 8289): drops packets that leave while all wait too long.
    codel, "codel": Codel = codel_queue::CodelQueue<P>,
    /// FQ-CoDel (RFC 8290): flows take turns, each with a CoDel of its own. At the limit the longest flow makes way.
    fq_codel, "fq-codel" or "fq_codel": FqCodel = fq_codel::FqCodel<P>,
    /// PIE (RFC 8033): drops packets that come, with a probability that keeps the wait at a reference.
    pie, "pie": Pie = early::EarlyDrop<P, pie::Pie>,
    /// Adaptive RED (Floyd, Gummadi, Shenker 2001): drops packets that come, the more the more wait on average.
    red, "red": Red = early::EarlyDrop<P, red::Red>,
}
