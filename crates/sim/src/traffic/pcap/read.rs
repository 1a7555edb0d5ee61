//! The packets of a recording.

use super::container::Records;
use super::dot11::Air;
use super::link;
use super::link_type::KNOWN;
use crate::results::LeftOut;
use std::collections::BTreeSet;
use std::sync::Arc;
use thiserror::Error;
use units::{Bytes, Duration};

/// The IP packets of a recording, in order of time.
#[derive(Clone, Debug)]
pub(crate) struct Pcap {
    packets: Arc<[PcapPacket]>,
    left_out: LeftOut,
}

/// A packet of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PcapPacket {
    /// Time since the first packet.
    pub(crate) after: Duration,
    /// Length beyond the headers of IP (20 B) and UDP (8 B); zero for shorter packets.
    pub(crate) payload: Bytes,
}

/// Length of the IP and UDP headers, which every packet of a flow has.
const HEADERS: u64 = 28;

impl Pcap {
    /// Reads a recording; no packet may carry more than `most`.
    pub(crate) fn read(file: &[u8], most: Bytes) -> Result<Self, PcapError> {
        let mut packets: Vec<PcapPacket> = Vec::new();
        let (mut air, mut left_out) = (Air::default(), LeftOut::default());
        let (mut first, mut came) = (0, BTreeSet::new());
        let mut last = i128::MIN;
        for record in Records::new(file)? {
            let record = record?;
            let before = packets.len();
            let mut longest = 0;
            let mut found = |length: u64| {
                longest = longest.max(length);
                packets.push(PcapPacket { after: Duration::ZERO, payload: Bytes::new(length.saturating_sub(HEADERS)) });
            };
            if let Err(reason) = link::ip_lengths(&record, &mut air, &mut found)? {
                left_out.count(reason);
                packets.truncate(before);
                continue;
            }
            // Nothing that this machine itself sends came from outside before.
            match link::passage(&record) {
                Some((addresses, true)) => left_out.forwarded += u64::from(came.contains(addresses)),
                Some((addresses, false)) => drop(came.insert(addresses)),
                None => {}
            }
            if longest > most.count() + HEADERS {
                let most = Bytes::new(most.count() + HEADERS);
                return Err(PcapError::TooLong { packet: record.number, length: Bytes::new(longest), most });
            }
            if record.nanos < last {
                return Err(PcapError::BackInTime(record.number));
            }
            if before == 0 {
                first = record.nanos;
            }
            last = record.nanos;
            let after = Duration::from_nanos(u64::try_from(last - first).unwrap_or(u64::MAX));
            packets[before..].iter_mut().for_each(|packet| packet.after = after);
        }
        if packets.is_empty() {
            return Err(PcapError::NoPackets(left_out));
        }
        Ok(Self { packets: packets.into(), left_out })
    }

    pub(crate) fn packets(&self) -> &[PcapPacket] {
        &self.packets
    }

    /// Frames that are not replayed.
    pub(crate) fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

/// Why a recording cannot be replayed. Packets are numbered from 1, as Wireshark does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum PcapError {
    #[error("it is empty")]
    Empty,
    #[error("it is no pcap or pcapng recording")]
    Unrecognised,
    #[error("it is compressed by {0}, and only gzip's files are read as they are: decompress it first (`{0} -d`)")]
    Compressed(&'static str),
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
    #[error("packet {0} came before the one before it; `reordercap IN OUT` puts a recording in order")]
    BackInTime(u64),
    #[error(
        "packet {packet} has {length} with its IP header, and an 802.11 frame carries at most {most}; record with \
         segmentation and receive offloads off (`ethtool -K DEV tso off gso off gro off`)"
    )]
    TooLong { packet: u64, length: Bytes, most: Bytes },
    #[error("no packet of it is an IP packet that can be replayed{}", reasons(.0))]
    NoPackets(LeftOut),
}

/// Why there is none, behind a colon.
fn reasons(left_out: &LeftOut) -> String {
    let reasons = left_out.reasons().into_iter().map(|(frames, reason)| format!("{frames} {reason}"));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    if reasons.is_empty() { reasons } else { format!(": frames {reasons}") }
}
