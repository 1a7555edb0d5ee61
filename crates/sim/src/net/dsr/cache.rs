//! The route cache (RFC 4728, section 4.1). It holds links, so that a route may combine several learnt routes. Or it
//! holds paths in two parts, as ns-2's `MobiCache` does: those that the node requested or uses, and overheard ones.

use super::action::Context;
use super::header::Broken;
use super::route::{MOST_NODES, Route};
use super::settings::{RouteCache, Settings};
use units::Instant;

#[derive(Debug)]
pub(crate) enum Cache {
    Links(Links),
    Paths(Paths),
}

impl Cache {
    pub(super) fn new(address: u32, given: &Settings) -> Self {
        match given.cache {
            RouteCache::Links => Self::Links(Links::new(address, given.cache_links)),
            RouteCache::Paths => Self::Paths(Paths::new(given)),
        }
    }

    /// Adds a route from this node that the node requested or uses. True if the route is new.
    pub(super) fn add(&mut self, route: &Route, cx: &Context) -> bool {
        match self {
            Self::Links(links) => links.add(route, cx.now, expiry(cx)),
            Self::Paths(paths) => paths.add(route, true, cx.now, expiry(cx)),
        }
    }

    /// Adds a route from this node that was overheard or seen in a forwarded packet. True if the route is new.
    pub(super) fn notice(&mut self, route: &Route, cx: &Context) -> bool {
        match self {
            Self::Links(links) => links.add(route, cx.now, expiry(cx)),
            Self::Paths(paths) => paths.add(route, false, cx.now, expiry(cx)),
        }
    }

    /// Returns the shortest route from this node. A route that the node itself `uses` is kept for longer.
    pub(super) fn find(&mut self, destination: u32, uses: bool, cx: &mut Context) -> Option<Route> {
        match self {
            Self::Links(links) => links.find(destination, cx.now, &mut cx.out.reached),
            Self::Paths(paths) => paths.find(destination, uses, cx.now),
        }
    }

    pub(super) fn remove(&mut self, broken: Broken) {
        match self {
            Self::Links(links) => links.remove(broken),
            Self::Paths(paths) => paths.remove(broken),
        }
    }
}

/// Returns the time at which a route learnt now will expire.
fn expiry(cx: &Context) -> Instant {
    if cx.given.route_timeout.is_zero() { Instant::NEVER } else { cx.now + cx.given.route_timeout }
}

#[derive(Clone, Copy, Debug)]
struct Link {
    from: u32,
    to: u32,
    until: Instant,
    /// Number of links that were added earlier. Without room the oldest link is removed.
    order: u64,
}

/// Links that a node knows, in the order of their ends.
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

    /// Adds the links of a route. True if any of them is new.
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

    /// Returns the route with the fewest hops, found by breadth-first search.
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

/// Returns the path from the first node reached to the node at `at`; `None` if it is too long.
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

/// A path that begins at the node that knows it.
#[derive(Clone, Copy, Debug)]
struct Path {
    route: Route,
    until: Instant,
}

/// Paths of one kind. Without room a new path replaces the oldest one.
#[derive(Debug)]
struct Part {
    paths: Vec<Path>,
    limit: usize,
    next: usize,
}

impl Part {
    fn new(limit: usize) -> Self {
        Self { paths: Vec::new(), limit, next: 0 }
    }

    /// Adds a path unless a known one begins with it. A path that extends a known one replaces it. True if new.
    fn add(&mut self, route: &Route, now: Instant, until: Instant) -> bool {
        for known in &mut self.paths {
            let (own, new) = (known.route.nodes(), route.nodes());
            if own.starts_with(new) || new.starts_with(own) {
                let news = new.len() > own.len() || known.until <= now;
                known.until = until;
                if new.len() > own.len() {
                    known.route = *route;
                }
                return news;
            }
        }
        let path = Path { route: *route, until };
        if let Some(free) = self.paths.iter_mut().find(|path| path.route.hops() == 0) {
            *free = path;
        } else if self.paths.len() < self.limit {
            self.paths.push(path);
        } else if let Some(victim) = self.paths.get_mut(self.next) {
            *victim = path;
            self.next = (self.next + 1) % self.limit;
        }
        true
    }

    /// Returns the index of the path with the shortest way to a node, and the number of hops.
    fn find(&self, destination: u32, now: Instant) -> Option<(usize, u8)> {
        let known = self.paths.iter().enumerate().filter(|(_, path)| path.until > now);
        let hops = known.filter_map(|(index, path)| Some((index, path.route.position(destination)?)));
        hops.filter(|&(_, hops)| hops > 0).min_by_key(|&(index, hops)| (hops, index))
    }

    fn remove(&mut self, broken: Broken) {
        for path in &mut self.paths {
            if path.route.uses(broken.from, broken.to) {
                let before = path.route.position(broken.from).unwrap_or(0);
                path.route = if before == 0 { Route::EMPTY } else { path.route.first(before + 1) };
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Paths {
    wanted: Part,
    overheard: Part,
}

impl Paths {
    pub(super) fn new(given: &Settings) -> Self {
        Self { wanted: Part::new(given.cache_paths), overheard: Part::new(given.cache_overheard) }
    }

    pub(super) fn add(&mut self, route: &Route, wanted: bool, now: Instant, until: Instant) -> bool {
        let part = if wanted { &mut self.wanted } else { &mut self.overheard };
        route.hops() > 0 && part.add(route, now, until)
    }

    /// Returns the shortest path. A path that the node `uses` moves to the requested paths.
    pub(super) fn find(&mut self, destination: u32, uses: bool, now: Instant) -> Option<Route> {
        let (wanted, overheard) = (self.wanted.find(destination, now), self.overheard.find(destination, now));
        let to = |part: &Part, (index, hops): (usize, u8)| part.paths[index].route.first(hops + 1);
        match (wanted, overheard) {
            (Some(own), other) if other.is_none_or(|other| own.1 <= other.1) => Some(to(&self.wanted, own)),
            (_, Some(other)) => {
                let route = to(&self.overheard, other);
                if uses {
                    let Path { route, until } = self.overheard.paths[other.0];
                    self.overheard.paths[other.0].route = Route::EMPTY;
                    self.wanted.add(&route, now, until);
                }
                Some(route)
            }
            (_, None) => None,
        }
    }

    pub(super) fn remove(&mut self, broken: Broken) {
        self.wanted.remove(broken);
        self.overheard.remove(broken);
    }
}
