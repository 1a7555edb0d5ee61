//! Notes to neighbours: when a node tells one, and what it has heard.

use super::network_bytes;
use crate::engine::Stream;
use control::{Heard, Note};
use units::{Bytes, Duration, Instant};

/// What a note says takes 36 B behind the headers of UDP and IP: domain 2 B, hops 1 B and a byte of version; rate, packets and
/// bytes that wait, and cost, 8 B each.
const FIELDS: Bytes = Bytes::new(36);
/// A node tells no more than one note in so long; of those that are ordered sooner, the newest.
const SPACING: Duration = Duration::from_millis(100);
/// A note is put off by a random time up to this one, as broadcasts in ad-hoc networks are (RFC 5148): nodes whose controllers
/// decide at one time would all send at one time, and no note is repeated.
const JITTER: Duration = Duration::from_millis(10);
/// So many neighbours are remembered; then the one that was heard longest ago is forgotten.
const MOST_NEIGHBOURS: usize = 64;

/// Length of a note's packet at the network layer.
pub(crate) fn note_bytes() -> Bytes {
    network_bytes(FIELDS)
}

/// What a node has to tell its neighbours, and their newest notes.
#[derive(Debug)]
pub(crate) struct Notes {
    /// The newest that was ordered.
    ordered: Note,
    /// It is to be told at a moment that has been given.
    pending: bool,
    /// The next may be told from here on.
    earliest: Instant,
    chance: Stream,
    /// In order of the neighbours' numbers. Ages are as they were when last asked for.
    heard: Vec<Heard>,
    /// When each was heard.
    at: Vec<Instant>,
}

impl Notes {
    /// Nothing is to be told, and nothing was heard.
    pub(crate) fn new(chance: Stream) -> Self {
        Self {
            ordered: Note::default(),
            pending: false,
            earliest: Instant::ZERO,
            chance,
            heard: Vec::with_capacity(MOST_NEIGHBOURS),
            at: Vec::with_capacity(MOST_NEIGHBOURS),
        }
    }

    /// A controller orders a note. Returns when it is [due](Self::due), unless that has been said of an earlier one, whose
    /// place it takes.
    pub(crate) fn order(&mut self, now: Instant, note: Note) -> Option<Instant> {
        self.ordered = note;
        if std::mem::replace(&mut self.pending, true) {
            return None;
        }
        let from = self.earliest.max(now);
        self.earliest = from + SPACING;
        Some(from + Duration::from_nanos(self.chance.up_to(JITTER.as_nanos())))
    }

    /// The note that is to be told now.
    pub(crate) fn due(&mut self) -> Note {
        self.pending = false;
        self.ordered
    }

    /// A neighbour's note has come in.
    pub(crate) fn hear(&mut self, now: Instant, from: u32, note: Note) {
        let newest = Heard { from, age: Duration::ZERO, note };
        let mut place = match self.heard.binary_search_by_key(&from, |heard| heard.from) {
            Ok(place) => {
                (self.heard[place], self.at[place]) = (newest, now);
                return;
            }
            Err(place) => place,
        };
        if self.heard.len() == MOST_NEIGHBOURS
            && let Some((oldest, _)) = self.at.iter().enumerate().min_by_key(|&(_, at)| at)
        {
            self.heard.remove(oldest);
            self.at.remove(oldest);
            place -= usize::from(oldest < place);
        }
        self.heard.insert(place, newest);
        self.at.insert(place, now);
    }

    /// The newest note of each neighbour.
    pub(crate) fn heard(&mut self, now: Instant) -> &[Heard] {
        for (heard, at) in self.heard.iter_mut().zip(&self.at) {
            heard.age = now.since(*at);
        }
        &self.heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Purpose;

    fn notes() -> Notes {
        Notes::new(Stream::new(1, "n0", Purpose::Notes))
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn note(hops: u8) -> Note {
        Note { hops, ..Note::default() }
    }

    #[test]
    fn a_note_has_64_bytes() {
        // 36 of its own, 8 of UDP, 20 of IP.
        assert_eq!(note_bytes(), Bytes::new(64));
    }

    #[test]
    fn of_notes_that_come_too_fast_the_newest_is_told_each_100_ms() {
        let mut notes = notes();
        let mut told = Vec::new();
        let mut due = None;
        for millis in 0..1_000 {
            if due.is_some_and(|due| due <= at(millis)) {
                due = None;
                told.push((millis, notes.due()));
            }
            #[expect(clippy::cast_possible_truncation, reason = "the last digits tell notes apart")]
            if let Some(when) = notes.order(at(millis), note(millis as u8)) {
                assert!(due.is_none() && when >= at(millis));
                due = Some(when);
            }
        }
        assert_eq!(told.len(), 10, "{told:?}");
        for (index, &(millis, told)) in (0_u64..).zip(&told) {
            // Put off by at most 10 ms, in the next whole one.
            assert!((100 * index..=100 * index + 11).contains(&millis), "{millis}");
            assert_eq!(u64::from(told.hops), (millis - 1) % 256, "the newest");
        }
    }

    #[test]
    fn the_newest_note_of_each_neighbour_is_there_with_its_age() {
        let mut notes = notes();
        for (millis, from, hops) in [(10, 7, 1), (20, 3, 2), (30, 7, 3)] {
            notes.hear(at(millis), from, note(hops));
        }
        let heard = |from, age, hops| Heard { from, age: Duration::from_millis(age), note: note(hops) };
        assert_eq!(notes.heard(at(50)), [heard(3, 30, 2), heard(7, 20, 3)]);
        assert_eq!(notes.heard(at(51))[0].age, Duration::from_millis(31));
    }

    #[test]
    fn of_more_than_64_neighbours_the_one_heard_longest_ago_is_forgotten_and_nothing_is_allocated() {
        let mut notes = notes();
        let room = (notes.heard.capacity(), notes.at.capacity());
        // Neighbour 5 speaks again before the 65th does: 4 is then the oldest but for 0 to 3, which go first.
        for from in (0..64).chain([5, 200, 100, 201, 202]) {
            notes.hear(at(from.into()), from, note(0));
        }
        let now = at(300);
        let known: Vec<u32> = notes.heard(now).iter().map(|heard| heard.from).collect();
        let expected: Vec<u32> = (4..64).chain([100, 200, 201, 202]).collect();
        assert_eq!(known, expected);
        assert!(notes.heard(now).iter().all(|heard| heard.age == now.since(at(heard.from.into()))));
        assert_eq!((notes.heard.capacity(), notes.at.capacity()), room);
    }
}
