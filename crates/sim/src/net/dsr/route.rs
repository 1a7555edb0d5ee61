//! Source routes.

/// Largest number of nodes in a source route, both ends included: `MAX_SR_LEN` of ns-2.
pub(crate) const MOST_NODES: usize = 16;

/// A sequence of nodes; no node occurs twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    nodes: [u32; MOST_NODES],
    length: u8,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.nodes().fmt(f)
    }
}

impl Route {
    pub(crate) const EMPTY: Self = Self { nodes: [0; MOST_NODES], length: 0 };

    /// Makes a route of these nodes; `None` if a node occurs twice or there are too many.
    pub(crate) fn of(nodes: impl IntoIterator<Item = u32>) -> Option<Self> {
        let mut route = Self::EMPTY;
        nodes.into_iter().all(|node| route.push(node)).then_some(route)
    }

    /// Appends a node. False, without a change, if there is no room or the node is on the route already.
    pub(crate) fn push(&mut self, node: u32) -> bool {
        if self.is_full() || self.contains(node) {
            return false;
        }
        self.nodes[usize::from(self.length)] = node;
        self.length += 1;
        true
    }

    /// Returns the nodes of the route in order.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes[..usize::from(self.length)]
    }

    pub(crate) fn at(&self, index: u8) -> Option<u32> {
        self.nodes().get(usize::from(index)).copied()
    }

    pub(crate) fn is_full(&self) -> bool {
        usize::from(self.length) == MOST_NODES
    }

    pub(crate) fn contains(&self, node: u32) -> bool {
        self.nodes().contains(&node)
    }

    pub(crate) fn position(&self, node: u32) -> Option<u8> {
        (0..self.length).find(|&index| self.nodes[usize::from(index)] == node)
    }

    /// Returns the number of hops; zero for an empty route.
    pub(crate) fn hops(&self) -> u8 {
        self.length.saturating_sub(1)
    }

    /// True if the route uses this link.
    pub(crate) fn uses(&self, from: u32, to: u32) -> bool {
        self.nodes().windows(2).any(|pair| pair == [from, to])
    }

    /// Returns the first `count` nodes of the route.
    pub(crate) fn first(&self, count: u8) -> Self {
        Self { length: self.length.min(count), ..*self }
    }

    /// Returns the way back from the node at `index` to the first node.
    pub(crate) fn back_from(&self, index: u8) -> Self {
        let nodes = self.first(index.saturating_add(1));
        Self::of(nodes.nodes().iter().rev().copied()).unwrap_or(Self::EMPTY)
    }

    /// Returns the rest of the route from the node at `index` on.
    pub(crate) fn rest_from(&self, index: u8) -> Self {
        Self::of(self.nodes().iter().skip(usize::from(index)).copied()).unwrap_or(Self::EMPTY)
    }

    /// Returns this route followed by another.
    pub(crate) fn then(&self, other: &Self) -> Option<Self> {
        Self::of(self.nodes().iter().chain(other.nodes()).copied())
    }
}
