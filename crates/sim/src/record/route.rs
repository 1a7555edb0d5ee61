//! Time at which the route of a flow last changed.

use crate::engine::{NodeId, Number as _};
use units::{Duration, Instant};

/// Route of a flow's packets, as seen by its nodes.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// By node: the neighbour to which it passed the flow's last packet.
    next: Vec<Option<u32>>,
    changed: Instant,
    /// Packets lost before the step began.
    pub(super) lost: u64,
}

impl Route {
    /// In a network of `nodes`.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { next: vec![None; nodes], changed: Instant::ZERO, lost: 0 }
    }

    /// Records that a node passes a packet to a neighbour.
    pub(crate) fn pass(&mut self, node: NodeId, to: u32, now: Instant) {
        if self.next[node.place()].replace(to).is_some_and(|before| before != to) {
            self.changed = now;
        }
    }

    /// Records a broken link on the route.
    pub(crate) fn fail(&mut self, now: Instant) {
        self.changed = now;
    }

    /// Time since the last change, or since the start.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.since(self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_changes_with_another_next_hop_or_a_broken_link() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut route = Route::new(3);
        assert_eq!(route.age(at(5)), Duration::from_secs(5));
        // A node's first packet has no other before it.
        route.pass(NodeId::at(0), 1, at(6));
        route.pass(NodeId::at(1), 2, at(6));
        route.pass(NodeId::at(0), 1, at(7));
        assert_eq!(route.age(at(8)), Duration::from_secs(8));
        route.pass(NodeId::at(0), 2, at(9));
        assert_eq!(route.age(at(12)), Duration::from_secs(3));
        route.fail(at(20));
        route.pass(NodeId::at(0), 2, at(21));
        assert_eq!(route.age(at(21)), Duration::from_secs(1));
    }
}
