//! Many queues of packets in one piece of memory: chains of slots.

use crate::Packet;
use crate::account::Waiting;

/// No slot.
const NONE: u32 = u32::MAX;

/// A place for a packet.
#[derive(Clone, Debug)]
struct Slot<P> {
    /// None while it is free.
    waiting: Option<Waiting<P>>,
    /// The slot behind it in its chain, or the next free one.
    next: u32,
}

/// The slots of all chains.
#[derive(Clone, Debug)]
pub(crate) struct Pool<P> {
    slots: Vec<Slot<P>>,
    free: u32,
}

impl<P: Packet> Pool<P> {
    /// Room for so many packets.
    pub(crate) fn new(room: usize) -> Self {
        let slot = |next: usize| {
            let next = if next < room { u32::try_from(next).expect("a queue has less room") } else { NONE };
            Slot { waiting: None, next }
        };
        Self { slots: (1..=room).map(slot).collect(), free: if room == 0 { NONE } else { 0 } }
    }
}

/// Packets in order, in slots of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: u32,
    last: u32,
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

impl Chain {
    pub(crate) const EMPTY: Self = Self { first: NONE, last: NONE, packets: 0, bytes: 0 };

    /// Adds a packet at the end. The pool has room for it.
    pub(crate) fn push<P: Packet>(&mut self, pool: &mut Pool<P>, waiting: Waiting<P>) {
        let slot = pool.free;
        let place = pool.slots.get_mut(slot as usize).expect("there is a slot for every packet that fits");
        pool.free = std::mem::replace(&mut place.next, NONE);
        place.waiting = Some(waiting);
        match pool.slots.get_mut(self.last as usize) {
            Some(before) => before.next = slot,
            None => self.first = slot,
        }
        self.last = slot;
        self.packets += 1;
        self.bytes += waiting.packet.len().count();
    }

    /// Takes out the first packet.
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
        Some(waiting)
    }
}
