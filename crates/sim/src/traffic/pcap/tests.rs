use super::Pcap;
use super::error::PcapError;
use crate::results::LeftOut;
use proptest::prelude::*;
use units::Bytes;

const MOST: Bytes = Bytes::new(2268);

/// IPv4 header of a packet of `length` bytes.
fn ipv4(length: u16) -> Vec<u8> {
    let mut header = vec![0; 20];
    header[0] = 0x45;
    header[2..4].copy_from_slice(&length.to_be_bytes());
    header
}

fn ipv6(payload: u16) -> Vec<u8> {
    let mut header = vec![0; 40];
    header[0] = 0x60;
    header[4..6].copy_from_slice(&payload.to_be_bytes());
    header
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// An Ethernet frame with this type.
fn ethernet(kind: u16, packet: &[u8]) -> Vec<u8> {
    join(&[&[0; 12], &kind.to_be_bytes(), packet])
}

/// A packet: (seconds, fraction of a second, original length, data kept).
type Packet = (u32, u32, u32, Vec<u8>);

fn whole(seconds: u32, parts: u32, data: Vec<u8>) -> Packet {
    (seconds, parts, u32::try_from(data.len()).expect("short"), data)
}

/// A little-endian pcap file.
fn pcap(magic: u32, link: u32, packets: &[Packet]) -> Vec<u8> {
    let mut file = join(&[&magic.to_le_bytes(), &2_u16.to_le_bytes(), &4_u16.to_le_bytes(), &[0; 8]]);
    file.extend([262_144, link].map(u32::to_le_bytes).concat());
    for (seconds, parts, original, data) in packets {
        let kept = u32::try_from(data.len()).expect("short");
        file.extend([*seconds, *parts, kept, *original].map(u32::to_le_bytes).concat());
        file.extend(data);
    }
    file
}

const MICROS: u32 = 0xA1B2_C3D4;
const NANOS: u32 = 0xA1B2_3C4D;

fn read(file: &[u8]) -> Result<Vec<(u64, u64)>, PcapError> {
    let recording = Pcap::read(file, MOST)?;
    Ok(recording.packets.iter().map(|packet| (packet.after.as_nanos(), packet.payload.count())).collect())
}

/// Returns the content of a single frame of a link.
fn one(link: u32, frame: Vec<u8>) -> Result<u64, PcapError> {
    read(&pcap(MICROS, link, &[whole(1, 0, frame)])).map(|packets| packets[0].1)
}

#[test]
fn times_are_counted_from_the_first_packet() {
    let frame = || ethernet(0x0800, &ipv4(1028));
    let packets = [whole(7, 999_999, frame()), whole(8, 0, frame()), whole(8, 0, frame()), whole(10, 5, frame())];
    let expected = |unit| vec![(0, 1000), (unit, 1000), (unit, 1000), (2_000_000_000 + 6 * unit, 1000)];
    assert_eq!(read(&pcap(MICROS, 1, &packets)), Ok(expected(1_000)));
    let packets = [(7, 999_999_999), (8, 0), (8, 0), (10, 5)].map(|(seconds, nanos)| whole(seconds, nanos, frame()));
    assert_eq!(read(&pcap(NANOS, 1, &packets)), Ok(expected(1)));
}

#[test]
fn both_byte_orders_are_read() {
    let mut file =
        pcap(MICROS, 1, &[whole(1, 2, ethernet(0x0800, &ipv4(128))), whole(3, 4, ethernet(0x0800, &ipv4(28)))]);
    let expected = Ok(vec![(0, 100), (2_000_002_000, 0)]);
    assert_eq!(read(&file), expected);
    file[..4].reverse();
    file[4..6].reverse();
    file[6..8].reverse();
    file[8..24].chunks_mut(4).for_each(<[u8]>::reverse);
    for header in [24, 24 + 16 + 34] {
        file[header..header + 16].chunks_mut(4).for_each(<[u8]>::reverse);
    }
    assert_eq!(read(&file), expected);
}

#[test]
fn every_link_type_leads_to_the_ip_packet() {
    let dot11 = |control: [u8; 2], rest: usize| join(&[&control, &vec![0; 22 + rest], &LLC, &ipv4(328)]);
    let plain = || dot11([0x08, 0x01], 0);
    let v4 = || ipv4(328);
    let cases = [
        (0, join(&[&2_u32.to_le_bytes(), &v4()])),
        (0, join(&[&30_u32.to_be_bytes(), &ipv6(288)])),
        (108, join(&[&24_u32.to_be_bytes(), &ipv6(288)])),
        (1, ethernet(0x0800, &v4())),
        (1, ethernet(0x86DD, &ipv6(288))),
        (1, ethernet(0x8100, &join(&[&[0, 5, 8, 0], &v4()]))),
        (1, ethernet(0x88A8, &join(&[&[0, 5, 0x81, 0, 0, 6, 8, 0], &v4()]))),
        (1, ethernet(0x9100, &join(&[&[0, 5, 0x81, 0, 0, 6, 8, 0], &v4()]))),
        (1, ethernet(60, &join(&[&LLC, &v4()]))),
        (9, join(&[&[0xFF, 0x03, 0, 0x21], &v4()])),
        (9, join(&[&[0, 0x57], &ipv6(288)])),
        (50, join(&[&[0xFF, 0x03, 0x21], &v4()])),
        (51, join(&[&[0x11, 0, 0, 1, 1, 74, 0, 0x21], &v4()])),
        (166, join(&[&[1, 0xFF, 0x03, 0, 0x21], &v4()])),
        (204, join(&[&[0, 0, 0x21], &v4()])),
        (101, v4()),
        (101, ipv6(288)),
        (228, v4()),
        (229, ipv6(288)),
        (113, join(&[&[0; 14], &[8, 0], &v4()])),
        (276, join(&[&[8, 0], &[0; 18], &v4()])),
        (105, plain()),
        (105, dot11([0x08, 0x03], 6)),
        (105, dot11([0x88, 0x01], 2)),
        (105, dot11([0x88, 0x81], 6)),
        (163, join(&[&0x8021_1001_u32.to_be_bytes(), &64_u32.to_be_bytes(), &[0; 56], &plain()])),
        (192, join(&[&[0, 0, 8, 0, 105, 0, 0, 0], &plain()])),
        (127, join(&[&[0, 0, 10, 0, 0, 0, 0, 0, 9, 9], &dot11([0x88, 0x02], 2)])),
    ];
    for (link, frame) in cases {
        assert_eq!(one(link, frame.clone()), Ok(300), "link type {link}, {frame:02x?}");
    }
}

/// LLC and SNAP of IPv4.
const LLC: [u8; 8] = [0xAA, 0xAA, 3, 0, 0, 0, 8, 0];

/// The header of an 802.11 QoS data frame: frame control, sequence number, QoS control.
fn qos(control: [u8; 2], transmitter: u8, sequence: u16, qos: [u8; 2]) -> Vec<u8> {
    let addresses = if control[1] & 3 == 3 { 6 } else { 0 };
    let mut header = vec![0; 26 + addresses];
    header[..2].copy_from_slice(&control);
    header[10] = transmitter;
    header[22..24].copy_from_slice(&(sequence << 4).to_le_bytes());
    header[24 + addresses..].copy_from_slice(&qos);
    header
}

/// Returns how the frames of a link are read: the packets' payloads, and what is left out.
fn all(link: u32, frames: &[Vec<u8>]) -> (Vec<u64>, LeftOut) {
    let packets: Vec<Packet> = frames.iter().map(|frame| whole(1, 0, frame.clone())).collect();
    let recording = Pcap::read(&pcap(MICROS, link, &packets), MOST).expect("a recording");
    (recording.packets.iter().map(|packet| packet.payload.count()).collect(), recording.left_out)
}

#[test]
fn a_mesh_control_field_is_skipped_where_there_is_one() {
    // Flags, TTL, sequence number, and addresses: none, one or two.
    for (flags, control) in [(0, [0x88, 0x03]), (1, [0x88, 0x02]), (2, [0x88, 0x03])] {
        let mesh = join(&[&[flags, 31, 7, 0, 0, 0], &vec![1; 6 * usize::from(flags)]]);
        assert_eq!(one(105, join(&[&qos(control, 1, 1, [0, 1]), &mesh, &LLC, &ipv4(328)])), Ok(300));
    }
    // An access point's TXOP sets the same bit; there is no mesh control.
    assert_eq!(one(105, join(&[&qos([0x88, 0x02], 1, 1, [0, 1]), &LLC, &ipv4(328)])), Ok(300));
}

#[test]
fn radiotap_tells_of_padding_and_of_bad_check_sums() {
    let frame = |pad: &[u8]| join(&[&qos([0x88, 0x01], 1, 1, [0, 0]), pad, &LLC, &ipv4(328)]);
    let flags = |flags: u8| vec![0, 0, 9, 0, 2, 0, 0, 0, flags];
    // A second word of fields, and TSFT at a multiple of eight before the flags.
    let with_time = |flags: u8| join(&[&[0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0], &[0; 12], &[flags]]);
    for header in [flags, with_time as fn(u8) -> Vec<u8>] {
        let frames = [
            join(&[&header(0x20), &frame(&[0, 0])]),
            join(&[&header(0x40), &frame(&[])]),
            join(&[&header(0), &frame(&[])]),
        ];
        let left_out = LeftOut { bad_fcs: 1, ..LeftOut::default() };
        assert_eq!(all(127, &frames), (vec![300, 300], left_out));
    }
}

#[test]
fn a_repetition_counts_if_it_is_the_first_that_was_recorded() {
    let frame = |retry: bool, transmitter: u8, sequence: u16, tid: u8, length: u16| {
        let control = [0x88, if retry { 0x09 } else { 0x01 }];
        join(&[&qos(control, transmitter, sequence, [tid, 0]), &LLC, &ipv4(28 + length)])
    };
    let frames = [
        frame(false, 1, 10, 0, 1),
        // Only as a repetition.
        frame(true, 1, 12, 0, 2),
        frame(true, 1, 10, 0, 3),
        frame(true, 1, 12, 0, 4),
        // Other TIDs and transmitters are counted separately.
        frame(true, 1, 10, 5, 5),
        frame(true, 2, 10, 0, 6),
        // 2000 frames later, and one full cycle of all numbers later.
        frame(false, 1, 2010, 0, 7),
        frame(true, 1, 12, 0, 8),
        frame(false, 1, 4000, 0, 9),
        frame(true, 1, 12, 0, 10),
        frame(true, 1, 11, 0, 11),
    ];
    let left_out = LeftOut { repeated: 3, ..LeftOut::default() };
    assert_eq!(all(105, &frames), (vec![1, 2, 5, 6, 7, 9, 10, 11], left_out));
    // Of a packet in two fragments the first holds its length.
    let mut second = frame(false, 1, 10, 0, 1);
    second[22] |= 1;
    let left_out = LeftOut { fragments: 1, ..LeftOut::default() };
    assert_eq!(all(105, &[frame(false, 1, 10, 0, 1), second]), (vec![1], left_out));
}

#[test]
fn every_packet_of_an_a_msdu_counts() {
    let subframe = |kind: u8, packet: &[u8]| {
        let length = u16::try_from(8 + packet.len()).expect("short").to_be_bytes();
        let mut subframe = join(&[&[0; 12], &length, &LLC[..7], &[kind], packet]);
        subframe.resize(subframe.len().next_multiple_of(4), 0);
        subframe
    };
    let filled = |length: u16| join(&[&ipv4(length), &vec![0; usize::from(length) - 20]]);
    let header = qos([0x88, 0x01], 1, 1, [0x80, 0]);
    // The second is ARP.
    let frame = join(&[
        &header,
        &subframe(0, &filled(129)),
        &subframe(6, &[0; 28]),
        &subframe(0, &filled(228)),
        &subframe(0, &filled(28)),
    ]);
    assert_eq!(all(105, std::slice::from_ref(&frame)), (vec![101, 200, 0], LeftOut::default()));
    // A frame that ends too early, whose parts do not count either.
    let frames = [frame.clone(), join(&[&qos([0x88, 0x01], 1, 2, [0x80, 0]), &frame[26..300]])];
    assert_eq!(all(105, &frames), (vec![101, 200, 0], LeftOut { malformed: 1, ..LeftOut::default() }));
}

#[test]
fn encrypted_packets_have_the_length_of_their_frames_less_what_the_cipher_adds() {
    // From an access point, whose address is 7 in front.
    let frame = |header: [u8; 8], used: usize, mic: usize, length: usize, group: bool| {
        let mut frame = qos([0x88, 0x42], 7, 1, [0, 0]);
        frame[4] = u8::from(group);
        join(&[&frame, &header[..used], &vec![9; 8 + length + mic]])
    };
    let ccmp = [1, 0, 0, 0x20, 0, 0, 0, 0];
    let tkip = [3, 3 | 0x20, 4, 0x20, 0, 0, 0, 0];
    let wep = [1, 2, 3, 0, 0, 0, 0, 0];
    assert_eq!(one(105, frame(ccmp, 8, 8, 328, false)), Ok(300));
    assert_eq!(one(105, frame(tkip, 8, 12, 328, false)), Ok(300));
    assert_eq!(one(105, frame(wep, 4, 4, 328, false)), Ok(300));
    // With the checksum of the frame, as radiotap indicates.
    let radiotap = join(&[&[0, 0, 9, 0, 2, 0, 0, 0, 0x10], &frame(ccmp, 8, 8, 328, false), &[0; 4]]);
    assert_eq!(one(127, radiotap), Ok(300));
    // A beacon announces GCMP-256 for unicast, CCMP for groups.
    let rsn = [48, 20, 1, 0, 0, 0x0F, 0xAC, 4, 1, 0, 0, 0x0F, 0xAC, 9, 1, 0, 0, 0x0F, 0xAC, 2, 0, 0];
    let mut beacon = vec![0; 36];
    (beacon[0], beacon[16]) = (0x80, 7);
    let beacon = join(&[&beacon, &[0, 2, b'h', b'i'], &rsn]);
    let mut second = frame(ccmp, 8, 8, 128, true);
    second[22] = 0x20;
    let frames = [beacon, frame(ccmp, 8, 16, 328, false), second];
    assert_eq!(all(105, &frames), (vec![300, 100], LeftOut { management: 1, ..LeftOut::default() }));
    // Packets of an encrypted A-MSDU cannot be told apart.
    let aggregate = join(&[&qos([0x88, 0x41], 1, 1, [0x80, 0]), &[0; 400]]);
    assert_eq!(one(105, aggregate), Err(PcapError::NoPackets(LeftOut { encrypted: 1, ..LeftOut::default() })));
}

#[test]
fn tunnels_are_left_out_by_their_names() {
    let inner = ethernet(0x0800, &ipv4(328));
    let frames = [
        ethernet(0x8864, &join(&[&[0x11, 0, 0, 1, 1, 74, 0, 0x21], &ipv4(328)])),
        ethernet(0x8100, &join(&[&[0, 7, 0x88, 0x64, 0x11, 0, 0, 1, 1, 74, 0, 0x21], &ipv4(328)])),
        ethernet(0x8847, &join(&[&[0, 1, 1, 64], &ipv4(328)])),
        ethernet(0x8848, &join(&[&[0, 1, 1, 64], &ipv4(328)])),
        ethernet(0x4305, &join(&[&[0x40, 15, 50, 1], &[0; 6], &inner])),
        inner,
    ];
    assert_eq!(all(1, &frames), (vec![300], LeftOut { tunnels: 5, ..LeftOut::default() }));
    let message = one(1, frames[2].clone()).expect_err("no other packet").to_string();
    assert!(message.ends_with("frames 1 of PPPoE, MPLS or batman-adv, which are not decapsulated"), "{message}");
    let prism = one(119, vec![0; 200]).expect_err("no such link type").to_string();
    assert!(prism.ends_with("but not Prism (119)"), "{prism}");
}

/// Such packets appear in a bridge's own network, and where a router counts down the hops.
#[test]
fn packets_that_come_in_and_go_out_again_are_counted() {
    let from = |host: u8, hops: u8| {
        let mut packet = ipv4(128);
        (packet[8], packet[15], packet[19]) = (hops, host, 9);
        packet
    };
    let v1 = |kind: u8, packet: &[u8]| join(&[&[0, kind], &[0; 12], &[8, 0], packet]);
    let v2 = |kind: u8, packet: &[u8]| join(&[&[8, 0], &[0; 8], &[kind], &[0; 9], packet]);
    for (link, cooked) in [(113, v1 as fn(u8, &[u8]) -> Vec<u8>), (276, v2)] {
        let frames = [(0, from(1, 64)), (4, from(1, 63)), (4, from(2, 64)), (0, from(3, 64)), (0, from(3, 64))];
        let frames = frames.map(|(kind, packet)| cooked(kind, &packet));
        assert_eq!(all(link, &frames), (vec![100; 5], LeftOut { forwarded: 1, ..LeftOut::default() }));
        // Identification and addresses: NAT on both ways, a bridge with a third copy, an echo that this machine answers.
        let packets =
            [(0, 7, 1, 9), (4, 7, 2, 9), (0, 8, 9, 2), (4, 8, 9, 1), (0, 5, 1, 9), (3, 5, 1, 9), (4, 5, 1, 9)];
        let frames = packets.into_iter().chain([(0, 0, 9, 2), (4, 0, 2, 9)]).map(|(kind, id, source, destination)| {
            let mut packet = join(&[&ipv4(128), &[kind; 8], &[id; 100]]);
            (packet[5], packet[15], packet[19]) = (id, source, destination);
            cooked(kind, &packet)
        });
        let frames: Vec<_> = frames.collect();
        assert_eq!(all(link, &frames), (vec![100; 9], LeftOut { forwarded: 3, ..LeftOut::default() }));
    }
}

#[test]
fn the_length_is_that_of_the_packet_and_not_of_what_was_kept() {
    // 60 B of Ethernet with padding; 46 of 1514 B kept; a length of zero before segmentation.
    assert_eq!(one(1, join(&[&ethernet(0x0800, &ipv4(30)), &[0; 26]])), Ok(2));
    let kept = ethernet(0x0800, &join(&[&ipv4(1500), &[0; 12]]));
    assert_eq!(read(&pcap(MICROS, 1, &[(1, 0, 1514, kept)])), Ok(vec![(0, 1472)]));
    assert_eq!(read(&pcap(MICROS, 1, &[(1, 0, 2014, ethernet(0x0800, &ipv4(0)))])), Ok(vec![(0, 1972)]));
}

#[test]
fn what_is_no_ip_packet_is_passed_over() {
    let arp = || ethernet(0x0806, &[0; 28]);
    let beacon = join(&[&[0x80, 0], &[0; 40]]);
    assert_eq!(
        read(&pcap(MICROS, 1, &[whole(1, 0, arp()), whole(2, 0, ethernet(0x0800, &ipv4(28)))])),
        Ok(vec![(0, 0)])
    );
    let error = one(1, arp()).expect_err("no IP packet");
    assert_eq!(error, PcapError::NoPackets(LeftOut { not_ip: 1, ..LeftOut::default() }));
    let message = "no packet of the recording is an IP packet that can be replayed: frames 1 without an IP packet";
    assert_eq!(error.to_string(), message);
    for frame in [beacon, vec![0xC8, 0x01, 0, 0], vec![0xD4, 0, 0, 0]] {
        let left_out = LeftOut { management: 1, ..LeftOut::default() };
        assert_eq!(one(105, frame), Err(PcapError::NoPackets(left_out)));
    }
}

#[test]
fn bad_recordings_are_refused_with_the_packet() {
    use PcapError as E;
    let frame = || ethernet(0x0800, &ipv4(1028));
    let good = pcap(MICROS, 1, &[whole(5, 0, frame()), whole(5, 1, frame())]);
    assert_eq!(read(b""), Err(E::Empty));
    assert_eq!([read(b"not"), read(b"duration = \"1 s\"")], [Err(E::Unrecognised), Err(E::Unrecognised)]);
    let begin: [&[u8]; 4] = [b"\x28\xB5\x2F\xFD\x04", b"\xFD7zXZ", b"\x04\x22\x4D\x18\x60", b"BZh91"];
    let rarer: [&[u8]; 5] =
        [b"\x50\x2A\x4D\x18", b"\x5F\x2A\x4D\x18", b"\x02\x21\x4C\x18", b"\x1F\x9D\x90\0", b"PK\x03\x04"];
    let commands = ["zstd -d", "xz -d", "lz4 -d", "bzip2 -d", "zstd -d", "zstd -d", "lz4 -d", "uncompress", "unzip"];
    for (begins, by) in begin.into_iter().chain(rarer).zip(commands) {
        assert_eq!(read(begins), Err(E::Compressed(by)));
    }
    assert_eq!(read(&good[..23]), Err(E::CutHeader));
    assert_eq!(read(&good[..24]), Err(E::NoPackets(LeftOut::default())));
    assert_eq!(read(&good[..30]), Err(E::CutShort(1)));
    assert_eq!(read(&good[..good.len() - 1]), Err(E::CutShort(2)));
    assert_eq!(one(2, frame()), Err(E::LinkType { packet: 1, link: 2 }));
    let cut = |length: usize| read(&pcap(MICROS, 1, &[(1, 0, 1042, frame()[..length].to_vec())]));
    assert_eq!((cut(13), cut(17)), (Err(E::Snapped(1)), Err(E::Snapped(1))));
    // All of it was recorded, so it was damaged, or never whole.
    let damaged = Err(E::NoPackets(LeftOut { malformed: 1, ..LeftOut::default() }));
    assert_eq!((one(1, frame()[..13].to_vec()), one(105, vec![0x88, 0x41])), (damaged.clone(), damaged));
    assert_eq!(read(&pcap(MICROS, 1, &[whole(5, 1, frame()), whole(5, 0, frame())])), Err(E::BackInTime(2)));
    let long = pcap(MICROS, 1, &[whole(1, 0, frame()), whole(2, 0, ethernet(0x0800, &ipv4(2297)))]);
    let expected = E::TooLong { packet: 2, length: Bytes::new(2297), most: Bytes::new(2296) };
    assert_eq!(read(&long), Err(expected.clone()));
    assert!(expected.to_string().starts_with("packet 2 has 2297 B with its IP header"), "{expected}");
}

/// A pcapng block.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(12 + body.len()).expect("short").to_le_bytes();
    join(&[&kind.to_le_bytes(), &length, body, &length])
}

fn section() -> Vec<u8> {
    block(0x0A0D_0D0A, &join(&[&0x1A2B_3C4D_u32.to_le_bytes(), &[1, 0, 0, 0], &[0xFF; 8]]))
}

fn interface(link: u16, options: &[u8]) -> Vec<u8> {
    block(1, &join(&[&link.to_le_bytes(), &[0; 6], options]))
}

fn enhanced(interface: u32, ticks: u64, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).expect("short");
    let [high, low] = [ticks >> 32, ticks & 0xFFFF_FFFF].map(|half| u32::try_from(half).expect("32 bits"));
    let mut body = [interface, high, low, length, length].map(u32::to_le_bytes).concat();
    body.extend(data);
    body.resize(body.len().next_multiple_of(4), 0);
    block(6, &body)
}

#[test]
fn pcapng_interfaces_have_their_own_links_and_clocks() {
    // Nanoseconds; 2^-10 s with an offset of -1 s; the default of microseconds.
    let nanos = interface(1, &[9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
    let mut binary = join(&[&[9, 0, 1, 0, 0x8A, 0, 0, 0], &[14, 0, 8, 0], &(-1_i64).to_le_bytes(), &[0, 0, 0, 0]]);
    binary = interface(101, &binary);
    let file = join(&[
        &section(),
        &nanos,
        &binary,
        &block(0xBAD, &[1, 2, 3, 4]),
        &enhanced(0, 3_000_000_000, &ethernet(0x0800, &ipv4(128))),
        &enhanced(1, 4 * 1024 + 512, &ipv4(228)),
        &section(),
        &interface(101, &[]),
        &enhanced(0, 4_000_001, &ipv4(328)),
    ]);
    assert_eq!(read(&file), Ok(vec![(0, 100), (500_000_000, 200), (1_000_001_000, 300)]));
}

#[test]
fn bad_pcapng_recordings_are_refused() {
    use PcapError as E;
    let head = join(&[&section(), &interface(101, &[])]);
    let with = |more: &[u8]| read(&join(&[&head, more]));
    assert_eq!(with(&enhanced(1, 0, &ipv4(28))), Err(E::UnknownInterface(1)));
    assert_eq!(with(&block(3, &[0; 8])), Err(E::NoTime(1)));
    assert_eq!(with(&[6, 0, 0, 0, 13, 0, 0, 0]), Err(E::BadBlock(0)));
    assert_eq!(with(&enhanced(0, 0, &ipv4(28))[..40]), Err(E::CutShort(0)));
    assert_eq!(with(&block(6, &[0; 12])), Err(E::CutShort(1)));
    assert_eq!(with(&interface(1, &[9, 0, 1, 0, 60, 0, 0, 0])), Err(E::Resolution(60)));
    assert_eq!(read(&head), Err(E::NoPackets(LeftOut::default())));
    assert_eq!(read(&head[..12]), Err(E::CutShort(0)));
}

/// Returns a recording with random damage, mostly correct so that damage also reaches deep fields.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let frame = || ethernet(0x0800, &ipv4(1028));
    let radiotap = |flags: u8, frame: &[u8]| join(&[&[0, 0, 9, 0, 2, 0, 0, 0, flags], frame]);
    let dot11 = radiotap(0x20, &join(&[&qos([0x88, 0x01], 1, 1, [0, 0]), &[0, 0], &LLC, &ipv4(128)]));
    let amsdu =
        radiotap(0, &join(&[&qos([0x88, 0x0B], 1, 1, [0x80, 1]), &[0; 13], &[36, 0, 1, 7, 0, 0, 0], &LLC, &ipv4(128)]));
    let ccmp = radiotap(0x10, &join(&[&qos([0x88, 0x42], 7, 1, [0, 0]), &[1, 0, 0, 0x20], &[0; 60]]));
    let mut beacon = vec![0; 36];
    beacon[0] = 0x80;
    let beacon = radiotap(0, &join(&[&beacon, &[48, 12, 1, 0, 0, 0x0F, 0xAC, 4, 1, 0, 0, 0x0F, 0xAC, 9]]));
    let files = vec![
        pcap(MICROS, 1, &[whole(1, 0, frame()), whole(2, 0, ethernet(0x8100, &[0; 12]))]),
        pcap(NANOS, 127, &[beacon, dot11, amsdu, ccmp].map(|frame| whole(1, 0, frame))),
        pcap(MICROS, 113, &[0, 4].map(|kind| whole(1, 0, join(&[&[0, kind], &[0; 12], &[8, 0], &ipv4(28)])))),
        pcap(MICROS, 0, &[whole(1, 0, join(&[&[2, 0, 0, 0], &ipv4(28)]))]),
        join(&[
            &section(),
            &interface(1, &[9, 0, 1, 0, 6, 0, 0, 0]),
            &enhanced(0, 1, &frame()),
            &enhanced(0, 2, &frame()),
        ]),
        Vec::new(),
    ];
    let edit = (any::<prop::sample::Index>(), any::<u8>());
    (prop::sample::select(files), prop::collection::vec(edit, 0..8), prop::collection::vec(any::<u8>(), 0..64))
        .prop_map(|(mut file, edits, more)| {
            file.extend(more);
            for (index, byte) in edits {
                if !file.is_empty() {
                    let at = index.index(file.len());
                    file[at] = byte;
                }
            }
            file
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn reading_never_panics_and_gives_packets_in_order(file in damaged()) {
        match Pcap::read(&file, MOST) {
            Ok(recording) => {
                let packets = recording.packets;
                prop_assert!(!packets.is_empty() && packets[0].after.is_zero());
                prop_assert!(packets.is_sorted_by_key(|packet| packet.after));
                prop_assert!(packets.iter().all(|packet| packet.payload <= MOST));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
