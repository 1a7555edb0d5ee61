//! Keys that order packets by age, and the keys that a station has heard of its neighbours (rules R1, R3, R5, R6).

use units::{Bytes, Duration, Instant};

/// Length of a key: 48 bits for microseconds and 16 for origin and number (R2).
pub(crate) const KEY: Bytes = Bytes::new(8);

/// Sort key of packets by age: the smallest key belongs to the oldest packet. No two packets have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// Time at which the first node made the packet.
    pub(crate) stamp: Instant,
    /// Flow to which the packet belongs.
    pub(crate) origin: u32,
    /// Number of the packet in the flow.
    pub(crate) serial: u32,
}

/// What a frame says of the packets that its sender still has to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tells {
    /// The frame has no field for a key.
    #[default]
    Nothing,
    /// The sender has no packets to send.
    Empty,
    /// The key of the oldest packet that the sender has.
    Next(Key),
}

impl From<Option<Key>> for Tells {
    fn from(key: Option<Key>) -> Self {
        key.map_or(Self::Empty, Self::Next)
    }
}

/// The neighbours that a station has heard, sorted by address.
#[derive(Debug, Default)]
pub(crate) struct Table {
    heard: Vec<Neighbour>,
}

/// What kind of frame carried the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A response to another frame.
    Responds,
    Asks,
    Sends,
}

#[derive(Clone, Copy, Debug)]
struct Neighbour {
    address: u32,
    /// Key of the oldest packet that the neighbour has to send, as last reported.
    key: Option<Key>,
    /// Time at which the neighbour last reported a key.
    told: Instant,
    /// Time at which the neighbour was last heard sending data or a request; `None` if never.
    active: Option<Instant>,
    /// Power with which that frame was received, in the medium's unit.
    power: u64,
}

impl Table {
    /// Records a frame of a neighbour. Returns the key that the neighbour had reported before.
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

    /// Returns how many neighbours have reported an older key than `own` within `expiry`.
    pub(in crate::mac) fn rank(&self, now: Instant, own: Key, expiry: Duration) -> u64 {
        let older =
            |neighbour: &&Neighbour| neighbour.key.is_some_and(|key| key < own) && now.since(neighbour.told) <= expiry;
        self.heard.iter().filter(older).count() as u64
    }

    /// Adds to `asked` the strongest neighbours that were active within `activity`, until `most` stations are listed.
    pub(in crate::mac) fn strongest(&self, now: Instant, activity: Duration, most: usize, asked: &mut Vec<u32>) {
        let active = |neighbour: &Neighbour| neighbour.active.is_some_and(|at| now.since(at) <= activity);
        while asked.len() < most {
            let others = self.heard.iter().filter(|other| active(other) && !asked.contains(&other.address));
            // Among equally strong neighbours, this takes the first in order of address.
            let Some(next) = others.min_by_key(|other| std::cmp::Reverse(other.power)) else { return };
            asked.push(next.address);
        }
    }
}
