//! The contract between a queueing discipline and its queue.

use crate::account::{Account, Waiting};
use crate::packet::Packet;
use control::Invalid;
use serde::{Deserialize, Serialize};
use units::Instant;

/// Number of packets that a host can look ahead ([`Queue::peek`](crate::Queue::peek)) where a discipline decides at the
/// head: the frames of the longest A-MPDU.
pub const LOOK_AHEAD: usize = 64;

/// Packets to drop when the limit falls below the backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Purge {
    /// The oldest.
    Head,
    /// The newest.
    Tail,
    /// None: the backlog drains to the lower limit.
    None,
}

/// Inputs for building a discipline, beside its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Packets that it has room for without taking memory.
    pub(crate) room: usize,
    /// Packets discarded when the limit shrinks, where the user chooses.
    pub(crate) purge: Option<Purge>,
    /// Seed of the discipline's random numbers.
    pub(crate) seed: u64,
}

/// Holds the packets of a queue: says which waits, which leaves and which is dropped.
///
/// The [`Account`] knows the limit and what waits. The queue has told it of a packet that comes, and tells it of one that
/// leaves. A discipline tells it what else becomes of a packet: it joins, is refused, is discarded, is marked. Each
/// packet that goes is handed to `dropped`. Calls come in order of time.
pub(crate) trait Discipline<P: Packet>: Sized {
    /// Its table in a scenario, with its defaults.
    type Params: Default;

    /// Can it purge from the tail? Where it cannot, `purge = "tail"` is refused.
    const PURGES_TAIL: bool = true;

    /// An empty one at the start of the run.
    ///
    /// # Errors
    /// The first parameter that cannot be used, by its key.
    fn new(params: &Self::Params, setup: &Setup) -> Result<Self, Invalid>;

    /// A packet comes. It joins, or it or others are handed to `dropped`.
    fn enqueue(&mut self, account: &mut Account, now: Instant, packet: P, dropped: &mut impl FnMut(P));

    /// A packet comes that goes before all that wait. Where there is no room, others make way.
    fn enqueue_first(&mut self, account: &mut Account, now: Instant, packet: P, dropped: &mut impl FnMut(P));

    /// The packet that would leave after `index` others. What was seen leaves, if not by then a packet came that goes first
    /// or the limit shrank.
    fn peek(&mut self, account: &mut Account, now: Instant, index: usize, dropped: &mut impl FnMut(P)) -> Option<&P>;

    /// The packet after `index` others leaves. Never none where any waits and `index` is zero.
    fn remove(
        &mut self,
        account: &mut Account,
        now: Instant,
        index: usize,
        dropped: &mut impl FnMut(P),
    ) -> Option<Waiting<P>>;

    /// The limit may have shrunk: what no longer fits goes, unless the user's [`Purge`] says otherwise.
    fn purge(&mut self, account: &mut Account, dropped: &mut impl FnMut(P));

    /// Discards what is `unwanted`, wherever it waits.
    fn discard_where(
        &mut self,
        account: &mut Account,
        unwanted: &mut impl FnMut(&P) -> bool,
        dropped: &mut impl FnMut(P),
    );
}
