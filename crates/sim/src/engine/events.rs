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
    /// Beside the heap, the earliest last. A network that has few events pending has all of them here.
    soon: Vec<Pending<E>>,
    pushed: u64,
    /// The time of the last event that was popped.
    now: Instant,
    /// That of the earliest event, as it is asked for more often than it changes.
    next: Instant,
}

/// An event's place in the order: its time above the number of pushes before, so that one comparison is the whole order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u128);

impl Place {
    #[inline]
    fn time(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
}

/// An event that is to come.
#[derive(Clone, Copy, Debug)]
struct Pending<E> {
    place: Place,
    event: E,
}

/// The greatest is the earliest.
impl<E> Ord for Pending<E> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.place.cmp(&self.place)
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
        self.place == other.place
    }
}

impl<E> Eq for Pending<E> {}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            soon: Vec::with_capacity(SOON),
            pushed: 0,
            now: Instant::ZERO,
            next: Instant::NEVER,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Adds an event.
    ///
    /// # Panics
    /// With debug assertions, when it would come before one that was popped.
    #[inline]
    pub fn push(&mut self, at: Instant, event: E) {
        let place = self.reserve(at);
        self.push_at(place, event);
    }

    /// A place in the order as of an event that is pushed now, for one that is [added](Self::push_at) later: of things that
    /// come one after another in any case, only the first must wait here.
    ///
    /// # Panics
    /// As [`push`](Self::push).
    #[inline]
    pub fn reserve(&mut self, at: Instant) -> Place {
        debug_assert!(at >= self.now, "an event comes before one that has been: time runs back");
        let place = Place(u128::from(at.as_nanos()) << 64 | u128::from(self.pushed));
        self.pushed += 1;
        place
    }

    /// Adds an event at its [reserved](Self::reserve) place.
    // Stations that hear a frame mostly push nothing: the code that asks them stays short without it.
    #[inline(never)]
    pub fn push_at(&mut self, place: Place, event: E) {
        self.next = self.next.min(place.time());
        if !self.heap.is_empty() || self.soon.len() == SOON {
            self.heap.push(Pending { place, event });
            return;
        }
        self.insert(Pending { place, event });
    }

    /// Adds an event that comes before almost all others. The order is the same as with [`push`](Self::push), but it does
    /// not go to the heap.
    ///
    /// # Panics
    /// As [`push`](Self::push).
    pub fn push_soon(&mut self, at: Instant, event: E) {
        let place = self.reserve(at);
        self.next = self.next.min(at);
        if self.soon.len() == SOON {
            self.heap.push(Pending { place, event });
            return;
        }
        self.insert(Pending { place, event });
    }

    /// Adds an event to the list of those that come soon, which has room for it. Most come before most others: those that
    /// come earlier still are moved up one by one.
    #[inline]
    fn insert(&mut self, pending: Pending<E>) {
        let mut at = self.soon.len();
        self.soon.push(pending);
        while at > 0 && self.soon[at - 1].place < pending.place {
            self.soon[at] = self.soon[at - 1];
            at -= 1;
        }
        self.soon[at] = pending;
    }

    /// The earliest event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        let first = match (self.soon.last(), self.heap.peek()) {
            (Some(soon), Some(queued)) if soon < queued => self.heap.pop(),
            (Some(_), _) => self.soon.pop(),
            (None, _) => self.heap.pop(),
        }?;
        self.now = first.place.time();
        self.next = match (self.soon.last(), self.heap.peek()) {
            (Some(soon), Some(queued)) => soon.place.min(queued.place).time(),
            (soon, queued) => soon.or(queued).map_or(Instant::NEVER, |first| first.place.time()),
        };
        Some((self.now, first.event))
    }

    /// The time of the earliest event; `NEVER` where nothing is pending.
    #[inline]
    pub fn next_time(&self) -> Instant {
        self.next
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
        fn pops_as_a_stable_sort_would(times in prop::collection::vec((0_u64..50, 0_u8..3), 0..200), pops in 0_usize..20) {
            let mut queue = EventQueue::default();
            let mut expected: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            let mut reserved = Vec::new();
            for (index, &(span, how)) in times.iter().enumerate() {
                let time = now + span;
                match how {
                    0 => queue.push_soon(Instant::from_nanos(time), index),
                    1 => queue.push(Instant::from_nanos(time), index),
                    _ => reserved.push((queue.reserve(Instant::from_nanos(time)), index)),
                }
                if index % 7 == 6 || index < pops {
                    for (place, index) in reserved.drain(..) {
                        queue.push_at(place, index);
                    }
                }
                expected.push((time, index));
                if index < pops {
                    expected.sort_by_key(|&(time, _)| time);
                    let (time, index) = expected.remove(0);
                    now = time;
                    prop_assert_eq!(queue.pop(), Some((Instant::from_nanos(time), index)));
                }
            }
            for (place, index) in reserved {
                queue.push_at(place, index);
            }
            expected.sort_by_key(|&(time, _)| time);
            for (time, index) in expected {
                prop_assert_eq!(queue.next_time(), Instant::from_nanos(time));
                prop_assert_eq!(queue.pop(), Some((Instant::from_nanos(time), index)));
            }
            prop_assert!(queue.is_empty() && queue.next_time() == Instant::NEVER);
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
