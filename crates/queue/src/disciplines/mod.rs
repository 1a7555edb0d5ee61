//! The queueing disciplines and their list.

pub mod biased;
pub mod codel;
mod codel_queue;
pub mod dualpi2;
mod early;
mod fifo;
mod flow_queues;
pub mod fq_cobalt;
pub mod fq_codel;
pub mod oldest_first;
pub mod pie;
pub mod red;
pub mod turns;

pub use fifo::End;
pub(crate) use fifo::Fifo;

use crate::account::Waiting;
use crate::discipline::{Context, Discipline, Purge, Setup};
use crate::{Packet, own, registry};
use control::Invalid;

registry::disciplines! {
    /// Biased queue management (BQM): at the limit drops the packet of lowest discard priority.
    biased, "biased": Biased = biased::Biased<P>,
    /// CoDel (RFC 8289): drops departing packets while all wait too long.
    codel, "codel": Codel = codel_queue::CodelQueue<P>,
    /// `DualPI2` (RFC 9332): a short queue for L4S.
    dualpi2, "dualpi2": DualPi2 = dualpi2::DualPi2<P>,
    /// FQ-COBALT, as in CAKE.
    fq_cobalt, "fq-cobalt": FqCobalt = fq_cobalt::FqCobalt<P>,
    /// FQ-CoDel (RFC 8290): round robin of flows with CoDel; at the limit drops from the longest.
    fq_codel, "fq-codel" or "fq_codel": FqCodel = fq_codel::FqCodel<P>,
    /// Oldest first: serves by time of entry into the network; at the limit drops the youngest.
    oldest_first, "oldest-first": OldestFirst = oldest_first::OldestFirst<P>,
    /// PIE (RFC 8033): drops arriving packets with a probability that keeps the wait at a reference.
    pie, "pie": Pie = early::EarlyDrop<P, pie::Pie>,
    /// Adaptive RED (Floyd and others 2001): drops arriving packets with a probability that grows with the mean queue.
    red, "red": Red = early::EarlyDrop<P, red::Red>,
    /// `turns`, with all packets as one station's.
    turns, "turns": Turns = turns::Turns<P>,
}
