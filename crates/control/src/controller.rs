//! The contract between schemes and hosts.

use crate::{Invalid, Limit, Needs, Orders, Seen, Warning};
use units::{Duration, Rate};

/// A policy for one port: a queue, or one class of a node's traffic.
pub trait Controller {
    /// What it asks of its host. Constant over its life.
    fn needs(&self) -> Needs;

    /// What holds until the first [`update`](Self::update).
    fn begin(&self) -> Orders;

    /// An interval is over: what holds from now on. The host carries it out at once; the queue discards what no longer
    /// fits. The same sequence of `seen` always gives the same orders.
    fn update(&mut self, seen: &Seen) -> Orders;

    /// A host that learns how fast the link is, after updates at most, says so: the link serves `limit` in the time that a
    /// queue may be worth at most. A policy that began with a size which only the queue's own bounds justify begins anew from
    /// this one, and gives true; its state is then as if it had begun there.
    fn begin_from(&mut self, limit: Limit) -> bool {
        let _ = limit;
        false
    }

    /// How much more real-time traffic this node can admit, in network-layer bytes: what a probe's bottleneck is lowered to that
    /// comes through it, see [`Gate`](crate::Gate). None where the scheme says nothing about that.
    fn available(&self) -> Option<Rate> {
        None
    }

    /// The rate of real-time traffic in range as the scheme averages it, in network-layer bytes. Nothing follows from it: it is for
    /// those who watch. None where the scheme does not average it.
    fn real_time_rate(&self) -> Option<Rate> {
        None
    }

    /// The nodal delay that it promises to keep, for the host to count what exceeds it.
    fn target_delay(&self) -> Option<Duration> {
        None
    }

    /// What a user should know of parameters that are allowed and may behave badly.
    fn warning(&self) -> Option<Warning> {
        None
    }
}

/// What the registry asks of a scheme besides, so that no other crate need know its name.
pub trait Scheme: Controller + Sized {
    /// Its table in a scenario.
    type Params: Default;

    /// The key of the delay that it aims at, within its table: what `--target-delay` sets. None where it aims at none.
    const TARGET: Option<&'static str> = None;

    /// The scheme with `params`, where it works.
    ///
    /// # Errors
    /// The first parameter that cannot be used, by its key within the table.
    fn new(params: &Self::Params, site: &Site) -> Result<Self, Invalid>;
}

/// Where a controller works.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The most that the queue ever holds.
    pub hard_limit: Limit,
    /// For a scheme that draws.
    pub seed: u64,
}

/// A place with this hard limit, and 0 as the seed.
impl From<Limit> for Site {
    fn from(hard_limit: Limit) -> Self {
        Self { hard_limit, seed: 0 }
    }
}
