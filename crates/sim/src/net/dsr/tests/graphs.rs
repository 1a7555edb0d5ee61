//! Properties on any graph: no loops, every packet accounted for, a route wherever one exists, and no panic.

use super::super::settings::{NearRequest, RouteCache};
use super::*;
use crate::net::reachable;
use proptest::prelude::*;

/// A graph, steps that change it, and rules.
#[derive(Clone, Debug)]
struct Drawn {
    nodes: u32,
    links: Vec<(u32, u32)>,
    steps: Vec<(u8, u32, u32, u16)>,
    options: [bool; 8],
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (3_u32..10).prop_flat_map(|nodes| {
        let pair = (0..nodes, 0..nodes);
        let step = (0_u8..8, 0..nodes, 0..nodes, 0_u16..1500);
        let links = prop::collection::vec(pair, 2..20);
        (links, prop::collection::vec(step, 1..60), any::<[bool; 8]>()).prop_map(move |(links, steps, options)| Drawn {
            nodes,
            links,
            steps,
            options,
        })
    })
}

fn rules(options: [bool; 8]) -> Settings {
    let [paths, each, answers, reverse, replies, salvage, ns2, small] = options;
    Settings {
        cache: if paths { RouteCache::Paths } else { RouteCache::Links },
        near_request: if each { NearRequest::Each } else { NearRequest::First },
        replies_from_cache: answers,
        learn_reverse: reverse,
        learn_forwarded_replies: replies,
        salvage_search: salvage,
        release_interval: Duration::from_millis(if ns2 { 30 } else { 0 }),
        buffer_check: Duration::from_millis(if ns2 { 30 } else { 0 }),
        cache_links: if small { 20 } else { 512 },
        cache_paths: if small { 4 } else { 30 },
        cache_overheard: if small { 4 } else { 64 },
        ..Settings::RFC
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn no_route_goes_round_and_packets_are_accounted_for(drawn in drawn()) {
        let mut net = Net::new(drawn.nodes, &drawn.links, &rules(drawn.options));
        for &(what, a, b, millis) in &drawn.steps {
            match what {
                _ if a == b => {}
                0 | 1 => net.cut(a, b),
                2 => net.join(a, b),
                _ => { net.send(a, b); }
            }
            // Every route that a node sends is checked there.
            net.run(Duration::from_millis(u64::from(millis)));
        }
        net.run(Duration::from_secs(60));
        prop_assert!(net.data.iter().all(|data| data.fate != Fate::UnderWay), "{:?}", net.data);
        prop_assert!(net.nodes.iter().all(|node| node.held() == 0));
    }

    #[test]
    fn a_route_is_found_wherever_there_is_one(drawn in drawn()) {
        let mut net = Net::new(drawn.nodes, &drawn.links, &rules(drawn.options));
        for &(_, a, b, _) in drawn.steps.iter().take(12) {
            if a != b {
                let packet = net.send(a, b);
                net.run(Duration::from_secs(35));
                prop_assert_eq!(net.arrived(packet), reachable(&net.links, a)[b as usize], "{} to {}", a, b);
            }
        }
    }

    #[test]
    fn nothing_that_comes_makes_a_node_panic(
        options in any::<[bool; 8]>(),
        heard in prop::collection::vec((0_u8..6, prop::collection::vec(0_u32..12, 0..18), 0_u8..20, 0_u32..12), 1..80),
    ) {
        let mut net = Net::new(3, &[(0, 1), (1, 2)], &rules(options));
        for (what, nodes, at, other) in heard {
            let mut route = Route::EMPTY;
            for &node in &nodes {
                route.push(node);
            }
            let header = Header { route, at, salvaged: at };
            let broken = Broken { from: other, to: nodes.first().copied().unwrap_or(0) };
            let content = match what {
                0 | 1 => Content::Request { id: other, target: other, hops_left: at, broken: Some(broken) },
                2 | 3 => Content::Reply { route },
                _ => Content::Error { broken },
            };
            let message = Message { header, content };
            let given = net.given.clone();
            let (now, out) = (net.now, &mut net.out);
            let cx = &mut Context { now, given: &given, out };
            let dsr = &mut net.nodes[1];
            match what {
                0 | 2 | 4 => dsr.receive(message, cx),
                1 | 3 => dsr.overhear_message(&message, cx),
                _ => {
                    dsr.overhear_data(&header, cx);
                    dsr.message_failed(&message, broken, cx);
                    let _ = dsr.forward(header, cx);
                }
            }
            for action in net.out.actions.drain(..) {
                if let Action::Send { message, .. } = action {
                    check(&message.header.route);
                }
            }
            net.now += Duration::from_millis(u64::from(at));
        }
    }
}
