//! Which queue of a node packets wait in, and what it still takes.

use super::Node;
use crate::mac::{CATEGORIES, Conventions};
use crate::net::Waiting;
use control::Limit;
use queue::Queue;
use units::Bytes;

/// How the queues of a node are ordered: groups of one queue an access category, the highest first, then one queue a
/// wired link. There is one group, or at an access point with a queue for each station one a station.
#[derive(Debug)]
pub(super) struct Layout {
    /// The stations of the groups, in order; empty where there is one group for all. Behind them may be one more group, for
    /// broadcasts.
    pub(super) stations: Vec<u32>,
    pub(super) groups: usize,
    pub(super) categories: usize,
    /// The node at the other end of each wired link, and the link.
    pub(super) wires: Vec<(u32, u32)>,
    /// Queues of the nodes before this one.
    pub(super) before: usize,
    /// By category, the group that was served last.
    last: [usize; CATEGORIES],
}

impl Layout {
    /// One group for all receivers, as most nodes have.
    pub(super) fn new(categories: usize, before: usize) -> Self {
        Self { stations: Vec::new(), groups: 1, categories, wires: Vec::new(), before, last: [0; CATEGORIES] }
    }

    /// Does the node send by radio?
    #[inline]
    pub(super) fn has_radio(&self) -> bool {
        self.groups > 0
    }

    /// The first queue of a wired link.
    fn first_wired(&self) -> usize {
        self.groups * self.categories
    }

    /// Is there a wired link to this node?
    pub(super) fn is_wired_to(&self, to: u32) -> bool {
        self.wires.iter().any(|&(other, _)| other == to)
    }

    /// The queue where packets for the next node `to` wait, which go by radio with this category.
    #[inline]
    pub(super) fn queue(&self, to: u32, category: u8) -> usize {
        if let Some(wire) = self.wires.iter().position(|&(other, _)| other == to) {
            return self.first_wired() + wire;
        }
        // A broadcast is addressed above all stations.
        let group = if self.stations.is_empty() { 0 } else { self.stations.partition_point(|&station| station < to) };
        group * self.categories + usize::from(category)
    }

    /// The wired link that a queue is for.
    #[inline]
    pub(super) fn wire(&self, queue: usize) -> Option<u32> {
        if self.wires.is_empty() {
            return None;
        }
        queue.checked_sub(self.first_wired()).map(|index| self.wires[index].1)
    }

    /// The queue of a category that is served next: of those that hold packets the one whose turn it is, group by group.
    #[inline]
    pub(super) fn next(&self, category: usize, holds: impl Fn(usize) -> bool) -> usize {
        if self.groups == 1 {
            return category;
        }
        let last = self.last[category];
        let mut turns = (1..=self.groups).map(|step| (last + step) % self.groups * self.categories + category);
        turns.find(|&queue| holds(queue)).unwrap_or(category)
    }

    /// A packet has left a queue.
    #[inline]
    pub(super) fn served(&mut self, queue: usize) {
        if self.groups > 1 {
            self.last[queue % self.categories] = queue / self.categories;
        }
    }
}

/// What a queue is called in the results of its node.
pub(super) fn name(nodes: &[Node], node: usize, queue: usize, rules: &Conventions) -> String {
    let layout = &nodes[node].layout;
    if let Some(wired) = queue.checked_sub(layout.first_wired()) {
        return format!("wired-to-{}", nodes[layout.wires[wired].0 as usize].name);
    }
    let category = rules.queue_name(queue % layout.categories);
    if layout.stations.is_empty() {
        return category.to_owned();
    }
    let station = layout.stations.get(queue / layout.categories);
    let station = station.map_or("broadcast", |&station| nodes[station as usize].name.as_str());
    if rules.edca() { format!("{station}-{category}") } else { station.to_owned() }
}

/// Does a packet of this length fit without another making way for it?
pub(super) fn has_room(queue: &Queue<Waiting>, length: Bytes) -> bool {
    let backlog = queue.backlog();
    match queue.limit() {
        Limit::Packets(packets) => backlog.packets < u64::from(packets),
        Limit::Bytes(bytes) => backlog.bytes + length <= bytes,
    }
}
