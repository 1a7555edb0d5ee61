//! Several queues of packets in one piece of memory, as chains of slots.

use crate::Packet;
use crate::account::Waiting;
use crate::discipline::Context;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Slot<P> {
    /// The packet; `None` if the slot is free.
    waiting: Option<Waiting<P>>,
    /// The next slot in the chain; of a free slot, the next free one.
    next: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Pool<P> {
    slots: Vec<Slot<P>>,
    free: u32,
}

impl<P: Packet> Pool<P> {
    /// Makes an empty pool that takes no memory: most queues of a large site never get a packet.
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), free: NONE }
    }

    /// Stores a packet in a free slot.
    fn place(&mut self, waiting: Waiting<P>) -> u32 {
        let slot = self.free;
        if let Some(place) = self.slots.get_mut(slot as usize) {
            debug_assert!(place.waiting.is_none(), "a free slot");
            self.free = std::mem::replace(&mut place.next, NONE);
            place.waiting = Some(waiting);
            return slot;
        }
        self.slots.push(Slot { waiting: Some(waiting), next: NONE });
        u32::try_from(self.slots.len() - 1).expect("a queue has less room")
    }
}

/// A queue of packets in slots of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: u32,
    last: u32,
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

impl Chain {
    pub(crate) const EMPTY: Self = Self { first: NONE, last: NONE, packets: 0, bytes: 0 };

    pub(crate) fn push<P: Packet>(&mut self, pool: &mut Pool<P>, waiting: Waiting<P>) {
        let slot = pool.place(waiting);
        match pool.slots.get_mut(self.last as usize) {
            Some(before) => before.next = slot,
            None => self.first = slot,
        }
        self.last = slot;
        self.packets += 1;
        self.bytes += waiting.packet.len().count();
        debug_assert!(self.first != NONE && pool.slots[slot as usize].next == NONE, "it is the last");
    }

    pub(crate) fn first<'p, P: Packet>(&self, pool: &'p Pool<P>) -> Option<&'p Waiting<P>> {
        pool.slots.get(self.first as usize)?.waiting.as_ref()
    }

    /// Removes and returns the first packet.
    pub(crate) fn pop<P: Packet>(&mut self, pool: &mut Pool<P>) -> Option<Waiting<P>> {
        let slot = self.first;
        let place = pool.slots.get_mut(slot as usize)?;
        let waiting = place.waiting.take()?;
        self.first = std::mem::replace(&mut place.next, pool.free);
        pool.free = slot;
        if self.first == NONE {
            self.last = NONE;
        }
        self.packets -= 1;
        self.bytes -= waiting.packet.len().count();
        debug_assert!((self.packets == 0) == (self.first == NONE));
        debug_assert!(self.packets > 0 || self.bytes == 0);
        Some(waiting)
    }

    /// Discards the packets that are `unwanted`.
    pub(crate) fn discard_where<P: Packet>(
        &mut self,
        pool: &mut Pool<P>,
        unwanted: &mut impl FnMut(&P) -> bool,
        cx: &mut Context<impl FnMut(P)>,
    ) {
        debug_assert!((self.packets == 0) == (self.first == NONE));
        for _ in 0..self.packets {
            let Some(waiting) = self.pop(pool) else { break };
            if unwanted(&waiting.packet) {
                cx.account.discard(waiting.packet, cx.dropped);
            } else {
                self.push(pool, waiting);
            }
        }
    }
}
