//! The `[routing]` table.

use super::Category;
use serde::{Deserialize, Serialize};
use units::Duration;

/// How packets find their way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Routing {
    /// The protocol.
    pub protocol: Protocol,
    /// Paths given by hand, for `protocol = "static"`; all others are the shortest by hops over links within the
    /// receive range.
    pub route: Vec<Route>,
    /// The parameters of AODV, for `protocol = "aodv"`; see `docs/routing.md`.
    pub aodv: Aodv,
}

/// A routing protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Routes fixed before the run; no routing packets.
    #[default]
    Static,
    /// Ad hoc on-demand distance vector routing (RFC 3561): routes are sought when a packet needs one.
    Aodv,
}

/// A path given by hand.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The node where the path starts.
    pub from: String,
    /// The node where it ends.
    pub to: String,
    /// The nodes between, in order. Empty: straight.
    #[serde(default)]
    pub via: Vec<String>,
}

/// Where packets of AODV wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RoutingPriority {
    /// Behind the data that waits already (ns-3).
    #[default]
    None,
    /// In front of all that waits, the newest first (ns-2, unless told otherwise).
    HeadOfQueue,
}

/// How far from the end of a route a node may be that repairs it (section 6.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RepairWithin {
    /// At most `max_repair_ttl` hops from the destination.
    #[default]
    MaxRepairTtl,
    /// The packet has come farther than it has yet to go (ns-2), however far that is.
    NearerHalf,
}

/// How a node that repairs a route looks for a way round (section 6.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RepairBy {
    /// By one request.
    #[default]
    OneRequest,
    /// By as many requests as a packet's origin makes (ns-2).
    WholeSearch,
}

/// How long a reply is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReplyWait {
    /// `node_traversal_time` a hop both ways; `net_traversal_time` after a request to all, doubled with each more (6.3).
    #[default]
    TraversalTime,
    /// 2 x TTL x the time a hop that the last three searches for this destination took, or before the first
    /// `node_traversal_time`; after requests to all times their number; at most 10 s (ns-2).
    Measured,
}

/// Who gets a route error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ErrorsTo {
    /// The neighbour that uses the route, by a frame with an ACK; all neighbours, by a broadcast, where several do.
    #[default]
    Precursors,
    /// All neighbours, always by a broadcast (ns-2).
    All,
}

/// The parameters of AODV: those of RFC 3561, section 10, under its names and with its defaults, then our own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the RFC or a convention that others differ in")]
pub struct Aodv {
    /// Lifetime of a route after its last use.
    pub active_route_timeout: Duration,
    /// Hello messages in a row that may be missing before a link counts as broken.
    pub allowed_hello_loss: u8,
    /// For how long requests of a neighbour are ignored that did not get a reply; zero for never. Default:
    /// `rreq_retries` x `net_traversal_time`.
    pub blacklist_timeout: Option<Duration>,
    /// Spacing of hello messages.
    #[serde(deserialize_with = "units::positive")]
    pub hello_interval: Duration,
    /// Added to the TTL of a request for local repair.
    pub local_add_ttl: u8,
    /// Destinations at most this many hops away are repaired locally. Default: 0.3 x `net_diameter`, rounded down.
    pub max_repair_ttl: Option<u8>,
    /// Lifetime that a destination gives to the route in its reply. Default: 2 x `active_route_timeout`.
    pub my_route_timeout: Option<Duration>,
    /// Most hops between two nodes; the TTL of a request that is to reach all.
    pub net_diameter: u8,
    /// How long a request may take to the farthest node and its reply back. Default: 2 x `node_traversal_time` x
    /// `net_diameter`.
    pub net_traversal_time: Option<Duration>,
    /// How long to wait for an RREP-ACK. Default: `node_traversal_time` + 10 ms.
    pub next_hop_wait: Option<Duration>,
    /// How long a packet takes over a hop, at a cautious estimate.
    #[serde(deserialize_with = "units::positive")]
    pub node_traversal_time: Duration,
    /// For how long a request is remembered. Default: 2 x `net_traversal_time`.
    pub path_discovery_time: Option<Duration>,
    /// Route errors that a node sends in a second at most.
    pub rerr_ratelimit: u8,
    /// Route requests that a node originates in a second at most.
    pub rreq_ratelimit: u8,
    /// Requests with the largest TTL that are made for a destination before it counts as unreachable.
    pub rreq_retries: u8,
    /// Hops added to the time that the reply to a request of limited TTL may take.
    pub timeout_buffer: u8,
    /// TTL of the first request for an unknown destination.
    pub ttl_start: u8,
    /// Added to the TTL of a request when no reply has come.
    pub ttl_increment: u8,
    /// Requests with a TTL above this go to all.
    pub ttl_threshold: u8,
    /// Broadcasts wait for a uniform time up to this, so that neighbours do not answer at once (RFC 5148).
    pub jitter: Duration,
    /// Send hello messages. Without them a link is broken when the MAC gives up a packet over it; with them, also then.
    pub hello: bool,
    /// Where a link breaks, look for a way round it from there (section 6.12).
    pub local_repair: bool,
    /// How far from the end of a route a node may be that repairs it.
    pub repair_within: RepairWithin,
    /// How a node that repairs a route looks for a way round.
    pub repair_by: RepairBy,
    /// How long a reply is waited for before the next request.
    pub reply_wait: ReplyWait,
    /// After a search in vain, no request for the destination is made for this long; its packets wait. ns-2: 10 s.
    pub search_hold: Duration,
    /// Who gets a route error.
    pub errors_to: ErrorsTo,
    /// A message of AODV that the MAC gives up is a broken link too, not only a data packet (ns-2).
    pub message_failures: bool,
    /// Only the destination replies (the D flag).
    pub destination_only: bool,
    /// A node that replies for a destination tells it about the route back (the G flag).
    pub gratuitous_rrep: bool,
    /// Ask for an RREP-ACK after each reply (the A flag).
    pub rrep_ack: bool,
    /// Packets that a node holds while their routes are sought; the oldest makes way.
    pub buffer_packets: u32,
    /// For how long it holds them.
    pub buffer_time: Duration,
    /// Discard what waits in the queue for a next hop when the link there breaks (ns-2), instead of leaving it to fail
    /// packet by packet (ns-3).
    pub purge_on_failure: bool,
    /// Where packets of AODV wait.
    pub routing_priority: RoutingPriority,
    /// The access category of packets of AODV, where `mac.access` is "edca".
    pub category: Category,
}

impl Default for Aodv {
    fn default() -> Self {
        Self {
            active_route_timeout: Duration::from_millis(3000),
            allowed_hello_loss: 2,
            blacklist_timeout: None,
            hello_interval: Duration::from_millis(1000),
            local_add_ttl: 2,
            max_repair_ttl: None,
            my_route_timeout: None,
            net_diameter: 35,
            net_traversal_time: None,
            next_hop_wait: None,
            node_traversal_time: Duration::from_millis(40),
            path_discovery_time: None,
            rerr_ratelimit: 10,
            rreq_ratelimit: 10,
            rreq_retries: 2,
            timeout_buffer: 2,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            jitter: Duration::from_millis(10),
            hello: false,
            local_repair: false,
            repair_within: RepairWithin::default(),
            repair_by: RepairBy::default(),
            reply_wait: ReplyWait::default(),
            search_hold: Duration::ZERO,
            errors_to: ErrorsTo::default(),
            message_failures: true,
            destination_only: false,
            gratuitous_rrep: false,
            rrep_ack: false,
            buffer_packets: 64,
            buffer_time: Duration::from_secs(30),
            purge_on_failure: true,
            routing_priority: RoutingPriority::None,
            category: Category::BestEffort,
        }
    }
}
