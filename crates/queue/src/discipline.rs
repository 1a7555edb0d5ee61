//! The contract between a queueing discipline and its queue.

use crate::account::{Account, Waiting};
use crate::packet::Packet;
use control::Invalid;
use serde::{Deserialize, Serialize};
use units::Instant;

/// Number of packets that a host can look ahead ([`Queue::peek`](crate::Queue::peek)) if a discipline decides at the
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

/// Inputs for building a discipline, in addition to its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Packets discarded when the limit shrinks, if the user chooses.
    pub(crate) purge: Option<Purge>,
    /// Seed of the discipline's random numbers.
    pub(crate) seed: u64,
}

/// The account of a queue at the time of a call, and the function that takes dropped packets.
#[derive(Debug)]
pub(crate) struct Context<'a, D> {
    pub(crate) account: &'a mut Account,
    pub(crate) now: Instant,
    pub(crate) dropped: &'a mut D,
}

/// Holds the packets of a queue and decides which packet waits, leaves or is dropped.
///
/// The [`Account`] knows the limit and the backlog. The queue reports to the account each packet that arrives and each
/// that leaves; the discipline reports packets that join, are refused, discarded or marked. Dropped packets are handed
/// to `dropped`. Calls come in order of time.
pub(crate) trait Discipline<P: Packet>: Sized {
    /// The discipline's parameter table in a scenario, with defaults.
    type Params: Default;

    /// True if the discipline can purge from the tail; otherwise `purge = "tail"` is refused.
    const PURGES_TAIL: bool = true;

    /// An empty discipline at the start of the run.
    ///
    /// # Errors
    /// The first parameter that cannot be used, by its key.
    fn new(params: &Self::Params, setup: &Setup) -> Result<Self, Invalid>;

    /// Takes an arriving packet: it joins, or this packet or others are handed to `dropped`.
    fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>);

    /// Discards at least one packet, at the tail or of the longest flow, because a packet that goes before all others
    /// does not fit.
    fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>);

    /// Puts a packet that has just arrived, and fits, before all other packets.
    fn put_first(&mut self, waiting: Waiting<P>);

    /// The packet that would leave after `index` others. A packet that was peeked at leaves, unless a packet that goes
    /// first arrives before or the limit shrinks.
    fn peek(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<&P>;

    /// Takes out the packet after `index` others. Returns a packet if any waits and `index` is zero.
    fn remove(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>>;

    /// Discards packets above the limit after it has shrunk, unless the user's [`Purge`] says otherwise.
    fn purge(&mut self, cx: &mut Context<impl FnMut(P)>);

    /// Discards all packets that are `unwanted`.
    fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>);
}
