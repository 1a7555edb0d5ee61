//! The `[routing.dsr]` table.

use super::{Category, RoutingPriority};
use serde::{Deserialize, Serialize};
use units::Duration;

/// Route cache of a node (section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RouteCache {
    /// Links; a route may combine those of several packets.
    #[default]
    Links,
    /// Paths, those asked for apart from those overheard (ns-2).
    Paths,
}

/// Requests that neighbours do not pass on (section 3.3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NearRequest {
    /// At the beginning of a search.
    #[default]
    First,
    /// Before each request for all (ns-2).
    Each,
    /// Never.
    Never,
}

/// DSR: parameters of RFC 4728, section 9, then rules in which implementations differ.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the RFC or a convention that others differ in")]
pub struct Dsr {
    /// Hops that a request for all goes beyond the neighbours.
    pub discovery_hop_limit: u8,
    /// Upper bound of the random delay of requests, and of a target's replies.
    pub jitter: Duration,
    /// Time after which a route or link that was not seen again is forgotten; zero for never (ns-2).
    pub route_timeout: Duration,
    /// Packets held at a node during searches; the oldest is dropped.
    pub buffer_packets: u32,
    /// Time to hold them.
    pub buffer_time: Duration,
    /// Wait after the first request for all.
    pub request_period: Duration,
    /// Factor by which the wait grows with each request.
    pub request_backoff: u8,
    /// Longest wait.
    pub max_request_period: Duration,
    /// Wait after a request that neighbours do not pass on.
    pub near_timeout: Duration,
    /// Time between gratuitous replies to a node for one neighbour.
    pub shortening_holdoff: Duration,
    /// Most times that a packet is given another route; zero for no salvaging.
    pub max_salvage_count: u8,
    /// Route cache.
    pub cache: RouteCache,
    /// Most links known, for `cache` "links".
    pub cache_links: u32,
    /// Most paths known by own searches, for `cache` "paths".
    pub cache_paths: u32,
    /// Most other paths known, for `cache` "paths".
    pub cache_overheard: u32,
    /// Requests that neighbours do not pass on.
    pub near_request: NearRequest,
    /// Replies of nodes that know a route.
    pub replies_from_cache: bool,
    /// Nodes overhear frames for others, but not aggregates.
    pub promiscuous: bool,
    /// A node that overhears a packet on its way to it tells the sender the shorter route (section 3.4.3).
    pub shortening: bool,
    /// Nodes learn the way back from packets that they pass on or overhear, and from requests; ns-2: only from
    /// requests that they answer.
    pub learn_reverse: bool,
    /// Nodes learn from the replies that they pass on; ns-2: only from those overheard.
    pub learn_forwarded_replies: bool,
    /// A node that salvages and knows no route asks its neighbours (ns-2).
    pub salvage_search: bool,
    /// A request carries the link that broke last (section 3.4.4).
    pub spread_errors: bool,
    /// Packets queued for a broken link are salvaged at once.
    pub purge_on_failure: bool,
    /// Time between looks at the buffer, once to twice this at random; zero: packets leave when a route is learnt or
    /// a request is due.
    pub buffer_check: Duration,
    /// Time between packets that leave the buffer after a reply.
    pub release_interval: Duration,
    /// Bytes of a reply besides the addresses after the first.
    pub reply_bytes: u8,
    /// Position of DSR packets without data in queues.
    pub routing_priority: RoutingPriority,
    /// Access category of DSR packets without data, for `mac.access` "edca".
    pub category: Category,
}

impl Default for Dsr {
    fn default() -> Self {
        Self {
            discovery_hop_limit: 15,
            jitter: Duration::from_millis(10),
            route_timeout: Duration::from_secs(300),
            buffer_packets: 64,
            buffer_time: Duration::from_secs(30),
            request_period: Duration::from_millis(500),
            request_backoff: 2,
            max_request_period: Duration::from_secs(10),
            near_timeout: Duration::from_millis(30),
            shortening_holdoff: Duration::from_secs(1),
            max_salvage_count: 15,
            cache: RouteCache::Links,
            cache_links: 512,
            cache_paths: 30,
            cache_overheard: 64,
            near_request: NearRequest::First,
            replies_from_cache: true,
            promiscuous: true,
            shortening: true,
            learn_reverse: true,
            learn_forwarded_replies: true,
            salvage_search: false,
            spread_errors: true,
            purge_on_failure: true,
            buffer_check: Duration::ZERO,
            release_interval: Duration::ZERO,
            reply_bytes: 3,
            routing_priority: RoutingPriority::None,
            category: Category::BestEffort,
        }
    }
}
