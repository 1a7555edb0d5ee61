//! Numbers of link types (LINKTYPE_ of pcap).

/// The link types that can be read, for people.
pub(super) const KNOWN: &str = "Ethernet (1), raw IP (101, 228, 229), 802.11 (105), 802.11 with radiotap (127), \
     Linux cooked v1 (113) and v2 (276)";

pub(super) const ETHERNET: u32 = 1;
pub(super) const RAW_IP: u32 = 101;
pub(super) const IEEE_802_11: u32 = 105;
pub(super) const LINUX_COOKED: u32 = 113;
pub(super) const RADIOTAP: u32 = 127;
pub(super) const IPV4: u32 = 228;
pub(super) const IPV6: u32 = 229;
pub(super) const LINUX_COOKED_V2: u32 = 276;
