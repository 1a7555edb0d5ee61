//! Limits how many messages an agent accepts: from each sender, and from all together.

use crate::admission::message::Peer;
use units::{Duration, Instant};

/// Messages per second of one sender, and its burst.
const OF_ONE: u64 = 50;
/// Messages per second of all senders, and their burst.
const OF_ALL: u64 = 200;
/// Most senders told apart; beyond that the one that was quiet for longest starts anew.
const MOST_SENDERS: usize = 64;

/// The two limits.
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
    /// Tells whether one more message of a sender is allowed, and counts it.
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
        // A sender that exceeds its limit takes nothing from the others.
        self.senders[place].1.take(now) && self.all.take(now)
    }

    /// Returns the instant from which a message is allowed again.
    pub(crate) fn rests_until(&self, now: Instant) -> Instant {
        self.all.next(now)
    }
}

/// A token bucket that holds the tokens of one second.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Time in which one token arrives.
    each: Duration,
    /// Capacity in tokens.
    most: u64,
    /// Fill level: one token for each `each` between this instant and now.
    filled: Instant,
}

impl Bucket {
    const fn new(rate: u64) -> Self {
        Self { each: Duration::from_nanos(1_000_000_000 / rate), most: rate, filled: Instant::ZERO }
    }

    /// The earliest instant from which tokens are counted.
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
        // After a minute of silence it has the tokens of a second, not of a minute.
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
