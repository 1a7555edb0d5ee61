//! The packets of a recording.

use super::container::Records;
use super::link::{self, KNOWN};
use std::sync::Arc;
use thiserror::Error;
use units::{Bytes, Duration};

/// The IP packets of a recording, in order of time.
#[derive(Clone, Debug)]
pub(crate) struct Pcap(Arc<[PcapPacket]>);

/// A packet of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PcapPacket {
    /// How long after the first.
    pub(crate) after: Duration,
    /// What it carries beyond the headers of IP (20 B) and UDP (8 B); nothing where it is shorter than these.
    pub(crate) payload: Bytes,
}

/// Headers of IP and UDP, which every packet of a flow has.
const HEADERS: u64 = 28;

impl Pcap {
    /// Reads a recording, none of whose packets carries more than `most`.
    pub(crate) fn read(file: &[u8], most: Bytes) -> Result<Self, PcapError> {
        let mut packets: Vec<PcapPacket> = Vec::new();
        let mut first = 0;
        let mut last = i128::MIN;
        for record in Records::new(file)? {
            let record = record?;
            let Some(length) = link::ip_length(&record)? else { continue };
            let payload = Bytes::new(length.saturating_sub(HEADERS));
            if payload > most {
                let most = Bytes::new(most.count() + HEADERS);
                return Err(PcapError::TooLong { packet: record.number, length: Bytes::new(length), most });
            }
            if record.nanos < last {
                return Err(PcapError::BackInTime(record.number));
            }
            if packets.is_empty() {
                first = record.nanos;
            }
            last = record.nanos;
            let after = Duration::from_nanos(u64::try_from(last - first).unwrap_or(u64::MAX));
            packets.push(PcapPacket { after, payload });
        }
        if packets.is_empty() { Err(PcapError::NoPackets) } else { Ok(Self(packets.into())) }
    }

    pub(crate) fn packets(&self) -> &[PcapPacket] {
        &self.0
    }
}

/// Why a recording cannot be replayed. Packets are numbered from 1, as Wireshark does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum PcapError {
    #[error("it is empty")]
    Empty,
    #[error("it is no pcap or pcapng recording")]
    Unrecognised,
    #[error("it is cut short within its header")]
    CutHeader,
    #[error("it is cut short within packet {0} or what follows it; `editcap IN OUT` keeps what is whole")]
    CutShort(u64),
    #[error("after packet {0} comes a block of an impossible length")]
    BadBlock(u64),
    #[error("packet {0} belongs to an interface that was not described")]
    UnknownInterface(u64),
    #[error("packet {0} has no time; record it with tcpdump, or with dumpcap's usual packet blocks")]
    NoTime(u64),
    #[error("an interface's times have a resolution that cannot be read ({0:#04x})")]
    Resolution(u8),
    #[error("packet {packet} is of link type {link}; those that can be read are {}", KNOWN)]
    LinkType { packet: u64, link: u32 },
    #[error("of packet {0} too little was kept to see its length; record more of each packet (`tcpdump -s 128`)")]
    Snapped(u64),
    #[error("packet {0} is encrypted, so that its length cannot be seen; record it on the interface, not in the air")]
    Encrypted(u64),
    #[error("packet {0} is an A-MSDU; record it on the interface, not in the air")]
    Aggregated(u64),
    #[error("packet {0} came before the one before it; `reordercap IN OUT` puts a recording in order")]
    BackInTime(u64),
    #[error(
        "packet {packet} has {length} with its IP header, and an 802.11 frame carries at most {most}; record with \
         segmentation and receive offloads off (`ethtool -K DEV tso off gso off gro off`)"
    )]
    TooLong { packet: u64, length: Bytes, most: Bytes },
    #[error("no packet of it is an IP packet")]
    NoPackets,
}
