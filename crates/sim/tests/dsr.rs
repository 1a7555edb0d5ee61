//! DSR over real radios: what it finds, what it costs, and that its counts balance (each run checks this at its end).

use crate::networks::{refusal, run};
use crate::routing::{lost, routed_chain};
use proptest::prelude::*;

fn chain(nodes: u32, rate: &str, extra: &str) -> String {
    routed_chain("dsr", nodes, rate, extra)
}

#[test]
fn a_light_load_over_five_hops_arrives_after_one_search() {
    let outcome = run(&chain(6, "40 kb/s", ""), 1);
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent_packets, flow.received_packets, lost(&outcome)), (100, 100, 0));
    // The request for neighbours has no answer; 30 ms later one goes to all. The first packet waits, and no other does.
    assert!(flow.delay_s.max > 0.03 && flow.delay_s.max < 0.12, "{}", flow.delay_s.max);
    let routing = |node: usize| outcome.nodes[node].routing.expect("DSR counts");
    assert_eq!((routing(0).searches, routing(0).requests_sent, routing(5).replies_sent), (1, 2, 1));
    // The request for neighbours; that for all, passed on four times; and the reply over five hops.
    assert_eq!(outcome.totals.routing_packets, Some(1 + 5 + 5));
    // IP, the fixed part, and a request without addresses other than the initiator's.
    assert_eq!(routing(0).bytes, 2 * (20 + 4 + 8));
    // IP, the fixed part, a source route with four nodes between its ends, and a reply with five addresses and a byte of padding.
    assert_eq!(routing(5).bytes, 20 + 4 + (4 + 16) + (3 + 20 + 1));
    // With four addresses of nodes on the way.
    assert_eq!(routing(4).bytes, (20 + 4 + 8 + 16) + routing(5).bytes);
    assert_eq!(flow.hops.as_ref().map(|hops| (hops.min, hops.max)), Some((5, 5)));
}

#[test]
fn a_source_route_costs_its_bytes_at_every_hop() {
    let airtime = |protocol: &str| {
        let text = chain(4, "40 kb/s", "").replace("\"dsr\"", &format!("\"{protocol}\""));
        run(&text, 1).nodes[1].mac.airtime_s
    };
    // Over three hops there are 4 + 4 + 8 bytes more than with static routes.
    let with_padding = {
        let text = chain(4, "40 kb/s", "").replace("\"dsr\"", "\"static\"").replace("1000 B", "1016 B");
        run(&text.replace("40 kb/s", "40.64 kb/s"), 1).nodes[1].mac.airtime_s
    };
    let (dsr, fixed) = (airtime("dsr"), airtime("static"));
    assert!(dsr > with_padding && with_padding > fixed, "{dsr} {with_padding} {fixed}");
    assert!(dsr - with_padding < 0.02 * dsr, "{dsr} {with_padding}");
}

#[test]
fn a_broken_link_is_told_of_and_its_packets_go_by_another_way() {
    // `b` leaves at 10 s. `c` stays, two hops away.
    let text = "duration = \"20 s\"\n[radio]\nrange = \"30 m\"\nerrors.model = \"none\"\n\
        [routing]\nprotocol = \"dsr\"\n\
        [[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\n\
        [[node]]\nname = \"b\"\nposition = [\"25 m\", \"0 m\"]\n\
        [[node]]\nname = \"d\"\nposition = [\"50 m\", \"0 m\"]\n\
        waypoints = [{ time = \"10 s\", position = [\"50 m\", \"500 m\"], speed = \"40 m/s\" }]\n\
        [[node]]\nname = \"e\"\nposition = [\"75 m\", \"0 m\"]\n\
        [[node]]\nname = \"c\"\nposition = [\"50 m\", \"-5 m\"]\n\
        [[flow]]\nname = \"call\"\nfrom = \"a\"\nto = \"e\"\n\
        traffic = { kind = \"cbr\", rate = \"64 kb/s\", packet = \"160 B\" }\n";
    let outcome = run(text, 1);
    let flow = &outcome.flows[0];
    assert!(lost(&outcome) <= 2 && flow.received_packets + 2 >= flow.sent_packets, "{:?}", flow.lost_packets);
    let counts = |node: usize| outcome.nodes[node].routing.expect("DSR counts");
    assert!(counts(1).link_failures + counts(0).link_failures > 0 || counts(4).link_failures == 0);
}

#[test]
fn wrong_settings_are_refused_by_their_names() {
    let by_hand = "[[routing.route]]\nfrom = \"n0\"\nto = \"n2\"\nvia = [\"n1\"]";
    assert!(refusal(&chain(3, "40 kb/s", by_hand)).1.contains("AODV and DSR find their own"));
    let (_, said) = refusal(&chain(3, "40 kb/s", "").replace("1000 B", "2240 B"));
    assert!(said.contains("of an 802.11 frame for a packet"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Nodes move, under each profile: the counts balance, and nothing panics.
    #[test]
    fn packets_are_accounted_for_with_any_rules(
        seed in 0_u64..1000, purge in any::<bool>(), ns2 in any::<bool>(), nodes in 4_u32..14, tcp in any::<bool>(),
    ) {
        let (kind, traffic) = if tcp { ("greedy", "") } else { ("cbr", ", rate = \"64 kb/s\"") };
        let packet = if tcp { "" } else { ", packet = \"400 B\"" };
        let text = format!(
            "duration = \"20 s\"\n[radio]\nrange = \"40 m\"\n[routing]\nprotocol = \"dsr\"\n[routing.dsr]\n\
             profile = \"{}\"\npurge_on_failure = {purge}\n\
             [mobility]\nmodel = \"random-waypoint\"\narea = [\"150 m\", \"150 m\"]\nspeed = {{ from = \"20 m/s\", to = \"20 m/s\" }}\n\
             [nodes]\ncount = {nodes}\n\
             [[flow]]\nname = \"f\"\nfrom = \"any\"\nto = \"any\"\ncount = 4\ntransport = \"{}\"\n\
             traffic = {{ kind = \"{kind}\"{traffic}{packet} }}\n",
            if ns2 { "ns-2" } else { "rfc" },
            if tcp { "tcp" } else { "udp" },
        );
        run(&text, seed);
    }
}
