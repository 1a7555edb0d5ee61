//! The event queue: the earliest event first, and among equals the one pushed first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use units::Instant;

/// The most events that are kept in the list of those that come soon.
const SOON: usize = 16;

/// A priority queue of events in a total order: (time, order of pushing). Time never runs back: an event earlier than one
/// that was popped is a fault of who pushes it. Nothing is allocated once the queue has been as full as it gets.
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Pending<E>>,
    /// Beside the heap, the earliest last.
    soon: Vec<Pending<E>>,
    pushed: u64,
    /// The time of the last event that was popped.
    now: Instant,
}

/// An event that is to come.
#[derive(Clone, Copy, Debug)]
struct Pending<E> {
    /// The time above the number of pushes before, so that one comparison is the whole order.
    key: u128,
    event: E,
}

impl<E> Pending<E> {
    #[inline]
    fn time(&self) -> Instant {
        Instant::from_nanos((self.key >> 64) as u64)
    }
}

/// The greatest is the earliest.
impl<E> Ord for Pending<E> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl<E> PartialOrd for Pending<E> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Pending<E> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Pending<E> {}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), soon: Vec::with_capacity(SOON), pushed: 0, now: Instant::ZERO }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Adds an event.
    ///
    /// # Panics
    /// With debug assertions, when it would come before one that was popped.
    // Stations that hear a frame mostly push nothing: the code that asks them stays short without it.
    #[inline(never)]
    pub fn push(&mut self, at: Instant, event: E) {
        let pending = self.number(at, event);
        self.heap.push(pending);
    }

    /// Adds an event that comes before almost all others. The order is the same as with [`push`](Self::push); it is kept
    /// in a short list, where it costs less than in the heap.
    ///
    /// # Panics
    /// As [`push`](Self::push).
    pub fn push_soon(&mut self, at: Instant, event: E) {
        let pending = self.number(at, event);
        if self.soon.len() == SOON {
            self.heap.push(pending);
            return;
        }
        let later = self.soon.iter().rposition(|other| other.key > pending.key);
        self.soon.insert(later.map_or(0, |at| at + 1), pending);
    }

    #[inline]
    fn number(&mut self, at: Instant, event: E) -> Pending<E> {
        debug_assert!(at >= self.now, "an event comes before one that has been: time runs back");
        let key = u128::from(at.as_nanos()) << 64 | u128::from(self.pushed);
        self.pushed += 1;
        Pending { key, event }
    }

    /// The earliest event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        let first = match (self.soon.last(), self.heap.peek()) {
            (Some(soon), Some(queued)) if soon < queued => self.heap.pop(),
            (Some(_), _) => self.soon.pop(),
            (None, _) => self.heap.pop(),
        }?;
        self.now = first.time();
        Some((self.now, first.event))
    }

    /// The time of the earliest event.
    #[inline]
    pub fn next_time(&self) -> Option<Instant> {
        match (self.soon.last(), self.heap.peek()) {
            (Some(soon), Some(queued)) => Some(soon.time().min(queued.time())),
            (soon, queued) => soon.or(queued).map(Pending::time),
        }
    }

    /// Number of events pending.
    pub fn len(&self) -> usize {
        self.heap.len() + self.soon.len()
    }

    /// True when nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty() && self.soon.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pops_as_a_stable_sort_would(times in prop::collection::vec((0_u64..50, any::<bool>()), 0..200), pops in 0_usize..20) {
            let mut queue = EventQueue::default();
            let mut expected: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (index, &(span, soon)) in times.iter().enumerate() {
                let time = now + span;
                if soon {
                    queue.push_soon(Instant::from_nanos(time), index);
                } else {
                    queue.push(Instant::from_nanos(time), index);
                }
                expected.push((time, index));
                if index < pops {
                    expected.sort_by_key(|&(time, _)| time);
                    let (time, index) = expected.remove(0);
                    now = time;
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
    #[should_panic(expected = "time runs back")]
    fn an_event_before_one_that_has_been_is_refused() {
        let mut queue = EventQueue::default();
        queue.push(Instant::from_nanos(5), ());
        queue.push_soon(Instant::from_nanos(7), ());
        assert_eq!(queue.pop(), Some((Instant::from_nanos(5), ())));
        queue.push(Instant::from_nanos(5), ());
        assert_eq!(queue.pop(), Some((Instant::from_nanos(5), ())));
        queue.push_soon(Instant::from_nanos(4), ());
    }
}
