//! Finds where an IP packet begins in a frame, and its length.

use super::container::Order;
use super::error::Reason;

/// `EtherType`s (IEEE 802 numbers).
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
/// VLAN tags: 802.1Q, 802.1ad, and earlier tags of `QinQ`.
const VLAN: [u16; 4] = [0x8100, 0x88A8, 0x9100, 0x9200];
/// Protocols that also carry IP, but are not opened: MPLS, a session of `PPPoE`, batman-adv.
const TUNNELS: [u16; 4] = [0x8847, 0x8848, 0x8864, 0x4305];

/// Why there is no packet at this offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum No {
    /// The frame has no packet that could be replayed.
    Left(Reason),
    /// The frame ends too early to decide.
    Cut,
}

impl From<Reason> for No {
    fn from(reason: Reason) -> Self {
        Self::Left(reason)
    }
}

/// Returns the number that was read, or the error that the frame ends before this number.
pub(super) fn read<T>(found: Option<T>) -> Result<T, No> {
    found.ok_or(No::Cut)
}

/// Returns the length of the IP packet at `at`: that of its own header, because frames may be padded. If the header
/// says zero, it is the frame's length: the kernel leaves zero before it cuts a long segment.
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

/// Returns where the IP packet begins in a frame with its `EtherType` at `type_at` and its payload at `at`.
pub(super) fn typed(data: &[u8], mut type_at: usize, mut at: usize) -> Result<usize, No> {
    loop {
        match read(Order::Big.u16(data, type_at))? {
            IPV4 | IPV6 => return Ok(at),
            tag if VLAN.contains(&tag) => (type_at, at) = (at + 2, at + 4),
            tunnel if TUNNELS.contains(&tunnel) => return Err(Reason::Tunnel.into()),
            _ => return Err(Reason::NotIp.into()),
        }
    }
}

/// Reads LLC and SNAP (RFC 1042) at `at`.
pub(super) fn llc(data: &[u8], at: usize) -> Result<usize, No> {
    let header = read(data.get(at..at + 6))?;
    if is_snap(header) { typed(data, at + 6, at + 8) } else { Err(Reason::NotIp.into()) }
}

/// True if these bytes begin LLC with SNAP.
pub(super) fn is_snap(header: &[u8]) -> bool {
    header.starts_with(&[0xAA, 0xAA, 0x03, 0, 0, 0])
}
