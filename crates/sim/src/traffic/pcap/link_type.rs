//! Numbers of link types (LINKTYPE_ of pcap).

/// Names of the link types that can be read.
pub(super) const KNOWN: &str = "Ethernet (1), raw IP (101, 228, 229), BSD loopback (0, 108), PPP (9, 50, 51, 166, 204), 802.11 \
     (105), 802.11 with radiotap (127), AVS (163) or PPI (192), Linux cooked v1 (113) and v2 (276), but not Prism (119)";

pub(super) const BSD_LOOPBACK: u32 = 0;
pub(super) const ETHERNET: u32 = 1;
pub(super) const PPP: u32 = 9;
pub(super) const PPP_HDLC: u32 = 50;
pub(super) const PPP_ETHERNET: u32 = 51;
pub(super) const RAW_IP: u32 = 101;
pub(super) const IEEE_802_11: u32 = 105;
pub(super) const OPENBSD_LOOPBACK: u32 = 108;
pub(super) const LINUX_COOKED: u32 = 113;
pub(super) const RADIOTAP: u32 = 127;
pub(super) const AVS: u32 = 163;
pub(super) const PPP_PPPD: u32 = 166;
pub(super) const PPI: u32 = 192;
pub(super) const PPP_WITH_DIRECTION: u32 = 204;
pub(super) const IPV4: u32 = 228;
pub(super) const IPV6: u32 = 229;
pub(super) const LINUX_COOKED_V2: u32 = 276;
