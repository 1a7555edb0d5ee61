//! Controllers: the policies that turn what a queue measured in an interval into a limit.
//!
//! A controller is a value: it reads no clock, does no I/O, allocates nothing and panics on no input. It never sees a
//! packet. The simulator and the live agent build it from the same parameters through the same constructor,
//! [`Controller::new`].
//!
//! To add a controller `foo`, write `foo.rs` with `foo::Params` (serde, `Default`) and a `foo::Foo` that has
//! `new(&Params, Limit) -> Result<Foo, Invalid>` and is a [`LimitController`]; then name it below, as a module and in the registry.
#![no_std]

pub mod adth;
pub mod alt;
pub mod astar;
pub mod ebdp;
mod interval;
mod invalid;
mod limit;
pub mod none;
mod registry;

pub use interval::{Count, Decision, Interval, Measures, Stat};
pub use invalid::{Invalid, Warning, above_zero};
pub use limit::Limit;
pub use registry::UnknownName;

use units::Duration;

/// No controller decides more often: no link serves a packet in so short a time that there would be news, and a host that
/// is called at each nanosecond does nothing else.
pub const SHORTEST_INTERVAL: Duration = Duration::from_micros(100);

registry::controllers! {
    /// Adaptive Dynamic Threshold: bounds the time that a packet spends at a node.
    adth: Adth,
    /// eBDP: as many packets as the link serves within a target delay, by the measured service time.
    ebdp: Ebdp,
    /// Adaptive Limit Tuning: grows while the queue is idle and shrinks while it is busy.
    alt: Alt,
    /// A*: the smaller of eBDP's limit and ALT's.
    astar: Astar,
}

/// A policy that moves the limit of a queue.
pub trait LimitController {
    /// How often the host calls [`update`](Self::update). Constant over the controller's life and at least
    /// [`SHORTEST_INTERVAL`]; [`Duration::MAX`] where it need not be called at all.
    fn interval(&self) -> Duration;

    /// The limit for the next interval, from what the queue measured since the last call.
    /// The host applies it at once; the queue discards what no longer fits.
    fn update(&mut self, seen: &Interval) -> Limit;

    /// The nodal delay that the policy promises to keep, for the host to count what exceeds it.
    fn target_delay(&self) -> Option<Duration> {
        None
    }

    /// How the queue shall measure. Constant over the controller's life.
    fn measures(&self) -> Measures {
        Measures::default()
    }

    /// The limit until the first [`update`](Self::update), where it is not the queue's hard limit.
    fn initial(&self) -> Option<Limit> {
        None
    }

    /// A host that learns how fast the link is, after updates at most, says so: the link serves `limit` in the time that a
    /// queue may be worth at most. A policy that began with a size which only the queue's own bounds justify begins anew from
    /// this one, and gives true; its state is then as if it had begun there.
    fn begin_from(&mut self, limit: Limit) -> bool {
        let _ = limit;
        false
    }

    /// What a user should know of parameters that are allowed and may behave badly.
    fn warning(&self) -> Option<Warning> {
        None
    }
}
