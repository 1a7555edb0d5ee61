//! How many messages an agent takes: from each sender, and from all together.

use crate::admission::message::Peer;
use units::{Duration, Instant};

/// Messages a second of one sender in the long run, and at once.
const OF_ONE: u64 = 50;
/// Messages a second of all senders in the long run, and at once.
const OF_ALL: u64 = 200;
/// Senders that are told apart at once; with more, the one that was quiet for longest begins anew.
const MOST_SENDERS: usize = 64;

/// What is allowed.
#[derive(Debug)]
pub(crate) struct Pace {
    all: Bucket,
    senders: Vec<(Peer, Bucket)>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { all: Bucket::new(OF_ALL), senders: Vec::new() }
    }
}

impl Pace {
    /// Whether one more message of a sender is allowed, and counts it.
    pub(crate) fn allows(&mut self, now: Instant, from: Peer) -> bool {
        let place = match self.senders.iter().position(|(sender, _)| *sender == from) {
            Some(place) => place,
            None if self.senders.len() < MOST_SENDERS => {
                self.senders.push((from, Bucket::new(OF_ONE)));
                self.senders.len() - 1
            }
            None => {
                let oldest = self.senders.iter().enumerate().min_by_key(|(_, (_, bucket))| bucket.filled);
                let place = oldest.map_or(0, |(place, _)| place);
                self.senders[place] = (from, Bucket::new(OF_ONE));
                place
            }
        };
        // One who sends too much takes nothing from the others.
        self.senders[place].1.take(now) && self.all.take(now)
    }

    /// When there is room for a message again.
    pub(crate) fn rests_until(&self, now: Instant) -> Instant {
        self.all.next(now)
    }
}

/// A token bucket that holds what a second brings.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Time that one token takes to come.
    each: Duration,
    /// Tokens that it holds at most.
    most: u64,
    /// How far the bucket was full: a token is there for each `each` between this and now.
    filled: Instant,
}

impl Bucket {
    const fn new(rate: u64) -> Self {
        Self { each: Duration::from_nanos(1_000_000_000 / rate), most: rate, filled: Instant::ZERO }
    }

    /// The earliest moment from which tokens are counted.
    fn begins(&self, now: Instant) -> Instant {
        let full = Instant::from_nanos(now.as_nanos().saturating_sub((self.each * self.most).as_nanos()));
        self.filled.max(full)
    }

    fn take(&mut self, now: Instant) -> bool {
        let after = self.begins(now) + self.each;
        if after > now {
            return false;
        }
        self.filled = after;
        true
    }

    fn next(&self, now: Instant) -> Instant {
        now.max(self.begins(now) + self.each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(port: u16) -> Peer {
        Peer::Program(port)
    }

    #[test]
    fn a_sender_has_fifty_messages_at_once_and_then_one_each_20_ms() {
        let (mut pace, start) = (Pace::default(), Instant::from_nanos(5_000_000_000));
        let taken = (0..100).filter(|_| pace.allows(start, program(1))).count();
        assert_eq!(taken, 50);
        let later = |millis| start + Duration::from_millis(millis);
        assert!(!pace.allows(later(19), program(1)));
        assert!(pace.allows(later(20), program(1)));
        assert!(!pace.allows(later(39), program(1)));
        // After a minute of silence it has a second's worth, not a minute's.
        let taken = (0..100).filter(|_| pace.allows(later(60_000), program(1))).count();
        assert_eq!(taken, 50);
    }

    #[test]
    fn all_have_two_hundred_whoever_they_are_and_however_many() {
        let (mut pace, start) = (Pace::default(), Instant::from_nanos(5_000_000_000));
        let taken = (0..1_000).filter(|port| pace.allows(start, program(*port))).count();
        assert_eq!(taken, 200);
        assert_eq!(pace.senders.len(), MOST_SENDERS);
        assert_eq!(pace.rests_until(start), start + Duration::from_millis(5));
        assert!(pace.allows(start + Duration::from_millis(5), program(7)));
    }

    #[test]
    fn one_that_sends_too_much_takes_nothing_from_others() {
        let (mut pace, start) = (Pace::default(), Instant::from_nanos(5_000_000_000));
        for _ in 0..10_000 {
            pace.allows(start, program(1));
        }
        let taken = (0..100).filter(|_| pace.allows(start, program(2))).count();
        assert_eq!(taken, 50);
    }
}
