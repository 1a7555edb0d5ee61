//! The route cache (RFC 4728, section 4.1): of links or of paths.

use super::action::Context;
use super::header::Broken;
use super::links::Links;
use super::paths::Paths;
use super::route::Route;
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

    /// Adds a route from this node that it requested or uses. True if the route is new.
    pub(super) fn add(&mut self, route: &Route, cx: &Context) -> bool {
        match self {
            Self::Links(links) => links.add(route, cx.now, expiry(cx)),
            Self::Paths(paths) => paths.add(route, true, cx.now, expiry(cx)),
        }
    }

    /// Adds a route from this node that it overheard, or that a forwarded packet showed. True if the route is new.
    pub(super) fn notice(&mut self, route: &Route, cx: &Context) -> bool {
        match self {
            Self::Links(links) => links.add(route, cx.now, expiry(cx)),
            Self::Paths(paths) => paths.add(route, false, cx.now, expiry(cx)),
        }
    }

    /// Returns the shortest route from this node. A route that the node `uses` itself is kept for longer.
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

/// Returns the time at which a route that is learnt now expires.
fn expiry(cx: &Context) -> Instant {
    if cx.given.route_timeout.is_zero() { Instant::NEVER } else { cx.now + cx.given.route_timeout }
}
