//! Why a recording, or one of its frames, is not replayed.

use super::link_type::KNOWN;
use crate::results::LeftOut;
use thiserror::Error;
use units::Bytes;

/// Why a recording cannot be replayed. Packets are numbered from 1, as Wireshark does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum PcapError {
    #[error("it is empty")]
    Empty,
    #[error("the file is not a pcap or pcapng recording")]
    Unrecognised,
    #[error("the file is compressed, but Sluice decompresses only gzip: decompress it first (`{0}`)")]
    Compressed(&'static str),
    #[error("the file ends within its header")]
    CutHeader,
    #[error("the file ends within packet {0} or after it; `editcap IN OUT` keeps the complete packets")]
    CutShort(u64),
    #[error("the block after packet {0} has an impossible length")]
    BadBlock(u64),
    #[error("packet {0} belongs to an interface that the recording does not describe")]
    UnknownInterface(u64),
    #[error("packet {0} has no timestamp; record with tcpdump, or in Enhanced Packet Blocks")]
    NoTime(u64),
    #[error("the timestamps of an interface have an unknown resolution ({0:#04x})")]
    Resolution(u8),
    #[error("packet {packet} has link type {link}; readable link types are {}", KNOWN)]
    LinkType { packet: u64, link: u32 },
    #[error("too little of packet {0} was recorded to see its length; record more of each packet (`tcpdump -s 128`)")]
    Snapped(u64),
    #[error("packet {0} is earlier than the previous packet; `reordercap IN OUT` puts a recording in order")]
    BackInTime(u64),
    #[error(
        "packet {packet} has {length} with its IP header, and an 802.11 frame carries at most {most}; record with \
         segmentation and receive offloads off (`ethtool -K DEV tso off gso off gro off`)"
    )]
    TooLong { packet: u64, length: Bytes, most: Bytes },
    #[error("no packet of the recording is an IP packet that can be replayed{}", reasons(.0))]
    NoPackets(LeftOut),
}

/// Returns the reasons why no packet can be replayed, with a colon before them.
fn reasons(left_out: &LeftOut) -> String {
    let reasons = left_out.reasons().into_iter().map(|(frames, reason)| format!("{frames} {reason}"));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    if reasons.is_empty() { reasons } else { format!(": frames {reasons}") }
}

/// Why a frame is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    NotIp,
    Tunnel,
    Management,
    BadFcs,
    Repeated,
    Fragment,
    Encrypted,
    Malformed,
}

impl LeftOut {
    pub(super) fn count(&mut self, reason: Reason) {
        *match reason {
            Reason::NotIp => &mut self.not_ip,
            Reason::Tunnel => &mut self.tunnels,
            Reason::Management => &mut self.management,
            Reason::BadFcs => &mut self.bad_fcs,
            Reason::Repeated => &mut self.repeated,
            Reason::Fragment => &mut self.fragments,
            Reason::Encrypted => &mut self.encrypted,
            Reason::Malformed => &mut self.malformed,
        } += 1;
    }

    /// Returns the reasons that occurred as words, each with its number of frames.
    pub fn reasons(&self) -> Vec<(u64, &'static str)> {
        let all = [
            (self.not_ip, "without an IP packet"),
            (self.tunnels, "of PPPoE, MPLS or batman-adv, which are not decapsulated"),
            (self.management, "of 802.11 without data"),
            (self.bad_fcs, "with an invalid checksum"),
            (self.repeated, "retransmitted"),
            (self.fragments, "with later fragments"),
            (self.encrypted, "encrypted, of unknown lengths"),
            (self.malformed, "damaged"),
        ];
        all.into_iter().filter(|(frames, _)| *frames > 0).collect()
    }
}
