//! Tests with splits worked out by hand, the document's among them, and properties that hold for all measurements.

extern crate std;

use super::*;
use crate::{Count, Interval, Radio};
use proptest::prelude::*;
use std::format;
use std::string::String;
use std::vec::Vec;
use units::Bytes;

/// Channel time of a packet of 12 kb with its framing at 11 Mb/s: 190 us and 1090.909 us.
const TIME: Duration = Duration::from_nanos(1_280_909);

fn dnb(json: &str, seed: u64) -> Dnb {
    let site = Site { hard_limit: Limit::Packets(1_000), seed };
    Dnb::new(&serde_json::from_str(json).unwrap(), &site).unwrap()
}

/// Returns parameters whose `rtt` is this many channel times of a packet.
fn rtt(times: u64) -> String {
    format!(r#"{{"rtt":"{} ns"}}"#, TIME.as_nanos() * times)
}

/// Returns an interval of a second in which 100 packets left at this rate, each in a frame of its own.
fn sends(kbps: u64, hops: u8) -> (Interval, Radio) {
    let sent = Count { packets: 100, bytes: Bytes::new(145_800) };
    let queue = Interval { length: Duration::from_secs(1), sent, ..Interval::default() };
    let phy_rate = Rate::kbps(kbps);
    let aggregate_max = Bytes::new(2_332);
    (queue, Radio { phy_rate, frames: 100, mpdus: 100, aggregate_max, hops, ..Radio::default() })
}

fn update(dnb: &mut Dnb, (queue, radio): (Interval, Radio), heard: &[Heard]) -> Orders {
    dnb.update(&Seen { queue, radio: Some(radio), heard })
}

fn packets(orders: &Orders) -> u32 {
    let Limit::Packets(packets) = orders.limit else { panic!("the hard limit is in packets") };
    packets
}

/// Returns the note of a neighbour whose domain has these nodes with their hop counts; the neighbour's own first.
fn heard(links: &[(u32, u8)]) -> Heard {
    let link = |&(node, hops): &(u32, u8)| Link { node, time: TIME, packets: 100, hops };
    let note = Note { links: links.iter().map(link).collect(), ..Note::default() };
    Heard { from: links[0].0, age: Duration::ZERO, note }
}

/// Returns the limits of nodes that all hear each other, by the number of hops that their packets have come.
fn limits(json: &str, hops: &[u8]) -> Vec<u32> {
    let mut nodes: Vec<Dnb> = (1..).zip(hops).map(|(seed, _)| dnb(json, seed)).collect();
    let second = |nodes: &mut [Dnb], heard: &[Heard]| -> Vec<Orders> {
        nodes.iter_mut().zip(hops).map(|(node, hops)| update(node, sends(11_000, *hops), heard)).collect()
    };
    // At first each knows only its own link, and then those of all; its own note states no more than it knows.
    let first = second(&mut nodes, &[]);
    let told: Vec<Heard> = (0..)
        .zip(&first)
        .map(|(from, orders)| Heard { from, age: Duration::ZERO, note: orders.note.unwrap() })
        .collect();
    second(&mut nodes, &told).iter().map(packets).collect()
}

#[test]
fn the_domains_buffer_is_split_by_the_hops() {
    // The document file's example: costs of 1 and 4 and B = 10 give 3 and 7. RTT is 6 t and twice 2 t.
    assert_eq!(limits(&rtt(6), &[1, 4]), [3, 7]);
    assert_eq!(limits(&rtt(6), &[4, 1]), [7, 3]);
    // B = 12 and B = 20 over four hops.
    assert_eq!(limits(&rtt(4), &[1, 2, 3, 4]), [2, 3, 3, 4]);
    assert_eq!(limits(&rtt(12), &[1, 2, 3, 4]), [3, 4, 6, 7]);
    // Equal shares: B = 20 of four; of what does not divide evenly each packet goes to one of them.
    assert_eq!(limits(&rtt(12).replace('}', r#","cost":"equal"}"#), &[1, 2, 3, 4]), [5; 4]);
    let uneven = limits(&rtt(13), &[2; 4]);
    assert_eq!((uneven.iter().sum::<u32>(), uneven.iter().max(), uneven.iter().min()), (21, Some(&6), Some(&5)));
}

#[test]
fn the_mesh_alone_is_worth_two_packets_a_node() {
    assert_eq!(limits("{}", &[1]), [2]);
    assert_eq!(limits("{}", &[2; 3]), [2; 3]);
    assert_eq!(limits(r#"{"least":3}"#, &[1, 2, 3]), [3; 3]);
}

#[test]
fn a_node_shares_in_the_busiest_domain_of_those_that_hear_it() {
    // With one neighbour: B = 6 + 4. The neighbour that hears a third one: B = 6 + 6 for three.
    let share = |links: &[(u32, u8)]| {
        let mut dnb = dnb(&rtt(6), 1);
        let links: Vec<(u32, u8)> =
            links.iter().map(|&(node, hops)| (if node == 1 { dnb.own.node } else { node }, hops)).collect();
        packets(&update(&mut dnb, sends(11_000, 1), &[heard(&links)]))
    };
    assert_eq!(share(&[(2, 1)]), 5);
    assert_eq!(share(&[(2, 1), (1, 1), (3, 1)]), 4);
    // A neighbour that does not hear this node adds no domain to it.
    assert_eq!(share(&[(2, 1), (4, 1), (3, 1)]), 5);
}

#[test]
fn a_node_tells_its_own_link_first_and_then_those_that_it_hears() {
    let mut dnb = dnb("{}", 9);
    let note = update(&mut dnb, sends(11_000, 3), &[heard(&[(2, 1), (5, 1)])]).note.unwrap();
    let own = Link { node: dnb.own.node, time: TIME, packets: 100, hops: 3 };
    let other = Link { node: 2, time: TIME, packets: 100, hops: 1 };
    assert_eq!(*note.links, [own, other]);
    assert_eq!((note.domain, note.hops, note.rate), (2, 3, Rate::bps(1_166_400)));
    // Repeated packets take more time: 150 frames of 100 packets.
    let (queue, radio) = sends(11_000, 3);
    let note = update(&mut dnb, (queue, Radio { frames: 150, mpdus: 150, ..radio }), &[]).note.unwrap();
    assert_eq!(note.links[0].time, Duration::from_nanos(1_921_363));
}

#[test]
fn the_share_is_computed_anew_when_times_have_changed_by_a_fifth_and_after_five_seconds() {
    let mut dnb = dnb(r#"{"rtt":"100 ms"}"#, 1);
    let mut seconds = |kbps, count: usize| -> Vec<u32> {
        (0..count).map(|_| packets(&update(&mut dnb, sends(kbps, 1), &[]))).collect()
    };
    // 100 ms / 1.2809 ms + 2 = 80.07.
    assert_eq!(seconds(11_000, 3), [81; 3]);
    // 1.39 ms are 9 % more, and give 73.9 from the fifth second on.
    assert_eq!(seconds(10_000, 4), [81, 81, 74, 74]);
    // 2.3718 ms are 71 % more: 44.2.
    assert_eq!(seconds(5_500, 1), [45]);
}

#[test]
fn a_share_below_an_aggregate_is_counted_in_aggregates() {
    let aggregates = |json: &str| {
        let (queue, radio) = sends(300_000, 1);
        let radio = Radio { frames: 4, aggregate_max: Bytes::new(65_535), ..radio };
        packets(&update(&mut dnb(json, 1), (queue, radio), &[]))
    };
    // 43 packets of 1500 B are an aggregate: two of them.
    assert_eq!(aggregates("{}"), 86);
    // Channel time of a packet: 0.04 * 190 us + 40 us = 47.6 us; 20 ms / 47.6 us + 2 = 422.2.
    assert_eq!(aggregates(r#"{"rtt":"20 ms"}"#), 423);
}

#[test]
fn who_was_not_heard_for_three_seconds_is_gone_and_who_sends_nothing_says_nothing() {
    let mut dnb = dnb(&rtt(6), 1);
    let mut neighbour = heard(&[(2, 1)]);
    assert_eq!(packets(&dnb.begin()), 1_000);
    assert_eq!(packets(&update(&mut dnb, sends(11_000, 1), &[neighbour])), 5);
    neighbour.age = Duration::from_millis(3_000);
    assert_eq!(packets(&update(&mut dnb, sends(11_000, 1), &[neighbour])), 5);
    neighbour.age = Duration::from_millis(3_001);
    assert_eq!(packets(&update(&mut dnb, sends(11_000, 1), &[neighbour])), 8);
    let silent = Interval { length: Duration::from_secs(1), ..Interval::default() };
    let orders = update(&mut dnb, (silent, Radio::default()), &[neighbour]);
    assert_eq!((packets(&orders), orders.note), (8, None));
}

proptest! {
    #[test]
    fn the_shares_of_a_domain_add_up_to_its_buffer(hops in prop::collection::vec(1_u8..9, 1..12), times in 0_u64..60) {
        let buffer = u32::try_from(times).unwrap() + 2 * u32::try_from(hops.len()).unwrap();
        let found = limits(&rtt(times), &hops);
        prop_assert_eq!(found.iter().sum::<u32>(), buffer);
        for (one, own) in hops.iter().zip(&found) {
            prop_assert!(hops.iter().zip(&found).all(|(other, theirs)| one < other || own + 1 >= *theirs));
        }
    }
}
