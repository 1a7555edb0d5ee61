//! A cache of paths in two parts, like ns-2's `MobiCache`: paths that the node requested or uses, and overheard paths.

use super::header::Broken;
use super::route::Route;
use super::settings::Settings;
use units::Instant;

/// A path known to a node, which is the path's first node.
#[derive(Clone, Copy, Debug)]
struct Path {
    route: Route,
    until: Instant,
}

/// Paths of one kind. If no place is free, a new path replaces the oldest path.
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

    /// Adds a path, unless a known one begins with it; extends a known path with which it begins. True if it is new.
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

    /// Index and hops of the shortest way to a node.
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

    /// Returns the shortest path; a path that the node uses moves to the requested paths.
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
