//! Reports on links that sending nodes exchange.

use crate::List;
use core::ops::Deref;
use serde::{Deserialize, Serialize};
use units::Duration;

/// What a sending node reports of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Identifier of the node, drawn at random.
    pub node: u32,
    /// Channel time that a packet takes, with its share of overhead, acknowledgement and retransmissions.
    pub time: Duration,
    /// Packets sent per second.
    pub packets: u32,
    /// Largest hop count of the node's packets, this hop included.
    pub hops: u8,
}

/// The links of a collision domain, in a fixed table: the sender of the note first, then the nodes that it hears.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "List<Link, 16>")]
pub struct Links(List<Link, { Self::MOST }>);

impl Links {
    /// Largest number of links. Further links are left out.
    pub const MOST: usize = 16;

    /// Adds a link, unless the table is full or already has a link of this node.
    pub fn push(&mut self, link: Link) {
        if self.iter().all(|other| other.node != link.node) {
            self.0.push(link);
        }
    }

    /// Sorts the links by hops and then by node, so that nodes with the same links have the same order.
    #[must_use]
    pub fn by_hops(mut self) -> Self {
        self.0.sort_unstable_by_key(|link| (link.hops, link.node));
        self
    }
}

impl Deref for Links {
    type Target = [Link];

    fn deref(&self) -> &[Link] {
        &self.0
    }
}

impl FromIterator<Link> for Links {
    fn from_iter<I: IntoIterator<Item = Link>>(links: I) -> Self {
        let mut table = Self::default();
        for link in links {
            table.push(link);
        }
        table
    }
}

impl From<List<Link, { Self::MOST }>> for Links {
    fn from(list: List<Link, { Self::MOST }>) -> Self {
        list.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(node: u32, hops: u8) -> Link {
        Link { node, time: Duration::from_micros(7), packets: 9, hops }
    }

    #[test]
    fn a_table_has_room_for_sixteen_and_none_twice() {
        let links: Links = (0..40).map(|node| link(node / 2, 1)).collect();
        assert!(links.iter().map(|link| link.node).eq(0..16));
        assert!(Links::default().is_empty() && !links.is_empty());
    }

    #[test]
    fn links_are_read_as_they_are_written_and_ordered_by_hops() {
        let links: Links = [link(5, 3), link(9, 1), link(2, 3)].into_iter().collect();
        let text = serde_json::to_string(&links).unwrap();
        assert_eq!(serde_json::from_str::<Links>(&text).unwrap(), links);
        assert!(links.by_hops().iter().map(|link| link.node).eq([9, 2, 5]));
    }
}
