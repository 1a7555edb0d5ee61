//! What the kernel tells over netlink, and is told: interfaces, queue disciplines, Wi-Fi.

pub mod clock;
pub(crate) mod counters;
pub(crate) mod netlink;
pub mod nl80211;
pub mod rtnetlink;
pub(crate) mod wire;
