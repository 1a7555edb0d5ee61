//! The contract between a queueing discipline and its queue.

use crate::account::{Account, Waiting};
use crate::packet::Packet;
use control::Invalid;
use serde::{Deserialize, Serialize};
use units::Instant;

/// Number of packets that a host can look ahead ([`Queue::peek`](crate::Queue::peek)) if a discipline decides when
/// packets leave: the frames of the longest A-MPDU.
pub const LOOK_AHEAD: usize = 64;

/// Packets to drop when the limit falls below the backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Purge {
    /// The oldest packets.
    Head,
    /// The newest packets.
    Tail,
    /// No packets: the backlog drains to the lower limit.
    None,
}

/// What a discipline is built from besides its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Which packets are discarded when the limit shrinks; `None` if the user has not chosen.
    pub(crate) purge: Option<Purge>,
    /// Seed of the discipline's random numbers.
    pub(crate) seed: u64,
}

/// The account of a queue and the time of a call, and the function that takes dropped packets.
#[derive(Debug)]
pub(crate) struct Context<'a, D> {
    pub(crate) account: &'a mut Account,
    pub(crate) now: Instant,
    pub(crate) dropped: &'a mut D,
}

/// Holds the packets of a queue and decides which packet waits, leaves or is dropped.
///
/// The [`Account`] knows the limit and the backlog. The queue reports each packet that arrives or leaves to the
/// account. The discipline reports packets that join, are refused, discarded or marked, and hands dropped packets to
/// `dropped`. Calls come in order of time.
pub(crate) trait Discipline<P: Packet>: Sized {
    /// The discipline's parameter table in a scenario, with its defaults.
    type Params: Default;

    /// True if the discipline can discard packets at the tail. If it cannot, `purge = "tail"` is refused.
    const PURGES_TAIL: bool = true;

    /// Builds an empty discipline at the start of the run.
    ///
    /// # Errors
    /// Names the key of the first parameter that cannot be used.
    fn new(params: &Self::Params, setup: &Setup) -> Result<Self, Invalid>;

    /// Takes an arriving packet. It joins, or it or other packets are handed to `dropped`.
    fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>);

    /// Discards at least one packet, at the tail or of the longest flow. A packet that is put first needs the room.
    fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>);

    /// Puts a packet that has just arrived and fits before all other packets.
    fn put_first(&mut self, waiting: Waiting<P>);

    /// Returns the packet that would leave after `index` others. A returned packet will leave unless the limit shrinks,
    /// or a packet with precedence arrives before.
    fn peek(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<&P>;

    /// Removes the packet after `index` others. If `index` is zero and a packet waits, it returns one.
    fn remove(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>>;

    /// Discards packets above the limit after the limit has shrunk, unless the user's [`Purge`] says otherwise.
    fn purge(&mut self, cx: &mut Context<impl FnMut(P)>);

    /// Discards all packets that are `unwanted`.
    fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>);
}
