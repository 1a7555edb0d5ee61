//! A station's table of its neighbours' keys (R3, R5, R6) and activity.

use super::key::{Key, Tells};
use units::{Duration, Instant};

/// The neighbours that a station has heard, by address.
#[derive(Debug, Default)]
pub(crate) struct Table {
    heard: Vec<Neighbour>,
}

/// What a frame says of its sender besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It answers.
    Responds,
    /// It asks for its turn.
    Asks,
    /// It has its turn.
    Sends,
}

#[derive(Clone, Copy, Debug)]
struct Neighbour {
    address: u32,
    /// The oldest packet that it has to send, as it told last.
    key: Option<Key>,
    /// Time at which it told that.
    told: Instant,
    /// Time at which it was last heard sending data or a request; none if never.
    active: Option<Instant>,
    /// Received power of that frame, in the medium's unit.
    power: u64,
}

impl Table {
    /// A frame of a neighbour was heard. Returns the key that the neighbour had told before.
    pub(in crate::mac) fn hear(
        &mut self,
        now: Instant,
        address: u32,
        tells: Tells,
        sign: Sign,
        power: u64,
    ) -> Option<Key> {
        let place = self.heard.binary_search_by_key(&address, |neighbour| neighbour.address);
        let place = place.unwrap_or_else(|place| {
            self.heard.insert(place, Neighbour { address, key: None, told: now, active: None, power });
            place
        });
        let neighbour = &mut self.heard[place];
        let before = neighbour.key;
        match tells {
            Tells::Nothing => {}
            Tells::Empty => (neighbour.key, neighbour.told) = (None, now),
            Tells::Next(key) => (neighbour.key, neighbour.told) = (Some(key), now),
        }
        if sign != Sign::Responds {
            (neighbour.active, neighbour.power) = (Some(now), power);
        }
        before
    }

    /// Returns the number of neighbours that reported an older key than this one within `expiry`.
    pub(in crate::mac) fn rank(&self, now: Instant, own: Key, expiry: Duration) -> u64 {
        let older =
            |neighbour: &&Neighbour| neighbour.key.is_some_and(|key| key < own) && now.since(neighbour.told) <= expiry;
        self.heard.iter().filter(older).count() as u64
    }

    /// Adds the strongest neighbours that were recently active to `asked`, until it has `most`.
    pub(in crate::mac) fn strongest(&self, now: Instant, activity: Duration, most: usize, asked: &mut Vec<u32>) {
        let active = |neighbour: &Neighbour| neighbour.active.is_some_and(|at| now.since(at) <= activity);
        while asked.len() < most {
            let others = self.heard.iter().filter(|other| active(other) && !asked.contains(&other.address));
            // Of equally strong ones the first by address.
            let Some(next) = others.min_by_key(|other| std::cmp::Reverse(other.power)) else { return };
            asked.push(next.address);
        }
    }
}
