use super::Pcap;
use super::read::PcapError;
use proptest::prelude::*;
use units::Bytes;

const MOST: Bytes = Bytes::new(2268);

/// An IPv4 header of a packet of `length` bytes in all.
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

/// (seconds, parts of a second, original length, what was kept)
type Packet = (u32, u32, u32, Vec<u8>);

fn whole(seconds: u32, parts: u32, data: Vec<u8>) -> Packet {
    (seconds, parts, u32::try_from(data.len()).expect("short"), data)
}

/// A pcap file with little-endian numbers.
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
    Ok(recording.packets().iter().map(|packet| (packet.after.as_nanos(), packet.payload.count())).collect())
}

/// What a single frame of a link is read as.
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
    let llc = [0xAA, 0xAA, 3, 0, 0, 0, 8, 0];
    let dot11 = |control: [u8; 2], rest: usize| join(&[&control, &vec![0; 22 + rest], &llc, &ipv4(328)]);
    let cases = [
        (1, ethernet(0x0800, &ipv4(328))),
        (1, ethernet(0x86DD, &ipv6(288))),
        (1, ethernet(0x8100, &join(&[&[0, 5, 8, 0], &ipv4(328)]))),
        (1, ethernet(60, &join(&[&llc, &ipv4(328)]))),
        (101, ipv4(328)),
        (101, ipv6(288)),
        (228, ipv4(328)),
        (229, ipv6(288)),
        (113, join(&[&[0; 14], &[8, 0], &ipv4(328)])),
        (276, join(&[&[8, 0], &[0; 18], &ipv4(328)])),
        (105, dot11([0x08, 0x01], 0)),
        (105, dot11([0x08, 0x03], 6)),
        (105, dot11([0x88, 0x01], 2)),
        (105, dot11([0x88, 0x81], 6)),
        (127, join(&[&[0, 0, 10, 0, 0, 0, 0, 0, 9, 9], &dot11([0x88, 0x02], 2)])),
    ];
    for (link, frame) in cases {
        assert_eq!(one(link, frame.clone()), Ok(300), "link type {link}, {frame:02x?}");
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
    assert_eq!(one(1, arp()), Err(PcapError::NoPackets));
    for frame in [beacon, vec![0xC8, 0x01, 0, 0], vec![0x08, 0x09], vec![0xD4, 0, 0, 0]] {
        assert_eq!(one(105, frame), Err(PcapError::NoPackets));
    }
}

#[test]
fn bad_recordings_are_refused_with_the_packet() {
    use PcapError as E;
    let frame = || ethernet(0x0800, &ipv4(1028));
    let good = pcap(MICROS, 1, &[whole(5, 0, frame()), whole(5, 1, frame())]);
    assert_eq!(read(b""), Err(E::Empty));
    assert_eq!(read(b"not"), Err(E::Unrecognised));
    assert_eq!(read(b"duration = \"1 s\""), Err(E::Unrecognised));
    assert_eq!(read(&good[..23]), Err(E::CutHeader));
    assert_eq!(read(&good[..24]), Err(E::NoPackets));
    assert_eq!(read(&good[..30]), Err(E::CutShort(1)));
    assert_eq!(read(&good[..good.len() - 1]), Err(E::CutShort(2)));
    assert_eq!(one(0, frame()), Err(E::LinkType { packet: 1, link: 0 }));
    assert_eq!(one(1, frame()[..13].to_vec()), Err(E::Snapped(1)));
    assert_eq!(one(1, frame()[..17].to_vec()), Err(E::Snapped(1)));
    assert_eq!(one(105, vec![0x88, 0x41]), Err(E::Encrypted(1)));
    assert_eq!(one(105, join(&[&[0x88, 0x01], &[0; 22], &[0x80, 0]])), Err(E::Aggregated(1)));
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
    assert_eq!(read(&head), Err(E::NoPackets));
    assert_eq!(read(&head[..12]), Err(E::CutShort(0)));
}

/// A recording that may be damaged anywhere: mostly right, so that chance reaches what lies deep.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let frame = || ethernet(0x0800, &ipv4(1028));
    let dot11 = join(&[&[0, 0, 8, 0, 0, 0, 0, 0, 0x88, 0x01], &[0; 24], &[0xAA, 0xAA, 3, 0, 0, 0, 8, 0], &ipv4(128)]);
    let files = vec![
        pcap(MICROS, 1, &[whole(1, 0, frame()), whole(2, 0, ethernet(0x8100, &[0; 12]))]),
        pcap(NANOS, 127, &[whole(1, 0, dot11.clone()), whole(1, 5, dot11)]),
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
                let packets = recording.packets();
                prop_assert!(!packets.is_empty() && packets[0].after.is_zero());
                prop_assert!(packets.is_sorted_by_key(|packet| packet.after));
                prop_assert!(packets.iter().all(|packet| packet.payload <= MOST));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
