//! The parameters of section 10, and values derived from them.

use crate::config;
use units::Duration;

/// Settings shared by all nodes.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(super) given: config::Aodv,
    pub(super) net_traversal_time: Duration,
    pub(super) path_discovery_time: Duration,
    pub(super) my_route_timeout: Duration,
    pub(super) blacklist_timeout: Duration,
    pub(super) next_hop_wait: Duration,
    pub(super) max_repair_ttl: u8,
}

impl Settings {
    pub(crate) fn new(given: &config::Aodv) -> Self {
        let node = given.node_traversal_time;
        let net_traversal_time = given.net_traversal_time.unwrap_or(node * 2 * u64::from(given.net_diameter));
        let retries = net_traversal_time * u64::from(given.rreq_retries);
        Self {
            net_traversal_time,
            path_discovery_time: given.path_discovery_time.unwrap_or(net_traversal_time * 2),
            my_route_timeout: given.my_route_timeout.unwrap_or(given.active_route_timeout * 2),
            blacklist_timeout: given.blacklist_timeout.unwrap_or(retries),
            next_hop_wait: given.next_hop_wait.unwrap_or(node + Duration::from_millis(10)),
            max_repair_ttl: given
                .max_repair_ttl
                .unwrap_or(given.net_diameter / 10 * 3 + given.net_diameter % 10 * 3 / 10),
            given: given.clone(),
        }
    }

    /// TTL after which a request goes to all (6.4).
    pub(super) fn ring(&self, ttl: u8) -> u8 {
        if ttl > self.given.ttl_threshold { self.given.net_diameter } else { ttl.min(self.given.net_diameter) }
    }

    /// `RING_TRAVERSAL_TIME`: longest time of a reply to a request with this TTL.
    pub(super) fn ring_traversal_time(&self, ttl: u8) -> Duration {
        self.given.node_traversal_time * 2 * (u64::from(ttl) + u64::from(self.given.timeout_buffer))
    }

    /// Lifetime of a link without a sign of life.
    pub(super) fn hello_lifetime(&self) -> Duration {
        self.given.hello_interval * u64::from(self.given.allowed_hello_loss)
    }
}
