//! The contract between a scheme, which decides, and its host, which measures and executes orders.

use crate::{Invalid, Limit, Needs, Orders, Seen, Warning};
use units::{Duration, Rate};

/// A policy for one port: a queue, or one class of a node's traffic.
pub trait Controller {
    /// Returns what the host must measure and execute, and how often it must call. The answer never changes.
    fn needs(&self) -> Needs;

    /// Returns the orders in force until the first [`update`](Self::update).
    fn begin(&self) -> Orders;

    /// Returns the orders in force after an interval, given the measurements of that interval. The host executes them
    /// at once; the queue discards packets that no longer fit. Equal sequences of `seen` give equal orders.
    fn update(&mut self, seen: &Seen) -> Orders;

    /// Returns the target for the nodal delay; the host counts the packets that exceed the target.
    fn target_delay(&self) -> Option<Duration> {
        None
    }

    /// Returns a warning about parameters that are allowed but may cause bad behaviour.
    fn warning(&self) -> Option<Warning> {
        None
    }
}

/// Extension of [`Controller`] that the registry needs to handle all schemes alike. Its optional methods serve
/// individual schemes. Hosts call these through [`AnyController`](crate::AnyController).
pub trait Scheme: Controller + Sized {
    /// Parameters: the scheme's table in a scenario.
    type Params: Default;

    /// Key of the target delay in the scheme's table, set by `--target-delay`. `None` if the scheme has no target.
    const TARGET: Option<&'static str> = None;

    /// Builds the scheme from its parameters at a site.
    ///
    /// # Errors
    /// Names the key of the first parameter that cannot be used.
    fn new(params: &Self::Params, site: &Site) -> Result<Self, Invalid>;

    /// If the other keys deprive `key` of `params` of its effect, returns why, and the remedy; otherwise `None`.
    fn idle(params: &Self::Params, key: &str) -> Option<[&'static str; 2]> {
        let _ = (params, key);
        None
    }

    /// Restarts from `limit`, the number of packets that the link serves in 200 ms, after a host has measured the
    /// link's speed. The host may call this after updates. Returns true if the policy had started from a size that only
    /// the queue's bounds justify. Its state is then as if it had started from `limit`.
    fn begin_from(&mut self, limit: Limit) -> bool {
        let _ = limit;
        false
    }

    /// Returns the rate of real-time traffic that this node can still admit, in network-layer bytes. A passing probe's
    /// bottleneck is lowered to this rate, see [`Gate`](crate::Gate). `None` without admission control.
    fn available(&self) -> Option<Rate> {
        None
    }

    /// Returns the average rate of real-time traffic that the scheme has measured in range, in network-layer bytes. It
    /// is only displayed; no order depends on it. `None` if the scheme keeps no such average.
    fn real_time_rate(&self) -> Option<Rate> {
        None
    }
}

/// What a controller is told when it is built: the hard limit of its queue, and a seed.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Hard limit of the queue, never exceeded.
    pub hard_limit: Limit,
    /// Seed for schemes that draw random numbers.
    pub seed: u64,
}

/// A site with this hard limit and seed 0.
impl From<Limit> for Site {
    fn from(hard_limit: Limit) -> Self {
        Self { hard_limit, seed: 0 }
    }
}
