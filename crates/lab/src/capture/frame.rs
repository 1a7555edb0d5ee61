//! Frames as bytes: radiotap, IEEE 802.11 (clauses of the 2016 edition), LLC/SNAP and the headers of `internet`. Only
//! real payloads are included: a record ends after the last header, and states the length of the whole frame.

use super::addresses::Addresses;
use super::internet;
use sim::config::{Category, ChannelWidth, ExtendedRange, GuardInterval, Preamble};
use sim::radio::{Format, Mimo, Mode, Ru};
use sim::trace::{Frame, Kind, Mpdu, Owner};
use units::{Instant, Power};

/// Bits of radiotap's "present" word (radiotap.org, "Defined Fields").
const TSFT: u32 = 1;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const SIGNAL: u32 = 1 << 5;
const MCS: u32 = 1 << 19;
const AMPDU: u32 = 1 << 20;
const VHT: u32 = 1 << 21;
const HE: u32 = 1 << 23;
/// Bits of radiotap's "flags".
const SHORT_PREAMBLE: u8 = 0x02;
const CHECK_SUM_INCLUDED: u8 = 0x10;
const BAD_CHECK_SUM: u8 = 0x40;
const CHECK_SUM: usize = 4;

/// How a frame was received; absent for a frame that the node itself sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    pub(super) power: Power,
    pub(super) intact: bool,
}

/// The position of an MPDU in its aggregate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Reference number: the same for all MPDUs of an aggregate.
    pub(super) reference: u32,
    pub(super) last: bool,
}

/// A record: the bytes that are stored, and the length of the whole frame.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) bytes: Vec<u8>,
    pub(super) length: usize,
}

/// Buffer to which little-endian fields are written.
struct Bytes(Vec<u8>);

impl Bytes {
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }
    fn u16(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }
    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }
    fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }
    fn raw(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }
    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }
}

/// Builds a control frame, or an MPDU of a data frame, with its radiotap header.
pub(super) fn record(
    at: Instant,
    frame: &Frame,
    mpdu: Option<&Mpdu>,
    part: Option<Part>,
    reception: Option<Reception>,
    addresses: &Addresses,
) -> Record {
    let mut bytes = radiotap(at, frame, part, reception, addresses);
    let radiotap = bytes.0.len();
    let whole = match mpdu {
        Some(mpdu) => data(&mut bytes, frame, mpdu, addresses),
        None => match frame.kind {
            Kind::QueueSize { category, bytes: queued } => queue_size(&mut bytes, frame, category, queued.count()),
            _ => control(&mut bytes, frame),
        },
    };
    if bytes.0.len() - radiotap + CHECK_SUM == whole {
        let sum = crc32fast::hash(&bytes.0[radiotap..]);
        bytes.u32(if reception.is_none_or(|reception| reception.intact) { sum } else { !sum });
    }
    Record { bytes: bytes.0, length: radiotap + whole }
}

fn radiotap(
    at: Instant,
    frame: &Frame,
    part: Option<Part>,
    reception: Option<Reception>,
    addresses: &Addresses,
) -> Bytes {
    let mimo = if let Mode::Mimo(mimo) = frame.mode { Some(mimo) } else { None };
    let rate = mimo.map_or(RATE, |mimo| match mimo.format() {
        Format::Ht => MCS,
        Format::Vht => VHT,
        Format::He => HE,
    });
    let mut present = TSFT | FLAGS | CHANNEL | rate;
    present |= if reception.is_some() { SIGNAL } else { 0 } | if part.is_some() { AMPDU } else { 0 };
    let mut bytes = Bytes(Vec::with_capacity(128));
    bytes.raw(&[0; 4]);
    bytes.u32(present);
    bytes.u64(at.as_nanos() / 1_000);
    let short = matches!(frame.mode, Mode::Dsss { preamble: Preamble::Short, .. });
    let bad = reception.is_some_and(|reception| !reception.intact);
    bytes.u8(CHECK_SUM_INCLUDED | if short { SHORT_PREAMBLE } else { 0 } | if bad { BAD_CHECK_SUM } else { 0 });
    if mimo.is_none() {
        // The rate in units of 500 kb/s. A rate that no standard has may not fit.
        bytes.u8(u8::try_from(frame.mode.rate().as_bps() / 500_000).unwrap_or(u8::MAX));
    }
    bytes.align(2);
    bytes.u16(addresses.channel);
    let coding = if matches!(frame.mode, Mode::Dsss { .. }) { 0x0020 } else { 0x0040 };
    bytes.u16(coding | if addresses.channel < 3_000 { 0x0080 } else { 0x0100 });
    if let Some(Reception { power, .. }) = reception {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one signed byte of dBm, clamped")]
        bytes.u8(power.as_dbm().round().clamp(-128.0, 127.0) as i8 as u8);
    }
    let mimo_of = |format| mimo.filter(|mimo| mimo.format() == format);
    if let Some(mimo) = mimo_of(Format::Ht) {
        let (wide, short) = (mimo.width() == ChannelWidth::Mhz40, mimo.guard() == GuardInterval::Short);
        // The fields marked as known are bandwidth, MCS, guard interval, format (mixed) and code.
        let ldpc = u8::from(mimo.has_ldpc()) << 4;
        bytes.raw(&[0x1f, u8::from(wide) | u8::from(short) << 2 | ldpc, mimo.mcs()]);
    }
    if let Some(Part { reference, last }) = part {
        bytes.align(4);
        bytes.u32(reference);
        // The last MPDU is marked as known.
        bytes.u16(0x0004 | u16::from(last) << 3);
        bytes.u16(0);
    }
    if let Some(mimo) = mimo_of(Format::Vht) {
        vht(&mut bytes, mimo);
    }
    if let Some(mimo) = mimo_of(Format::He) {
        he(&mut bytes, mimo, frame, addresses.is_access_point(frame.from));
    }
    let length = u16::try_from(bytes.0.len()).expect("some fifty bytes");
    bytes.0[2..4].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// Writes radiotap's VHT field: guard interval, bandwidth, and the MCS and streams of one user.
fn vht(bytes: &mut Bytes, mimo: Mimo) {
    bytes.align(2);
    bytes.u16(0x0044);
    bytes.u8(u8::from(mimo.guard() == GuardInterval::Short) << 2);
    bytes.u8(match mimo.width() {
        ChannelWidth::Mhz20 => 0,
        ChannelWidth::Mhz40 => 1,
        ChannelWidth::Mhz80 => 4,
        ChannelWidth::Mhz160 => 11,
    });
    bytes.raw(&[mimo.mcs() << 4 | mimo.streams(), 0, 0, 0]);
    // The bytes are code, group and partial AID.
    bytes.raw(&[mimo.has_ldpc().into(), 0, 0, 0]);
}

/// Writes radiotap's HE field of an SU or ER SU PPDU, or of a part of an MU or TB PPDU. MCS, code, bandwidth or RU,
/// guard interval and LTFs are known; for PPDUs of one user with a packet extension, so are its fields.
fn he(bytes: &mut Bytes, mimo: Mimo, frame: &Frame, of_access_point: bool) {
    let (format, band) = match (mimo.ru(), mimo.extended_range()) {
        (None, None) => (0, mimo.width() as u16),
        (None, Some(ExtendedRange::All)) => (1, 0),
        (None, Some(ExtendedRange::Upper)) => (1, 4 + Ru::T106 as u16),
        (Some(ru), _) => (if of_access_point { 2 } else { 3 }, 4 + ru as u16),
    };
    let padding = mimo.padding_fields(frame.psdu).filter(|_| mimo.ru().is_none());
    let padded = padding.map_or(0, |(factor, unclear)| u16::from(factor % 4) << 12 | u16::from(unclear) << 15);
    bytes.align(2);
    bytes.u16(0x40a0 | format);
    bytes.u16(0x0006 | if padding.is_some() { 0x0028 } else { 0 });
    bytes.u16(u16::from(mimo.mcs()) << 8 | u16::from(mimo.has_ldpc()) << 13);
    bytes.u16(0);
    let (guard, size) = match mimo.guard() {
        GuardInterval::Short | GuardInterval::Long => (0, 2),
        GuardInterval::Double => (1, 2),
        GuardInterval::Quadruple => (2, 3),
    };
    let fields: u16 = [0, 1, 2, 2, 3, 3, 4, 4][usize::from(mimo.streams()) - 1];
    bytes.u16(band | guard << 4 | size << 6 | fields << 8 | padded);
    bytes.u16(mimo.streams().into());
}

/// Returns the Duration field: whole microseconds, rounded up (9.2.5).
fn duration(frame: &Frame) -> u16 {
    u16::try_from(frame.reserves.as_nanos().div_ceil(1_000)).unwrap_or(0x7fff).min(0x7fff)
}

/// Writes a control frame without its checksum. Returns the frame's length with the checksum (9.3.1).
fn control(bytes: &mut Bytes, frame: &Frame) -> usize {
    let start = bytes.0.len();
    let subtype = match frame.kind {
        Kind::Trigger { .. } => 2,
        Kind::BlockAckReq { .. } => 8,
        Kind::BlockAck { .. } | Kind::MultiBlockAck { .. } => 9,
        Kind::Rts => 11,
        Kind::Cts => 12,
        Kind::Ack | Kind::Data | Kind::QueueSize { .. } => 13,
        // The standard has no frames of T-MAC. These two have subtypes that it has not assigned (table 9-1).
        Kind::Request { .. } => 0,
        Kind::Grant => 1,
    };
    bytes.u8(subtype << 4 | 0b01 << 2);
    bytes.u8(0);
    bytes.u16(duration(frame));
    bytes.raw(&Addresses::mac(frame.to));
    if !matches!(frame.kind, Kind::Cts | Kind::Ack | Kind::Grant) {
        bytes.raw(&Addresses::mac(Some(frame.from)));
    }
    // BAR and BA control say that the bitmap is compressed (9.3.1.8.3, 9.3.1.9.3).
    match frame.kind {
        Kind::BlockAckReq { start } => {
            bytes.u16(0x0004);
            bytes.u16(start << 4);
        }
        Kind::BlockAck { start, bitmap, long } => {
            bytes.u16(0x0004);
            // The fragment number tells the length of the bitmap (table 9-30c of IEEE 802.11ax-2021).
            bytes.u16(start << 4 | u16::from(long) << 2);
            bitmap.words().iter().take(if long { 4 } else { 1 }).for_each(|&word| bytes.u64(word));
        }
        // BA control says that the frame is for several stations.
        Kind::MultiBlockAck { .. } => bytes.u16(0x0016),
        _ => {}
    }
    let unwritten = match frame.kind {
        // The key, the duration, the number of stations, and all addresses but the first.
        Kind::Request { asked } => 8 + 2 + 1 + 6 * usize::from(asked.saturating_sub(1)),
        // The fields Common Info and User Info (9.3.1.22).
        Kind::Trigger { asks, users } => 8 + usize::try_from(asks.user_length()).expect("bytes") * usize::from(users),
        // For each station: AID and TID and, unless all its frames arrived, a starting sequence number and a bitmap.
        Kind::MultiBlockAck { stations, whole, long } => {
            2 * usize::from(stations) + usize::from(stations - whole) * if long { 34 } else { 10 }
        }
        _ => 0,
    };
    bytes.0.len() - start + unwritten + CHECK_SUM
}

/// Writes a QoS Null frame to an access point without its checksum. It reports the size of a queue in units of 256 B
/// (9.2.4.5.6). Returns the frame's length with the checksum.
fn queue_size(bytes: &mut Bytes, frame: &Frame, category: Option<Category>, queued: u64) -> usize {
    let start = bytes.0.len();
    bytes.raw(&[0xc8, 0x01]);
    bytes.u16(duration(frame));
    for node in [frame.to, Some(frame.from), frame.to] {
        bytes.raw(&Addresses::mac(node));
    }
    bytes.u16(0);
    let units = u16::try_from(queued.div_ceil(256).min(254)).expect("a byte");
    bytes.u16(category.map_or(0, user_priority) | 1 << 4 | units << 8);
    bytes.0.len() - start + CHECK_SUM
}

/// Writes a data frame up to its last header. Returns the length of the whole frame (9.3.2).
fn data(bytes: &mut Bytes, frame: &Frame, mpdu: &Mpdu, addresses: &Addresses) -> usize {
    let route = addresses.route(frame);
    let quality = if mpdu.category.is_some() { 0x80 } else { 0 };
    let null = mpdu.packets.first().and_then(|packet| match packet.of {
        Owner::Null { sleeps } => Some(sleeps),
        _ => None,
    });
    bytes.u8(quality | if null.is_some() { 0x40 } else { 0 } | 0b10 << 2);
    let power_management = u8::from(null == Some(true)) << 4;
    bytes.u8(u8::from(route.to_ds) | u8::from(route.from_ds) << 1 | u8::from(mpdu.retry) << 3 | power_management);
    bytes.u16(duration(frame));
    route.addresses.iter().for_each(|address| bytes.raw(address));
    bytes.u16(mpdu.sequence << 4);
    let several = mpdu.packets.len() > 1;
    if let Some(category) = mpdu.category {
        bytes.u16(user_priority(category) | u16::from(several) << 7);
    }
    if null.is_none()
        && let Some(packet) = mpdu.packets.first()
    {
        let length = u16::try_from(packet.length.count()).unwrap_or(u16::MAX);
        if several {
            bytes.raw(&Addresses::mac(frame.to));
            bytes.raw(&Addresses::mac(Some(frame.from)));
            bytes.raw(&length.saturating_add(8).to_be_bytes());
        }
        let (kind, packet) = internet::packet(packet, length, &addresses.ends(frame, packet));
        bytes.raw(&[0xaa, 0xaa, 0x03, 0, 0, 0]);
        bytes.raw(&kind.to_be_bytes());
        bytes.raw(&packet);
    }
    usize::try_from(mpdu.length.count()).unwrap_or(usize::MAX)
}

/// Returns the default of a category's two user priorities (table 10-1).
fn user_priority(category: Category) -> u16 {
    match category {
        Category::Background => 1,
        Category::BestEffort => 0,
        Category::Video => 5,
        Category::Voice => 6,
    }
}
