//! Biased queue management (BQM): a full queue drops the packet that its sender would miss least (sections 3.1 and 3.2
//! of the thesis that proposes BQM).
//!
//! The sender gives each packet a discard priority. Of the queued packets and the arriving one, the packet with the
//! lowest priority is dropped; among equals it is the one nearest the head. The bias is among the packets of a flow,
//! not between flows, which are not distinguished. A packet without a priority counts as having the highest.
//!
//! The thesis searches the whole queue for that packet. Here the packets of each priority form a chain, so that the
//! search takes one step per priority.

use crate::account::Waiting;
use crate::discipline::{Context, Discipline, Setup};
use crate::{Packet, Purge};
use control::Invalid;
use serde::{Deserialize, Serialize};

const NONE: u32 = u32::MAX;

/// Number of discard priorities: 0 (discarded first) to 6, and another for packets that have none.
const PRIORITIES: usize = 8;

/// Biased queue management has no parameters: the queue's limit determines when it acts, and the packets' priorities
/// what it drops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Biased"))]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

/// The two neighbours of a packet in a chain, or the two ends of the chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Towards the head: the previous packet, or the last packet of a chain.
    before: u32,
    /// Towards the tail: the packet behind, or the first packet of a chain.
    behind: u32,
}

const ALONE: Link = Link { before: NONE, behind: NONE };

#[derive(Clone, Debug)]
struct Slot<P> {
    /// The packet; `None` if the slot is free.
    waiting: Option<Waiting<P>>,
    /// Neighbours in order of arrival. If the slot is free, `behind` is the next free slot.
    order: Link,
    /// Neighbours among the packets of equal priority.
    equals: Link,
}

/// Packets, chained in order of arrival and within each discard priority.
#[derive(Clone, Debug)]
pub(crate) struct Biased<P> {
    slots: Vec<Slot<P>>,
    free: u32,
    order: Link,
    equals: [Link; PRIORITIES],
    purge: Option<Purge>,
}

#[derive(Clone, Copy)]
enum Chain {
    Order,
    Equals(usize),
}

impl<P: Packet> Biased<P> {
    fn link(&mut self, slot: u32, chain: Chain) -> &mut Link {
        let slot = &mut self.slots[slot as usize];
        match chain {
            Chain::Order => &mut slot.order,
            Chain::Equals(_) => &mut slot.equals,
        }
    }

    fn ends(&mut self, chain: Chain) -> &mut Link {
        match chain {
            Chain::Order => &mut self.order,
            Chain::Equals(priority) => &mut self.equals[priority],
        }
    }

    /// Returns the neighbour's link towards the head, or without a neighbour the chain's link to its last packet.
    fn towards_tail(&mut self, neighbour: u32, chain: Chain) -> &mut u32 {
        if neighbour == NONE { &mut self.ends(chain).before } else { &mut self.link(neighbour, chain).before }
    }

    fn towards_head(&mut self, neighbour: u32, chain: Chain) -> &mut u32 {
        if neighbour == NONE { &mut self.ends(chain).behind } else { &mut self.link(neighbour, chain).behind }
    }

    /// Inserts a slot into a chain between two neighbours.
    fn join(&mut self, slot: u32, chain: Chain, between: Link) {
        debug_assert_eq!(*self.towards_head(between.before, chain), between.behind, "they are neighbours");
        debug_assert_eq!(*self.towards_tail(between.behind, chain), between.before, "they are neighbours");
        *self.link(slot, chain) = between;
        *self.towards_head(between.before, chain) = slot;
        *self.towards_tail(between.behind, chain) = slot;
    }

    /// Removes a slot from a chain.
    fn part(&mut self, slot: u32, chain: Chain) {
        let Link { before, behind } = *self.link(slot, chain);
        debug_assert_eq!(*self.towards_head(before, chain), slot, "it is in the chain");
        debug_assert_eq!(*self.towards_tail(behind, chain), slot, "it is in the chain");
        *self.towards_head(before, chain) = behind;
        *self.towards_tail(behind, chain) = before;
    }

    /// Adds a packet at the tail, or at the head.
    fn put(&mut self, waiting: Waiting<P>, first: bool) {
        let (slot, priority) = (self.place(waiting), priority(&waiting.packet));
        for chain in [Chain::Order, Chain::Equals(priority)] {
            let ends = *self.ends(chain);
            let between = if first {
                Link { before: NONE, behind: ends.behind }
            } else {
                Link { before: ends.before, behind: NONE }
            };
            self.join(slot, chain, between);
        }
    }

    fn place(&mut self, waiting: Waiting<P>) -> u32 {
        let slot = self.free;
        if let Some(place) = self.slots.get_mut(slot as usize) {
            debug_assert!(place.waiting.is_none(), "a free slot");
            self.free = place.order.behind;
            place.waiting = Some(waiting);
            return slot;
        }
        self.slots.push(Slot { waiting: Some(waiting), order: ALONE, equals: ALONE });
        u32::try_from(self.slots.len() - 1).expect("a queue has less room")
    }

    /// Removes the packet of a slot; `None` if the slot is free.
    fn pull(&mut self, slot: u32) -> Option<Waiting<P>> {
        let waiting = self.slots.get_mut(slot as usize)?.waiting.take()?;
        self.part(slot, Chain::Order);
        self.part(slot, Chain::Equals(priority(&waiting.packet)));
        self.slots[slot as usize].order.behind = self.free;
        self.free = slot;
        Some(waiting)
    }

    /// Returns the slot at `index`, counted from the head.
    fn behind(&self, index: usize) -> u32 {
        let mut slot = self.order.behind;
        for _ in 0..index {
            let Some(place) = self.slots.get(slot as usize) else { return NONE };
            slot = place.order.behind;
        }
        slot
    }

    /// Returns the lowest priority in the queue, with its packet nearest the head.
    fn least(&self) -> Option<(usize, u32)> {
        self.equals.iter().map(|ends| ends.behind).enumerate().find(|(_, slot)| *slot != NONE)
    }

    fn discard(&mut self, slot: u32, cx: &mut Context<impl FnMut(P)>) {
        let Waiting { packet, .. } = self.pull(slot).expect("only a queue that holds something exceeds a limit");
        cx.account.discard(packet, cx.dropped);
    }
}

fn priority<P: Packet>(packet: &P) -> usize {
    packet.discard_priority().map_or(PRIORITIES - 1, usize::from).min(PRIORITIES - 1)
}

impl<P: Packet> Discipline<P> for Biased<P> {
    type Params = Params;

    /// Accepts every parameter set.
    fn new(_: &Params, setup: &Setup) -> Result<Self, Invalid> {
        Ok(Self { slots: Vec::new(), free: NONE, order: ALONE, equals: [ALONE; PRIORITIES], purge: setup.purge })
    }

    fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
        let len = packet.len().count();
        while cx.account.fits_alone(len) && !cx.account.fits(len) {
            let Some((_, slot)) = self.least().filter(|(least, _)| *least <= priority(&packet)) else { break };
            self.discard(slot, cx);
        }
        if cx.account.fits(len) {
            self.put(Waiting { packet, since: cx.now }, false);
            cx.account.joins(cx.now, len);
        } else {
            cx.account.refuse(packet, cx.dropped);
            // Packets of lower priority may already have been dropped.
            cx.account.settle(cx.now);
        }
    }

    fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
        let (_, slot) = self.least().expect("only a queue that holds something is full");
        self.discard(slot, cx);
    }

    fn put_first(&mut self, waiting: Waiting<P>) {
        self.put(waiting, true);
    }

    fn peek(&mut self, index: usize, _: &mut Context<impl FnMut(P)>) -> Option<&P> {
        let slot = self.behind(index);
        self.slots.get(slot as usize)?.waiting.as_ref().map(|waiting| &waiting.packet)
    }

    fn remove(&mut self, index: usize, _: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        self.pull(self.behind(index))
    }

    fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
        while cx.account.is_over() {
            let slot = match self.purge {
                None => self.least().map_or(NONE, |(_, slot)| slot),
                Some(Purge::Head) => self.order.behind,
                Some(Purge::Tail) => self.order.before,
                Some(Purge::None) => return,
            };
            self.discard(slot, cx);
        }
        debug_assert!(!cx.account.is_over(), "the limit holds");
        debug_assert_eq!(self.least().is_none(), cx.account.is_empty());
    }

    fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        let mut slot = self.order.behind;
        while let Some(place) = self.slots.get(slot as usize) {
            let (this, next) = (slot, place.order.behind);
            if place.waiting.as_ref().is_some_and(|waiting| unwanted(&waiting.packet)) {
                self.discard(this, cx);
            }
            slot = next;
        }
        debug_assert_eq!(self.least().is_none(), cx.account.is_empty());
    }
}
