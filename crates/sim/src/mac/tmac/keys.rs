//! Keys that order packets by age, and a station's table of its neighbours' keys (R1, R3, R5, R6).

use units::{Bytes, Duration, Instant};

/// Length of a key: 48 bits of microseconds and 16 of origin and number (R2).
pub(crate) const KEY: Bytes = Bytes::new(8);

/// Sort key of packets by age: the smallest key belongs to the oldest packet. No two packets have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// Time at which the packet's first node made the packet.
    pub(crate) stamp: Instant,
    /// Flow of the packet.
    pub(crate) origin: u32,
    /// Number of the packet in the flow.
    pub(crate) serial: u32,
}

/// Keys in a frame of the packets that its sender still has to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tells {
    /// The frame has no field for a key.
    #[default]
    Nothing,
    /// The neighbour has no packets to send.
    Empty,
    /// The key of the oldest packet.
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

/// Key of its sender that a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It responds to another frame.
    Responds,
    Asks,
    Sends,
}

#[derive(Clone, Copy, Debug)]
struct Neighbour {
    address: u32,
    /// Key of the oldest packet that the neighbour has to send, as last reported.
    key: Option<Key>,
    /// Time of that report.
    told: Instant,
    /// Time at which the neighbour was last heard sending data or a request; none if never.
    active: Option<Instant>,
    /// Received power of that frame, in the medium's unit.
    power: u64,
}

impl Table {
    /// Records a neighbour's frame. Returns the key that the neighbour had reported before.
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

    /// Adds the strongest neighbours that were recently active to `asked`, up to `most` stations.
    pub(in crate::mac) fn strongest(&self, now: Instant, activity: Duration, most: usize, asked: &mut Vec<u32>) {
        let active = |neighbour: &Neighbour| neighbour.active.is_some_and(|at| now.since(at) <= activity);
        while asked.len() < most {
            let others = self.heard.iter().filter(|other| active(other) && !asked.contains(&other.address));
            // Among equally strong neighbours, the first by address.
            let Some(next) = others.min_by_key(|other| std::cmp::Reverse(other.power)) else { return };
            asked.push(next.address);
        }
    }
}
