//! What a station remembers of each of its peers.

use super::{CATEGORIES, Reorder, SEQUENCES, Scoreboard};

/// Stands for no sequence number: it has more than 12 bits.
const NONE: u16 = u16::MAX;

/// The other stations with which a station has exchanged frames.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    /// Peers in order of address.
    known: Vec<Peer>,
}

#[derive(Debug)]
pub(super) struct Peer {
    address: u32,
    /// For each category, the number of the last data frame from the peer.
    last: [u16; CATEGORIES],
    /// For each category, the number of the next data frame to the peer.
    pub(super) next: [u16; CATEGORIES],
    /// Bitmask of categories in which the peer may still wait for frames that were given up.
    behind: u8,
    /// For each category, the received sequence numbers.
    reorders: [Option<Box<Reorder>>; CATEGORIES],
}

impl Peers {
    /// Remembers a frame from `address`. True if it is the first one with this number. Only a repetition can be a
    /// duplicate (10.3.2.11), because the 12-bit numbers wrap around.
    pub(super) fn is_new(&mut self, address: u32, category: u8, sequence: u16, retry: bool) -> bool {
        let last = &mut self.peer(address).last[usize::from(category)];
        std::mem::replace(last, sequence) != sequence || !retry
    }

    /// Returns the number of the next frame to `address`; each receiver and category has its own (10.3.2.11.2).
    pub(super) fn next_sequence(&mut self, address: u32, category: usize) -> u16 {
        let next = &mut self.peer(address).next[category];
        let sequence = *next;
        *next = (sequence + 1) % SEQUENCES;
        sequence
    }

    /// Sets the number of the next frame of a category to `address`.
    pub(super) fn go_on(&mut self, address: u32, category: usize, next: u16) {
        self.peer(address).next[category] = next;
    }

    /// True if `address` may still wait for frames of a category that were given up.
    pub(super) fn is_behind(&mut self, address: u32, category: usize) -> bool {
        self.peer(address).behind & 1 << category != 0
    }

    /// Like [`Self::is_behind`], but for a station of which nothing may be remembered yet: false in this case.
    pub(super) fn knows_behind(&self, address: u32, category: usize) -> bool {
        let known = self.known.binary_search_by_key(&address, |peer| peer.address);
        known.is_ok_and(|place| self.known[place].behind & 1 << category != 0)
    }

    /// Sets whether `address` may wait for frames of a category that were given up.
    pub(super) fn set_behind(&mut self, address: u32, category: usize, behind: bool) {
        let bits = &mut self.peer(address).behind;
        *bits = *bits & !(1 << category) | u8::from(behind) << category;
    }

    /// Returns the received sequence numbers from `address` in a category; their window has this size.
    pub(super) fn reorder(&mut self, address: u32, category: u8, window: u16) -> &mut Reorder {
        self.peer(address).reorders[usize::from(category)].get_or_insert_with(|| Box::new(Reorder::new(window)))
    }

    /// Returns the frames that have arrived from `address` in a category.
    pub(super) fn scoreboard(&self, address: u32, category: u8) -> Scoreboard {
        let known = self.known.binary_search_by_key(&address, |peer| peer.address);
        let reorder = known.ok().and_then(|place| self.known[place].reorders[usize::from(category)].as_ref());
        reorder.map(|reorder| reorder.scoreboard).unwrap_or_default()
    }

    pub(super) fn reorders(&self) -> impl Iterator<Item = &Reorder> {
        self.known.iter().flat_map(|peer| peer.reorders.iter().flatten().map(|reorder| &**reorder))
    }

    #[inline]
    pub(super) fn peer(&mut self, address: u32) -> &mut Peer {
        let place = match self.known.binary_search_by_key(&address, |peer| peer.address) {
            Ok(place) => place,
            Err(place) => {
                let (last, next) = ([NONE; CATEGORIES], [0; CATEGORIES]);
                self.known.insert(place, Peer { address, last, next, behind: 0, reorders: Default::default() });
                place
            }
        };
        &mut self.known[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_repetition_with_the_number_taken_last_is_a_duplicate() {
        let mut peers = Peers::default();
        let mut is_new = |sequence, retry| peers.is_new(3, 0, sequence, retry);
        assert!(is_new(7, false));
        assert!(!is_new(7, true));
        assert!(!is_new(7, true));
        // The first attempt was lost.
        assert!(is_new(8, true));
        assert!(!is_new(8, true));
        // 4096 packets later, those between went elsewhere.
        assert!(is_new(8, false));
    }

    #[test]
    fn every_peer_and_category_has_its_own_numbers() {
        let mut peers = Peers::default();
        assert!(peers.is_new(9, 0, 5, false) && peers.is_new(4, 0, 5, true) && peers.is_new(9, 1, 5, true));
        let numbers = [(9, 0), (9, 0), (9, 1), (4, 0), (9, 0)].map(|(to, category)| peers.next_sequence(to, category));
        assert_eq!(numbers, [0, 1, 0, 0, 2]);
        assert_eq!((0..4_096).map(|_| peers.next_sequence(2, 3)).last(), Some(4_095));
        assert_eq!(peers.next_sequence(2, 3), 0);
    }
}
