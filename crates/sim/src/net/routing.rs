//! Static routes: those with the fewest hops over links within the receive range, or given paths.

use crate::engine::{FlowId, List};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RouteError {
    /// No chain of links within range leads to the destination.
    Unreachable,
    /// Two successive nodes of a given path do not hear each other.
    TooFar { from: u32, to: u32 },
    /// A given path visits this node twice.
    Twice { node: u32 },
}

/// Next hop of every flow, for each node on its path.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// For each flow: (node, next hop), in order of the path.
    hops: List<FlowId, Vec<(u32, u32)>>,
}

impl Routes {
    /// Adds the route of the next flow: its path from the source on.
    pub(crate) fn add(&mut self, path: &[u32]) {
        self.hops.push(path.windows(2).map(|pair| (pair[0], pair[1])).collect());
    }

    /// Returns the next hop of a flow's packet at `node`; `None` at the end of the path.
    pub(crate) fn next(&self, flow: FlowId, node: u32) -> Option<u32> {
        self.hops[flow].iter().find(|&&(at, _)| at == node).map(|&(_, next)| next)
    }

    /// Returns the hops of a flow, in order of the path.
    pub(crate) fn hops(&self, flow: FlowId) -> &[(u32, u32)] {
        &self.hops[flow]
    }

    /// Returns the shortest path from `from` to `to`, where `neighbours[n]` lists the nodes that `n` reaches. Among
    /// equally short paths, it is the one whose nodes come first in the scenario.
    pub(crate) fn shortest(neighbours: &[Vec<u32>], from: u32, to: u32) -> Result<Vec<u32>, RouteError> {
        if neighbours[from as usize].contains(&to) {
            return Ok(vec![from, to]);
        }
        let mut before: Vec<Option<u32>> = vec![None; neighbours.len()];
        before[from as usize] = Some(from);
        let mut frontier = vec![from];
        while before[to as usize].is_none() && !frontier.is_empty() {
            let mut next = Vec::new();
            for node in frontier {
                for &neighbour in &neighbours[node as usize] {
                    let entry = &mut before[neighbour as usize];
                    if entry.is_none() {
                        *entry = Some(node);
                        next.push(neighbour);
                    }
                }
            }
            frontier = next;
        }
        let mut path = vec![to];
        let mut node = to;
        while node != from {
            node = before[node as usize].ok_or(RouteError::Unreachable)?;
            path.push(node);
        }
        path.reverse();
        Ok(path)
    }

    /// Returns the number of hops from `from` to each node, where `neighbours[n]` lists the nodes that `n` reaches;
    /// `None` if no path leads to a node.
    pub(crate) fn distances(neighbours: &[Vec<u32>], from: u32) -> Vec<Option<u32>> {
        let mut distances = vec![None; neighbours.len()];
        distances[from as usize] = Some(0);
        let mut frontier = vec![from];
        for hops in 1.. {
            let mut next = Vec::new();
            for &neighbour in frontier.iter().flat_map(|&node| &neighbours[node as usize]) {
                let distance = &mut distances[neighbour as usize];
                if distance.is_none() {
                    *distance = Some(hops);
                    next.push(neighbour);
                }
            }
            if next.is_empty() {
                break;
            }
            frontier = next;
        }
        distances
    }

    pub(crate) fn check(neighbours: &[Vec<u32>], path: &[u32]) -> Result<(), RouteError> {
        // The next hop depends only on the node, so the packet would loop for ever.
        if let Some((_, &node)) = path.iter().enumerate().find(|&(index, node)| path[..index].contains(node)) {
            return Err(RouteError::Twice { node });
        }
        for pair in path.windows(2) {
            if !neighbours[pair[0] as usize].contains(&pair[1]) {
                return Err(RouteError::TooFar { from: pair[0], to: pair[1] });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Number as _;

    /// 0 - 1 - 2 - 3, 0 - 4 - 3, and 5 alone.
    fn diamond() -> Vec<Vec<u32>> {
        vec![vec![1, 4], vec![0, 2], vec![1, 3], vec![2, 4], vec![0, 3], vec![]]
    }

    #[test]
    fn the_shortest_path_is_found_and_ties_go_to_the_first() {
        assert_eq!(Routes::shortest(&diamond(), 0, 3), Ok(vec![0, 4, 3]));
        assert_eq!(Routes::shortest(&diamond(), 0, 0), Ok(vec![0]));
        assert_eq!(Routes::shortest(&diamond(), 0, 5), Err(RouteError::Unreachable));
        let square = vec![vec![1, 2], vec![0, 3], vec![0, 3], vec![1, 2]];
        assert_eq!(Routes::shortest(&square, 0, 3), Ok(vec![0, 1, 3]));
    }

    #[test]
    fn a_path_by_hand_needs_every_link() {
        assert_eq!(Routes::check(&diamond(), &[0, 1, 2, 3]), Ok(()));
        assert_eq!(Routes::check(&diamond(), &[0, 3]), Err(RouteError::TooFar { from: 0, to: 3 }));
    }

    #[test]
    fn a_path_by_hand_comes_by_each_node_once() {
        assert_eq!(Routes::check(&diamond(), &[0, 1, 2, 1, 0, 4, 3]), Err(RouteError::Twice { node: 1 }));
    }

    #[test]
    fn packets_follow_the_path_until_its_end() {
        let mut routes = Routes::default();
        let flow = FlowId::at(0);
        routes.add(&[0, 4, 3]);
        assert_eq!((routes.next(flow, 0), routes.next(flow, 4), routes.next(flow, 3)), (Some(4), Some(3), None));
    }
}
