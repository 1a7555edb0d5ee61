//! The files that contain recorded packets: pcap and pcapng.

use super::error::PcapError;
use units::refuse_if;

#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'f> {
    /// Number, from 1.
    pub(super) number: u64,
    /// Time since 1970, in ns.
    pub(super) nanos: i128,
    /// Number of the link type (LINKTYPE_ of pcap).
    pub(super) link: u32,
    /// Original length of the packet, of which `data` was recorded.
    pub(super) original: u32,
    pub(super) data: &'f [u8],
}

/// Packets of a recording, in order. The sequence ends after the first error.
#[derive(Debug)]
pub(super) struct Records<'f> {
    rest: &'f [u8],
    order: Order,
    format: Format,
    /// Number of packets that have been read.
    number: u64,
}

#[derive(Debug)]
enum Format {
    Pcap { link: u32, fraction: i128 },
    Pcapng { interfaces: Vec<Interface> },
}

/// An interface of a pcapng section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u32,
    /// Number of ticks of the interface's clock per second.
    ticks: u128,
    /// Offset of all times of the interface, in s.
    offset: i64,
}

/// First bytes of files that other programs than gzip have compressed, each with a command that decompresses them.
const COMPRESSED: [(&[u8], &str); 7] = [
    (b"\x28\xB5\x2F\xFD", "zstd -d"),
    (b"\xFD7zX", "xz -d"),
    (b"\x04\x22\x4D\x18", "lz4 -d"),
    (b"\x02\x21\x4C\x18", "lz4 -d"),
    (b"BZh", "bzip2 -d"),
    (b"\x1F\x9D", "uncompress"),
    (b"PK\x03\x04", "unzip"),
];
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

impl<'f> Records<'f> {
    pub(super) fn new(file: &'f [u8]) -> Result<Self, PcapError> {
        refuse_if!(file.is_empty(), Err(PcapError::Empty));
        let magic = array(file, 0).ok_or(PcapError::Unrecognised)?;
        let (order, fraction) = match u32::from_be_bytes(magic) {
            0xA1B2_C3D4 => (Order::Big, 1_000),
            0xA1B2_3C4D => (Order::Big, 1),
            0xD4C3_B2A1 => (Order::Little, 1_000),
            0x4D3C_B2A1 => (Order::Little, 1),
            SECTION_HEADER => {
                let format = Format::Pcapng { interfaces: Vec::new() };
                return Ok(Self { rest: file, order: Order::Little, format, number: 0 });
            }
            _ => {
                // A file of zstd may begin with a frame to skip, whose first byte has one of 16 values.
                let skips = magic[0] & 0xF0 == 0x50 && magic[1..] == *b"\x2A\x4D\x18";
                let by = COMPRESSED.iter().find(|(begins, _)| skips || file.starts_with(begins));
                return Err(by.map_or(PcapError::Unrecognised, |(_, command)| PcapError::Compressed(command)));
            }
        };
        // The upper bits concern checksums at the end of frames.
        let link = order.u32(file, 20).ok_or(PcapError::CutHeader)? & 0xFFFF;
        Ok(Self { rest: &file[24..], order, format: Format::Pcap { link, fraction }, number: 0 })
    }

    fn cut<T>(&self, found: Option<T>) -> Result<T, PcapError> {
        found.ok_or(PcapError::CutShort(self.number))
    }

    /// Reads the next packet of a pcap file.
    fn pcap(&mut self, link: u32, fraction: i128) -> Result<Record<'f>, PcapError> {
        self.number += 1;
        let word = |at| self.cut(self.order.u32(self.rest, at));
        let [seconds, parts, kept, original] = [word(0)?, word(4)?, word(8)?, word(12)?];
        let data = self.cut(self.rest[16..].get(..kept as usize))?;
        self.rest = &self.rest[16 + data.len()..];
        let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(parts) * fraction;
        Ok(Record { number: self.number, nanos, link, original, data })
    }

    /// Reads the next block of a pcapng file. Returns the packet if the block is one.
    fn pcapng(&mut self) -> Result<Option<Record<'f>>, PcapError> {
        // A section header's type reads the same in both byte orders; its magic number tells the order.
        if array(self.rest, 0) == Some(SECTION_HEADER.to_be_bytes()) {
            let magic = self.cut(array(self.rest, 8))?;
            self.order = match u32::from_be_bytes(magic) {
                0x1A2B_3C4D => Order::Big,
                0x4D3C_2B1A => Order::Little,
                _ => return Err(PcapError::BadBlock(self.number)),
            };
            self.format = Format::Pcapng { interfaces: Vec::new() };
        }
        let kind = self.cut(self.order.u32(self.rest, 0))?;
        let length = self.cut(self.order.u32(self.rest, 4))? as usize;
        refuse_if!(length < 12 || !length.is_multiple_of(4), Err(PcapError::BadBlock(self.number)));
        let block = self.cut(self.rest.get(..length))?;
        self.rest = &self.rest[length..];
        // The body lies between type and length at the start, and the repeated length at the end.
        let body = &block[8..length - 4];
        match kind {
            INTERFACE_DESCRIPTION => self.describe(body).map(|()| None),
            SIMPLE_PACKET => Err(PcapError::NoTime(self.number + 1)),
            ENHANCED_PACKET => {
                let interface = self.order.u32(body, 0);
                self.packet(body, interface).map(Some)
            }
            OBSOLETE_PACKET => {
                let interface = self.order.u16(body, 0).map(u32::from);
                self.packet(body, interface).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Reads an interface of this section, with its options.
    fn describe(&mut self, body: &[u8]) -> Result<(), PcapError> {
        let link = u32::from(self.cut(self.order.u16(body, 0))?);
        let mut interface = Interface { link, ticks: 1_000_000, offset: 0 };
        let mut at = 8;
        while let (Some(code), Some(length)) = (self.order.u16(body, at), self.order.u16(body, at + 2)) {
            match code {
                0 => break,
                9 => interface.ticks = ticks(self.cut(body.get(at + 4).copied())?)?,
                14 => interface.offset = self.cut(self.order.i64(body, at + 4))?,
                _ => {}
            }
            at += 4 + usize::from(length).next_multiple_of(4);
        }
        if let Format::Pcapng { interfaces } = &mut self.format {
            interfaces.push(interface);
        }
        Ok(())
    }

    /// Reads a packet. Obsolete packet blocks differ from enhanced ones only in a shorter interface number.
    fn packet(&mut self, body: &'f [u8], interface: Option<u32>) -> Result<Record<'f>, PcapError> {
        self.number += 1;
        let index = self.cut(interface)? as usize;
        let Format::Pcapng { interfaces } = &self.format else { return Err(PcapError::Unrecognised) };
        let &Interface { link, ticks, offset } =
            interfaces.get(index).ok_or(PcapError::UnknownInterface(self.number))?;
        let word = |at| self.cut(self.order.u32(body, at));
        let [high, low, kept, original] = [word(4)?, word(8)?, word(12)?, word(16)?];
        let data = self.cut(body[20..].get(..kept as usize))?;
        // There are fewer than 2^64 ticks; times 10^9 this is below 2^94.
        let since = (u128::from(high) << 32 | u128::from(low)) * 1_000_000_000 / ticks;
        let since = i128::try_from(since).unwrap_or(i128::MAX);
        let nanos = since + i128::from(offset) * 1_000_000_000;
        Ok(Record { number: self.number, nanos, link, original, data })
    }
}

/// Returns the ticks per second that option `if_tsresol` gives: a power of ten, or of two if its highest bit is set.
fn ticks(resolution: u8) -> Result<u128, PcapError> {
    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(u32::from(resolution & 0x7F)).ok_or(PcapError::Resolution(resolution))
}

impl<'f> Iterator for Records<'f> {
    type Item = Result<Record<'f>, PcapError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let found = match self.format {
                Format::Pcap { link, fraction } => self.pcap(link, fraction).map(Some),
                Format::Pcapng { .. } => self.pcapng(),
            };
            if found.is_err() {
                self.rest = &[];
            }
            if let Some(found) = found.transpose() {
                return Some(found);
            }
        }
        None
    }
}

/// Byte order of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Big,
    Little,
}

/// Returns the `N` bytes from `at` on, if there are that many.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

impl Order {
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let found = array(bytes, at)?;
        Some(if self == Self::Big { u16::from_be_bytes(found) } else { u16::from_le_bytes(found) })
    }

    pub(super) fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let found = array(bytes, at)?;
        Some(if self == Self::Big { u32::from_be_bytes(found) } else { u32::from_le_bytes(found) })
    }

    pub(super) fn i64(self, bytes: &[u8], at: usize) -> Option<i64> {
        let found = array(bytes, at)?;
        Some(if self == Self::Big { i64::from_be_bytes(found) } else { i64::from_le_bytes(found) })
    }
}
