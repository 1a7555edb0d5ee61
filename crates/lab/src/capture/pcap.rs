//! A capture file (pcap with nanoseconds, link type "IEEE 802.11 with radiotap").

use super::addresses::Addresses;
use super::frame::{Part, Reception, Record, record};
use sim::trace::{Frame, TraceEvent, TraceEventKind};
use std::io::{self, Write};
use units::Instant;

/// Magic number of a file with nanoseconds.
const MAGIC: u32 = 0xa1b2_3c4d;
/// Link type of IEEE 802.11 with a radiotap header.
const LINK_TYPE: u32 = 127;
/// Largest length of a record, in bytes.
const SNAP: u32 = 65_535;

/// The frames that one node sent and heard.
#[derive(Debug)]
pub(super) struct Capture<W> {
    to: W,
    node: u32,
    addresses: Addresses,
    aggregates: u32,
}

impl<W: Write> Capture<W> {
    /// Creates a capture of `node`. Errors: the file header cannot be written.
    pub(super) fn new(mut to: W, node: u32, addresses: Addresses) -> io::Result<Self> {
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC.to_le_bytes());
        header.extend(2_u16.to_le_bytes());
        header.extend(4_u16.to_le_bytes());
        header.extend([0; 8]);
        header.extend(SNAP.to_le_bytes());
        header.extend(LINK_TYPE.to_le_bytes());
        to.write_all(&header)?;
        Ok(Self { to, node, addresses, aggregates: 0 })
    }

    /// Adds an event if it is a frame that this node has sent or heard. Errors: the event cannot be written.
    pub(super) fn add(&mut self, event: &TraceEvent) -> io::Result<()> {
        if event.node != self.node {
            return Ok(());
        }
        match &event.what {
            TraceEventKind::Sends(frame) => self.frame(event.at, frame, |_| None),
            TraceEventKind::Hears(frame, power) => {
                self.frame(event.at, frame, |intact| Some(Reception { power: *power, intact }))
            }
            TraceEventKind::Spoilt(frame, power) => {
                self.frame(event.at, frame, |_| Some(Reception { power: *power, intact: false }))
            }
            _ => Ok(()),
        }
    }

    fn frame(&mut self, at: Instant, frame: &Frame, reception: impl Fn(bool) -> Option<Reception>) -> io::Result<()> {
        let Some(last) = frame.mpdus.len().checked_sub(1) else {
            return self.write(at, &record(at, frame, None, None, reception(true), &self.addresses));
        };
        if last > 0 {
            self.aggregates = self.aggregates.wrapping_add(1);
        }
        for (index, mpdu) in frame.mpdus.iter().enumerate() {
            let part = (last > 0).then_some(Part { reference: self.aggregates, last: index == last });
            let record = record(at, frame, Some(mpdu), part, reception(mpdu.intact), &self.addresses);
            self.write(at, &record)?;
        }
        Ok(())
    }

    fn write(&mut self, at: Instant, record: &Record) -> io::Result<()> {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let seconds = at.as_nanos() / 1_000_000_000;
        let fields = [seconds, at.as_nanos() % 1_000_000_000, record.bytes.len() as u64, record.length as u64];
        for field in fields {
            self.to.write_all(&narrow(field).to_le_bytes())?;
        }
        self.to.write_all(&record.bytes)
    }

    /// Writes out the buffer. Errors: it cannot be written.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
