//! Lengths of the IP packets in a captured frame, for each link type.
//!
//! No parser crate is used. Those for Ethernet lack 802.3 with SNAP and the second kind of Linux cooked captures. Those
//! for 802.11 lack mesh control and the padding in radiotap's flags, and take lengths of zero as damage.

use super::container::{Order, Record};
use super::dot11::{Air, Frame};
use super::error::{PcapError, Reason};
use super::ip::{No, length_at, llc, read, typed};
use super::link_type as of;

/// In Linux cooked captures: the packet leaves the recording machine.
const OUTGOING: u16 = 4;

/// Calls `found` with the length of each IP packet in a frame, IP header included. If there is none, returns why.
pub(super) fn ip_lengths(
    record: &Record,
    air: &mut Air,
    found: &mut impl FnMut(u64),
) -> Result<Result<(), Reason>, PcapError> {
    match lengths(record, air, found)? {
        Ok(()) => Ok(Ok(())),
        Err(No::Left(reason)) => Ok(Err(reason)),
        // The capture has the whole frame, so the frame itself is damaged.
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

/// What routers and NAT leave unchanged in a packet: its identification (zero in IPv6), its length, and its last 8 B.
type Kept<'f> = (u16, u16, &'f [u8]);

/// For the IP packet in a frame of a cooked capture, returns whether it leaves the recording machine, its unchanged
/// parts, and its source and destination.
pub(super) fn passage<'f>(record: &Record<'f>) -> Option<(bool, Kept<'f>, [&'f [u8]; 2])> {
    let data = record.data;
    let (kind, at) = match record.link {
        of::LINUX_COOKED => (Order::Big.u16(data, 0)?, typed(data, 14, 16).ok()?),
        of::LINUX_COOKED_V2 => (u16::from(*data.get(10)?), typed(data, 0, 20).ok()?),
        _ => return None,
    };
    let ip = data.get(at..)?;
    let (id, length, [from, to, end]) = match ip.first()? >> 4 {
        6 => (0, Order::Big.u16(ip, 4)?.saturating_add(40), [8, 24, 40]),
        _ => (Order::Big.u16(ip, 4)?, Order::Big.u16(ip, 2)?, [12, 16, 20]),
    };
    // Ethernet's padding after incoming packets is left out. A length of zero is that of a packet before segmentation.
    let whole = if length == 0 { ip } else { &ip[..ip.len().min(length.into())] };
    let last = &whole[whole.len().saturating_sub(8)..];
    Some((kind == OUTGOING, (id, length, last), [ip.get(from..to)?, ip.get(to..end)?]))
}

/// Longest length of an 802.3 frame; an `EtherType` is larger.
const LONGEST_802_3: u16 = 1500;

/// Reads Ethernet II, or 802.3 with LLC and SNAP, at `at`.
fn ethernet(data: &[u8], at: usize) -> Result<usize, No> {
    let kind = read(Order::Big.u16(data, at + 12))?;
    if kind > LONGEST_802_3 { typed(data, at + 12, at + 14) } else { llc(data, at + 14) }
}

/// Reads PPP (RFC 1661), which may have HDLC framing (RFC 1662) and a compressed protocol field.
fn ppp(data: &[u8], at: usize) -> Result<usize, No> {
    let at = at + if data.get(at..).is_some_and(|rest| rest.starts_with(&[0xFF, 0x03])) { 2 } else { 0 };
    let first = *read(data.get(at))?;
    let (protocol, packet) =
        if first & 1 == 1 { (u16::from(first), at + 1) } else { (read(Order::Big.u16(data, at))?, at + 2) };
    if matches!(protocol, 0x0021 | 0x0057) { Ok(packet) } else { Err(Reason::NotIp.into()) }
}

/// Reads BSD loopback: an address family, big-endian or as on the recording machine. IPv6 has several numbers.
fn loopback(data: &[u8]) -> Result<usize, No> {
    let family = read(Order::Big.u32(data, 0))?;
    let family = if family > 0xFFFF { family.swap_bytes() } else { family };
    if matches!(family, 2 | 10 | 24 | 28 | 30) { Ok(4) } else { Err(Reason::NotIp.into()) }
}
