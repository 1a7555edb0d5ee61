//! IP packets as bytes: the fields that the network reads, and those that it changes. No input causes a panic.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Lengths of the fixed headers, in bytes.
const IPV4: usize = 20;
const IPV6: usize = 40;
/// Protocols whose header begins with ports: TCP, UDP, DCCP, SCTP and UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];
/// Only the first fragment has ports. They are ignored, so that all fragments wait in the same queue.
const FRAGMENT: u16 = 0x3fff;
/// Basis and factor of the 32-bit Fowler-Noll-Vo hash (draft-eastlake-fnv).
const BASIS: u32 = 0x811c_9dc5;
const FACTOR: u32 = 0x0100_0193;

/// Fields of an IP packet that the network uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Source.
    pub from: IpAddr,
    /// Destination.
    pub to: IpAddr,
    /// Length as the header gives it.
    pub length: usize,
    /// DSCP and ECN field.
    pub tos: u8,
    /// Hash of addresses, protocol and ports.
    pub key: u32,
}

impl Header {
    /// Reads the header of a packet; `None` if the bytes are not a whole IP packet.
    pub fn read(packet: &[u8]) -> Option<Self> {
        let first = *packet.first()?;
        let header = match first >> 4 {
            4 => Self::v4(packet, usize::from(first & 0xf) * 4)?,
            6 => Self::v6(packet)?,
            _ => return None,
        };
        (header.length <= packet.len()).then_some(header)
    }

    fn v4(packet: &[u8], own: usize) -> Option<Self> {
        let length = usize::from(u16_at(packet, 2)?);
        if own < IPV4 || length < own || packet.len() < own {
            return None;
        }
        let (protocol, addresses) = (packet[9], &packet[12..20]);
        let ports = if u16_at(packet, 6)? & FRAGMENT == 0 { ports(packet, own, protocol) } else { &[] };
        let [from, to] =
            [addresses.first_chunk::<4>()?, addresses.last_chunk()?].map(|&four| Ipv4Addr::from(four).into());
        Some(Self { from, to, length, tos: packet[1], key: key(protocol, addresses, ports) })
    }

    fn v6(packet: &[u8]) -> Option<Self> {
        let length = IPV6 + usize::from(u16_at(packet, 4)?);
        let (protocol, addresses) = (*packet.get(6)?, packet.get(8..40)?);
        let [from, to] =
            [addresses.first_chunk::<16>()?, addresses.last_chunk()?].map(|&six| Ipv6Addr::from(six).into());
        let tos = packet[0] << 4 | packet[1] >> 4;
        let key = key(protocol, addresses, ports(packet, IPV6, protocol));
        Some(Self { from, to, length, tos, key })
    }
}

fn ports(packet: &[u8], own: usize, protocol: u8) -> &[u8] {
    if WITH_PORTS.contains(&protocol) { packet.get(own..own + 4).unwrap_or_default() } else { &[] }
}

fn key(protocol: u8, addresses: &[u8], ports: &[u8]) -> u32 {
    let all = std::iter::once(&protocol).chain(addresses).chain(ports);
    all.fold(BASIS, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(FACTOR))
}

/// Changes the header of a whole packet as the network does: its DSCP and ECN field, and its TTL, which the routers
/// that it has passed decrement. False if the TTL runs out on the way.
pub fn carry(packet: &mut [u8], tos: u8, routers: u8) -> bool {
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= IPV4 => {
            let left = packet[8].saturating_sub(routers);
            let before = [u16_at(packet, 0), u16_at(packet, 8)];
            (packet[1], packet[8]) = (tos, left);
            let after = [u16_at(packet, 0), u16_at(packet, 8)];
            for (before, after) in before.into_iter().zip(after) {
                if let (Some(before), Some(after), Some(sum)) = (before, after, u16_at(packet, 10)) {
                    packet[10..12].copy_from_slice(&updated(sum, before, after).to_be_bytes());
                }
            }
            left > 0 || routers == 0
        }
        Some(6) if packet.len() >= IPV6 => {
            let left = packet[7].saturating_sub(routers);
            packet[0] = 0x60 | tos >> 4;
            packet[1] = tos << 4 | packet[1] & 0xf;
            packet[7] = left;
            left > 0 || routers == 0
        }
        _ => true,
    }
}

/// Returns the header's checksum after one of its words has changed (RFC 1624, equation 3).
fn updated(sum: u16, before: u16, after: u16) -> u16 {
    let total = u32::from(!sum) + u32::from(!before) + u32::from(after);
    let folded = (total & 0xffff) + (total >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    !u16::try_from(folded).expect("folded twice, three words leave no carry")
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An IPv4 packet with a right checksum.
    pub(crate) fn v4(tos: u8, ttl: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let length = u16::try_from(IPV4 + payload.len()).unwrap().to_be_bytes();
        let mut packet =
            vec![0x45, tos, length[0], length[1], 0, 1, 0, 0, ttl, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let sum = (!total(&packet)).to_be_bytes();
        packet[10..12].copy_from_slice(&sum);
        packet.extend(payload);
        packet
    }

    /// One's complement sum of the words of a header; all ones if its checksum is right.
    fn total(header: &[u8]) -> u16 {
        let sum = header[..IPV4].chunks(2).fold(0_u32, |sum, word| sum + u32::from(word[0]) * 256 + u32::from(word[1]));
        u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap()
    }

    fn v6(tos: u8, hops: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
        let mut packet = vec![0x60 | tos >> 4, tos << 4 | 0xa, 0xbc, 0xde, length[0], length[1], protocol, hops];
        packet.extend(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1).octets());
        packet.extend(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2).octets());
        packet.extend(payload);
        packet
    }

    #[test]
    fn headers_of_both_versions_are_read() {
        let Header { to, length, tos, .. } = Header::read(&v4(0xb9, 64, 17, &[0; 9])).unwrap();
        assert_eq!((to, length, tos), (Ipv4Addr::new(10, 0, 0, 2).into(), 29, 0xb9));
        let Header { to, length, tos, .. } = Header::read(&v6(0xb9, 64, 17, &[0; 9])).unwrap();
        assert_eq!((to.to_string().as_str(), length, tos), ("fd00::2", 49, 0xb9));
    }

    #[test]
    fn ports_and_protocols_give_keys_and_fragments_of_a_packet_share_one() {
        let key = |packet: &[u8]| Header::read(packet).unwrap().key;
        let udp = |port: u8| v4(0, 64, 17, &[0, port, 0, 9, 0, 0, 0, 0]);
        assert_ne!(key(&udp(1)), key(&udp(2)));
        assert_ne!(key(&v4(0, 64, 6, &[0, 1, 0, 9])), key(&udp(1)));
        assert_ne!(key(&v6(0, 64, 17, &[0, 1, 0, 9])), key(&v6(0, 64, 17, &[0, 2, 0, 9])));
        // Neither DSCP nor TTL belongs to a flow.
        assert_eq!(key(&v4(8, 3, 17, &[0, 1, 0, 9, 0, 0, 0, 0])), key(&udp(1)));
        let (mut first, mut second) = (udp(1), udp(2));
        (first[6], second[7]) = (0x20, 9);
        assert_eq!(key(&first), key(&second));
    }

    #[test]
    fn what_is_no_whole_packet_is_not_read() {
        let whole = v4(0, 64, 17, &[0; 9]);
        for length in 0..whole.len() {
            assert_eq!(Header::read(&whole[..length]), None, "{length}");
        }
        assert_eq!(Header::read(&v6(0, 64, 17, &[0; 9])[..48]), None);
        // A header of less than twenty bytes, a length within the header, and another version.
        let with = |at: usize, byte: u8| {
            let mut packet = whole.clone();
            packet[at] = byte;
            Header::read(&packet)
        };
        assert_eq!([with(0, 0x44), with(3, 19), with(0, 0x55)], [None; 3]);
        // Bytes after the packet are padding.
        assert_eq!(Header::read(&[&whole[..], &[0; 3]].concat()).map(|header| header.length), Some(29));
    }

    #[test]
    fn the_ttl_falls_by_routers_and_runs_out() {
        for (ttl, routers, left, alive) in [(64, 0, 64, true), (64, 2, 62, true), (2, 2, 0, false), (1, 3, 0, false)] {
            let (mut four, mut six) = (v4(0, ttl, 17, &[]), v6(0, ttl, 17, &[]));
            assert_eq!([carry(&mut four, 0, routers), carry(&mut six, 0, routers)], [alive; 2]);
            assert_eq!((four[8], six[7]), (left, left));
        }
    }

    proptest! {
        #[test]
        fn a_carried_packet_keeps_all_but_its_field_and_its_ttl(tos: u8, new: u8, ttl in 1_u8.., routers in 0_u8..9) {
            let mut packet = v4(tos, ttl, 17, &[1, 2, 3]);
            carry(&mut packet, new, routers);
            prop_assert_eq!(total(&packet), 0xffff);
            let mut expected = v4(new, ttl.saturating_sub(routers), 17, &[1, 2, 3]);
            // Zero has two forms in one's complement.
            expected[10..12].copy_from_slice(&packet[10..12]);
            prop_assert_eq!(&packet, &expected);
            let mut packet = v6(tos, ttl, 17, &[1, 2, 3]);
            carry(&mut packet, new, routers);
            prop_assert_eq!(packet, v6(new, ttl.saturating_sub(routers), 17, &[1, 2, 3]));
        }

        #[test]
        fn no_bytes_make_it_panic(mut bytes: Vec<u8>, tos: u8, routers: u8) {
            if let Some(header) = Header::read(&bytes) {
                prop_assert!(header.length <= bytes.len());
            }
            carry(&mut bytes, tos, routers);
        }
    }
}
