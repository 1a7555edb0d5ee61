//! The contract between a scheme, which decides, and its host, which measures and executes orders.

use crate::{Invalid, Limit, Needs, Orders, Seen, Warning};
use units::{Duration, Rate};

/// A policy for one port: a queue, or one class of a node's traffic.
pub trait Controller {
    /// Returns the requirements on the host: how often to call, what to measure. Constant over the controller's life.
    fn needs(&self) -> Needs;

    /// Returns the orders in force until the first [`update`](Self::update).
    fn begin(&self) -> Orders;

    /// Returns the orders in force from the end of an interval on, given the measurements of that interval. The host
    /// executes them at once; the queue discards packets that no longer fit. The same sequence of `seen` always gives
    /// the same orders.
    fn update(&mut self, seen: &Seen) -> Orders;

    /// The target for the nodal delay; the host counts the packets that exceed the target.
    fn target_delay(&self) -> Option<Duration> {
        None
    }

    /// Warning about parameters that are allowed but may cause bad behaviour.
    fn warning(&self) -> Option<Warning> {
        None
    }
}

/// Extension of [`Controller`] by the registry's needs, so that no other crate needs to know a scheme's name, and by
/// methods of single schemes. Hosts call these through [`AnyController`](crate::AnyController).
pub trait Scheme: Controller + Sized {
    /// The scheme's parameter table in a scenario.
    type Params: Default;

    /// The key of its target delay within its table, set by `--target-delay`. `None` if the scheme has no target delay.
    const TARGET: Option<&'static str> = None;

    /// Builds the scheme from its parameters at a site.
    ///
    /// # Errors
    /// The first parameter that cannot be used, by its key within the table.
    fn new(params: &Self::Params, site: &Site) -> Result<Self, Invalid>;

    /// Returns why a key of `params` has no effect with the other keys, and the remedy; `None` if it acts.
    fn idle(params: &Self::Params, key: &str) -> Option<[&'static str; 2]> {
        let _ = (params, key);
        None
    }

    /// Restarts from `limit`, the number of packets that the link serves in 200 ms, once a host has measured the link's
    /// speed; the host may call it after updates. Returns true if the policy started from a size that only the queue's
    /// bounds justify and now restarts from `limit`: its state is then as if it had begun there.
    fn begin_from(&mut self, limit: Limit) -> bool {
        let _ = limit;
        false
    }

    /// Returns the rate of real-time traffic that this node can still admit, in network-layer bytes. The bottleneck of
    /// a passing probe is lowered to this rate, see [`Gate`](crate::Gate). `None` without admission control.
    fn available(&self) -> Option<Rate> {
        None
    }

    /// Returns the scheme's average rate of real-time traffic in range, in network-layer bytes. Only for display: no
    /// order depends on it. `None` if the scheme keeps no such average.
    fn real_time_rate(&self) -> Option<Rate> {
        None
    }
}

/// The place of a controller: the queue's hard limit and a seed.
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
