//! A search over nodes that already have routes to the destination, or get them meanwhile: read literally, 6.7 ends the
//! reply there, since it tells them nothing new.

use super::*;

/// Chains of three to eight hops, every pair of flows, by flags D and G.
fn lost(destination_only: bool, gratuitous_rrep: bool, apart: Duration) -> Vec<String> {
    let mut lost = Vec::new();
    for nodes in 4..=9 {
        let ends =
            || (0..nodes).flat_map(move |from| (0..nodes).map(move |to| (from, to))).filter(|(from, to)| from != to);
        // The first flow goes up: chains are the same from both sides.
        for (first, second) in ends().filter(|(from, to)| from < to).flat_map(|one| ends().map(move |two| (one, two))) {
            let given = config::Aodv { destination_only, gratuitous_rrep, ttl_start: 10, ..plain() };
            let mut net = Net::new(nodes, &chain(nodes), &given);
            net.send(first.0, first.1);
            net.run(apart);
            net.send(second.0, second.1);
            // Within the wait for the first reply.
            net.run(Duration::from_millis(200));
            if net.arrived() < 2 {
                lost.push(format!("{nodes} nodes: {first:?}, {second:?}"));
            }
        }
    }
    lost
}

#[test]
fn a_second_flow_finds_its_route_by_its_first_request() {
    for destination_only in [false, true] {
        for gratuitous_rrep in [false, true] {
            for apart in [0, 1, 3, 100].map(Duration::from_millis) {
                let lost = lost(destination_only, gratuitous_rrep, apart);
                assert!(lost.is_empty(), "D {destination_only}, G {gratuitous_rrep}, {apart:?} apart: {lost:?}");
            }
        }
    }
}
