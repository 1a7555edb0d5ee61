//! Notes to neighbours as packets, and what a node keeps of them.

use super::network_bytes;
use crate::engine::Stream;
use control::{Heard, Neighbours, Note};
use units::{Bytes, Duration, Instant};

/// What a note says takes 28 B behind the headers of UDP and IP: domain 2 B, hops 1 B and a byte of version; rate, packets and
/// bytes that wait, 8 B each.
const FIELDS: Bytes = Bytes::new(28);
/// Each link that it tells of takes 12 B more: node 4 B, time 4 B, packets in a second 3 B, hops 1 B.
const LINK: Bytes = Bytes::new(12);

/// Length of a note's packet at the network layer.
pub(crate) fn note_bytes(note: &Note) -> Bytes {
    network_bytes(FIELDS + LINK * note.links.len() as u64)
}

/// What a node has to tell its neighbours, their newest notes, and the node's chance.
#[derive(Debug)]
pub(crate) struct Notes {
    table: Neighbours,
    chance: Stream,
}

impl Notes {
    /// Nothing is to be told, and nothing was heard.
    pub(crate) fn new(chance: Stream) -> Self {
        Self { table: Neighbours::new(), chance }
    }

    /// As [`Neighbours::order`].
    pub(crate) fn order(&mut self, now: Instant, note: &Note) -> Option<Instant> {
        let Self { table, chance } = self;
        table.order(now, note, |most| Duration::from_nanos(chance.up_to(most.as_nanos())))
    }

    /// As [`Neighbours::due`].
    pub(crate) fn due(&mut self) -> Note {
        self.table.due()
    }

    /// As [`Neighbours::hear`].
    pub(crate) fn hear(&mut self, now: Instant, from: u32, note: &Note) {
        self.table.hear(now, from, note);
    }

    /// As [`Neighbours::heard`].
    pub(crate) fn heard(&mut self, now: Instant) -> &[Heard] {
        self.table.heard(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Link;

    #[test]
    fn a_note_has_56_bytes_and_12_for_each_link() {
        // 28 of its own, 8 of UDP, 20 of IP.
        let note = Note { hops: 1, ..Note::default() };
        assert_eq!(note_bytes(&note), Bytes::new(56));
        let links = (1..=3).map(|node| Link { node, ..Link::default() }).collect();
        assert_eq!(note_bytes(&Note { links, ..note }), Bytes::new(92));
    }
}
