//! Controllers: the policies that turn what a queue measured in an interval into a limit.
//!
//! A controller is a value: it reads no clock, does no I/O, allocates nothing and panics on no input. It never sees a
//! packet. The simulator and the live agent build it from the same parameters through the same constructor.
#![no_std]

mod interval;

pub use interval::{Count, Interval, Limit, Stat};

use units::Duration;

/// A policy that moves the limit of a queue.
pub trait LimitController {
    /// How often the host calls [`update`](Self::update). Constant over the controller's life and never zero.
    fn interval(&self) -> Duration;

    /// The limit for the next interval, from what the queue measured since the last call.
    /// The host applies it at once; the queue discards what no longer fits.
    fn update(&mut self, seen: &Interval) -> Limit;
}
