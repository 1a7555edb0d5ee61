//! The event queue: the earliest event comes first; among events of equal time, the one that was pushed first.
//!
//! The queue is a calendar queue, which divides time into days. Only the events of the present day are sorted. Each of
//! the next days has a list, which is sorted when its day begins. Later events are in a heap. A queue with few events
//! keeps all of them sorted.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use units::Instant;

/// Binary logarithm of the length of a day, in nanoseconds. A day is longer than a slot and SIFS, and shorter than most
/// frames.
const DAY: u32 = 17;
/// Number of days that have a list. Each has one bit of a word.
const DAYS: u64 = 64;
/// Up to this number of events, all are kept sorted. A network with so few pending events needs no calendar.
const FEW: usize = 16;
/// Number of the earliest events among which a new event's position is searched linearly: most new events are earlier
/// than most others. Beyond these events the search is binary.
const NEAR: usize = 32;

/// A priority queue of events in a total order: by time, then by order of pushing. Time never goes backwards: a push of
/// an event earlier than a popped one is a caller's mistake. Nothing is allocated once the queue has its largest size.
#[derive(Debug)]
pub struct EventQueue<E> {
    /// The events before `tomorrow`, sorted, the earliest one last.
    today: Vec<Pending<E>>,
    /// Number of the first day whose events are not sorted yet.
    tomorrow: u64,
    /// Events of the days from `tomorrow` on, in the order of pushing. The index is the day modulo the number of lists.
    days: [Vec<Pending<E>>; u64::BITS as usize],
    /// Bitmask of days that have events.
    filled: u64,
    /// Events that were later than all lists when they were pushed.
    later: BinaryHeap<Pending<E>>,
    pushed: u64,
    /// The time of the last event that was popped.
    now: Instant,
    /// Cached time of the next event.
    next: Instant,
}

/// Sort key of an event: its time in the upper bits, the number of earlier pushes in the lower. One comparison decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventKey(u128);

impl EventKey {
    fn time(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
}

#[derive(Clone, Copy, Debug)]
struct Pending<E> {
    key: EventKey,
    event: E,
}

/// The order is reversed, because a max-heap's greatest event must be the earliest.
impl<E> Ord for Pending<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl<E> PartialOrd for Pending<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Pending<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Pending<E> {}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            today: Vec::new(),
            tomorrow: 0,
            days: std::array::from_fn(|_| Vec::new()),
            filled: 0,
            later: BinaryHeap::new(),
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
    /// With debug assertions, panics if the event is earlier than a popped one.
    pub fn push(&mut self, at: Instant, event: E) {
        let key = self.reserve(at);
        self.push_at(key, event);
    }

    /// Reserves the key of an event pushed now, which is [added](Self::push_at) later. If events occur one after
    /// another in any case, only the first needs to be in the queue.
    ///
    /// # Panics
    /// As for [`push`](Self::push).
    pub fn reserve(&mut self, at: Instant) -> EventKey {
        debug_assert!(at >= self.now, "an event comes before one that has been: time runs back");
        let key = EventKey(u128::from(at.as_nanos()) << 64 | u128::from(self.pushed));
        self.pushed += 1;
        key
    }

    /// Adds an event with a [reserved](Self::reserve) key.
    // The inlined code is short: stations that hear a frame mostly push nothing.
    #[inline(never)]
    pub fn push_at(&mut self, key: EventKey, event: E) {
        let pending = Pending { key, event };
        self.next = self.next.min(key.time());
        let sorted = self.today.len();
        if day(key.time()) >= self.tomorrow || sorted == self.today.capacity() {
            return self.put(pending);
        }
        let Some(&last) = self.today.last().filter(|last| last.key < key) else {
            return self.today.push(pending);
        };
        // Events that are earlier move up one by one.
        self.today.push(last);
        let far = sorted.saturating_sub(NEAR);
        let mut near = &mut self.today[far..sorted];
        while let Some((place, before)) = { near }.split_last_mut() {
            match before.last() {
                Some(earlier) if earlier.key < key => *place = *earlier,
                nearest => {
                    *place = pending;
                    if nearest.is_none() && far > 0 {
                        self.sink(far);
                    }
                    return;
                }
            }
            near = before;
        }
    }

    /// Adds an event of another day, or one for which `today` has no room yet.
    // This is not inlined, so that the rest of `push_at` needs no registers of its caller.
    #[inline(never)]
    fn put(&mut self, pending: Pending<E>) {
        let day = day(pending.key.time());
        if day >= self.tomorrow && self.today.len() < FEW && self.filled == 0 && self.later.is_empty() {
            self.tomorrow = day + 1;
        }
        if day < self.tomorrow {
            self.today.push(pending);
            self.sink(self.today.len() - 1);
        } else if day - self.tomorrow < DAYS {
            let list = list(day);
            self.filled |= 1 << list;
            self.days[list as usize].push(pending);
        } else {
            self.later.push(pending);
        }
    }

    /// Moves an event down among the sorted events before it.
    #[inline(never)]
    fn sink(&mut self, from: usize) {
        let key = self.today[from].key;
        let place = self.today[..from].partition_point(|other| other.key > key);
        self.today[place..=from].rotate_right(1);
    }

    /// Removes the earliest event and returns it with its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        if self.today.is_empty() {
            self.begin_day();
        }
        let first = self.today.pop()?;
        self.now = first.key.time();
        self.next = match self.today.last() {
            Some(next) => next.key.time(),
            None => self.next_day(),
        };
        Some((self.now, first.event))
    }

    /// Begins the day of the next event and sorts its events.
    #[inline(never)]
    fn begin_day(&mut self) {
        let today = day(self.next);
        let list = list(today);
        self.tomorrow = today + 1;
        if self.filled & 1 << list != 0 {
            self.filled &= !(1 << list);
            std::mem::swap(&mut self.today, &mut self.days[list as usize]);
        }
        while let Some(pending) = self.later.peek()
            && day(pending.key.time()) <= today
        {
            self.today.extend(self.later.pop());
        }
        if self.today.len() > 1 {
            self.today.sort_unstable_by_key(|pending| Reverse(pending.key));
        }
    }

    /// Returns the time of the first event from `tomorrow` on; `NEVER` if there is none.
    #[inline(never)]
    fn next_day(&self) -> Instant {
        let later = self.later.peek().map_or(Instant::NEVER, |pending| pending.key.time());
        if self.filled == 0 {
            return later;
        }
        let days = self.filled.rotate_right(list(self.tomorrow)).trailing_zeros();
        let first = &self.days[list(self.tomorrow + u64::from(days)) as usize];
        first.iter().fold(later, |earliest, pending| earliest.min(pending.key.time()))
    }

    /// Returns the time of the earliest event; `NEVER` if none is pending.
    pub fn next_time(&self) -> Instant {
        self.next
    }
}

/// Returns the number of the day that contains `at`.
fn day(at: Instant) -> u64 {
    at.as_nanos() >> DAY
}

/// Returns the index of a day's list.
fn list(day: u64) -> u32 {
    (day % DAYS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Times within a day, some days ahead, beyond the lists, and for ever.
    fn span() -> impl Strategy<Value = u64> {
        prop_oneof![8 => 0_u64..50, 8 => 0_u64..1 << 18, 4 => 0_u64..1 << 23, 1 => Just(1 << 40)]
    }

    proptest! {
        #[test]
        fn pops_as_a_stable_sort_would(
            steps in prop::collection::vec((span(), any::<bool>(), prop::bool::weighted(0.4)), 0..300),
        ) {
            let mut queue = EventQueue::default();
            let mut expected: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            let mut reserved = Vec::new();
            for (index, &(span, at_once, pops)) in steps.iter().enumerate() {
                let at = Instant::from_nanos(now + span);
                expected.push((now + span, index));
                if pops {
                    for (key, index) in reserved.drain(..) {
                        queue.push_at(key, index);
                    }
                    queue.push(at, index);
                    expected.sort_by_key(|&(time, _)| time);
                    let (time, index) = expected.remove(0);
                    now = time;
                    prop_assert_eq!(queue.pop(), Some((Instant::from_nanos(time), index)));
                    let pending = queue.days.iter().map(Vec::len).sum::<usize>();
                    prop_assert_eq!(queue.today.len() + pending + queue.later.len(), expected.len());
                } else if at_once {
                    queue.push(at, index);
                } else {
                    reserved.push((queue.reserve(at), index));
                }
            }
            for (key, index) in reserved {
                queue.push_at(key, index);
            }
            expected.sort_by_key(|&(time, _)| time);
            for (time, index) in expected {
                prop_assert_eq!(queue.next_time(), Instant::from_nanos(time));
                prop_assert_eq!(queue.pop(), Some((Instant::from_nanos(time), index)));
            }
            prop_assert!(queue.pop().is_none() && queue.next_time() == Instant::NEVER);
        }
    }

    #[test]
    #[should_panic(expected = "time runs back")]
    fn an_event_before_one_that_has_been_is_refused() {
        let mut queue = EventQueue::default();
        queue.push(Instant::from_nanos(5), ());
        queue.push(Instant::from_nanos(7), ());
        assert_eq!(queue.pop(), Some((Instant::from_nanos(5), ())));
        queue.push(Instant::from_nanos(5), ());
        assert_eq!(queue.pop(), Some((Instant::from_nanos(5), ())));
        queue.push(Instant::from_nanos(4), ());
    }
}
