//! Neighbour notes of a node: the newest note of each neighbour, and the time at which the node's own note is sent.

use crate::{Heard, Note};
use units::{Duration, Instant};

/// Shortest time between two notes of a node. If more notes are ordered within this time, only the newest is sent.
const SPACING: Duration = Duration::from_millis(100);

/// The node's own pending note, and the newest note of each neighbour, in tables of fixed size.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// The newest note that was ordered.
    ordered: Note,
    /// True if a time to send the note has already been returned.
    pending: bool,
    /// Earliest time of the next note.
    earliest: Instant,
    /// Notes in order of the neighbours' numbers; only the first `count` are valid. Ages are those at the last query.
    heard: [Heard; Self::MOST],
    /// Reception time of each note.
    at: [Instant; Self::MOST],
    count: usize,
}

impl Neighbours {
    /// Largest number of remembered neighbours. A further neighbour replaces the neighbour heard longest ago.
    pub const MOST: usize = 64;
    /// Largest random delay of a note, as for broadcasts in ad-hoc networks (RFC 5148): without a delay, nodes whose
    /// controllers decide at one time would send at once. A lost note is not repeated.
    pub const JITTER: Duration = Duration::from_millis(10);

    /// Starts with nothing to send and nothing heard.
    #[expect(clippy::large_stack_arrays, reason = "some 30 kB once for a node, and this crate has no heap")]
    pub fn new() -> Self {
        let none = Heard { from: 0, age: Duration::ZERO, note: Note::default() };
        Self {
            ordered: Note::default(),
            pending: false,
            earliest: Instant::ZERO,
            heard: [none; Self::MOST],
            at: [Instant::ZERO; Self::MOST],
            count: 0,
        }
    }

    /// Accepts a controller's note. Returns the time at which the note is [due](Self::due), with a random delay that
    /// `jitter` draws up to its argument. `None` if a note is already pending; the new note then replaces it.
    pub fn order(&mut self, now: Instant, note: &Note, jitter: impl FnOnce(Duration) -> Duration) -> Option<Instant> {
        self.ordered = *note;
        if core::mem::replace(&mut self.pending, true) {
            return None;
        }
        let from = self.earliest.max(now);
        self.earliest = from + SPACING;
        Some(from + jitter(Self::JITTER))
    }

    /// Returns the note to send now.
    pub fn due(&mut self) -> Note {
        self.pending = false;
        self.ordered
    }

    /// Records a neighbour's note.
    pub fn hear(&mut self, now: Instant, from: u32, note: &Note) {
        let newest = Heard { from, age: Duration::ZERO, note: *note };
        let mut place = match self.heard[..self.count].binary_search_by_key(&from, |heard| heard.from) {
            Ok(place) => {
                (self.heard[place], self.at[place]) = (newest, now);
                return;
            }
            Err(place) => place,
        };
        if self.count == Self::MOST
            && let Some((oldest, _)) = self.at.iter().enumerate().min_by_key(|&(_, at)| at)
        {
            self.heard.copy_within(oldest + 1.., oldest);
            self.at.copy_within(oldest + 1.., oldest);
            self.count -= 1;
            place -= usize::from(oldest < place);
        }
        self.heard.copy_within(place..self.count, place + 1);
        self.at.copy_within(place..self.count, place + 1);
        (self.heard[place], self.at[place]) = (newest, now);
        self.count += 1;
    }

    /// Returns the newest note of each neighbour, in the order of their numbers.
    pub fn heard(&mut self, now: Instant) -> &[Heard] {
        let heard = &mut self.heard[..self.count];
        for (heard, at) in heard.iter_mut().zip(&self.at) {
            heard.age = now.since(*at);
        }
        heard
    }
}

impl Default for Neighbours {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn note(hops: u8) -> Note {
        Note { hops, ..Note::default() }
    }

    #[test]
    fn of_notes_that_come_too_fast_the_newest_is_told_each_100_ms() {
        let mut notes = Neighbours::new();
        let mut told = Vec::new();
        let mut due = None;
        for millis in 0..1_000 {
            if due.is_some_and(|due| due <= at(millis)) {
                due = None;
                told.push((millis, notes.due()));
            }
            // From nothing to the largest, in turn.
            let jitter = |most: Duration| most * (told.len() as u64 % 3) / 2;
            #[expect(clippy::cast_possible_truncation, reason = "the last digits tell notes apart")]
            if let Some(when) = notes.order(at(millis), &note(millis as u8), jitter) {
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
        let mut notes = Neighbours::new();
        for (millis, from, hops) in [(10, 7, 1), (20, 3, 2), (30, 7, 3)] {
            notes.hear(at(millis), from, &note(hops));
        }
        let heard = |from, age, hops| Heard { from, age: Duration::from_millis(age), note: note(hops) };
        assert_eq!(notes.heard(at(50)), [heard(3, 30, 2), heard(7, 20, 3)]);
        assert_eq!(notes.heard(at(51))[0].age, Duration::from_millis(31));
    }

    #[test]
    fn of_more_than_64_neighbours_the_one_heard_longest_ago_is_forgotten() {
        let mut notes = Neighbours::new();
        // Neighbour 5 speaks again before the 65th does: 4 is then the oldest but for 0 to 3, which go first.
        for from in (0..64).chain([5, 200, 100, 201, 202]) {
            notes.hear(at(from.into()), from, &note(0));
        }
        let now = at(300);
        let known: Vec<u32> = notes.heard(now).iter().map(|heard| heard.from).collect();
        let expected: Vec<u32> = (4..64).chain([100, 200, 201, 202]).collect();
        assert_eq!(known, expected);
        assert!(notes.heard(now).iter().all(|heard| heard.age == now.since(at(heard.from.into()))));
        // One before all others, and one behind them.
        for from in [0, 900] {
            notes.hear(now, from, &note(1));
        }
        let known: Vec<u32> = notes.heard(now).iter().map(|heard| heard.from).collect();
        let expected: Vec<u32> = [0].into_iter().chain(6..64).chain([100, 200, 201, 202, 900]).collect();
        assert_eq!(known, expected);
    }
}
