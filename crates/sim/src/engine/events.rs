//! The event queue: the earliest event first, and among equals the one pushed first.
//!
//! It is a calendar. Only the events of the present day are in order; those of the next days lie in a list each, and are put
//! in order when their day begins; what comes later waits in a heap. While there are few, all are in order.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use units::Instant;

/// Binary logarithm of a day of the calendar queue in nanoseconds: longer than a slot and SIFS, and shorter than most
/// frames.
const DAY: u32 = 17;
/// The days that have a list, each its bit of a word.
const DAYS: u64 = 64;
/// The most events of which all are kept in order. A network that has so few pending needs no calendar.
const FEW: usize = 16;
/// Number of sorted events from which a new one's place is found by binary search.
const MANY: usize = 32;

/// A priority queue of events in a total order: (time, order of pushing). Time never runs back: an event earlier than one
/// that was popped is a fault of who pushes it. Nothing is allocated once the queue has been as full as it gets.
#[derive(Debug)]
pub struct EventQueue<E> {
    /// The events before tomorrow in order, the earliest last.
    today: Vec<Pending<E>>,
    /// The first day whose events are not in order yet.
    tomorrow: u64,
    /// By day modulo their number, those of the days from tomorrow on, as they were pushed.
    days: [Vec<Pending<E>>; u64::BITS as usize],
    /// Bit by bit, the days that have any.
    filled: u64,
    /// Those that came later than that when they were pushed.
    later: BinaryHeap<Pending<E>>,
    pushed: u64,
    /// The time of the last event that was popped.
    now: Instant,
    /// Cached time of the next event.
    next: Instant,
}

/// An event's key in the order: its time above the number of pushes before, so that one comparison is the whole order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventKey(u128);

impl EventKey {
    #[inline]
    fn time(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
}

/// An event that is to come.
#[derive(Clone, Copy, Debug)]
struct Pending<E> {
    key: EventKey,
    event: E,
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
    /// With debug assertions, when it would come before one that was popped.
    #[inline]
    pub fn push(&mut self, at: Instant, event: E) {
        let key = self.reserve(at);
        self.push_at(key, event);
    }

    /// A key in the order as of an event that is pushed now, for one that is [added](Self::push_at) later: of things that
    /// come one after another in any case, only the first must wait here.
    ///
    /// # Panics
    /// As [`push`](Self::push).
    #[inline]
    pub fn reserve(&mut self, at: Instant) -> EventKey {
        debug_assert!(at >= self.now, "an event comes before one that has been: time runs back");
        let key = EventKey(u128::from(at.as_nanos()) << 64 | u128::from(self.pushed));
        self.pushed += 1;
        key
    }

    /// Adds an event at its [reserved](Self::reserve) key.
    // Stations that hear a frame mostly push nothing: the code that asks them stays short without it.
    #[inline(never)]
    pub fn push_at(&mut self, key: EventKey, event: E) {
        let pending = Pending { key, event };
        self.next = self.next.min(key.time());
        let day = day(key.time());
        if self.today.len() < FEW && self.filled == 0 && self.later.is_empty() {
            self.tomorrow = self.tomorrow.max(day + 1);
        }
        if day < self.tomorrow {
            self.insert(pending);
        } else if day - self.tomorrow < DAYS {
            let list = list(day);
            self.filled |= 1 << list;
            self.days[list as usize].push(pending);
        } else {
            self.postpone(pending);
        }
    }

    /// Adds an event that comes later than the days that have a list.
    #[inline(never)]
    fn postpone(&mut self, pending: Pending<E>) {
        self.later.push(pending);
    }

    /// Adds an event to those that are in order. Most come before most others: those that come earlier still are moved up
    /// one by one.
    #[inline]
    fn insert(&mut self, pending: Pending<E>) {
        let mut at = self.today.len();
        if at >= MANY {
            let at = self.today.partition_point(|other| other.key > pending.key);
            self.today.insert(at, pending);
            return;
        }
        self.today.push(pending);
        while at > 0 && self.today[at - 1].key < pending.key {
            self.today[at] = self.today[at - 1];
            at -= 1;
        }
        self.today[at] = pending;
    }

    /// The earliest event and its time.
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

    /// The day of the next event begins: its events are put in order.
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

    /// The time of the first event from tomorrow on; `NEVER` where there is none.
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

    /// The time of the earliest event; `NEVER` where nothing is pending.
    #[inline]
    pub fn next_time(&self) -> Instant {
        self.next
    }

    /// Number of events pending.
    pub fn len(&self) -> usize {
        self.today.len() + self.days.iter().map(Vec::len).sum::<usize>() + self.later.len()
    }

    /// True when nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The day of a moment.
#[inline]
fn day(at: Instant) -> u64 {
    at.as_nanos() >> DAY
}

/// The list of a day.
#[inline]
fn list(day: u64) -> u32 {
    (day % DAYS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Within a day, some days, more days than have a list, and for ever.
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
                    prop_assert_eq!(queue.len(), expected.len());
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
            prop_assert!(queue.is_empty() && queue.next_time() == Instant::NEVER);
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
