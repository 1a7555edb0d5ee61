//! Invariants of any network: packets are conserved, airtime adds up, names and slices of time do not matter.
//!
//! The simulator itself checks its counts at the end of every debug run, and these are debug runs.

use crate::networks::{cut, network};
use proptest::prelude::*;
use units::Duration;

/// A small network drawn at random: some nodes in a square, some flows between them.
#[derive(Clone, Debug)]
struct Drawn {
    places: Vec<(u8, u8)>,
    flows: Vec<(usize, usize, u16, u16)>,
    settings: [bool; 6],
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let place = (0_u8..90, 0_u8..90);
    (2_usize..7)
        .prop_flat_map(move |nodes| {
            let flow = (0..nodes, 0..nodes, 20_u16..1500, 10_u16..3000);
            (prop::collection::vec(place.clone(), nodes), prop::collection::vec(flow, 1..5), any::<[bool; 6]>())
        })
        .prop_map(|(places, flows, settings)| Drawn { places, flows, settings })
}

impl Drawn {
    fn text(&self, prefix: &str) -> String {
        let [rts, head, adth, ofdm, eifs, classes] = self.settings;
        let pick = |yes: bool, one: &'static str, other: &'static str| if yes { one } else { other };
        let mut text = format!(
            "duration = \"2 s\"\nwarmup = \"200 ms\"\n\
             [radio]\nstandard = \"{}\"\nrange = \"70 m\"\n\
             [mac]\nrts_threshold = \"{}\"\neifs = \"{}\"\n\
             [queue]\nlimit = 20\ndiscipline = \"{}\"\ncontroller = \"{}\"\n\
             [queue.adth]\ntarget_delay = \"20 ms\"\n{}",
            pick(ofdm, "802.11a", "802.11b"),
            pick(rts, "300 B", "off"),
            pick(eifs, "any-signal-kept", "bad-frame"),
            pick(head, "drop-head", "drop-tail"),
            pick(adth, "adth", "none"),
            pick(classes, "[class_queue]\n", ""),
        );
        for (index, (x, y)) in self.places.iter().enumerate() {
            let node = format!("[[node]]\nname = \"{prefix}{index}\"\nposition = [\"{x} m\", \"{y} m\"]\n");
            text += &node;
        }
        for (index, (from, to, packet, rate)) in self.flows.iter().enumerate() {
            let to = if from == to { "broadcast".to_owned() } else { format!("{prefix}{to}") };
            let flow = format!(
                "[[flow]]\nname = \"f{index}\"\nfrom = \"{prefix}{from}\"\nto = \"{to}\"\nclass = \"{}\"\n\
                 traffic = {{ kind = \"poisson\", rate = \"{rate} kb/s\", packet = \"{packet} B\" }}\n",
                pick(packet % 2 == 0, "real-time", "best-effort"),
            );
            text += &flow;
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn accounts_balance_and_time_can_be_cut_anywhere(drawn in drawn(), micros in 100_u64..100_000) {
        let network = network(&drawn.text("n"));
        // If some of the drawn nodes have no route, there is nothing to run.
        if let Some(whole) = cut(&network, Duration::MAX) {
            let sliced = cut(&network, Duration::from_micros(micros)).expect("it was built before");
            prop_assert_eq!(&whole, &sliced);
            for flow in &whole.flows {
                prop_assert!(flow.delay_s.mean <= flow.delay_s.max && (0.0..=1.0).contains(&flow.loss_ratio));
                let lost = flow.sent_packets as f64 * flow.loss_ratio;
                let known = (flow.received_packets + flow.in_flight_packets) as f64 + lost;
                let several = flow.reception_ratio.is_some();
                prop_assert!(several || (known - flow.sent_packets as f64).abs() < 1e-6, "{:?}", flow);
            }
            for node in &whole.nodes {
                prop_assert!(node.mac.airtime_s <= node.mac.busy_ratio * whole.simulated_s + 0.03);
                let sent: u64 = node.queues.iter().map(|queue| queue.sent_packets).sum();
                prop_assert!(node.mac.delivered + node.mac.retry_drops <= sent + 1);
                prop_assert!(node.queues.iter().all(|queue| queue.backlog_packets.max <= 20.0));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn only_distances_matter(drawn in drawn(), right in 0_u8..100, up in 0_u8..100) {
        let mirrored = |places: &[(u8, u8)]| places.iter().map(|(x, y)| (89 - x, *y)).collect();
        let moved = |places: &[(u8, u8)]| places.iter().map(|(x, y)| (x + right, y + up)).collect();
        let turned = |places: &[(u8, u8)]| places.iter().map(|(x, y)| (*y, 89 - x)).collect();
        let of = |places| cut(&network(&Drawn { places, ..drawn.clone() }.text("n")), Duration::MAX);
        // Positions are whole metres: the distances are the same to the last bit, and so must the results be.
        let here = of(drawn.places.clone());
        prop_assert_eq!(&here, &of(mirrored(&drawn.places)));
        prop_assert_eq!(&here, &of(moved(&drawn.places)));
        prop_assert_eq!(&here, &of(turned(&drawn.places)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// The same with packets in order of age, whatever T-MAC's parameters are: requests and grants lose or double nothing.
    #[test]
    fn accounts_balance_in_the_order_of_age(
        drawn in drawn(),
        requests in any::<bool>(),
        quorum in 0_u8..=4,
        attempts in 1_u8..6,
        neighbours in 1_u8..=8,
        waits in (0_u16..5_000, 0_u16..5_000, 0_u16..20_000),
        oldest in any::<bool>(),
    ) {
        let (request_wait, deferral, expiry) = waits;
        let turns = format!(
            "[mac]\nturns = {{ variant = \"{}\", quorum = {}, attempts = {attempts}, neighbours = {neighbours}, \
             request_wait = \"{request_wait} us\", deferral = \"{deferral} us\", expiry = \"{expiry} us\" }}\n",
            if requests { "requests" } else { "table" },
            f64::from(quorum) / 4.0,
        );
        let text = drawn.text("n").replace("[mac]\n", &turns);
        let text = if oldest { text.replace("\"drop-tail\"", "\"oldest-first\"") } else { text };
        if let Some(whole) = cut(&network(&text), Duration::MAX) {
            let sliced = cut(&network(&text), Duration::from_micros(777)).expect("it was built before");
            prop_assert_eq!(&whole, &sliced);
            for node in &whole.nodes {
                prop_assert!(requests || (node.mac.requests, node.mac.grants) == (Some(0), Some(0)));
                prop_assert!(node.queues.iter().all(|queue| queue.backlog_packets.max <= 20.0));
            }
        }
    }
}

#[test]
fn a_broadcast_reaches_everyone_in_range_once_and_is_not_acknowledged() {
    let text = "duration = \"2 s\"\n[radio]\nrange = \"30 m\"\n\
        [nodes]\ncount = 4\nplacement = \"chain\"\nspacing = \"30 m\"\n\
        [[flow]]\nname = \"hello\"\nfrom = \"n1\"\nto = \"broadcast\"\nstart = \"1 s\"\nstop = \"1.05 s\"\n\
        traffic = { kind = \"cbr\", rate = \"80 kb/s\", packet = \"100 B\" }\n";
    let outcome = cut(&network(text), Duration::MAX).expect("it can be built");
    // Five packets are each heard by n0 and n2.
    assert_eq!((outcome.flows[0].sent_packets, outcome.flows[0].received_packets), (5, 10));
    assert!(outcome.nodes.iter().all(|node| node.mac.attempts == 0 && node.mac.retry_drops == 0));
    // 164 B at 1 Mb/s: 192 + 1312 us each.
    assert!((outcome.nodes[1].mac.airtime_s - 5.0 * 1504e-6).abs() < 1e-9);
}

#[test]
fn a_lost_ack_makes_a_duplicate_that_is_discarded() {
    // n0 sends to n1, and n2 destroys n1's ACK at n0. n1 hears n2 too weakly to decode it or to be disturbed (100 m against 20 m
    // are 14 dB). At n0, 20 m from n1 and 21 m from n2, both are equally strong.
    let text = "duration = \"20 s\"\n[radio]\nerrors.model = \"none\"\nrange = \"25 m\"\ncarrier_sense_range = \"26 m\"\n\
        [[node]]\nname = \"n0\"\nposition = [\"0 m\", \"0 m\"]\n\
        [[node]]\nname = \"n1\"\nposition = [\"20 m\", \"0 m\"]\n\
        [[node]]\nname = \"n2\"\nposition = [\"-21 m\", \"0 m\"]\n\
        [[node]]\nname = \"n3\"\nposition = [\"-40 m\", \"0 m\"]\n\
        [[flow]]\nname = \"measured\"\nfrom = \"n0\"\nto = \"n1\"\n\
        traffic = { kind = \"cbr\", rate = \"800 kb/s\", packet = \"1000 B\" }\n\
        [[flow]]\nname = \"noise\"\nfrom = \"n3\"\nto = \"n2\"\n\
        traffic = { kind = \"cbr\", rate = \"2 Mb/s\", packet = \"1000 B\" }\n";
    let outcome = cut(&network(text), Duration::MAX).expect("it can be built");
    assert!(outcome.nodes[1].mac.duplicates > 0, "no ACK was lost");
    let flow = &outcome.flows[0];
    assert!(flow.received_packets <= flow.sent_packets, "a duplicate was passed on");
}
