//! Properties on any graph and with any losses: no loops, every packet accounted for, and a route wherever one exists.

use super::*;
use crate::config::{ErrorsTo, RepairBy, RepairWithin, ReplyWait};
use crate::net::reachable;
use proptest::prelude::*;

/// A graph, steps that change it, and the number of messages in 256 that are lost.
#[derive(Clone, Debug)]
struct Drawn {
    nodes: u32,
    links: Vec<(u32, u32)>,
    steps: Vec<(u8, u32, u32, u16)>,
    loss: u8,
    options: [bool; 9],
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (3_u32..10).prop_flat_map(|nodes| {
        let pair = (0..nodes, 0..nodes);
        let step = (0_u8..8, 0..nodes, 0..nodes, 0_u16..1500);
        (
            prop::collection::vec(pair, 2..20),
            prop::collection::vec(step, 1..60),
            prop_oneof![Just(0_u8), 0_u8..160],
            any::<[bool; 9]>(),
        )
            .prop_map(move |(links, steps, loss, options)| Drawn { nodes, links, steps, loss, options })
    })
}

impl Drawn {
    fn net(&self) -> Net {
        let [hello, local_repair, gratuitous_rrep, rrep_ack, fast, repairs, holds, tells, destination_only] =
            self.options;
        let given = config::Aodv {
            hello,
            local_repair,
            gratuitous_rrep,
            rrep_ack,
            destination_only,
            // Routes that expire while others still use them.
            active_route_timeout: Duration::from_millis(if fast { 50 } else { 3000 }),
            repair_within: if repairs { RepairWithin::NearerHalf } else { RepairWithin::MaxRepairTtl },
            repair_by: if repairs { RepairBy::WholeSearch } else { RepairBy::OneRequest },
            reply_wait: if holds { ReplyWait::Measured } else { ReplyWait::TraversalTime },
            search_hold: Duration::from_secs(if holds { 10 } else { 0 }),
            errors_to: if tells { ErrorsTo::All } else { ErrorsTo::Precursors },
            message_failures: !tells,
            ..config::Aodv::default()
        };
        let mut links: Vec<(u32, u32)> = self.links.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        links.retain(|&(a, b)| a != b);
        links.sort_unstable();
        links.dedup();
        let mut net = Net::new(self.nodes, &links, &given);
        net.settings.jitter = Duration::from_millis(if fast { 0 } else { 10 });
        let mut stream = Stream::new(3, "loss", Purpose::TRAFFIC);
        let loss = u64::from(self.loss);
        net.loses = Box::new(move |_, _, _| stream.up_to(255) < loss);
        net
    }
}

/// A connected graph: each node but the first has a link to one before it.
fn connected() -> impl Strategy<Value = Drawn> {
    (drawn(), prop::collection::vec(any::<u32>(), 10)).prop_map(|(mut drawn, earlier)| {
        drawn.links.truncate(3);
        drawn.links.extend((1..drawn.nodes).map(|node| (node, earlier[node as usize] % node)));
        drawn
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn routes_never_go_round_and_packets_are_accounted_for(drawn in drawn()) {
        let mut net = drawn.net();
        for &(what, a, b, millis) in &drawn.steps {
            match what {
                _ if a == b => {}
                0 | 1 => net.cut(a, b),
                2 if !net.links[a as usize].contains(&b) => net.join(a, b),
                _ => { net.send(a, b); }
            }
            // `run` checks for loops after every event.
            net.run(Duration::from_millis(u64::from(millis)));
            net.check_packets();
        }
        // All searches come to an end: with back-off, rings and the rate limit within two minutes.
        net.run(Duration::from_secs(120));
        prop_assert!(net.data.iter().all(|data| data.fate != Fate::UnderWay), "{:?}", net.data);
        prop_assert!(net.nodes.iter().all(|node| node.held() == 0));
    }

    #[test]
    fn a_route_is_found_wherever_there_is_one(drawn in drawn()) {
        let mut net = Drawn { loss: 0, ..drawn.clone() }.net();
        for &(_, a, b, _) in drawn.steps.iter().take(12) {
            if a != b {
                let packet = net.send(a, b);
                net.run(Duration::from_secs(40));
                let expected = reachable(&net.links, a)[b as usize];
                prop_assert_eq!(matches!(net.data[packet].fate, Fate::Arrived { .. }), expected, "{} to {}", a, b);
            }
        }
    }

    /// Links break and mend, messages are lost, neighbours send unsolicited messages. After that, a search takes no
    /// longer than the RFC allows: blacklisting ends after `BLACKLIST_TIMEOUT`, the hold after a failed search passes,
    /// then one search goes through its rings and its requests to all.
    #[test]
    fn whatever_has_broken_a_connected_network_finds_its_routes_again(drawn in connected()) {
        let mut net = drawn.net();
        let ends = [0, drawn.nodes - 1];
        for &(what, a, b, millis) in &drawn.steps {
            let b = ends[b as usize % 2];
            let neighbour = net.links[a as usize].first().copied();
            match (what, neighbour) {
                _ if a == b => {}
                (0 | 1, Some(other)) => {
                    net.cut(a, other);
                    net.send(a, b);
                    net.run(Duration::from_millis(u64::from(millis)));
                    net.join(a, other);
                }
                // A window of packets that are still on their way when the route is lost.
                (2..=4, Some(at)) if at != b => (0..millis % 64).for_each(|_| net.stray(a, at, b)),
                _ => { net.send(a, b); }
            }
            net.run(Duration::from_millis(u64::from(millis)));
        }
        net.loses = Box::new(|_, _, _| false);
        let settings = &net.settings;
        let rings = settings.ring_traversal_time(1) + settings.ring_traversal_time(3)
            + settings.ring_traversal_time(5) + settings.ring_traversal_time(7);
        let to_all = settings.net_traversal_time * ((1 << settings.given.rreq_retries) - 1);
        let bound = settings.blacklist_timeout + settings.given.search_hold + rings + to_all;
        // One search after the other: a node that is itself sought learns which number others have for it; one that
        // only seeks does not.
        let [a, b] = ends;
        for (from, to) in [(a, b), (b, a)] {
            let over = net.now;
            let mut sent = Vec::new();
            while net.now < over + bound {
                sent.push(net.send(from, to));
                net.run(Duration::from_millis(500));
            }
            let arrived = |packet: &usize| matches!(net.data[*packet].fate, Fate::Arrived { .. });
            prop_assert!(sent.iter().any(arrived), "from {} to {}", from, to);
        }
    }
}
