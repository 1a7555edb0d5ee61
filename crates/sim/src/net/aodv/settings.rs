//! The parameters of section 10 of RFC 3561, and values derived from them.

use crate::config;
use units::Duration;

/// Number of missing hello messages in a row after which a link counts as broken.
const ALLOWED_HELLO_LOSS: u64 = 2;
/// Time between hello messages.
pub(super) const HELLO_INTERVAL: Duration = Duration::from_secs(1);
/// Time after which a link without any message or hello counts as broken.
pub(super) const HELLO_LIFETIME: Duration = Duration::from_secs(ALLOWED_HELLO_LOSS);
/// TTL added to a request for local repair.
pub(super) const LOCAL_ADD_TTL: u8 = 2;
/// TTL added to each further request of a search.
pub(super) const TTL_INCREMENT: u8 = 2;
/// TTL above which a request goes through the whole network.
const TTL_THRESHOLD: u8 = 7;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(super) given: config::Aodv,
    pub(super) net_traversal_time: Duration,
    pub(super) path_discovery_time: Duration,
    pub(super) my_route_timeout: Duration,
    pub(super) blacklist_timeout: Duration,
    pub(super) next_hop_wait: Duration,
    pub(super) max_repair_ttl: u8,
    /// Upper bound of the random delay of broadcasts (RFC 5148).
    pub(super) jitter: Duration,
}

impl Settings {
    pub(crate) fn new(given: &config::Aodv) -> Self {
        let node = given.node_traversal_time;
        let net_traversal_time = node * 2 * u64::from(given.net_diameter);
        let retries = net_traversal_time * u64::from(given.rreq_retries);
        Self {
            net_traversal_time,
            path_discovery_time: given.path_discovery_time.unwrap_or(net_traversal_time * 2),
            my_route_timeout: given.my_route_timeout.unwrap_or(given.active_route_timeout * 2),
            blacklist_timeout: given.blacklist_timeout.unwrap_or(retries),
            next_hop_wait: node + Duration::from_millis(10),
            max_repair_ttl: given.net_diameter / 10 * 3 + given.net_diameter % 10 * 3 / 10,
            jitter: Duration::from_millis(10),
            given: given.clone(),
        }
    }

    /// Returns a request's TTL. Above the threshold it is that of the whole network (6.4).
    pub(super) fn ring(&self, ttl: u8) -> u8 {
        if ttl > TTL_THRESHOLD { self.given.net_diameter } else { ttl.min(self.given.net_diameter) }
    }

    /// Returns `RING_TRAVERSAL_TIME`: longest time until a reply to a request with this TTL.
    pub(super) fn ring_traversal_time(&self, ttl: u8) -> Duration {
        self.given.node_traversal_time * 2 * (u64::from(ttl) + u64::from(self.given.timeout_buffer))
    }
}
