//! Limits what messages cost an agent: wake-ups, look-ups of routes, and messages accepted from each sender and from
//! all senders. Messages of admitted flows have a quota that unknown senders cannot use up. Requests to regulate these
//! flows have a third quota, so that answers always pass.

use crate::admission::message::{Neighbour, Peer};
use units::{Duration, Instant};

/// Time between two reads of the sockets: a wake-up costs much more than a message.
const BETWEEN_TURNS: Duration = Duration::from_millis(5);
/// Maximum number of messages per read of a socket: 6,400 per second. The kernel drops what its buffer cannot hold.
pub(crate) const TURN: usize = 32;
/// Messages per second from one sender, and its burst.
const OF_ONE: u64 = 50;
/// Messages per second from all neighbours, and their burst; the limit holds for each [`Standing`] apart.
const OF_ALL: u64 = 200;
/// Messages per second whose senders are checked by a route, and their burst; for each [`Standing`] apart.
const CHECKS: u64 = 1_000;
/// Maximum number of distinguished senders. A new sender replaces the one that was silent for longest.
const MOST_SENDERS: usize = 64;

/// Returns when messages may be read again, after a read that found some.
pub(crate) fn next_turn(now: Instant) -> Instant {
    now + BETWEEN_TURNS
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The message belongs to an admitted flow, or answers an open probe.
    Known,
    /// The message asks an admitted flow to regulate.
    Regulates,
    Stranger,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    /// A user of this machine with all of his programs.
    User(u32),
    Neighbour(Neighbour),
}

/// The limits, and how much of each is used.
#[derive(Debug)]
pub(crate) struct Pace {
    /// One bucket for each standing.
    all: [Bucket; 3],
    checks: [Bucket; 3],
    senders: Vec<(Sender, Bucket)>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { all: [Bucket::new(OF_ALL); 3], checks: [Bucket::new(CHECKS); 3], senders: Vec::new() }
    }
}

impl Pace {
    /// Counts one more message and returns true if it may be checked. A check costs some look-ups of routes.
    pub(crate) fn checks(&mut self, now: Instant, standing: Standing) -> bool {
        self.checks[standing as usize].take(now)
    }

    /// Counts one more message of a verified sender and returns true if it is allowed.
    pub(crate) fn allows(&mut self, now: Instant, from: Peer, standing: Standing) -> bool {
        let all = &mut self.all[standing as usize];
        if standing != Standing::Stranger {
            return all.take(now);
        }
        let from = match from {
            Peer::Program(program) => Sender::User(program.user),
            Peer::Neighbour(neighbour) => Sender::Neighbour(neighbour),
        };
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
        // A sender above its limit takes nothing from other senders. Neighbours take nothing from programs.
        self.senders[place].1.take(now) && (matches!(from, Sender::User(_)) || all.take(now))
    }
}

/// A token bucket that holds at most the tokens of one second.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Time between two tokens.
    each: Duration,
    /// Capacity in tokens.
    most: u64,
    /// Fill level: the time from this instant to now, divided by `each`, is the number of tokens.
    filled: Instant,
}

impl Bucket {
    const fn new(rate: u64) -> Self {
        Self { each: Duration::from_nanos(1_000_000_000 / rate), most: rate, filled: Instant::ZERO }
    }

    /// Returns the earliest instant from which tokens are counted.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::message::Program;
    use Standing::{Known, Regulates, Stranger};

    const START: Instant = Instant::from_nanos(5_000_000_000);

    fn program(user: u32) -> Peer {
        Peer::Program(Program { name: 7, user })
    }

    fn neighbour(address: u32) -> Peer {
        Peer::Neighbour(Neighbour { index: 1, address: address.into() })
    }

    #[test]
    fn a_sender_has_fifty_messages_at_once_and_then_one_each_20_ms() {
        let mut pace = Pace::default();
        // A user is one sender, however many programs he runs.
        let of_one = |name| Peer::Program(Program { name, user: 1 });
        let taken = (0..100).filter(|name| pace.allows(START, of_one(*name), Stranger)).count();
        assert_eq!(taken, 50);
        let later = |millis| START + Duration::from_millis(millis);
        assert!(!pace.allows(later(19), program(1), Stranger));
        assert!(pace.allows(later(20), program(1), Stranger));
        assert!(!pace.allows(later(39), program(1), Stranger));
        // After a minute of silence the bucket has the tokens of a second, not of a minute.
        let taken = (0..100).filter(|_| pace.allows(later(60_000), program(1), Stranger)).count();
        assert_eq!(taken, 50);
    }

    #[test]
    fn neighbours_have_two_hundred_whoever_they_are_and_however_many_and_programs_their_own() {
        let mut pace = Pace::default();
        let taken = (0..1_000).filter(|address| pace.allows(START, neighbour(*address), Stranger)).count();
        assert_eq!(taken, 200);
        assert!(pace.allows(START, program(1), Stranger));
        assert_eq!(pace.senders.len(), MOST_SENDERS);
        assert!(!pace.allows(START + Duration::from_millis(4), neighbour(7), Stranger));
        assert!(pace.allows(START + Duration::from_millis(5), neighbour(7), Stranger));
    }

    #[test]
    fn one_that_sends_too_much_takes_nothing_from_others() {
        let mut pace = Pace::default();
        for _ in 0..10_000 {
            pace.allows(START, program(1), Stranger);
        }
        let taken = (0..100).filter(|_| pace.allows(START, program(2), Stranger)).count();
        assert_eq!(taken, 50);
    }

    #[test]
    fn strangers_take_nothing_from_flows_that_are_admitted_nor_requests_from_answers_and_each_has_a_limit() {
        let mut pace = Pace::default();
        for user in 0..10_000 {
            pace.checks(START, Stranger);
            pace.allows(START, neighbour(user), Stranger);
        }
        assert!(!pace.checks(START, Stranger) && !pace.allows(START, neighbour(7), Stranger));
        for standing in [Regulates, Known] {
            assert_eq!((0..10_000).filter(|_| pace.checks(START, standing)).count(), 1_000);
            assert_eq!((0..10_000).filter(|_| pace.allows(START, neighbour(7), standing)).count(), 200);
        }
    }
}
