//! What the kernel tells over netlink, and is told: interfaces, queue disciplines, Wi-Fi, routes.

pub mod clock;
pub(crate) mod counters;
pub(crate) mod netlink;
pub mod nl80211;
pub(crate) mod routes;
pub mod rtnetlink;
pub(crate) mod socket;
pub(crate) mod wire;
