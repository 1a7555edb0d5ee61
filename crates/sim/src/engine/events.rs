//! The event queue: the earliest event first, and among equals the one pushed first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Instant;

/// Bits of a key that number the slot; the rest below the time counts pushes.
const SLOT_BITS: u32 = 24;
const ORDER_BITS: u32 = 64 - SLOT_BITS;

/// A priority queue of events in a total order: (time, order of pushing).
///
/// The key of an event is one integer, time above order above slot, so that one comparison is the whole order; the
/// events themselves stay in a slab. Nothing is allocated once the queue has been as full as it gets.
#[derive(Debug)]
pub struct EventQueue<E> {
    keys: BinaryHeap<Reverse<u128>>,
    slab: Vec<E>,
    free: Vec<u32>,
    pushed: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { keys: BinaryHeap::new(), slab: Vec::new(), free: Vec::new(), pushed: 0 }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Adds an event.
    ///
    /// # Panics
    /// With 2^24 events pending, or after 2^40 pushes: more than a run makes in a day.
    #[inline]
    pub fn push(&mut self, at: Instant, event: E) {
        let slot = if let Some(slot) = self.free.pop() {
            self.slab[slot as usize] = event;
            slot
        } else {
            let slot = u32::try_from(self.slab.len()).expect("the slab holds fewer than 2^24 events");
            self.slab.push(event);
            slot
        };
        assert!(slot < 1 << SLOT_BITS && self.pushed < 1 << ORDER_BITS, "the event queue is full");
        let order = u128::from(self.pushed) << SLOT_BITS;
        self.keys.push(Reverse(u128::from(at.as_nanos()) << 64 | order | u128::from(slot)));
        self.pushed += 1;
    }

    /// The earliest event and its time.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the parts of the key are cut out of it")]
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        let Reverse(key) = self.keys.pop()?;
        let slot = key as u32 & ((1 << SLOT_BITS) - 1);
        self.free.push(slot);
        Some((Instant::from_nanos((key >> 64) as u64), self.slab[slot as usize]))
    }

    /// The time of the earliest event.
    #[inline]
    pub fn next_time(&self) -> Option<Instant> {
        self.keys.peek().map(|Reverse(key)| Instant::from_nanos((key >> 64) as u64))
    }

    /// Number of events pending.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True when nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pops_as_a_stable_sort_would(times in prop::collection::vec(0_u64..50, 0..200), pops in 0_usize..20) {
            let mut queue = EventQueue::default();
            let mut expected: Vec<(u64, usize)> = Vec::new();
            for (index, &time) in times.iter().enumerate() {
                queue.push(Instant::from_nanos(time), index);
                expected.push((time, index));
                if index < pops {
                    expected.sort_by_key(|&(time, _)| time);
                    let (time, index) = expected.remove(0);
                    prop_assert_eq!(queue.pop(), Some((Instant::from_nanos(time), index)));
                }
            }
            expected.sort_by_key(|&(time, _)| time);
            for (time, index) in expected {
                prop_assert_eq!(queue.next_time(), Some(Instant::from_nanos(time)));
                prop_assert_eq!(queue.pop(), Some((Instant::from_nanos(time), index)));
            }
            prop_assert!(queue.is_empty());
        }
    }

    #[test]
    fn slots_are_used_again() {
        let mut queue = EventQueue::default();
        for round in 0..1000 {
            queue.push(Instant::from_nanos(round), round);
            queue.pop();
        }
        assert_eq!(queue.slab.len(), 1);
    }
}
