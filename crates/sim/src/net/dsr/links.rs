//! A cache of links: a route may combine links of several routes.

use super::header::Broken;
use super::route::{MOST_NODES, Route};
use units::Instant;

#[derive(Clone, Copy, Debug)]
struct Link {
    from: u32,
    to: u32,
    until: Instant,
    /// Number of earlier links: without room the oldest link is removed.
    order: u64,
}

/// Links known to a node, in the order of their ends.
#[derive(Debug)]
pub(crate) struct Links {
    address: u32,
    known: Vec<Link>,
    limit: usize,
    learnt: u64,
}

impl Links {
    pub(super) fn new(address: u32, limit: usize) -> Self {
        Self { address, known: Vec::new(), limit, learnt: 0 }
    }

    /// Adds the links of a route. True if one of the links is new.
    pub(super) fn add(&mut self, route: &Route, now: Instant, until: Instant) -> bool {
        let mut news = false;
        for pair in route.nodes().windows(2) {
            self.learnt += 1;
            let link = Link { from: pair[0], to: pair[1], until, order: self.learnt };
            match self.place(link.from, link.to) {
                Ok(found) => {
                    news |= self.known[found].until <= now;
                    self.known[found] = link;
                }
                Err(mut place) => {
                    if self.known.len() == self.limit {
                        let Some(oldest) = (0..self.known.len()).min_by_key(|&at| self.known[at].order) else { break };
                        self.known.remove(oldest);
                        place -= usize::from(oldest < place);
                    }
                    self.known.insert(place, link);
                    news = true;
                }
            }
        }
        news
    }

    /// Route with the fewest hops, by breadth-first search.
    pub(super) fn find(&self, destination: u32, now: Instant, reached: &mut Vec<(u32, usize)>) -> Option<Route> {
        reached.clear();
        reached.push((self.address, 0));
        let mut at = 0;
        while let Some(&(node, _)) = reached.get(at) {
            if node == destination {
                return trace(reached, at);
            }
            let first = self.known.partition_point(|link| link.from < node);
            let out = self.known[first..].iter().take_while(|link| link.from == node);
            for link in out.filter(|link| link.until > now) {
                if reached.iter().all(|&(known, _)| known != link.to) {
                    reached.push((link.to, at));
                }
            }
            at += 1;
        }
        None
    }

    pub(super) fn remove(&mut self, broken: Broken) {
        if let Ok(place) = self.place(broken.from, broken.to) {
            self.known.remove(place);
        }
    }

    fn place(&self, from: u32, to: u32) -> Result<usize, usize> {
        self.known.binary_search_by_key(&(from, to), |link| (link.from, link.to))
    }
}

/// The way from the first node reached to the node at `at`; none if the way is too long.
fn trace(reached: &[(u32, usize)], mut at: usize) -> Option<Route> {
    let mut back = [0; MOST_NODES];
    for length in 0..MOST_NODES {
        let (node, before) = reached[at];
        back[length] = node;
        if at == 0 {
            return Route::of(back[..=length].iter().rev().copied());
        }
        at = before;
    }
    None
}
