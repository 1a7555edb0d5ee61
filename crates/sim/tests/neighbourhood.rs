//! Controllers that learn of each other from notes over the air: DNB's shares of one buffer.

use crate::networks::run;

/// Three nodes that hear each other, and two others that hear only one another. Each sends more than the channel carries.
const TWO_DOMAINS: &str = "duration = \"20 s\"\n[radio]\nrange = \"30 m\"\ncarrier_sense_range = \"60 m\"\n\
    [queue]\nlimit = 100\ncontroller = \"dnb\"\ndnb = { rtt = \"40 ms\" }\n\
    [[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"b\"\nposition = [\"10 m\", \"0 m\"]\n\
    [[node]]\nname = \"c\"\nposition = [\"0 m\", \"10 m\"]\n\
    [[node]]\nname = \"d\"\nposition = [\"900 m\", \"0 m\"]\n[[node]]\nname = \"e\"\nposition = [\"910 m\", \"0 m\"]\n";

#[test]
fn nodes_that_hear_each_other_share_one_buffer() {
    let flow = |(from, to): &(&str, &str)| {
        format!(
            "[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             traffic = {{ kind = \"cbr\", rate = \"6 Mb/s\", packet = \"1000 B\" }}\n"
        )
    };
    let flows: String = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "d")].iter().map(flow).collect();
    let outcome = run(&(TWO_DOMAINS.to_owned() + &flows), 1);
    let limit = |node: usize| outcome.nodes[node].queues[0].limit_packets.expect("in packets").last;
    // A packet takes 190 us and 1070 B at 11 Mb/s, 0.97 ms; with one repetition in ten, 1.07 ms. For three nodes, 40 ms and twice
    // the sum of their times are 43 to 48 packets, a third each. For two nodes they are 41 to 46 packets, half each.
    assert!((0..3).all(|node| (14.0..=16.0).contains(&limit(node))), "{:?}", [limit(0), limit(1), limit(2)]);
    assert!((3..5).all(|node| (20.0..=23.0).contains(&limit(node))), "{:?}", [limit(3), limit(4)]);
}
