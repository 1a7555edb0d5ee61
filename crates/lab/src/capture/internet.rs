//! Packets as bytes: IPv4 with UDP, ICMP echo or TCP. Fields are in network order. Payloads and checksums over
//! payloads are left out, but packets of real programs are complete.

use super::addresses::Ends;
use super::dsr;
use sim::trace::{DsrMessage, DsrOptions, Ecn, Packet, Protocol, Report, Segment};
use units::Instant;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Length of an IPv4 header without options, in bytes.
const IPV4: usize = 20;
/// Protocol numbers of IP (IANA).
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const DSR: u8 = 48;
const NONE: u8 = 59;
/// The flag Don't Fragment, which all of Sluice's packets have.
const DO_NOT_FRAGMENT: u16 = 0x4000;
const TTL: u8 = 64;
/// Types of ICMP (RFC 792).
const ECHO_REPLY: u8 = 0;
const ECHO_REQUEST: u8 = 8;
/// Kinds of TCP options (RFC 9293, 3.2; RFC 7323, RFC 2018).
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: [u8; 2] = [2, 4];
const WINDOW_SCALE: [u8; 2] = [3, 3];
const SACK_PERMITTED: [u8; 2] = [4, 2];
const SACK: u8 = 5;
const TIMESTAMPS: [u8; 2] = [8, 10];
/// Option that permits or contains loss reports: one for experiments (RFC 4727), with Sluice's identifier (RFC 6994).
const REPORTS: [u8; 4] = [253, 4, 0x53, 0x4c];
const REPORT: [u8; 4] = [253, 5, 0x53, 0x4c];
/// The report that losses were not caused by congestion.
const WIRELESS: u8 = 0xff;
/// Largest window that needs no scaling, in bytes.
const UNSCALED: u64 = 65_535;

/// Builds a packet that has `length` bytes from the IP header on. Returns its Ethernet type, and its headers; for a
/// real program's packet, all of its bytes.
pub(super) fn packet(packet: &Packet, length: u16, ends: &Ends) -> (u16, Vec<u8>) {
    let real = packet.real.as_deref().filter(|_| packet.options.is_none()).unwrap_or_default();
    if real.len() == usize::from(length) && !real.is_empty() {
        let kind = if real[0] >> 4 == 6 { ETHERTYPE_IPV6 } else { ETHERTYPE_IPV4 };
        return (kind, marked(real, packet.ecn));
    }
    let mut bytes = headers(packet, length, ends);
    if bytes.len() + real.len() == usize::from(length) {
        bytes.extend(real);
    }
    (ETHERTYPE_IPV4, bytes)
}

/// Returns a real packet with the ECN mark that a queue set on it.
fn marked(real: &[u8], ecn: Ecn) -> Vec<u8> {
    let mut bytes = real.to_vec();
    let own = usize::from(bytes[0] & 0xf) * 4;
    match bytes[0] >> 4 {
        _ if ecn != Ecn::Ce => {}
        4 if (IPV4..=bytes.len()).contains(&own) => {
            bytes[1] |= 0b11;
            bytes[10..12].fill(0);
            let sum = check_sum(&bytes[..own]);
            bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        6 if bytes.len() > 1 => bytes[1] |= 0b11 << 4,
        _ => {}
    }
    bytes
}

/// Builds the headers of a packet that is `length` bytes long from the IP header on.
fn headers(packet: &Packet, length: u16, ends: &Ends) -> Vec<u8> {
    if let Some(options) = &packet.options {
        return source_routed(packet, options, length, ends);
    }
    let (protocol, carried) = carried(packet, length, ends);
    let mut bytes = ip(packet, length, TTL, protocol, ends);
    bytes.extend(carried);
    debug_assert!(packet.length.count() >= bytes.len() as u64, "a packet has its headers");
    bytes
}

/// Builds the headers of a packet that DSR routes or makes. DSR's header comes after IP's.
fn source_routed(packet: &Packet, options: &DsrOptions, length: u16, ends: &Ends) -> Vec<u8> {
    let room = usize::from(length.saturating_sub(20));
    let (header, carried) = if options.message.is_some() {
        (dsr::header(options, NONE, room), Vec::new())
    } else {
        let own = u16::try_from(dsr::route_length(options)).expect("sixteen nodes");
        let (next, carried) = carried(packet, length.saturating_sub(own), ends);
        (dsr::header(options, next, usize::from(own)), carried)
    };
    let ttl = match options.message {
        Some(DsrMessage::Request { hops_left, .. }) => hops_left.saturating_add(1),
        _ => TTL,
    };
    let mut bytes = ip(packet, length, ttl, DSR, ends);
    bytes.extend(header);
    bytes.extend(carried);
    bytes
}

/// Builds the header after IP's for a packet of `length` bytes from the IP header on; returns its protocol number, too.
fn carried(packet: &Packet, length: u16, ends: &Ends) -> (u8, Vec<u8>) {
    match (&packet.segment, ends.protocol) {
        (Some(segment), _) => (TCP, tcp(segment, ends)),
        (None, Protocol::EchoRequest) => (ICMP, echo(ECHO_REQUEST, packet, ends)),
        (None, Protocol::EchoReply(_)) => (ICMP, echo(ECHO_REPLY, packet, ends)),
        (None, Protocol::Udp | Protocol::Tcp | Protocol::TcpBack(_)) => (UDP, udp(length, ends)),
    }
}

/// Builds an IPv4 header (RFC 791) with its code point (RFC 2474, section 3) and its ECN field (RFC 3168, section 5).
fn ip(packet: &Packet, length: u16, ttl: u8, protocol: u8, ends: &Ends) -> Vec<u8> {
    let ecn = match packet.ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Ce => 0b11,
    };
    let mut bytes = vec![0x45, packet.dscp.number() << 2 | ecn];
    bytes.extend(length.to_be_bytes());
    bytes.extend(low_half(packet.id).to_be_bytes());
    bytes.extend(DO_NOT_FRAGMENT.to_be_bytes());
    bytes.extend([ttl, protocol, 0, 0]);
    bytes.extend(ends.from);
    bytes.extend(ends.to);
    let sum = check_sum(&bytes);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// Computes the checksum of a header whose checksum field is zero.
fn check_sum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !u16::try_from((folded & 0xffff) + (folded >> 16)).expect("two folds of at most sixty bytes fit")
}

/// Builds a UDP header (RFC 768).
fn udp(length: u16, ends: &Ends) -> Vec<u8> {
    let fields = [ends.ports[0], ends.ports[1], length.saturating_sub(20), 0];
    fields.into_iter().flat_map(u16::to_be_bytes).collect()
}

/// Builds an ICMP echo header (RFC 792).
fn echo(kind: u8, packet: &Packet, ends: &Ends) -> Vec<u8> {
    let mut bytes = vec![kind, 0, 0, 0];
    bytes.extend(ends.ports[0].to_be_bytes());
    bytes.extend(low_half(packet.id).to_be_bytes());
    bytes
}

/// Builds a TCP header with its options (RFC 9293, 3.1). Sequence numbers begin at 0.
fn tcp(segment: &Segment, ends: &Ends) -> Vec<u8> {
    let options = options(segment);
    let mut bytes = Vec::with_capacity(20 + options.len());
    ends.ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
    bytes.extend(number(segment.sequence).to_be_bytes());
    bytes.extend(number(segment.ack.unwrap_or_default()).to_be_bytes());
    let words = 5 + u8::try_from(options.len() / 4).expect("at most forty bytes of options");
    bytes.extend([words << 4, segment.flags]);
    let shift = if segment.flags & Segment::SYN == 0 { scale(segment.window) } else { 0 };
    let window = u16::try_from((segment.window >> shift).min(UNSCALED)).expect("at most 65535");
    bytes.extend(window.to_be_bytes());
    // Checksum and urgent pointer follow.
    bytes.extend([0; 4]);
    bytes.extend(options);
    bytes
}

/// Builds the options of a segment, padded as stacks usually do (RFC 7323, appendix A).
fn options(segment: &Segment) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(40);
    if segment.flags & Segment::SYN != 0 {
        bytes.extend(MAXIMUM_SEGMENT_SIZE);
        bytes.extend(u16::try_from(segment.most.count()).unwrap_or(u16::MAX).to_be_bytes());
    }
    match (segment.sack_permitted, segment.stamp) {
        (true, _) => bytes.extend(SACK_PERMITTED),
        (false, Some(_)) => bytes.extend([NO_OPERATION; 2]),
        (false, None) => {}
    }
    match segment.stamp {
        Some((stamp, echo)) => {
            bytes.extend(TIMESTAMPS);
            bytes.extend(ticks(stamp).to_be_bytes());
            bytes.extend(echo.map_or(0, ticks).to_be_bytes());
        }
        None if segment.sack_permitted => bytes.extend([NO_OPERATION; 2]),
        None => {}
    }
    if segment.flags & Segment::SYN != 0 && segment.window > UNSCALED {
        bytes.extend([NO_OPERATION]);
        bytes.extend(WINDOW_SCALE);
        bytes.push(scale(segment.window));
    }
    match segment.report {
        Some(Report::Permitted) => bytes.extend(REPORTS),
        Some(report) => {
            bytes.extend([NO_OPERATION; 3]);
            bytes.extend(REPORT);
            bytes.push(if let Report::Congestion { reached } = report { reached } else { WIRELESS });
        }
        None => {}
    }
    if !segment.sacks.is_empty() {
        let length = u8::try_from(2 + 8 * segment.sacks.len()).expect("at most four blocks");
        bytes.extend([NO_OPERATION, NO_OPERATION, SACK, length]);
        for (start, end) in &segment.sacks {
            bytes.extend(number(*start).to_be_bytes());
            bytes.extend(number(*end).to_be_bytes());
        }
    }
    bytes
}

/// Returns the smallest scale factor with which a window fits. Both ends always offer the same window.
fn scale(window: u64) -> u8 {
    (0..14).find(|&shift| window >> shift <= UNSCALED).unwrap_or(14)
}

/// Converts a time to a time stamp in milliseconds.
#[expect(clippy::cast_possible_truncation, reason = "time stamps come round again (RFC 7323, 5.2)")]
fn ticks(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}

/// Converts a count to a sequence number of the header.
#[expect(clippy::cast_possible_truncation, reason = "sequence numbers come round again")]
fn number(count: u64) -> u32 {
    count as u32
}

#[expect(clippy::cast_possible_truncation, reason = "16 bits of identification come round again")]
fn low_half(number: u64) -> u16 {
    number as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Duration};

    fn segment(flags: u8) -> Segment {
        Segment {
            sequence: (1 << 32) + 7,
            most: Bytes::new(1000),
            ack: Some(3),
            window: 4_096_000,
            flags,
            ..Segment::default()
        }
    }

    fn stamped(segment: Segment) -> Segment {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        Segment { stamp: Some((at(5), Some(at(2)))), ..segment }
    }

    const ENDS: Ends =
        Ends { from: [10, 0, 0, 1], to: [10, 0, 0, 2], ports: [49_152, 10_000], protocol: Protocol::Tcp };

    #[test]
    fn headers_are_those_of_the_rfcs() {
        let bytes = tcp(&Segment { sacks: vec![(9, 10)], ..stamped(segment(Segment::ACK)) }, &ENDS);
        // Eleven words of header (0xb0), a window scaled by 6, and stamps in milliseconds.
        let expected: [u8; 44] = [
            0xc0, 0x00, 0x27, 0x10, 0, 0, 0, 7, 0, 0, 0, 3, 0xb0, 0x10, 0xfa, 0x00, 0, 0, 0, 0, 1, 1, 8, 10, 0, 0, 0,
            5, 0, 0, 0, 2, 1, 1, 5, 10, 0, 0, 0, 9, 0, 0, 0, 10,
        ];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn real_packets_stand_whole_with_their_mark() {
        let real = |bytes: &[u8], length: u16, ecn| {
            let (of, dscp) = (sim::trace::Owner::Flow(0), sim::config::Dscp::default());
            let (real, length_of) = (Some(bytes.into()), Bytes::new(length.into()));
            let whole = Packet { id: 0, of, length: length_of, dscp, ecn, segment: None, options: None, real };
            packet(&whole, length, &Ends { protocol: Protocol::Udp, ..ENDS })
        };
        let four = [0x45, 1, 0, 21, 0, 9, 0, 0, 64, 253, 0x65, 0xe0, 10, 0, 0, 1, 10, 0, 0, 2, 7];
        assert_eq!(check_sum(&[&four[..10], &[0; 2], &four[12..20]].concat()), 0x65e0);
        assert_eq!(real(&four, 21, Ecn::Ect1), (ETHERTYPE_IPV4, four.to_vec()));
        let (_, marked) = real(&four, 21, Ecn::Ce);
        // Two more in a word are two less in the checksum.
        assert_eq!((marked[1], &marked[10..12], marked[20]), (3, &[0x65, 0xde][..], 7));
        let six = [&[0x60, 0x10, 0, 0, 0, 1, 59, 9][..], &[1; 33]].concat();
        assert_eq!(real(&six, 41, Ecn::Ect1), (ETHERTYPE_IPV6, six.clone()));
        assert_eq!(real(&six, 41, Ecn::Ce).1[..2], [0x60, 0x30]);
        // A bare payload gets headers; damaged packets stay unchanged.
        let (kind, bytes) = real(&[8, 9], 30, Ecn::NotEct);
        assert_eq!((kind, bytes.len(), &bytes[28..]), (ETHERTYPE_IPV4, 30, &[8, 9][..]));
        assert_eq!(real(&[0x4f, 1], 2, Ecn::Ce).1, [0x4f, 1]);
    }

    #[test]
    fn a_syn_offers_all_in_forty_bytes() {
        let syn = Segment { sack_permitted: true, ..stamped(segment(Segment::SYN)) };
        let bytes = tcp(&syn, &ENDS);
        let expected = [2, 4, 3, 232, 4, 2, 8, 10, 0, 0, 0, 5, 0, 0, 0, 2, 1, 3, 3, 6];
        assert_eq!((&bytes[20..], bytes.len(), &bytes[14..16]), (&expected[..], 40, &[0xff, 0xff][..]));
        let plain = tcp(&Segment { sack_permitted: true, window: 65_535, ..segment(Segment::SYN) }, &ENDS);
        assert_eq!(plain[20..], [2, 4, 3, 232, 4, 2, 1, 1]);
    }

    #[test]
    fn reports_of_losses_are_an_option_for_experiments() {
        let with = |flags, report| tcp(&Segment { report: Some(report), ..segment(flags) }, &ENDS)[20..].to_vec();
        let syn = with(Segment::SYN, Report::Permitted);
        assert_eq!(syn[syn.len() - 4..], [253, 4, 0x53, 0x4c]);
        assert_eq!(with(Segment::ACK, Report::Congestion { reached: 2 }), [1, 1, 1, 253, 5, 0x53, 0x4c, 2]);
        assert_eq!(with(Segment::ACK, Report::Wireless), [1, 1, 1, 253, 5, 0x53, 0x4c, 0xff]);
    }
}
