//! The packets of a recording.

use super::container::Records;
use super::dot11::Air;
use super::error::PcapError;
use super::link;
use crate::results::LeftOut;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Bytes, Duration, refuse_if};

/// The IP packets of a recording, in order of time.
#[derive(Clone, Debug)]
pub(crate) struct Pcap {
    pub(crate) packets: Arc<[PcapPacket]>,
    /// Counts of the frames that are not replayed.
    pub(crate) left_out: LeftOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PcapPacket {
    /// Time since the first packet.
    pub(crate) after: Duration,
    /// Length without the headers of IP (20 B) and UDP (8 B); zero if the packet is shorter.
    pub(crate) payload: Bytes,
}

/// Length of the IP and UDP headers that every packet of a flow has.
const HEADERS: u64 = 28;

impl Pcap {
    /// Reads a recording. No packet may carry more than `most`.
    pub(crate) fn read(file: &[u8], most: Bytes) -> Result<Self, PcapError> {
        let mut packets: Vec<PcapPacket> = Vec::new();
        let (mut air, mut left_out) = (Air::default(), LeftOut::default());
        let (mut first, mut came) = (0, BTreeMap::new());
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
            // A packet that this machine made cannot have come before, and its answer may repeat the payload.
            match link::passage(&record) {
                Some((true, kept, [source, _])) => {
                    left_out.forwarded += u64::from(came.remove(&kept).is_some_and(|to| to != source));
                }
                Some((false, kept, [_, destination])) => drop(came.insert(kept, destination)),
                None => {}
            }
            if longest > most.count() + HEADERS {
                let most = Bytes::new(most.count() + HEADERS);
                return Err(PcapError::TooLong { packet: record.number, length: Bytes::new(longest), most });
            }
            refuse_if!(record.nanos < last, Err(PcapError::BackInTime(record.number)));
            if before == 0 {
                first = record.nanos;
            }
            last = record.nanos;
            let after = Duration::from_nanos(u64::try_from(last - first).unwrap_or(u64::MAX));
            packets[before..].iter_mut().for_each(|packet| packet.after = after);
        }
        refuse_if!(packets.is_empty(), Err(PcapError::NoPackets(left_out)));
        Ok(Self { packets: packets.into(), left_out })
    }
}
