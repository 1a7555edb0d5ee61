//! Datagrams and packets through a network: what is delivered, when, and what is refused.

use crate::{NEIGHBOURS, home};
use emulate::ip::Header;
use emulate::{Delivery, Medium, NotLoaded, NotSent};
use lab::capture::Wanted;
use std::fs;
use std::time::Duration;

pub(crate) fn air(text: &str, seed: u64) -> Medium {
    Medium::read("home.toml", text, seed, &[]).unwrap_or_else(|refusal| panic!("{refusal}"))
}

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Returns an IPv4 packet of this length, without a checksum.
pub(crate) fn packet(to: [u8; 4], tos: u8, ttl: u8, length: u16) -> Vec<u8> {
    let [high, low] = length.to_be_bytes();
    let mut packet = vec![0x45, tos, high, low, 0, 0, 0, 0, ttl, 253, 0, 0, 10, 0, 0, 1];
    packet.extend(to);
    packet.resize(usize::from(length), 0xab);
    packet
}

/// Answers each datagram that the server gets, and returns all deliveries and results.
fn echoed(seed: u64, count: u8) -> (Vec<Delivery>, String) {
    let mut air = air(&home("", NEIGHBOURS), seed);
    let mut deliveries = Vec::new();
    for number in 0..count {
        let now = ms(100) + ms(10) * u32::from(number);
        air.send(now, "laptop", "server", &[number; 200], 0).unwrap();
        while let Some(delivery) = air.poll(now + ms(10)) {
            assert_eq!(air.now(), delivery.at);
            if delivery.to == "server" {
                air.send(delivery.at, "server", "laptop", &delivery.bytes, 0).unwrap();
            }
            deliveries.push(delivery);
        }
    }
    (deliveries, format!("{:?}", air.finish()))
}

#[test]
fn the_same_pushes_give_the_same_deliveries_and_results_to_the_last_bit() {
    let first = echoed(7, 100);
    assert!(first.0.len() > 150, "{}", first.0.len());
    assert_eq!(first, echoed(7, 100));
    assert_ne!(first.0, echoed(8, 100).0);
}

#[test]
fn real_packets_wait_beside_simulated_ones_and_count_as_a_flow() {
    let (deliveries, _) = echoed(1, 100);
    let longest = deliveries.iter().map(|delivery| delivery.at.saturating_sub(delivery.sent)).max().unwrap();
    let alone = {
        let mut air = air(&home("", ""), 1);
        air.send(ms(100), "server", "laptop", &[0; 200], 0).unwrap();
        let Delivery { at, sent, .. } = air.poll(ms(200)).unwrap();
        assert_eq!(air.poll(ms(200)), None);
        let outcome = air.finish();
        let kinds: Vec<&str> = outcome.flows.iter().map(|flow| flow.kind.as_str()).collect();
        let names: Vec<&str> = outcome.flows.iter().map(|flow| flow.name.as_str()).collect();
        assert_eq!((names, kinds), (vec!["laptop-server", "server-laptop"], vec!["real"; 2]));
        assert_eq!((outcome.flows[1].sent_packets, outcome.flows[1].received_packets), (1, 1));
        // The run ends when it is told to.
        assert!((outcome.simulated_s - 0.2).abs() < 1e-9, "{}", outcome.simulated_s);
        at.saturating_sub(sent)
    };
    assert!(alone > ms(5) && alone < ms(6), "{alone:?}");
    assert!(longest > 4 * alone, "{longest:?}");
}

#[test]
fn what_a_queue_marks_comes_out_marked() {
    let queue = "queues = \"per-station\"\nqueue = { limit = 500, discipline = \"fq-codel\", fq-codel.ecn = true, \
                 fq-codel.target = \"1 ms\", fq-codel.interval = \"5 ms\" }";
    let mut air = air(&home(&queue.replace("fq-codel.", "fq_codel."), ""), 1);
    for number in 0..2_000_u32 {
        // ECT(1) with expedited forwarding, and packets that are not ECN-capable.
        let tos = if number % 2 == 0 { 46 << 2 | 1 } else { 0 };
        air.send(Duration::from_micros(50) * number, "server", "laptop", &[0; 1_400], tos).unwrap();
    }
    let all: Vec<Delivery> = std::iter::from_fn(|| air.poll(ms(2_000))).collect();
    let of = |tos: u8| all.iter().filter(|delivery| delivery.tos == tos).count();
    assert!(of(46 << 2 | 3) > 20 && of(46 << 2 | 1) > 20 && of(0) > 20, "{} of {}", of(46 << 2 | 3), all.len());
    assert_eq!(of(46 << 2 | 3) + of(46 << 2 | 1) + of(0), all.len());
    assert_eq!(all.iter().filter(|delivery| delivery.ecn() == 3).count(), of(46 << 2 | 3));
    assert!(all.len() < 2_000, "the queue has 500 places");
}

#[test]
fn packets_go_by_their_addresses_over_three_hops_and_lose_their_ttl() {
    let mesh = "title = \"mesh\"\nduration = \"10 s\"\n[radio]\nrange = \"30 m\"\n\
        [nodes]\ncount = 4\nplacement = \"chain\"\nspacing = \"30 m\"\n\
        [[node]]\nname = \"n0\"\nreal = true\n[[node]]\nname = \"n3\"\nreal = true\n";
    for routing in ["", "[routing]\nprotocol = \"aodv\"\n"] {
        let mut air = air(&format!("{mesh}{routing}"), 1);
        let [four, six] = air.addresses("n3").unwrap();
        assert_eq!((four.to_string(), six.to_string()), ("10.0.0.4".into(), "fd73:6c75:6963::4".into()));
        for (ttl, length) in [(64, 1_500), (2, 21), (3, 20)] {
            air.send_packet(ms(0), "n0", &packet([10, 0, 0, 4], 0, ttl, length)).unwrap();
        }
        let mut six = vec![0x60, 0, 0, 0, 0, 1, 59, 9];
        six.extend([0xfd, 0x73, 0x6c, 0x75, 0x69, 0x63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        six.extend([0xfd, 0x73, 0x6c, 0x75, 0x69, 0x63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4]);
        six.push(1);
        air.send_packet(ms(0), "n0", &six).unwrap();
        let came: Vec<Option<Vec<u8>>> =
            std::iter::from_fn(|| air.poll(ms(5_000)).map(Delivery::into_packet)).collect();
        let told: Vec<_> = came.iter().map(|packet| packet.as_ref().map(|packet| (packet[7], packet[8]))).collect();
        // Two routers. The hop limit of IPv6 is one byte before the position of the TTL.
        assert_eq!(told, [Some((0, 62)), None, Some((0, 1)), Some((7, 0xfd))], "{routing}");
        assert_eq!(Header::read(came[0].as_ref().unwrap()).unwrap().length, 1_500);
    }
}

#[test]
fn the_next_event_is_never_after_the_next_delivery() {
    let mut air = air(&home("", NEIGHBOURS), 1);
    air.send(ms(500), "laptop", "server", &[1], 0).unwrap();
    // Stepping from event to event misses no event.
    let stepped = loop {
        let next = air.next_event().unwrap();
        assert!(next < ms(700));
        if let Some(delivery) = air.poll(next) {
            assert_eq!(delivery.at, next);
            break delivery.at;
        }
    };
    let mut again = self::air(&home("", NEIGHBOURS), 1);
    again.send(ms(500), "laptop", "server", &[1], 0).unwrap();
    assert_eq!(again.poll(ms(700)).map(|delivery| delivery.at), Some(stepped));
    assert_eq!(again.poll(ms(20_000)), None);
    assert_eq!(again.next_event(), None, "the run is over");
}

#[test]
fn what_the_network_does_not_take_is_refused_and_nothing_happens() {
    let mut air = air(&home("", ""), 1);
    let mut send = |now: u64, from: &str, to: &str, length: usize| {
        air.send(ms(now), from, to, &vec![0; length], 0).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(send(100, "laptop", "server", 1_472), Ok(()));
    let refusals = [
        (
            send(50, "laptop", "server", 1),
            "time goes backwards: 50ms is before 100ms, the time that the simulation has reached",
        ),
        (send(10_000, "laptop", "server", 1), "the run ends at 10s: make `duration` longer"),
        (send(200, "labtop", "server", 1), "`labtop` is not a real node; real are `laptop`, `server`"),
        (send(200, "laptop", "ap", 1), "`ap` is not a real node; real are `laptop`, `server`"),
        (send(200, "laptop", "laptop", 1), "`laptop` sends to itself"),
        (send(200, "laptop", "server", 1_473), "the packet has 1501 B with its headers, more than the MTU of 1500 B"),
    ];
    for (refusal, expected) in refusals {
        assert_eq!(refusal, Err(expected.to_owned()));
    }
    let mut send = |packet: &[u8]| air.send_packet(ms(200), "laptop", packet);
    assert_eq!(send(&packet([10, 0, 0, 3], 0, 64, 1_500)), Ok(()));
    assert_eq!(send(&packet([10, 0, 0, 3], 0, 64, 1_501)), Err(NotSent::TooLong { length: 1_501, most: 1_500 }));
    assert_eq!(send(b"no packet"), Err(NotSent::NotIp { length: 9 }));
    assert_eq!(send(&[]), Err(NotSent::NotIp { length: 0 }));
    // The access point's address.
    assert_eq!(send(&packet([10, 0, 0, 1], 0, 64, 40)), Err(NotSent::Elsewhere { to: [10, 0, 0, 1].into() }));
    assert_eq!(send(&packet([10, 0, 0, 2], 0, 64, 40)), Err(NotSent::Itself { name: "laptop".into() }));
    let arrived: Vec<usize> = std::iter::from_fn(|| air.poll(ms(9_000))).map(|delivery| delivery.bytes.len()).collect();
    assert_eq!(arrived, [1_472, 1_500]);
    let outcome = air.finish();
    assert_eq!((outcome.flows[0].sent_packets, outcome.flows[1].sent_packets), (2, 0));
}

#[test]
fn a_gateway_gets_what_is_for_no_node() {
    let mut air = air(&home("", ""), 1);
    let there = packet([192, 0, 2, 1], 0, 64, 40);
    assert_eq!(air.send_packet(ms(0), "laptop", &there), Err(NotSent::Elsewhere { to: [192, 0, 2, 1].into() }));
    assert!(matches!(air.lead("ap"), Err(NotSent::NotReal { .. })));
    air.lead("server").unwrap();
    assert_eq!((air.gateway(), Medium::host()[0].to_string().as_str()), (Some("server"), "10.255.255.254"));
    for to in [[192, 0, 2, 1], [10, 255, 255, 254]] {
        air.send_packet(air.now(), "laptop", &packet(to, 0, 64, 40)).unwrap();
        let delivery = air.poll(ms(100)).unwrap();
        assert_eq!((delivery.to.as_str(), &delivery.bytes[16..20]), ("server", &to[..]));
    }
    // The access point is simulated; a host behind the gateway is not reached over the air.
    let refusal = air.send_packet(ms(200), "laptop", &packet([10, 0, 0, 1], 0, 64, 40));
    assert_eq!(refusal, Err(NotSent::Elsewhere { to: [10, 0, 0, 1].into() }));
    assert_eq!(air.send_packet(ms(200), "server", &there), Err(NotSent::Itself { name: "server".into() }));
}

#[test]
fn captures_hold_real_packets_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut air = air(&home("", NEIGHBOURS), 1);
    let wanted =
        |node: &str| Wanted { pcap: Some(folder.path().to_owned()), nodes: vec![node.to_owned()], ..Wanted::default() };
    assert!(air.capture(&wanted("labtop")).is_err_and(|refusal| refusal.to_string().contains("`laptop`")));
    air.capture(&wanted("laptop")).unwrap();
    air.send(ms(100), "laptop", "server", b"a datagram to be found", 0).unwrap();
    // Wired nodes are last.
    let whole = packet([10, 0, 0, 7], 0, 64, 300);
    air.send_packet(ms(100), "laptop", &whole).unwrap();
    while air.poll(ms(500)).is_some() {}
    air.end_capture().unwrap();
    let bytes = fs::read(folder.path().join("laptop.pcap")).unwrap();
    let holds = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
    assert!(holds(b"a datagram to be found") && holds(&whole));
    // Simulated packets are left out of the recording.
    assert!(bytes.len() < 1_500_000, "{}", bytes.len());
    // A folder that cannot be written to is reported at once.
    let mut air = self::air(&home("", ""), 1);
    let file = Wanted { pcap: Some(folder.path().join("laptop.pcap")), ..Wanted::default() };
    assert!(air.capture(&file).is_err());
}

#[test]
fn a_flood_keeps_no_more_than_the_queues_hold() {
    let mut air = air(&home("", ""), 1);
    for _ in 0..100_000 {
        air.send(ms(1), "server", "laptop", &[0; 1_472], 0).unwrap();
    }
    let arrived = std::iter::from_fn(|| air.poll(ms(9_000))).count();
    let outcome = air.finish();
    let flow = &outcome.flows[1];
    assert_eq!((flow.sent_packets, flow.received_packets, flow.in_flight_packets), (100_000, arrived as u64, 0));
    assert!(arrived < 2_000, "{arrived}");
}

#[test]
fn what_arrived_before_a_push_is_not_lost() {
    let mut air = air(&home("", ""), 1);
    for number in 0..3 {
        air.send(ms(100 * number), "laptop", "server", &[u8::try_from(number).unwrap()], 0).unwrap();
    }
    let first = air.next_event().unwrap();
    assert!(first < ms(10) && air.now() == ms(200));
    assert_eq!(air.poll(ms(1)), None, "it arrived later than that");
    let came: Vec<u8> = std::iter::from_fn(|| air.poll(ms(1_000))).map(|delivery| delivery.bytes[0]).collect();
    assert_eq!(came, [0, 1, 2]);
}

#[test]
fn scenarios_are_loaded_from_files_and_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("home.toml");
    fs::write(&path, home("", "")).unwrap();
    let load =
        |set: &[&str]| Medium::open(path.to_str().unwrap(), 1, set).unwrap_or_else(|refusal| panic!("{refusal}"));
    let air = load(&[]);
    assert_eq!((air.nodes().collect::<Vec<_>>(), air.end()), (vec!["laptop", "server"], Duration::from_secs(10)));
    assert_eq!(load(&["duration=3 s"]).end(), Duration::from_secs(3));
    let refused = |text: String| match Medium::read("home.toml", &text, 1, &[]) {
        Ok(_) => panic!("it was not refused: {text}"),
        Err(refusal) => refusal.to_string(),
    };
    let misspelt = refused(home("", "").replacen("real", "rael", 1));
    assert!(misspelt.starts_with("home.toml:13:1: unknown key `rael`") && misspelt.contains("`real`"), "{misspelt}");
    let lone = refused(home("", "").replacen("real = true", "", 1));
    assert!(lone.contains("`server` is the only real node: set `real = true` for a second node"), "{lone}");
    let none = refused(home("", NEIGHBOURS).replace("real = true", ""));
    assert_eq!(none, NotLoaded::NoRealNode.to_string());
}

const PRESETS: [&str; 8] = ["home", "home-busy", "cafe", "neighbour", "walk-away", "train-roam", "lecture", "mesh"];

/// Returns the times of datagrams in both directions through a preset.
fn through(preset: &str, seed: u64) -> Vec<Duration> {
    let mut air = Medium::open(preset, seed, &["duration=9 s"]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let nodes: Vec<String> = air.nodes().map(str::to_owned).collect();
    let [client, server] = &nodes[..] else { panic!("{preset}: {nodes:?}") };
    assert_eq!(server, "server");
    // Before that the train is out of coverage.
    let start = if preset == "train-roam" { ms(6_000) } else { ms(500) };
    for number in 0..10 {
        let now = start + ms(20) * number;
        air.send(now, client, server, &[1; 200], 0).unwrap();
        air.send(now, server, client, &[2; 1200], 0).unwrap();
    }
    std::iter::from_fn(|| air.poll(start + ms(800))).map(|delivery| delivery.at).collect()
}

#[test]
fn presets_are_built_in_have_a_client_and_a_server_and_carry_the_same_twice() {
    let known = lab::home::ids();
    for preset in PRESETS {
        assert_eq!(known.iter().filter(|id| *id == preset).count(), 1, "{preset}");
        let first = through(preset, 1);
        assert!(first.len() > 12, "{preset}: {}", first.len());
        assert_eq!(first, through(preset, 1), "{preset}");
    }
    assert_ne!(through("cafe", 1), through("cafe", 2));
    let Err(refused) = Medium::open("hom", 1, &[]) else { panic!("there is none") };
    assert!(refused.to_string().ends_with("did you mean `home`?"), "{refused}");
}
