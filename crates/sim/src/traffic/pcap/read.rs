//! The packets of a recording.

use super::container::Records;
use super::error::PcapError;
use super::link;
use std::sync::Arc;
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
