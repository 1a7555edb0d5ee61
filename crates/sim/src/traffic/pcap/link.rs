//! Length of the IP packet in a captured frame, by link type.

use super::container::{Order, Record};
use super::read::PcapError;

/// `EtherType`s (IEEE 802 numbers).
const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86DD;
/// VLAN tags: 802.1Q, 802.1ad.
const TYPE_VLAN: [u16; 2] = [0x8100, 0x88A8];

/// What a frame holds.
enum Found {
    /// An IP packet that begins at this byte.
    Ip(usize),
    /// Something else: ARP, a management frame, ...
    Other,
    /// Too little was kept to tell.
    Snapped,
    /// An encrypted data frame.
    Encrypted,
    /// An aggregate of MSDUs.
    Aggregated,
}

/// The length of the IP packet in a frame, IP header included; `None` where there is none.
pub(super) fn ip_length(record: &Record) -> Result<Option<u64>, PcapError> {
    let packet = record.number;
    let found = match record.link {
        ETHERNET => ethernet(record.data),
        RAW_IP | IPV4 | IPV6 => Some(Found::Ip(0)),
        LINUX_COOKED => typed(record.data, 14, 16),
        LINUX_COOKED_V2 => typed(record.data, 0, 20),
        IEEE_802_11 => dot11(record.data, 0),
        RADIOTAP => Order::Little.u16(record.data, 2).and_then(|length| dot11(record.data, length.into())),
        link => return Err(PcapError::LinkType { packet, link }),
    };
    match found.unwrap_or(Found::Snapped) {
        Found::Ip(at) => length_at(record, at),
        Found::Other => Ok(None),
        Found::Snapped => Err(PcapError::Snapped(packet)),
        Found::Encrypted => Err(PcapError::Encrypted(packet)),
        Found::Aggregated => Err(PcapError::Aggregated(packet)),
    }
}

/// The length of the IP packet at `at`, by its own header, as frames may be padded; by the frame where the header says
/// zero, as the kernel leaves it before it cuts a long segment.
fn length_at(record: &Record, at: usize) -> Result<Option<u64>, PcapError> {
    let snapped = PcapError::Snapped(record.number);
    let ip = record.data.get(at..).unwrap_or_default();
    let (length, header) = match ip.first().map(|byte| byte >> 4) {
        Some(4) => (Order::Big.u16(ip, 2), 0),
        Some(6) => (Order::Big.u16(ip, 4), 40),
        Some(_) => return Ok(None),
        None => return Err(snapped),
    };
    let by_frame = u64::from(record.original).saturating_sub(at as u64);
    Ok(Some(match length.ok_or(snapped)? {
        0 => by_frame,
        length => u64::from(length) + header,
    }))
}

/// A frame that has its `EtherType` at `type_at` and its packet at `packet_at`. `None` where too little was kept, as below.
fn typed(data: &[u8], type_at: usize, packet_at: usize) -> Option<Found> {
    let mut kind = Order::Big.u16(data, type_at)?;
    let mut at = packet_at;
    while TYPE_VLAN.contains(&kind) {
        kind = Order::Big.u16(data, at + 2)?;
        at += 4;
    }
    Some(if kind == TYPE_IPV4 || kind == TYPE_IPV6 { Found::Ip(at) } else { Found::Other })
}

/// Ethernet II, or 802.3 with LLC and SNAP.
fn ethernet(data: &[u8]) -> Option<Found> {
    let kind = Order::Big.u16(data, 12)?;
    if kind > 1500 { typed(data, 12, 14) } else { llc(data, 14) }
}

/// LLC and SNAP (RFC 1042) at `at`.
fn llc(data: &[u8], at: usize) -> Option<Found> {
    let Some(header) = data.get(at..at + 6) else { return Some(Found::Snapped) };
    if header == [0xAA, 0xAA, 0x03, 0, 0, 0] { typed(data, at + 6, at + 8) } else { Some(Found::Other) }
}

/// An 802.11 frame at `at` (IEEE 802.11-2016, 9.2.3). A repetition is not counted as another packet.
fn dot11(data: &[u8], at: usize) -> Option<Found> {
    let control = Order::Little.u16(data, at)?;
    let flag = |bit: u16| control & 1 << bit != 0;
    let is_data = control >> 2 & 3 == 2;
    let (no_body, qos, repeated) = (flag(6), flag(7), flag(11));
    if !is_data || no_body || repeated {
        return Some(Found::Other);
    }
    if flag(14) {
        return Some(Found::Encrypted);
    }
    // Four addresses where a frame goes from one access point to another.
    let mut body = at + if flag(8) && flag(9) { 30 } else { 24 };
    if qos {
        if Order::Little.u16(data, body)? & 0x80 != 0 {
            return Some(Found::Aggregated);
        }
        // The HT control field follows the QoS control where the order bit is set.
        body += if flag(15) { 6 } else { 2 };
    }
    llc(data, body)
}

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
