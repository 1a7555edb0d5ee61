//! Changes on which a network's results must not depend, and stations that hold each other back without need.

use crate::networks::{network, run};
use proptest::prelude::*;
use sim::World;
use sim::results::{Flow, Node, Outcome};

/// A cell with irregular distances: no two signals reach a node at the same instant.
fn cell(order: &[usize]) -> String {
    let mut text = "duration = \"5 s\"\n[radio]\nrange = \"100 m\"\n".to_owned();
    let places = [(0.0, 0.0), (13.7, 2.9), (7.1, -31.3), (-22.9, 17.3), (41.1, 29.7)];
    for &node in order {
        let (x, y) = places[node];
        let site = format!("[[node]]\nname = \"n{node}\"\nposition = [\"{x} m\", \"{y} m\"]\n");
        text += &site;
    }
    text
}

/// A flow to `n0` from every other node.
fn up(order: &[usize], kind: &str) -> String {
    let mut text = String::new();
    for node in order.iter().filter(|&&node| node != 0) {
        let flow = format!(
            "[[flow]]\nname = \"f{node}\"\nfrom = \"n{node}\"\nto = \"n0\"\n\
             traffic = {{ {kind}, packet = \"1000 B\" }}\n"
        );
        text += &flow;
    }
    text
}

fn by_name(outcome: Outcome) -> (Vec<Flow>, Vec<Node>) {
    let Outcome { mut flows, mut nodes, .. } = outcome;
    flows.sort_by(|a, b| a.name.cmp(&b.name));
    for node in &mut nodes {
        node.hops.sort_by(|a, b| a.name.cmp(&b.name));
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    (flows, nodes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Random streams belong to names, and no two events at a node fall into the same nanosecond. So the order of the file
    /// decides nothing.
    #[test]
    fn the_order_of_the_file_moves_no_result(
        nodes in Just(vec![0, 1, 2, 3, 4]).prop_shuffle(),
        flows in Just(vec![1, 2, 3, 4]).prop_shuffle(),
        seed in 0_u64..1_000,
        saturated in any::<bool>(),
    ) {
        let kind = if saturated { "kind = \"saturated\"" } else { "kind = \"poisson\", rate = \"1.1 Mb/s\"" };
        let sorted = run(&(cell(&[0, 1, 2, 3, 4]) + &up(&[1, 2, 3, 4], kind)), seed);
        let shuffled = run(&(cell(&nodes) + &up(&flows, kind)), seed);
        prop_assert!(sorted.nodes.iter().any(|node| node.mac.collisions > 0) || !saturated);
        prop_assert_eq!(by_name(sorted), by_name(shuffled));
    }
}

#[test]
fn nodes_out_of_earshot_move_no_result() {
    for kind in ["kind = \"saturated\"", "kind = \"poisson\", rate = \"1.1 Mb/s\""] {
        let alone = run(&(cell(&[0, 1, 2, 3, 4]) + &up(&[1, 2, 3, 4], kind)), 3);
        let far = "[[node]]\nname = \"far\"\nposition = [\"90 km\", \"0 m\"]\n\
            [[node]]\nname = \"farther\"\nposition = [\"90.05 km\", \"0 m\"]\n";
        let flow = "[[flow]]\nname = \"apart\"\nfrom = \"far\"\nto = \"farther\"\n\
            traffic = { kind = \"saturated\", packet = \"300 B\" }\n";
        let mut both = run(&(cell(&[0, 1, 2, 3, 4]) + far + flow + &up(&[1, 2, 3, 4], kind)), 3);
        assert!(both.events > alone.events);
        let apart = both.flows.remove(0);
        assert!(apart.received_packets > 1_000);
        both.nodes.truncate(5);
        assert_eq!((alone.flows, alone.nodes), (both.flows, both.nodes));
    }
}

/// `b` sends to `a` and `c` to `d` on a line `a b c d`, where `b` and `c` are `gap` apart. Returns the two goodputs in b/s.
fn exposed(gap: u32, seed: u64) -> [f64; 2] {
    let (c, d) = (10 + gap, 20 + gap);
    let text = format!(
        "duration = \"21 s\"\nwarmup = \"1 s\"\n\
         [radio]\npropagation = \"range\"\nrange = \"40 m\"\ncarrier_sense_range = \"40 m\"\n\
         [[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nname = \"b\"\nposition = [\"10 m\", \"0 m\"]\n\
         [[node]]\nname = \"c\"\nposition = [\"{c} m\", \"0 m\"]\n\
         [[node]]\nname = \"d\"\nposition = [\"{d} m\", \"0 m\"]\n\
         [[flow]]\nname = \"left\"\nfrom = \"b\"\nto = \"a\"\n\
         traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n\
         [[flow]]\nname = \"right\"\nfrom = \"c\"\nto = \"d\"\n\
         traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
    );
    let outcome = World::new(&network(&text), seed).expect("it can be built").finish();
    [0, 1].map(|flow| outcome.flows[flow].goodput_bps)
}

#[test]
fn exposed_senders_take_turns_though_neither_disturbs_the_others_receiver() {
    // If they do not hear each other, each sends as if alone: 966 + 10 + 304 + 50 us and 15.5 slots of back-off per packet.
    let alone = 8_000.0 / 1_640e-6;
    for goodput in exposed(50, 1) {
        assert!((goodput / alone - 1.0).abs() < 0.01, "{goodput} of {alone}");
    }
    // 35 m apart they hear each other, but their frames do not reach the other's receiver, 45 m away. Frames that start in the
    // same slot are both received, and the two back-offs run at the same time. Together they carry slightly more than one alone,
    // not twice as much.
    let [left, right] = exposed(35, 1);
    assert!((left / right - 1.0).abs() < 0.05, "{left} and {right}");
    let turns = (left + right) / alone;
    assert!((1.0..1.25).contains(&turns), "{turns}");
}
