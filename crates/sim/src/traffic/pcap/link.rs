//! Lengths of the IP packets in a captured frame, by link type.
//!
//! No parser crate was taken: those for Ethernet and Linux cooked captures know neither `PPPoE`, MPLS nor batman-adv, those for
//! 802.11 neither mesh control nor the padding that radiotap tells of.

use super::container::{Order, Record};
use super::dot11::{Air, Frame};
use super::left::Reason;
use super::link_type as of;
use super::read::PcapError;

/// `EtherType`s (IEEE 802 numbers).
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
/// VLAN tags: 802.1Q, 802.1ad, and those that `QinQ` had before it.
const VLAN: [u16; 4] = [0x8100, 0x88A8, 0x9100, 0x9200];
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE_SESSION: u16 = 0x8864;
const BATMAN_ADV: u16 = 0x4305;
/// Headers around headers beyond which nobody goes.
const DEEPEST: u32 = 16;

/// Why there is no packet at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum No {
    /// Nothing that is replayed.
    Left(Reason),
    /// The frame ends before that shows.
    Cut,
}

impl From<Reason> for No {
    fn from(reason: Reason) -> Self {
        Self::Left(reason)
    }
}

/// A number that was read, or the frame's end.
pub(super) fn read<T>(found: Option<T>) -> Result<T, No> {
    found.ok_or(No::Cut)
}

/// Calls `found` with the length of each IP packet in a frame, IP header included; tells why where there is none.
pub(super) fn ip_lengths(
    record: &Record,
    air: &mut Air,
    found: &mut impl FnMut(u64),
) -> Result<Result<(), Reason>, PcapError> {
    match lengths(record, air, found)? {
        Ok(()) => Ok(Ok(())),
        Err(No::Left(reason)) => Ok(Err(reason)),
        // All that was there has been kept: the frame is damaged.
        Err(No::Cut) if record.data.len() as u64 >= u64::from(record.original) => Ok(Err(Reason::Malformed)),
        Err(No::Cut) => Err(PcapError::Snapped(record.number)),
    }
}

fn lengths(record: &Record, air: &mut Air, found: &mut impl FnMut(u64)) -> Result<Result<(), No>, PcapError> {
    let data = record.data;
    let place = match record.link {
        of::ETHERNET => ethernet(data, 0),
        of::RAW_IP | of::IPV4 | of::IPV6 => Ok(0),
        of::BSD_LOOPBACK | of::OPENBSD_LOOPBACK => loopback(data),
        of::PPP | of::PPP_HDLC => ppp(data, 0),
        of::PPP_ETHERNET => ppp(data, 6),
        of::PPP_PPPD | of::PPP_WITH_DIRECTION => ppp(data, 1),
        of::LINUX_COOKED => typed(data, 14, 16),
        of::LINUX_COOKED_V2 => typed(data, 0, 20),
        of::IEEE_802_11 | of::RADIOTAP | of::PRISM | of::AVS | of::PPI => {
            return Ok(Frame::new(record).and_then(|frame| air.lengths(&frame, found)));
        }
        link => return Err(PcapError::LinkType { packet: record.number, link }),
    };
    Ok(place.and_then(|at| length_at(data, at, record.original)).map(found))
}

/// The length of the IP packet at `at`, by its own header, as frames may be padded; by the frame, of this length, where the
/// header says zero, as the kernel leaves it before it cuts a long segment.
pub(super) fn length_at(data: &[u8], at: usize, frame: u32) -> Result<u64, No> {
    let ip = data.get(at..).unwrap_or_default();
    let (length, header) = match ip.first().map(|byte| byte >> 4) {
        Some(4) => (Order::Big.u16(ip, 2), 0),
        Some(6) => (Order::Big.u16(ip, 4), 40),
        Some(_) => return Err(Reason::NotIp.into()),
        None => return Err(No::Cut),
    };
    let by_frame = u64::from(frame).saturating_sub(at as u64);
    Ok(match read(length)? {
        0 => by_frame,
        length => u64::from(length) + header,
    })
}

/// Where the IP packet begins in a frame that has its `EtherType` at `type_at` and what that tells of at `at`.
fn typed(data: &[u8], type_at: usize, at: usize) -> Result<usize, No> {
    let (mut type_at, mut at) = (type_at, at);
    for _ in 0..DEEPEST {
        match read(Order::Big.u16(data, type_at))? {
            IPV4 | IPV6 => return Ok(at),
            tag if VLAN.contains(&tag) => (type_at, at) = (at + 2, at + 4),
            tag if MPLS.contains(&tag) => return mpls(data, at),
            PPPOE_SESSION => return ppp(data, at + 6),
            BATMAN_ADV => {
                let inner = batman_adv(data, at)?;
                // Ethernet again.
                (type_at, at) = (inner + 12, inner + 14);
                if read(Order::Big.u16(data, type_at))? <= LONGEST_802_3 {
                    (type_at, at) = snap(data, at)?;
                }
            }
            _ => return Err(Reason::NotIp.into()),
        }
    }
    Err(Reason::NotIp.into())
}

/// An `EtherType` is above the longest length of an 802.3 frame.
const LONGEST_802_3: u16 = 1500;

/// Ethernet II, or 802.3 with LLC and SNAP, at `at`.
fn ethernet(data: &[u8], at: usize) -> Result<usize, No> {
    let kind = read(Order::Big.u16(data, at + 12))?;
    if kind > LONGEST_802_3 { typed(data, at + 12, at + 14) } else { llc(data, at + 14) }
}

/// LLC and SNAP at `at`.
pub(super) fn llc(data: &[u8], at: usize) -> Result<usize, No> {
    let (type_at, at) = snap(data, at)?;
    typed(data, type_at, at)
}

/// Where the `EtherType` behind LLC and SNAP (RFC 1042) at `at` stands, and what follows it.
fn snap(data: &[u8], at: usize) -> Result<(usize, usize), No> {
    let header = read(data.get(at..at + 6))?;
    if is_snap(header) { Ok((at + 6, at + 8)) } else { Err(Reason::NotIp.into()) }
}

/// Does LLC with SNAP begin so?
pub(super) fn is_snap(header: &[u8]) -> bool {
    header.starts_with(&[0xAA, 0xAA, 0x03, 0, 0, 0])
}

/// A stack of MPLS labels (RFC 3032): the last has its lowest bit but eight set. What follows names no type.
fn mpls(data: &[u8], at: usize) -> Result<usize, No> {
    let mut at = at;
    for _ in 0..DEEPEST {
        let label = read(Order::Big.u32(data, at))?;
        at += 4;
        if label & 0x100 != 0 {
            return match read(data.get(at))? >> 4 {
                4 | 6 => Ok(at),
                // A control word, then Ethernet (RFC 4448).
                0 => ethernet(data, at + 4),
                _ => Err(Reason::NotIp.into()),
            };
        }
    }
    Err(Reason::NotIp.into())
}

/// PPP (RFC 1661), perhaps in HDLC framing (RFC 1662), perhaps with a compressed protocol field.
fn ppp(data: &[u8], at: usize) -> Result<usize, No> {
    let at = at + if data.get(at..).is_some_and(|rest| rest.starts_with(&[0xFF, 0x03])) { 2 } else { 0 };
    let first = *read(data.get(at))?;
    let (protocol, packet) =
        if first & 1 == 1 { (u16::from(first), at + 1) } else { (read(Order::Big.u16(data, at))?, at + 2) };
    if matches!(protocol, 0x0021 | 0x0057) { Ok(packet) } else { Err(Reason::NotIp.into()) }
}

/// BSD loopback: the address family in the order of the machine that recorded, or big-endian. IPv6 has several numbers.
fn loopback(data: &[u8]) -> Result<usize, No> {
    let family = read(Order::Big.u32(data, 0))?;
    let family = if family > 0xFFFF { family.swap_bytes() } else { family };
    if matches!(family, 2 | 10 | 24 | 28 | 30) { Ok(4) } else { Err(Reason::NotIp.into()) }
}

/// Where the Ethernet frame begins in a packet of batman-adv (`batadv_packet.h` of Linux).
fn batman_adv(data: &[u8], at: usize) -> Result<usize, No> {
    const UNICAST: u8 = 0x40;
    const UNICAST_4ADDR: u8 = 0x42;
    let version = *read(data.get(at + 1))?;
    let inner = |kind: u8, at: usize| match kind {
        UNICAST => Some(at + 10),
        UNICAST_4ADDR => Some(at + 18),
        _ => None,
    };
    match data[at] {
        0x01 => Ok(at + 14),
        0x05 => Ok(at + 6 + usize::from(read(Order::Big.u16(data, at + 4))?)),
        // A fragment; that with the head of what was cut begins with the header of a unicast.
        0x41 => {
            let head = read(data.get(at + 20..at + 22))?;
            let begins = inner(head[0], at + 20).filter(|_| head[1] == version);
            begins.ok_or(Reason::Fragment.into())
        }
        kind => inner(kind, at).ok_or(Reason::NotIp.into()),
    }
}
