//! Lengths of the IP packets in a captured frame, by link type.
//!
//! No parser crate was taken: those for Ethernet know neither 802.3 with SNAP nor the second kind of Linux cooked captures, those
//! for 802.11 neither mesh control nor the padding that radiotap tells of, and lengths of zero are damage to them.

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
/// What carries IP, too, but is not opened: MPLS, a session of `PPPoE`, batman-adv.
const TUNNELS: [u16; 4] = [0x8847, 0x8848, 0x8864, 0x4305];
/// Of Linux cooked captures: the packet leaves this machine.
const OUTGOING: u16 = 4;

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
        of::IEEE_802_11 | of::RADIOTAP | of::AVS | of::PPI => {
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
fn typed(data: &[u8], mut type_at: usize, mut at: usize) -> Result<usize, No> {
    loop {
        match read(Order::Big.u16(data, type_at))? {
            IPV4 | IPV6 => return Ok(at),
            tag if VLAN.contains(&tag) => (type_at, at) = (at + 2, at + 4),
            tunnel if TUNNELS.contains(&tunnel) => return Err(Reason::Tunnel.into()),
            _ => return Err(Reason::NotIp.into()),
        }
    }
}

/// The addresses of the IP packet in a frame of a cooked capture, and whether it leaves the machine that recorded.
pub(super) fn passage<'f>(record: &Record<'f>) -> Option<(&'f [u8], bool)> {
    let data = record.data;
    let (kind, at) = match record.link {
        of::LINUX_COOKED => (Order::Big.u16(data, 0)?, typed(data, 14, 16).ok()?),
        of::LINUX_COOKED_V2 => (u16::from(*data.get(10)?), typed(data, 0, 20).ok()?),
        _ => return None,
    };
    let ip = data.get(at..)?;
    let addresses = if ip.first()? >> 4 == 6 { ip.get(8..40) } else { ip.get(12..20) };
    Some((addresses?, kind == OUTGOING))
}

/// An `EtherType` is above the longest length of an 802.3 frame.
const LONGEST_802_3: u16 = 1500;

/// Ethernet II, or 802.3 with LLC and SNAP, at `at`.
fn ethernet(data: &[u8], at: usize) -> Result<usize, No> {
    let kind = read(Order::Big.u16(data, at + 12))?;
    if kind > LONGEST_802_3 { typed(data, at + 12, at + 14) } else { llc(data, at + 14) }
}

/// LLC and SNAP (RFC 1042) at `at`.
pub(super) fn llc(data: &[u8], at: usize) -> Result<usize, No> {
    let header = read(data.get(at..at + 6))?;
    if is_snap(header) { typed(data, at + 6, at + 8) } else { Err(Reason::NotIp.into()) }
}

/// Does LLC with SNAP begin so?
pub(super) fn is_snap(header: &[u8]) -> bool {
    header.starts_with(&[0xAA, 0xAA, 0x03, 0, 0, 0])
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
