//! AODV over real radios: what it finds, what it costs, and that its counts balance (each run checks this at its end).

use crate::networks::{network, refusal, run};
use proptest::prelude::*;
use sim::World;
use sim::results::{FlowHops, Outcome};

fn chain(nodes: u32, rate: &str, extra: &str) -> String {
    routed_chain("aodv", nodes, rate, extra)
}

/// A chain of `nodes` with a flow from end to end.
pub(crate) fn routed_chain(protocol: &str, nodes: u32, rate: &str, extra: &str) -> String {
    format!(
        "duration = \"20 s\"\n[radio]\nrange = \"30 m\"\n[routing]\nprotocol = \"{protocol}\"\n{extra}\n\
         [nodes]\ncount = {nodes}\nplacement = \"chain\"\nspacing = \"30 m\"\n\
         [[flow]]\nname = \"forward\"\nfrom = \"n0\"\nto = \"n{}\"\n\
         traffic = {{ kind = \"cbr\", rate = \"{rate}\", packet = \"1000 B\" }}\n",
        nodes - 1
    )
}

pub(crate) fn lost(outcome: &Outcome) -> u64 {
    let lost = outcome.flows[0].lost_packets.expect("a routing protocol counts them");
    lost.queue + lost.retries + lost.no_route + lost.buffer + lost.link + lost.ttl
}

#[test]
fn a_light_load_over_five_hops_arrives_after_one_search() {
    let outcome = run(&chain(6, "40 kb/s", ""), 1);
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent_packets, flow.received_packets, lost(&outcome)), (100, 100, 0));
    // Rings of TTL 1 and 3 do not reach the destination. The packets of the first 640 ms wait for the third ring.
    assert!(flow.delay_s.max > 0.64 && flow.delay_s.max < 0.8, "{}", flow.delay_s.max);
    let routing = |node: usize| outcome.nodes[node].routing.expect("AODV counts");
    assert_eq!((routing(0).searches, routing(0).requests_sent, routing(5).replies_sent), (1, 3, 1));
    // TTL 1: the request. TTL 3: the request and two more hops. TTL 5: four more hops, and five replies.
    assert_eq!(outcome.totals.routing_packets, Some(1 + 3 + 5 + 5));
    assert_eq!(routing(0).bytes, 3 * (24 + 28));
    assert_eq!(flow.hops, Some(FlowHops { mean: 5.0, min: 5, max: 5, packets: None }));
    let fixed = run(&chain(6, "40 kb/s", "").replace("protocol = \"aodv\"", "protocol = \"static\""), 1);
    assert_eq!(fixed.flows[0].hops, None);
}

#[test]
fn the_age_of_a_route_counts_from_the_broken_link_that_ended_it() {
    // `b` leaves at 10 s and is out of the others' range at about 10.5 s. `c` takes its place.
    let text = "duration = \"20 s\"\n[radio]\nrange = \"30 m\"\nerrors.model = \"none\"\n\
        [routing]\nprotocol = \"aodv\"\n[record]\nseries = \"1 s\"\nhops = true\n\
        [[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\n\
        [[node]]\nname = \"b\"\nposition = [\"25 m\", \"0 m\"]\n\
        waypoints = [{ time = \"10 s\", position = [\"25 m\", \"500 m\"], speed = \"40 m/s\" }]\n\
        [[node]]\nname = \"d\"\nposition = [\"50 m\", \"0 m\"]\n\
        [[node]]\nname = \"c\"\nposition = [\"25 m\", \"-40 m\"]\n\
        waypoints = [{ time = \"9 s\", position = [\"25 m\", \"-2 m\"], speed = \"38 m/s\" }]\n\
        [[flow]]\nname = \"call\"\nfrom = \"a\"\nto = \"d\"\n\
        traffic = { kind = \"cbr\", rate = \"64 kb/s\", packet = \"160 B\" }\n";
    let outcome = run(text, 1);
    let series = outcome.series.as_ref().expect("it is recorded");
    let call = &series.flows[0];
    // Until then the route is as old as the run.
    assert_eq!(call.route_age_s[..10], (1..=10).map(f64::from).collect::<Vec<_>>());
    assert!(call.route_age_s[10] < 0.6, "{:?}", call.route_age_s);
    let last = call.route_age_s[19];
    assert!((9.4..9.59).contains(&last), "{last}");
    assert!(call.lost_packets[..10].iter().all(|&lost| lost == 0), "{:?}", call.lost_packets);
    assert_eq!(call.lost_packets.iter().sum::<u64>(), lost(&outcome));
    assert!(call.lost_packets[10] >= 1);
    let flow = &outcome.flows[0];
    let packets = Some(vec![0, flow.received_packets]);
    assert_eq!(flow.hops, Some(FlowHops { mean: 2.0, min: 2, max: 2, packets }));
}

/// A saturated flow has two packets at a time. Both may be gone when a partition ends, because they have waited too long.
#[test]
fn a_saturated_flow_outlasts_packets_that_waited_too_long_for_a_route() {
    let comes = "position = [\"100 m\", \"0 m\"]\n\
        waypoints = [{ time = \"40 s\", position = [\"10 m\", \"0 m\"], speed = \"30 m/s\" }]";
    for protocol in ["dsr", "aodv"] {
        let text = format!(
            "duration = \"50 s\"\n[radio]\nrange = \"30 m\"\n[routing]\nprotocol = \"{protocol}\"\n\
             [[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"b\"\n{comes}\n\
             [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
             traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
        );
        let received = run(&text, 1).flows[0].received_packets;
        assert!(received > 1_000, "{received} over {protocol}");
    }
}

#[test]
fn drawn_ends_are_as_many_hops_apart_as_wanted_and_every_seed_draws_others() {
    let text = |from: &str, hops: &str| {
        format!(
            "duration = \"1 s\"\n[radio]\nrange = \"30 m\"\n\
             [nodes]\ncount = 8\nplacement = \"chain\"\nspacing = \"30 m\"\n\
             [[flow]]\nname = \"f\"\nfrom = \"{from}\"\nto = \"any\"\n{hops}\ncount = 60\n\
             traffic = {{ kind = \"cbr\", rate = \"8 kb/s\", packet = \"100 B\" }}\n"
        )
    };
    let ends = |outcome: &Outcome| -> Vec<(i32, i32)> {
        let number = |name: &str| name[1..].parse().expect("n and a number");
        outcome.flows.iter().map(|flow| (number(&flow.from), number(&flow.to))).collect()
    };
    let wanted = text("any", "hops = { from = 2, to = 3 }");
    let drawn = ends(&run(&wanted, 1));
    assert!(drawn.iter().all(|(from, to)| (2..=3).contains(&(from - to).abs())), "{drawn:?}");
    // Eight nodes in a chain have 2 * (6 + 5) such pairs; 60 draws find most of them.
    assert!(drawn.iter().collect::<std::collections::BTreeSet<_>>().len() > 16, "{drawn:?}");
    assert_eq!(drawn, ends(&run(&wanted, 1)));
    assert_ne!(drawn, ends(&run(&wanted, 2)));
    let farthest = ends(&run(&text("n0", "hops = { from = 7, to = 9 }"), 1));
    assert_eq!(farthest, [(0, 7); 60]);
    let all = ends(&run(&text("n3", ""), 1));
    assert!((0..8).all(|to| all.contains(&(3, to)) == (to != 3)), "{all:?}");
}

#[test]
fn ends_that_cannot_be_drawn_are_refused() {
    let nodes = "[radio]\nrange = \"30 m\"\n[nodes]\ncount = 4\nplacement = \"chain\"\nspacing = \"30 m\"\n";
    let refused = |ends: &str| {
        let traffic = "traffic = { kind = \"cbr\", rate = \"8 kb/s\", packet = \"100 B\" }";
        let text = format!("duration = \"1 s\"\n{nodes}[[flow]]\nname = \"f\"\n{ends}\n{traffic}\n");
        World::new(&network(&text), 1).err().and_then(|error| error.path().map(str::to_owned))
    };
    let any = "from = \"any\"\nto = \"any\"\n";
    assert_eq!(refused(any), None);
    for (ends, key) in [
        (format!("{any}hops = {{ from = 4, to = 5 }}"), "flow.f.hops"),
        (format!("{any}hops = {{ from = 3, to = 2 }}"), "flow.f.hops"),
        (format!("{any}hops = {{ from = 0, to = 2 }}"), "flow.f.hops"),
        ("from = \"n0\"\nto = \"n1\"\nhops = { from = 1, to = 2 }".to_owned(), "flow.f.hops"),
        ("from = \"any\"\nto = \"broadcast\"".to_owned(), "flow.f.to"),
        ("from = \"any\"\nto = \"*\"".to_owned(), "flow.f.to"),
    ] {
        assert_eq!(refused(&ends).as_deref(), Some(key), "{ends}");
    }
}

#[test]
fn where_there_is_no_way_everything_is_lost_and_nothing_stops() {
    let text = chain(2, "80 kb/s", "").replace("spacing = \"30 m\"", "spacing = \"300 m\"");
    let outcome = run(&text, 1);
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent_packets, flow.received_packets), (200, 0));
    assert_eq!(lost(&outcome) + flow.in_flight_packets, 200);
    let routing = outcome.nodes[0].routing.expect("AODV counts");
    assert!(routing.searches_failed >= 1 && routing.searches > routing.searches_failed);
}

#[test]
fn a_saturated_source_starts_when_its_route_is_found_and_again_after_a_search_in_vain() {
    let saturated = |text: String| text.replace("kind = \"cbr\", rate = \"1 Mb/s\"", "kind = \"saturated\"");
    let found = run(&saturated(chain(3, "1 Mb/s", "")), 1);
    assert!(found.flows[0].goodput_bps > 1e6, "{}", found.flows[0].goodput_bps);
    let text = saturated(chain(2, "1 Mb/s", "")).replace("spacing = \"30 m\"", "spacing = \"300 m\"");
    let alone = run(&text, 1);
    // There are two packets at first, then one per search: the source does not send packets without end into a void.
    let routing = alone.nodes[0].routing.expect("AODV counts");
    assert!(routing.searches_failed > 0);
    assert_eq!(alone.flows[0].sent_packets, 2 + routing.searches_failed);
}

#[test]
fn routing_packets_in_front_shorten_a_search_behind_a_full_queue() {
    // n0's own broadcasts fill its queue before a route is sought.
    let fill = "[[flow]]\nname = \"fill\"\nfrom = \"n0\"\nto = \"broadcast\"\n\
        traffic = { kind = \"cbr\", rate = \"2 Mb/s\", packet = \"1000 B\" }\n";
    let late = |extra: &str| {
        let text = chain(3, "40 kb/s", extra).replace("from = \"n0\"\nto", "start = \"5 s\"\nfrom = \"n0\"\nto");
        run(&(text + fill), 1)
    };
    let behind = late("");
    let first = late("[routing.aodv]\nrouting_priority = \"head-of-queue\"");
    let searches = |outcome: &Outcome| outcome.nodes[0].routing.expect("AODV counts").requests_sent;
    assert!(searches(&first) < searches(&behind), "{} {}", searches(&first), searches(&behind));
}

#[test]
fn routes_follow_nodes_that_move() {
    let mut text = "duration = \"60 s\"\n[radio]\nrange = \"200 m\"\n[nodes]\ncount = 20\n\
        [mobility]\nmodel = \"random-waypoint\"\narea = [\"600 m\", \"300 m\"]\n\
        speed = { from = \"5 m/s\", to = \"20 m/s\" }\n"
        .to_owned();
    for flow in 0..5 {
        let line = format!(
            "[[flow]]\nname = \"f{flow}\"\nfrom = \"n{flow}\"\nto = \"n{}\"\n\
             traffic = {{ kind = \"poisson\", rate = \"16 kb/s\", packet = \"500 B\" }}\n",
            flow + 10
        );
        text += &line;
    }
    let aodv = run(&(text.clone() + "[routing]\nprotocol = \"aodv\"\n"), 1);
    let fixed = run(&text, 1);
    // At 5 to 20 m/s a link of 200 m lasts some tens of seconds, so routes fixed at the start soon lead nowhere.
    assert!(fixed.totals.loss_ratio > 0.2, "{}", fixed.totals.loss_ratio);
    assert!(aodv.totals.loss_ratio < 0.1, "{}", aodv.totals.loss_ratio);
    let failures: u64 = aodv.nodes.iter().map(|node| node.routing.expect("AODV counts").link_failures).sum();
    assert!(failures > 5, "{failures}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (extra, path) in [
        ("[routing.aodv]\nnet_diameter = 0", "routing.aodv.net_diameter"),
        ("[routing.aodv]\nrreq_ratelimit = 0", "routing.aodv.rreq_ratelimit"),
        ("route = [{ from = \"n0\", to = \"n2\", via = [\"n1\"] }]", "routing.route"),
    ] {
        assert_eq!(refusal(&chain(3, "40 kb/s", extra)).0, path);
    }
}

#[test]
fn a_tcp_connection_over_five_hops_gets_its_route_back_whenever_it_is_lost() {
    // The flow's own frames collide in the chain, so that links count as broken a few times in a minute. With
    // `purge_on_failure = false` a window of packets then comes to nodes without a route.
    let text = chain(6, "1 Mb/s", "[routing.aodv]\npurge_on_failure = false")
        .replace("traffic = { kind = \"cbr\", rate = \"1 Mb/s\", packet = \"1000 B\" }", "transport = \"tcp\"")
        .replace("20 s", "60 s");
    let goodputs: Vec<f64> = (1..=8)
        .map(|seed| run(&format!("{text}traffic = {{ kind = \"greedy\" }}\n"), seed).flows[0].goodput_bps)
        .collect();
    let best = goodputs.iter().copied().fold(0.0, f64::max);
    assert!(goodputs.iter().all(|&goodput| goodput > best / 2.0), "{goodputs:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// In debug builds the outcome checks its counts, and these are debug builds.
    #[test]
    fn accounts_balance_under_every_option(
        places in prop::collection::vec((0_u8..120, 0_u8..120), 3..9),
        ends in prop::collection::vec((0_usize..9, 0_usize..9, 20_u16..2000, any::<bool>()), 1..6),
        options in any::<[bool; 8]>(),
    ) {
        let [hello, repair, gratuitous, ack, keep, first, short, rts] = options;
        let mut text = format!(
            "duration = \"5 s\"\nwarmup = \"200 ms\"\n[radio]\nrange = \"50 m\"\n\
             [mac]\nrts_threshold = \"{}\"\n[queue]\nlimit = 10\ndiscipline = \"drop-head\"\n\
             [routing]\nprotocol = \"aodv\"\n[routing.aodv]\nhello = {hello}\nlocal_repair = {repair}\n\
             gratuitous_rrep = {gratuitous}\nrrep_ack = {ack}\npurge_on_failure = {}\nrouting_priority = \"{}\"\n\
             active_route_timeout = \"{}\"\n",
            if rts { "100 B" } else { "off" },
            !keep,
            if first { "head-of-queue" } else { "none" },
            if short { "100 ms" } else { "3 s" },
        );
        for (index, (x, y)) in places.iter().enumerate() {
            let node = format!("[[node]]\nname = \"n{index}\"\nposition = [\"{x} m\", \"{y} m\"]\n");
            text += &node;
        }
        for (index, (from, to, rate, saturated)) in ends.iter().enumerate() {
            let (from, to) = (from % places.len(), to % places.len());
            let to = if from == to { "broadcast".to_owned() } else { format!("n{to}") };
            let rate = if *saturated { String::new() } else { format!("rate = \"{rate} kb/s\", ") };
            let kind = if *saturated { "saturated" } else { "poisson" };
            let flow = format!(
                "[[flow]]\nname = \"f{index}\"\nfrom = \"n{from}\"\nto = \"{to}\"\n\
                 traffic = {{ kind = \"{kind}\", {rate}packet = \"500 B\" }}\n"
            );
            text += &flow;
        }
        let once = run(&text, 3);
        prop_assert_eq!(&once, &run(&text, 3));
        for flow in once.flows.iter().filter(|flow| flow.to != "broadcast") {
            prop_assert!(flow.received_packets <= flow.sent_packets + 10);
        }
    }
}
