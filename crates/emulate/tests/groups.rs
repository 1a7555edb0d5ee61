//! Multicast and broadcast: which nodes get a packet, when, and how often.

use crate::home;
use crate::medium::{air, ms, packet};
use emulate::{Delivery, Medium};
use proptest::prelude::*;
use std::time::Duration;

/// A second laptop.
const PHONE: &str = "[[node]]\nname = \"phone\"\nposition = [\"0 m\", \"9 m\"]\nreal = true\n";

/// Returns all that arrives, by receiver.
fn all(air: &mut Medium) -> Vec<(String, Delivery)> {
    let mut all: Vec<_> = std::iter::from_fn(|| air.poll(ms(9_000))).map(|found| (found.to.clone(), found)).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

fn receivers(air: &mut Medium) -> Vec<String> {
    all(air).into_iter().map(|(to, _)| to).collect()
}

#[test]
fn a_group_of_a_cell_is_all_others_at_the_basic_rate() {
    let took = |from: &str, length: u16| {
        let mut air = air(&home("queues = \"mac80211\"", PHONE), 1);
        let bytes = packet([224, 0, 0, 251], 46 << 2 | 1, 1, length);
        air.send_packet(ms(100), from, &bytes).unwrap();
        let found = all(&mut air);
        for (_, found) in &found {
            assert_eq!((found.from.as_str(), found.sent, found.tos, found.routers), (from, ms(100), 46 << 2 | 1, 0));
            assert_eq!(found.clone().into_packet(), Some(bytes.clone()));
        }
        let flows = air.finish().flows;
        let flow = flows.last().unwrap();
        assert_eq!((flow.name.clone(), flow.kind.as_str()), (format!("{from}-broadcast"), "real"));
        assert_eq!((flow.sent_packets, flow.received_packets, flow.loss_ratio), (1, 2, 0.0));
        found.into_iter().map(|(to, found)| (to, found.at.saturating_sub(ms(100)))).collect::<Vec<_>>()
    };
    let [short, long] = [100, 1_060].map(|length| took("laptop", length));
    let names = |took: &[(String, Duration)]| took.iter().map(|(to, _)| to.clone()).collect::<Vec<_>>();
    assert_eq!(names(&long), ["phone", "server"]);
    // The phone waits for 960 B more at 6 Mb/s; the server, behind a wire, for a fast frame to the access point.
    let more = |place: usize| long[place].1.saturating_sub(short[place].1).as_micros();
    assert!((1_280..1_500).contains(&more(0)) && more(1) < 200, "{} {}", more(0), more(1));
    assert!(long[1].1 > ms(5), "{long:?}");
    // One broadcast from the server reaches both stations.
    let down = took("server", 100);
    assert_eq!(names(&down), ["laptop", "phone"]);
    assert!(down[0].1.abs_diff(down[1].1) < Duration::from_micros(1), "{down:?}");
}

#[test]
fn all_forms_of_addresses_for_all_are_carried_and_a_link_local_address_is_learnt() {
    let mut air = air(&home("", PHONE), 1);
    for to in [[255; 4], [10, 255, 255, 255], [239, 255, 255, 250]] {
        air.send_packet(air.now(), "phone", &packet(to, 0, 1, 40)).unwrap();
    }
    air.send(air.now(), "laptop", "broadcast", b"a payload", 0).unwrap();
    assert_eq!(receivers(&mut air), ["laptop", "laptop", "laptop", "phone", "server", "server", "server", "server"]);
    let six = |from: [u8; 2], to: [u8; 2]| {
        let address =
            |[first, last]: [u8; 2]| [&[first, if first == 0xff { 2 } else { 0x80 }], &[0; 13][..], &[last]].concat();
        [&[0x60, 0, 0, 0, 0, 0, 59, 255][..], &address(from), &address(to)].concat()
    };
    let mut air = self::air(&home("", PHONE), 1);
    let reply = six([0xfe, 9], [0xfe, 7]);
    assert!(air.send_packet(ms(0), "server", &reply).is_err(), "nobody has it yet");
    air.send_packet(ms(0), "phone", &six([0xfe, 7], [0xff, 1])).unwrap();
    air.send_packet(ms(500), "server", &reply).unwrap();
    assert_eq!(receivers(&mut air), ["laptop", "phone", "server"]);
}

#[test]
fn a_broadcast_that_collides_is_lost() {
    let load = "[[node]]\nname = \"busy\"\ncount = 8\nposition = [\"0 m\", \"5 m\"]\n[[flow]]\nname = \"load\"\nfrom = \"busy*\"\n\
                to = \"ap\"\ntraffic = { kind = \"saturated\", packet = \"500 B\" }\n";
    let mut air = air(&home("", &format!("{PHONE}{load}")), 1);
    for number in 0..200 {
        air.send(ms(20) * number, "server", "broadcast", &[1; 500], 0).unwrap();
    }
    let found = receivers(&mut air);
    let flow = air.finish().flows.pop().unwrap();
    let count = |name: &str| found.iter().filter(|to| *to == name).count();
    // Over the air no packet is repeated.
    let (laptop, phone) = (count("laptop"), count("phone"));
    assert!((100..190).contains(&laptop) && (100..190).contains(&phone), "{laptop} {phone}");
    let lost = 1.0 - (laptop + phone) as f64 / 400.0;
    assert!(
        (flow.loss_ratio - lost).abs() < 1e-9 && flow.received_packets == found.len() as u64,
        "{}",
        flow.loss_ratio
    );
}

/// Access points in a row or in a ring, each with real stations and a host; behind the first host is another.
fn campus(stations: &[u8], is_ring: bool) -> String {
    let mut text = "title = \"c\"\nduration = \"10 s\"\nradio.standard = \"802.11g\"\n".to_owned();
    let wire = |one: &str, other: &str| format!("[[wired]]\nbetween = [\"{one}\", \"{other}\"]\nrate = \"1 Gb/s\"\n");
    let host = |name: &str| format!("[[node]]\nname = \"{name}\"\nrole = \"wired\"\nreal = true\n");
    let mut wires = host("beyond") + &wire("host0", "beyond");
    for (number, &count) in stations.iter().enumerate() {
        let (ap, at) = (format!("ap{number}"), format!("position = [\"{} m\", \"0 m\"]\n", 20 * number));
        let access_point = format!("[[node]]\nname = \"{ap}\"\nrole = \"access-point\"\n{at}");
        let station = |of| format!("[[node]]\nname = \"s{number}{of}\"\naccess_point = \"{ap}\"\nreal = true\n{at}");
        text += &(access_point + &(0..count).map(station).collect::<String>() + &host(&format!("host{number}")));
        wires += &wire(&ap, &format!("host{number}"));
        let next = (number + 1) % stations.len();
        if next > number || is_ring && stations.len() > 2 {
            wires += &wire(&ap, &format!("ap{next}"));
        }
    }
    text + &wires
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A packet to all reaches each node of the bridged network once, whatever its shape, and never its sender.
    #[test]
    fn each_other_node_gets_one_copy_and_the_sender_none(
        stations in prop::collection::vec(0_u8..3, 1..4), is_ring: bool, pick: prop::sample::Index, length in 28_u16..1_500,
    ) {
        let mut air = air(&campus(&stations, is_ring), 1);
        let nodes: Vec<String> = air.nodes().map(str::to_owned).collect();
        let from = pick.get(&nodes).as_str();
        air.send_packet(ms(10), from, &packet([239, 1, 2, 3], 0, 9, length)).unwrap();
        // The first host has two links: it is a router, and forwards no packet.
        let behind = |name: &str| ["beyond", "host0"].contains(&name);
        let is_near = |to: &&String| from != "beyond" && *to != "beyond" || behind(from) && behind(to);
        let mut expected: Vec<String> = nodes.iter().filter(|to| *to != from).filter(is_near).cloned().collect();
        expected.sort();
        prop_assert_eq!(receivers(&mut air), expected);
    }
}
