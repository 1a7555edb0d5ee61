//! The queueing disciplines, and the list that makes them known.

pub mod biased;
pub mod codel;
mod codel_queue;
mod early;
mod fifo;
pub mod fq_codel;
pub mod oldest_first;
pub mod pie;
pub mod red;

pub use fifo::End;
pub(crate) use fifo::Fifo;

use crate::discipline::Discipline;
use crate::registry;

registry::disciplines! {
    /// Biased queue management (BQM): at the limit the packet makes way that its sender would miss least.
    biased, "biased": Biased = biased::Biased<P>,
    /// CoDel (RFC 8289): drops packets that leave while all wait too long.
    codel, "codel": Codel = codel_queue::CodelQueue<P>,
    /// FQ-CoDel (RFC 8290): flows take turns, each with a CoDel of its own. At the limit the longest flow makes way.
    fq_codel, "fq-codel" or "fq_codel": FqCodel = fq_codel::FqCodel<P>,
    /// Oldest first: packets leave in the order in which they entered the network; at the limit the youngest goes.
    oldest_first, "oldest-first": OldestFirst = oldest_first::OldestFirst<P>,
    /// PIE (RFC 8033): drops packets that come, with a probability that keeps the wait at a reference.
    pie, "pie": Pie = early::EarlyDrop<P, pie::Pie>,
    /// Adaptive RED (Floyd, Gummadi, Shenker 2001): drops packets that come, the more the more wait on average.
    red, "red": Red = early::EarlyDrop<P, red::Red>,
}
