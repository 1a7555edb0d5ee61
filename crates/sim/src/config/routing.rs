//! The `[routing]` table.

use super::{Category, Marks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, apply, choice, settings, table, with_defaults};

/// Routing of packets.
#[apply(settings)]
pub struct Routing {
    /// Routing protocol.
    pub protocol: Protocol,
    /// Configured paths, for `static`; all other paths have the fewest hops.
    pub route: Vec<Route>,
    /// AODV parameters; see `docs/routing.md`.
    pub aodv: Aodv,
    /// DSR parameters; see `docs/routing.md`.
    pub dsr: Dsr,
    /// Settings read so far.
    #[serde(skip)]
    pub marks: Marks,
}

impl Routing {
    /// The settings of AODV, marked as read where they act: a node reads them packet by packet.
    pub(crate) fn aodv(&self, edca: bool) -> &Aodv {
        let given = &self.aodv;
        self.marks.read_where(&[
            (true, &["aodv"]),
            (given.local_repair, &["aodv.repair_within", "aodv.repair_by"]),
            (given.packet_failures || given.message_failures, &["aodv.purge_on_failure"]),
            (given.reply_wait == ReplyWait::TraversalTime, &["aodv.timeout_buffer"]),
            (!given.destination_only, &["aodv.gratuitous_rrep"]),
            (edca, &["aodv.category"]),
        ]);
        given
    }

    /// The settings of DSR, marked as read where they act.
    pub(crate) fn dsr(&self, edca: bool) -> &Dsr {
        self.marks.read_where(&[(true, &["dsr"]), (edca, &["dsr.category"])]);
        &self.dsr
    }
}

/// A routing protocol.
#[apply(choice)]
pub enum Protocol {
    /// Routes fixed before the run; no routing packets.
    #[default]
    Static,
    /// Ad hoc on-demand distance vector routing (RFC 3561).
    Aodv,
    /// Dynamic source routing (RFC 4728).
    Dsr,
}

/// A configured path.
#[apply(table)]
pub struct Route {
    /// First node.
    pub from: String,
    /// Last node.
    pub to: String,
    /// Nodes between the ends, in order; empty for a direct link.
    #[serde(default)]
    pub via: Vec<String>,
}

/// Position of routing packets in queues.
#[apply(choice)]
pub enum RoutingPriority {
    /// Behind waiting data (ns-3).
    #[default]
    None,
    /// In front of all packets, newest first (ns-2).
    HeadOfQueue,
}

/// Distance from the destination at which a node repairs a route (RFC 3561, section 6.12).
#[apply(choice)]
pub enum RepairWithin {
    /// At most 0.3 x `net_diameter` hops from the destination.
    #[default]
    MaxRepairTtl,
    /// The packet has gone more than half of its way (ns-2).
    NearerHalf,
}

/// Search of a node that repairs a route (RFC 3561, section 6.12).
#[apply(choice)]
pub enum RepairBy {
    /// One request.
    #[default]
    OneRequest,
    /// As many requests as the source of a packet sends (ns-2).
    WholeSearch,
}

/// Wait for a reply.
#[apply(choice)]
pub enum ReplyWait {
    /// 2 x `node_traversal_time` x (TTL + `timeout_buffer`). After a network-wide request 2 x `node_traversal_time` x
    /// `net_diameter`, doubled with each further request (RFC 3561, section 6.3).
    #[default]
    TraversalTime,
    /// 2 x TTL x mean time per hop of the last three searches, initially `node_traversal_time`; n-fold for the n-th
    /// network-wide request; at most 10 s (ns-2).
    Measured,
}

/// Receivers of a route error.
#[apply(choice)]
pub enum ErrorsTo {
    /// A neighbour that alone uses the route, by unicast; several such neighbours, by broadcast.
    #[default]
    Precursors,
    /// All neighbours, by broadcast (ns-2).
    All,
}

with_defaults! {
    /// AODV. Keys named as in RFC 3561, section 10, come first, then keys of this implementation. Parameters without a
    /// key have the RFC's values.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Aodv {
        /// Lifetime of a route after its last use.
        pub active_route_timeout: Duration = Duration::from_millis(3000),
        /// Time for which requests of a neighbour are ignored after a reply to it failed; zero for never. Default:
        /// `rreq_retries` x 2 x `node_traversal_time` x `net_diameter`.
        pub blacklist_timeout: Option<Duration>,
        /// Lifetime of a route in its destination's reply. Default: 2 x `active_route_timeout`.
        pub my_route_timeout: Option<Duration>,
        /// Largest number of hops between two nodes: TTL of a network-wide request.
        pub net_diameter: u8 = 35,
        /// Conservative time per hop.
        #[serde(deserialize_with = "units::positive")]
        pub node_traversal_time: Duration = Duration::from_millis(40),
        /// Time to remember a request. Default: 4 x `node_traversal_time` x `net_diameter`.
        pub path_discovery_time: Option<Duration>,
        /// Limit on route errors per node and second.
        pub rerr_ratelimit: u8 = 10,
        /// Limit on route requests per source and second.
        pub rreq_ratelimit: u8 = 10,
        /// Network-wide requests before a destination is unreachable.
        pub rreq_retries: u8 = 2,
        /// Hops added to the wait for a reply to a request of limited TTL.
        pub timeout_buffer: u8 = 2,
        /// TTL of the first request.
        pub ttl_start: u8 = 1,
        /// Sends hello messages; a link breaks if they are missing.
        pub hello: bool,
        /// Local repair of a broken route (RFC 3561, section 6.12).
        pub local_repair: bool,
        /// Distance from the destination at which a node repairs a route.
        pub repair_within: RepairWithin,
        /// Search of a node that repairs a route.
        pub repair_by: RepairBy,
        /// Wait for a reply before the next request.
        pub reply_wait: ReplyWait,
        /// Pause after a failed search for a destination, while its packets wait.
        pub search_hold: Duration,
        /// Receivers of a route error.
        pub errors_to: ErrorsTo,
        /// An AODV message that the MAC gives up breaks the link, too.
        pub message_failures: bool = true,
        /// A data packet that the MAC gives up breaks the link; if false, only missing `hello` messages break links.
        pub packet_failures: bool = true,
        /// Only the destination replies (D flag).
        pub destination_only: bool,
        /// Gratuitous RREP from intermediate nodes to the destination (G flag).
        pub gratuitous_rrep: bool,
        /// RREP-ACK after each reply (A flag).
        pub rrep_ack: bool,
        /// Packets queued for a broken link are dropped, instead of failing one by one (ns-3).
        pub purge_on_failure: bool = true,
        /// Position of routing packets in queues.
        pub routing_priority: RoutingPriority = RoutingPriority::None,
        /// Access category of AODV packets, for `mac.access` "edca".
        pub category: Category = Category::BestEffort,
    }
}

/// Parameters and rules of DSR as a set; `docs/routing.md` lists those in which the sets differ.
#[apply(choice)]
pub enum DsrProfile {
    /// RFC 4728, with a cache of links.
    #[default]
    Rfc,
    /// ns-2.35, with a cache of paths.
    #[serde(rename = "ns-2")]
    Ns2,
}

with_defaults! {
    /// DSR (RFC 4728).
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Dsr {
        /// Parameters and rules.
        pub profile: DsrProfile,
        /// Packets queued for a broken link are salvaged at once.
        pub purge_on_failure: bool = true,
        /// Access category of DSR packets without data, for `mac.access` "edca".
        pub category: Category,
    }
}
