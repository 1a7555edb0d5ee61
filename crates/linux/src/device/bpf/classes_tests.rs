//! Tests service classes and hops of artificial packets: `class.h` in the kernel against the same rules in Rust.

use super::conformance::draw;
use libbpf_rs::{Object, ObjectBuilder, ProgramInput};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.bpf.o"));

// The same values as in `class.h`.
const BEST_EFFORT: u32 = 0;
const KEEPS_GOING: u32 = 1;
const REAL_TIME: u32 = 2;
const REAL_TIME_NEW: u32 = 3;

/// Loads the program; `None` if this user may not load programs.
fn load(link: Option<u32>) -> Option<Object> {
    let mut open = ObjectBuilder::default().open_memory(PROGRAM).unwrap();
    if let Some(link) = link {
        let mut map = open.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".rodata")).unwrap();
        map.initial_value_mut().unwrap()[..4].copy_from_slice(&link.to_ne_bytes());
    }
    match open.load() {
        Ok(object) => Some(object),
        Err(_) if !rustix::process::geteuid().is_root() => {
            eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
            None
        }
        Err(error) => panic!("{error:#}"),
    }
}

fn class(object: &Object, frame: &[u8]) -> u32 {
    run(object, "class", frame)
}

fn run(object: &Object, name: &str, frame: &[u8]) -> u32 {
    run_with(object, name, frame, &mut [0; 36])
}

/// Runs a program on a packet with the first words of a `__sk_buff`: the third is its mark, the ninth its priority.
fn run_with(object: &Object, name: &str, frame: &[u8], described: &mut [u8; 36]) -> u32 {
    let program = object.progs_mut().find(|program| program.name() == name).unwrap();
    let input = ProgramInput { data_in: Some(frame), context_in: Some(described), ..ProgramInput::default() };
    program.test_run(input).unwrap().return_value
}

/// Makes an Ethernet frame from its two addresses, tags, protocol and payload.
fn frame(tags: &[u16], protocol: u16, rest: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    for tag in tags {
        frame.extend(tag.to_be_bytes());
        frame.extend([0, 7]);
    }
    frame.extend(protocol.to_be_bytes());
    frame.extend(rest);
    frame
}

fn ipv4(dscp: u8, ecn: u8) -> Vec<u8> {
    let mut header = vec![0; 28];
    (header[0], header[1]) = (0x45, dscp << 2 | ecn);
    header
}

fn ipv6(dscp: u8, ecn: u8, next: u8, first: u8) -> Vec<u8> {
    let mut header = vec![0; 48];
    (header[0], header[1]) = (0x60 | dscp >> 2, dscp << 6 | ecn << 4);
    (header[6], header[7], header[40]) = (next, 255, first);
    header
}

#[test]
fn a_packet_is_of_the_class_that_its_code_point_says() {
    let Some(object) = load(None) else { return };
    for dscp in 0..64 {
        let expected = match dscp {
            46 => REAL_TIME,
            47 => REAL_TIME_NEW,
            40 | 48 => KEEPS_GOING,
            _ => BEST_EFFORT,
        };
        // ECN and one or two tags make no difference.
        for ecn in 0..4 {
            for tags in [&[][..], &[0x8100], &[0x88a8, 0x8100]] {
                assert_eq!(class(&object, &frame(tags, 0x0800, &ipv4(dscp, ecn))), expected, "{dscp}");
                assert_eq!(class(&object, &frame(tags, 0x86dd, &ipv6(dscp, ecn, 17, 0))), expected, "{dscp}");
            }
        }
    }
}

#[test]
fn a_packet_has_the_discard_priority_of_its_drop_precedence() {
    let Some(object) = load(None) else { return };
    let priority = |frame: &[u8]| run(&object, "priority", frame);
    for dscp in 0..64 {
        // Discarded first are AF13 to AF43 and lower effort, then AF12 to AF42, then AF11 to AF41.
        let expected = match dscp {
            1 | 14 | 22 | 30 | 38 => 0,
            12 | 20 | 28 | 36 => 1,
            10 | 18 | 26 | 34 => 2,
            _ => 3,
        };
        assert_eq!(priority(&frame(&[], 0x0800, &ipv4(dscp, 3))), expected, "{dscp}");
        assert_eq!(priority(&frame(&[0x8100], 0x86dd, &ipv6(dscp, 1, 17, 0))), expected, "{dscp}");
    }
    for other in [frame(&[], 0x0806, &[0; 28]), frame(&[], 0x86dd, &ipv6(0, 0, 58, 135)), frame(&[], 0x888e, &[7; 28])]
    {
        assert_eq!(priority(&other), 3, "{other:02x?}");
    }
}

/// The table is that of `cfg80211_classify8021d` in Linux 6.8 and later; a test of the simulator reads it, too.
#[test]
fn a_packet_has_the_access_category_that_linux_gives_its_code_point() {
    const BY_NAME: [&str; 4] = ["voice", "video", "best-effort", "background"];
    let Some(object) = load(None) else { return };
    let (voice, best_effort) = (0, 2);
    for (dscp, line) in (0..64_u8).zip(include_str!("../../../tests/lanes.csv").lines().skip(1)) {
        let expected = BY_NAME.iter().position(|name| line == format!("{dscp},{name}")).unwrap();
        let expected = u32::try_from(expected).unwrap();
        for ecn in 0..4 {
            assert_eq!(run(&object, "lane", &frame(&[], 0x0800, &ipv4(dscp, ecn))), expected, "{dscp}");
            assert_eq!(run(&object, "lane", &frame(&[], 0x86dd, &ipv6(dscp, ecn, 17, 0))), expected, "{dscp}");
        }
    }
    // ARP is best effort, and so is a packet whose tag is in the frame itself.
    assert_eq!(run(&object, "lane", &frame(&[], 0x0806, &[0xff; 28])), best_effort);
    assert_eq!(run(&object, "lane", &frame(&[0x8100], 0x0800, &ipv4(46, 0))), best_effort);
    // A label's class becomes a category by the table of priorities; handover between media has the highest.
    for (class, lane) in [2, 3, 3, 2, 1, 1, 0, 0].into_iter().enumerate() {
        let label = [0xff, 0xff, 0xf1 | u8::try_from(class << 1).unwrap(), 64];
        for protocol in [0x8847, 0x8848] {
            assert_eq!(run(&object, "lane", &frame(&[], protocol, &[&label[..], &[0; 28]].concat())), lane, "{class}");
        }
    }
    for protocol in [0x8917, 0x888e] {
        assert_eq!(run(&object, "lane", &frame(&[], protocol, &[0; 28])), voice, "handover and keys");
    }
    // The sender's own request comes first. A tag beside the packet has no effect, not even its priority.
    for tag in [0, 7, 6 << 13 | 7_u32] {
        let asked = |priority: u32| {
            let mut described = [0; 36];
            described[8..12].copy_from_slice(&tag.to_ne_bytes());
            described[32..].copy_from_slice(&priority.to_ne_bytes());
            run_with(&object, "lane", &frame(&[], 0x0800, &ipv4(46, 0)), &mut described)
        };
        assert_eq!([256, 257, 258, 259, 260, 261, 262, 263].map(asked), [2, 3, 3, 2, 1, 1, 0, 0], "{tag:x}");
        let expected = if tag == 0 { voice } else { best_effort };
        assert_eq!([0, 7, 255, 264].map(asked), [expected; 4], "{tag:x}");
    }
}

/// Makes a packet in a session of PPP over Ethernet.
fn in_session(protocol: u16, rest: &[u8]) -> Vec<u8> {
    [&[0x11, 0, 0, 1, 0, 30], &protocol.to_be_bytes()[..], rest].concat()
}

#[test]
fn in_a_session_of_ppp_the_packets_own_header_is_read() {
    let Some(object) = load(None) else { return };
    for tags in [&[][..], &[0x8100], &[0x88a8, 0x8100]] {
        let class = |protocol, rest: &[u8]| class(&object, &frame(tags, 0x8864, &in_session(protocol, rest)));
        assert_eq!(class(0x0021, &ipv4(46, 0)), REAL_TIME);
        assert_eq!(class(0x0057, &ipv6(47, 0, 17, 0)), REAL_TIME_NEW);
        // Best effort are also the protocol that negotiates addresses, and a packet that is cut off.
        assert_eq!(class(0x8021, &ipv4(46, 0)), BEST_EFFORT);
        assert_eq!(class(0x0021, &ipv4(46, 0)[..19]), BEST_EFFORT);
    }
}

#[test]
fn hops_follow_from_the_time_to_live() {
    let Some(object) = load(None) else { return };
    let hops = |frame: &[u8]| run(&object, "hops", frame);
    for ttl in 0..=255_u8 {
        // At most 31 hops are counted down from 64, 128 or 255.
        let expected = match ttl {
            33..=64 => 65 - u32::from(ttl),
            97..=128 => 129 - u32::from(ttl),
            224..=255 => 256 - u32::from(ttl),
            _ => 0,
        };
        let (mut four, mut six) = (ipv4(0, 0), ipv6(0, 0, 17, 0));
        (four[8], six[7]) = (ttl, ttl);
        for tags in [&[][..], &[0x8100]] {
            assert_eq!(hops(&frame(tags, 0x0800, &four)), expected, "{ttl}");
            assert_eq!(hops(&frame(tags, 0x86dd, &six)), expected, "{ttl}");
        }
        assert_eq!(hops(&frame(&[], 0x888e, &four)), 0, "neither IPv4 nor IPv6");
        assert_eq!(hops(&frame(&[0x8100], 0x0800, &four[..19])), 0);
    }
}

#[test]
fn what_looks_for_neighbours_keeps_the_network_going() {
    let Some(object) = load(None) else { return };
    assert_eq!(class(&object, &frame(&[], 0x0806, &[0; 28])), KEEPS_GOING, "ARP");
    for kind in 0..=255 {
        let expected = if (133..=137).contains(&kind) { KEEPS_GOING } else { BEST_EFFORT };
        let mut packet = ipv6(0, 0, 58, kind);
        assert_eq!(class(&object, &frame(&[], 0x86dd, &packet)), expected, "ICMPv6 {kind}");
        // If a router has forwarded the packet, it is not from a neighbour.
        packet[7] = 254;
        assert_eq!(class(&object, &frame(&[], 0x86dd, &packet)), BEST_EFFORT, "ICMPv6 {kind} from afar");
    }
}

#[test]
fn what_cannot_be_read_is_best_effort() {
    let Some(object) = load(None) else { return };
    let is_best_effort = |frame: &[u8]| assert_eq!(class(&object, frame), BEST_EFFORT, "{frame:02x?}");
    // The kernel's test run refuses an IP packet that is shorter than its header, unless it has a tag.
    is_best_effort(&frame(&[0x8100], 0x0800, &ipv4(46, 0)[..19]));
    is_best_effort(&frame(&[0x8100], 0x86dd, &ipv6(46, 0, 17, 0)[..39]));
    is_best_effort(&frame(&[0x8100], 0x86dd, &ipv6(0, 0, 58, 135)[..40]));
    is_best_effort(&frame(&[], 0x0800, &ipv6(46, 0, 17, 0)));
    is_best_effort(&frame(&[0x8100], 0x86dd, &[ipv4(46, 0), vec![0; 20]].concat()));
    is_best_effort(&frame(&[0x8100], 0x0800, &[]));
    is_best_effort(&frame(&[], 0x888e, &ipv4(46, 0)));
    is_best_effort(&frame(&[0x8100; 3], 0x0800, &ipv4(46, 0)));
    is_best_effort(&frame(&[0x8100], 0x0800, &ipv4(46, 0))[..17]);
}

/// Applies the same rules to a slice that ends where the packet ends.
fn said_again(frame: &[u8]) -> u32 {
    let word = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let mut at = 12;
    let mut protocol = word(at);
    for _ in 0..2 {
        if matches!(protocol, Some(0x8100 | 0x88a8)) {
            at += 4;
            protocol = word(at);
        }
    }
    let mut rest = frame.get(at + 2..).unwrap_or_default();
    if protocol == Some(0x8864) {
        protocol = match rest.get(6..8) {
            Some([0x00, 0x21]) => Some(0x0800),
            Some([0x00, 0x57]) => Some(0x86dd),
            _ => None,
        };
        rest = rest.get(8..).unwrap_or_default();
    }
    let of_dscp = |dscp: u8| match dscp & 63 {
        46 => REAL_TIME,
        47 => REAL_TIME_NEW,
        40 | 48 => KEEPS_GOING,
        _ => BEST_EFFORT,
    };
    match (protocol, rest) {
        (Some(0x0806), _) => KEEPS_GOING,
        (Some(0x0800), [0x40..=0x4f, tos, ..]) if rest.len() >= 20 => of_dscp(tos >> 2),
        (Some(0x86dd), [0x60..=0x6f, ..]) if rest.len() >= 40 && rest[6..8] == [58, 255] => match rest.get(40) {
            Some(133..=137) => KEEPS_GOING,
            _ => BEST_EFFORT,
        },
        (Some(0x86dd), [first @ 0x60..=0x6f, second, ..]) if rest.len() >= 40 => {
            of_dscp((first & 15) << 2 | second >> 6)
        }
        _ => BEST_EFFORT,
    }
}

#[test]
fn any_bytes_have_the_class_that_the_same_rules_give_them_in_rust() {
    let Some(object) = load(None) else { return };
    let mut state = 7;
    let mut counts = [0; 4];
    for _ in 0..20_000 {
        let mut one_of = |bytes: &[u16]| bytes[usize::try_from(draw(&mut state, bytes.len() as u64)).unwrap()];
        let is_cut = one_of(&[0, 0, 1]) == 1;
        // The kernel's test run refuses an IP packet that is shorter than its header, unless it has a tag.
        let tags = one_of(if is_cut { &[1, 2, 3] } else { &[0, 0, 1, 2, 3] });
        let tags: Vec<u16> = (0..tags).map(|_| one_of(&[0x8100, 0x88a8])).collect();
        let protocol = one_of(&[0x0800, 0x0800, 0x86dd, 0x86dd, 0x0806, 0x8100, 0xffff]);
        let dscp = one_of(&[0, 40, 46, 47, 48, 63]).to_le_bytes()[0];
        let is_session = one_of(&[0, 0, 0, 1]) == 1;
        let mut rest = if protocol == 0x86dd { ipv6(dscp, 1, 17, 0) } else { ipv4(dscp, 1) };
        if one_of(&[0, 0, 1]) == 1 {
            let at = usize::from(one_of(&[0, 1, 6, 7, 20])).min(rest.len() - 1);
            rest[at] = one_of(&[0, 0x45, 0x60, 58, 184, 255]).to_le_bytes()[0];
        }
        let protocol_of_ppp = if protocol == 0x86dd { 0x0057 } else { 0x0021 };
        let whole = if is_session {
            frame(&tags, 0x8864, &in_session(protocol_of_ppp, &rest))
        } else {
            frame(&tags, protocol, &rest)
        };
        let most = whole.len() as u64;
        let length = if is_cut { 15 + draw(&mut state, most - 14) } else { most };
        let whole = &whole[..usize::try_from(length).unwrap()];
        let found = class(&object, whole);
        assert_eq!(found, said_again(whole), "{whole:02x?}");
        counts[usize::try_from(found).unwrap()] += 1;
    }
    assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
}

#[test]
fn on_other_links_the_packets_description_says_its_protocol() {
    // A test packet begins with an Ethernet header; the packet's description has that header's protocol.
    let Some(object) = load(Some(0xfffe)) else { return };
    assert_eq!(class(&object, &frame(&[], 0x0800, &ipv4(46, 0))), REAL_TIME);
    assert_eq!(class(&object, &frame(&[], 0x86dd, &ipv6(47, 0, 17, 0))), REAL_TIME_NEW);
    assert_eq!(class(&object, &frame(&[0x8100], 0x0800, &ipv4(46, 0))), BEST_EFFORT, "tags are Ethernet's");
}
