//! The parameters of RFC 4728, section 9, and sets of rules in which implementations differ.

use crate::config::{Dsr, DsrProfile, RoutingPriority};
use units::Duration;

/// Kind of a node's route cache (section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteCache {
    /// Links; a route may combine links from several packets.
    Links,
    /// Paths; requested ones are kept apart from overheard ones (ns-2).
    Paths,
}

/// When requests that neighbours do not pass on are sent (section 3.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NearRequest {
    /// Only at the beginning of a search.
    First,
    /// Before each network-wide request (ns-2).
    Each,
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the RFC or a rule in which others differ")]
pub(crate) struct Settings {
    /// Upper bound of the random delay of requests, and of replies by the target.
    pub(super) jitter: Duration,
    /// Lifetime of a route or link that is not seen again; zero for no limit (ns-2).
    pub(super) route_timeout: Duration,
    /// Time for which packets wait during searches.
    pub(super) buffer_time: Duration,
    /// Time to wait after the first network-wide request.
    pub(super) request_period: Duration,
    /// Factor by which the wait grows with each request.
    pub(super) request_backoff: u8,
    /// Largest number of times that a packet's route is replaced.
    pub(super) max_salvage_count: u8,
    pub(super) cache: RouteCache,
    /// Largest number of known links.
    pub(super) cache_links: usize,
    /// Largest number of known paths from own searches.
    pub(super) cache_paths: usize,
    /// Largest number of known paths that are not from own searches.
    pub(super) cache_overheard: usize,
    pub(super) near_request: NearRequest,
    /// True if nodes that know a route reply.
    pub(super) replies_from_cache: bool,
    /// True if nodes learn the reverse route from requests and from packets that they pass on or overhear. In ns-2 they
    /// learn it only from requests that they answer.
    pub(super) learn_reverse: bool,
    /// True if nodes learn from replies that they pass on. In ns-2 they learn only from overheard replies.
    pub(super) learn_forwarded_replies: bool,
    /// True if a node that salvages and knows no route asks its neighbours (ns-2).
    pub(super) salvage_search: bool,
    /// True if packets that wait in a queue for a broken link are salvaged at once.
    pub(crate) purge_on_failure: bool,
    /// Time between buffer checks, drawn between this time and its double. With zero, packets leave when a route is
    /// learnt or a request is due.
    pub(super) buffer_check: Duration,
    /// Time between two packets that leave the buffer after a reply.
    pub(super) release_interval: Duration,
    /// Bytes of a reply, without the addresses after the first one.
    pub(super) reply_bytes: u8,
    /// Where DSR packets without data join a queue.
    pub(crate) routing_priority: RoutingPriority,
}

impl Settings {
    /// The rules of RFC 4728.
    pub(super) const RFC: Self = Self {
        jitter: Duration::from_millis(10),
        route_timeout: Duration::from_secs(300),
        buffer_time: Duration::from_secs(30),
        request_period: Duration::from_millis(500),
        request_backoff: 2,
        max_salvage_count: 15,
        cache: RouteCache::Links,
        cache_links: 512,
        cache_paths: 30,
        cache_overheard: 64,
        near_request: NearRequest::First,
        replies_from_cache: true,
        learn_reverse: true,
        learn_forwarded_replies: true,
        salvage_search: false,
        purge_on_failure: true,
        buffer_check: Duration::ZERO,
        release_interval: Duration::ZERO,
        reply_bytes: 3,
        routing_priority: RoutingPriority::None,
    };
    /// The rules of ns-2.35.
    pub(super) const NS2: Self = Self {
        cache: RouteCache::Paths,
        route_timeout: Duration::ZERO,
        near_request: NearRequest::Each,
        request_period: Duration::from_secs(2),
        request_backoff: 4,
        learn_reverse: false,
        learn_forwarded_replies: false,
        salvage_search: true,
        buffer_check: Duration::from_millis(30),
        release_interval: Duration::from_millis(30),
        reply_bytes: 9,
        routing_priority: RoutingPriority::HeadOfQueue,
        ..Self::RFC
    };

    pub(crate) fn new(given: &Dsr) -> Self {
        let profile = match given.profile {
            DsrProfile::Rfc => Self::RFC,
            DsrProfile::Ns2 => Self::NS2,
        };
        Self { purge_on_failure: given.purge_on_failure, ..profile }
    }
}
