//! The contract between a scheme, which decides, and its host, which measures and carries out.

use crate::{Invalid, Limit, Needs, Orders, Seen, Warning};
use units::{Duration, Rate};

/// A policy for one port: a queue, or one class of a node's traffic.
pub trait Controller {
    /// Returns the requirements on the host: how often to call, what to measure. Constant over the controller's life.
    fn needs(&self) -> Needs;

    /// Returns the orders in force until the first [`update`](Self::update).
    fn begin(&self) -> Orders;

    /// Returns the orders in force from the end of an interval on, given the measurements of that interval. The host
    /// carries them out at once; the queue discards what no longer fits. The same sequence of `seen` always gives the
    /// same orders.
    fn update(&mut self, seen: &Seen) -> Orders;

    /// Restarts from an initial limit, for a host that learns the link's rate only after some updates: `limit` is what
    /// the link sends in the longest time that a queue may hold (200 ms of link capacity on a live host). A controller
    /// whose initial size was justified only by the queue's own bounds restarts from `limit` and returns true; its
    /// state is then as if it had begun there. Any other returns false.
    fn begin_from(&mut self, limit: Limit) -> bool {
        let _ = limit;
        false
    }

    /// Returns the rate of real-time traffic that this node can still admit, in network-layer bytes. A passing probe's
    /// bottleneck is lowered to it, see [`Gate`](crate::Gate). None where the scheme does no admission control.
    fn available(&self) -> Option<Rate> {
        None
    }

    /// Returns the scheme's average rate of real-time traffic in range, in network-layer bytes. Only for display: no
    /// order depends on it. None where the scheme keeps no such average.
    fn real_time_rate(&self) -> Option<Rate> {
        None
    }

    /// Returns the target of the nodal delay. The host counts packets that exceed it. None where the scheme has no
    /// target.
    fn target_delay(&self) -> Option<Duration> {
        None
    }

    /// Returns a warning to the user about parameters that are valid but may behave badly.
    fn warning(&self) -> Option<Warning> {
        None
    }
}

/// A controller with parameters that the registry can build by name, so that no other crate needs to know its type.
pub trait Scheme: Controller + Sized {
    /// Parameters: the scheme's table in a scenario.
    type Params: Default;

    /// Key of the target delay within the scheme's table, set by `--target-delay`. None where the scheme has no target.
    const TARGET: Option<&'static str> = None;

    /// Builds the scheme with `params`, for the queue at `site`.
    ///
    /// # Errors
    /// The first parameter that cannot be used, by its key within the table.
    fn new(params: &Self::Params, site: &Site) -> Result<Self, Invalid>;
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
