//! Networks at the limits of what can be described, and descriptions beyond these limits.

use crate::networks::{network, refusal, refuses, run};
use sim::World;
use sim::results::Flow;

const PAIR: &str = "[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"10 m\"\n";

/// A flow from `n0` to `n1` with this traffic.
fn flow(name: &str, traffic: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = {{ {traffic} }}\n")
}

#[test]
fn saturated_flows_share_a_queue_that_has_no_room_for_all_of_them() {
    for discipline in ["drop-head", "drop-tail"] {
        for limit in ["1", "2", "4", "\"1036 B\""] {
            let mut text =
                format!("duration = \"5 s\"\n{PAIR}[queue]\nlimit = {limit}\ndiscipline = \"{discipline}\"\n");
            (0..3).for_each(|n| text += &flow(&format!("f{n}"), "kind = \"saturated\", packet = \"1000 B\""));
            let outcome = run(&text, 1);
            for flow in &outcome.flows {
                let share = flow.received_packets as f64 / (outcome.totals.goodput_bps * 5.0 / 8000.0);
                assert!(share > 0.2, "{discipline} {limit}: {} has {share}", flow.name);
                assert!(flow.sent_packets - flow.received_packets <= 5, "a saturated source waits for room");
            }
        }
    }
}

#[test]
fn a_saturated_flow_outlives_the_packets_that_a_relay_throws_out() {
    // n1 forwards what n0 sends, through a queue of two that drops at the head, and has a saturated flow of its own.
    let text = "duration = \"20 s\"\n[radio]\nrange = \"30 m\"\n\
        [nodes]\ncount = 3\nplacement = \"chain\"\nspacing = \"30 m\"\n\
        [queue]\nlimit = 2\ndiscipline = \"drop-head\"\n\
        [[flow]]\nname = \"through\"\nfrom = \"n0\"\nto = \"n2\"\n\
        traffic = { kind = \"saturated\", packet = \"1000 B\" }\n\
        [[flow]]\nname = \"own\"\nfrom = \"n1\"\nto = \"n2\"\n\
        traffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
    let outcome = run(text, 1);
    let own = &outcome.flows[1];
    // It does not end: 20 s at 1.5 ms per packet and half of the turns give some 3000 packets.
    assert!(own.received_packets > 1_000, "{}", own.received_packets);
}

#[test]
fn numbers_that_come_round_make_no_duplicates() {
    // Every second 4095 packets go to n1 and one to n2, so all those to n2 have the same 12-bit number.
    let text = "duration = \"6 s\"\n[radio]\nstandard = \"802.11a\"\n\
        [nodes]\ncount = 3\nplacement = \"circle\"\nspacing = \"5 m\"\n\
        [[flow]]\nname = \"many\"\nfrom = \"n0\"\nto = \"n1\"\nstop = \"5 s\"\n\
        traffic = { kind = \"cbr\", rate = \"3276 kb/s\", packet = \"100 B\" }\n\
        [[flow]]\nname = \"few\"\nfrom = \"n0\"\nto = \"n2\"\nstop = \"5 s\"\n\
        traffic = { kind = \"cbr\", rate = \"800 b/s\", packet = \"100 B\" }\n";
    let outcome = run(text, 1);
    let [many, few] = [0, 1].map(|flow| &outcome.flows[flow]);
    assert_eq!((many.sent_packets, many.received_packets), (5 * 4_095, 5 * 4_095));
    assert_eq!((few.sent_packets, few.received_packets), (5, 5));
}

#[test]
fn series_show_the_warm_up_too() {
    let traffic = flow("f", "kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\"");
    let text = format!("duration = \"4 s\"\nwarmup = \"2 s\"\n[record]\nseries = \"1 s\"\n{PAIR}{traffic}");
    let outcome = run(&text, 1);
    let series = &outcome.series.expect("it was asked for").flows[0];
    assert_eq!(series.goodput_bps.len(), 4);
    assert!(series.goodput_bps.iter().all(|&bps| (bps - 80_000.0).abs() < 1.0), "{:?}", series.goodput_bps);
    assert!(series.delay_max_s.iter().all(Option::is_some));
    assert_eq!(outcome.flows[0].received_packets, 20);
}

#[test]
fn a_broadcast_heard_by_many_hides_no_other_flows_losses() {
    // Sixteen hear each of 10 packets; of 100 others every one is lost in a queue that is full of the first.
    let text = "duration = \"1 s\"\n[nodes]\ncount = 17\nplacement = \"circle\"\nspacing = \"5 m\"\n\
        [queue]\nlimit = 1\n\
        [[flow]]\nname = \"hello\"\nfrom = \"n0\"\nto = \"broadcast\"\n\
        traffic = { kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\" }\n\
        [[flow]]\nname = \"too much\"\nfrom = \"n1\"\nto = \"n2\"\n\
        traffic = { kind = \"cbr\", rate = \"80 Mb/s\", packet = \"1000 B\" }\n";
    let outcome = run(text, 1);
    // Each packet of the first flow should be received sixteen times.
    let missing = |flow: &Flow, times: f64| {
        (flow.sent_packets - flow.in_flight_packets) as f64 - flow.received_packets as f64 / times
    };
    let lost = missing(&outcome.flows[0], 16.0) + missing(&outcome.flows[1], 1.0);
    let sent: u64 = outcome.flows.iter().map(|flow| flow.sent_packets).sum();
    assert!(outcome.flows[0].received_packets > outcome.flows[0].sent_packets);
    assert!((outcome.totals.loss_ratio - lost / sent as f64).abs() < 1e-12);
}

#[test]
fn a_circle_of_one_and_no_traffic_run() {
    let outcome = run("duration = \"1 s\"\n[nodes]\ncount = 1\nplacement = \"circle\"\nspacing = \"5 m\"\n", 1);
    assert_eq!((outcome.nodes.len(), outcome.events), (1, 0));
    assert!((outcome.totals.jain_index - 1.0).abs() < 1e-12);
}

#[test]
fn packets_on_their_way_at_the_end_are_not_lost() {
    // 802.11b carries one packet of 1000 B in 9 ms with its preamble at 1 Mb/s. One is sent every 4 ms; all others wait.
    let radio = "[radio]\ndata_rate = \"1 Mb/s\"\n[queue]\nlimit = 100000\n";
    let of = |more: &str, to: &str, seed: u64| {
        let traffic = "traffic = { kind = \"cbr\", rate = \"2 Mb/s\", packet = \"1000 B\" }\ndeadline = \"10 s\"\n";
        let flow = format!("[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"{to}\"\n{traffic}");
        run(&format!("duration = \"4 s\"\n{more}{radio}{PAIR}{flow}"), seed)
    };
    for to in ["n1", "broadcast"] {
        let outcome = of("", to, 1);
        let flow = &outcome.flows[0];
        assert!(flow.in_flight_packets > 400, "{to}: {flow:?}");
        assert_eq!(flow.sent_packets, flow.received_packets + flow.in_flight_packets, "{to}");
        for (loss, yielded) in
            [(flow.loss_ratio, flow.data_yield), (outcome.totals.loss_ratio, outcome.totals.data_yield)]
        {
            assert!(loss.abs() < 1e-12 && (yielded - 1.0).abs() < 1e-12, "{to}: {loss} {yielded}");
        }
        // Documents count in this way.
        let documents = of("record.in_flight_lost = true\n", to, 1);
        let expected = 1.0 - flow.received_packets as f64 / flow.sent_packets as f64;
        assert!((documents.flows[0].loss_ratio - expected).abs() < 1e-12, "{to}: {:?}", documents.flows[0]);
        assert!((documents.totals.loss_ratio - expected).abs() < 1e-12, "{to}");
        assert!((documents.totals.data_yield - (1.0 - expected)).abs() < 1e-12, "{to}");
        assert_eq!(documents.flows[0].in_flight_packets, flow.in_flight_packets, "{to}");
    }
}

#[test]
fn of_packets_on_their_way_only_those_that_count_as_sent_do() {
    // The queue of ten thousand packets fills during the warm-up and moves slowly: what is sent afterwards is all lost.
    let text = "duration = \"40 s\"\nwarmup = \"30 s\"\n[radio]\ndata_rate = \"1 Mb/s\"\n[queue]\nlimit = 10000\n";
    let outcome =
        run(&format!("{text}{PAIR}{}", flow("f", "kind = \"cbr\", rate = \"8 Mb/s\", packet = \"1000 B\"")), 1);
    let flow = &outcome.flows[0];
    let lost = outcome.nodes[0].queues[0].dropped_packets;
    assert_eq!(flow.sent_packets, flow.received_packets + flow.in_flight_packets + lost);
    assert!((flow.loss_ratio - lost as f64 / flow.sent_packets as f64).abs() < 1e-12, "{flow:?} {lost}");
    assert!(flow.received_packets == 0 && lost > 5_000 && flow.in_flight_packets < 2_000, "{flow:?}");
}

#[test]
fn a_ping_is_lost_with_its_reply_but_not_while_that_is_on_its_way() {
    // The other node sends more than the medium carries, so replies wait in its queue or find it full.
    let text = |limit: u32| {
        format!(
            "duration = \"4 s\"\n[radio]\ndata_rate = \"1 Mb/s\"\n{PAIR}[[node]]\nname = \"n9\"\nposition = [\"0 m\", \"5 m\"]\n\
             queue.limit = {limit}\n{}[[flow]]\nname = \"much\"\nfrom = \"n9\"\nto = \"n0\"\n\
             traffic = {{ kind = \"cbr\", rate = \"4 Mb/s\", packet = \"1000 B\" }}\n",
            flow("ping", "kind = \"ping\", every = \"20 ms\"").replace("n1", "n9"),
        )
    };
    for (limit, lost) in [(100_000, false), (5, true)] {
        let flow = &run(&text(limit), 1).flows[0];
        let (arrived, answered) = (flow.received_packets, flow.replies.expect("of a ping"));
        assert!(arrived > 150 && answered + 50 < arrived, "{flow:?}");
        if lost {
            let most = (flow.sent_packets - answered) as f64 / flow.sent_packets as f64;
            assert!(flow.loss_ratio <= most && flow.loss_ratio > most - 0.05, "{flow:?}");
        } else {
            assert!(flow.loss_ratio.abs() < 1e-12, "{flow:?}");
        }
    }
}

#[test]
fn a_star_that_stands_for_no_node_is_refused() {
    let text = |from: &str, to: &str, count: u32| {
        format!(
            "duration = \"1 s\"\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
             [[node]]\nname = \"sta\"\ncount = {count}\nposition = [\"5 m\", \"0 m\"]\n\
             [[flow]]\nname = \"f\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             traffic = {{ kind = \"cbr\", rate = \"1 Mb/s\", packet = \"1000 B\" }}\n"
        )
    };
    for (from, to, key) in [
        ("ap", "zzz*", "to"),
        ("ap", "s*a*", "to"),
        ("ap", "sta**", "to"),
        ("zzz*", "ap", "from"),
        ("st**", "next", "from"),
    ] {
        let (path, said) = refusal(&text(from, to, 3));
        assert_eq!(path, format!("flow.f.{key}"), "{from} {to}: {said}");
        assert!(said.starts_with("there is no node"), "{from} {to}: {said}");
    }
    assert_eq!(run(&text("ap", "sta*", 3), 1).flows.len(), 3);
    // A sweep over the number of stations may begin at zero.
    for to in ["sta*", "sta1*", "*"] {
        assert_eq!(run(&text("ap", to, 0), 1).flows.len(), 0, "{to}");
    }
    let wired = text("ap", "sta*", 3)
        .replace("[[flow]]", "[[wired]]\nbetween = [\"ap\", \"srv*\"]\nrate = \"1 Mb/s\"\ndelay = \"1 ms\"\n[[flow]]");
    assert!(refusal(&wired).1.starts_with("there is no node `srv*`"), "{}", refusal(&wired).1);
}

#[test]
fn flows_that_never_send_are_counted_as_such() {
    let late = "[[flow]]\nname = \"late\"\nfrom = \"n0\"\nto = \"n1\"\nstart = \"2 s\"\n\
        traffic = { kind = \"poisson\", rate = \"1 Mb/s\", packet = \"1000 B\" }\n";
    let silent = flow("silent", "kind = \"cbr\", rate = \"0 b/s\", packet = \"1000 B\"");
    let outcome = run(&format!("duration = \"1 s\"\n{PAIR}{late}{silent}"), 1);
    assert!(outcome.flows.iter().all(|flow| flow.sent_packets == 0 && flow.loss_ratio.abs() < 1e-12));
}

#[test]
fn a_run_may_last_as_long_as_time_goes() {
    // Three packets in 584 years.
    let text = format!(
        "duration = \"18446744073 s\"\n{PAIR}{}",
        flow("f", "kind = \"cbr\", rate = \"1 b/s\", packet = \"800 B\"")
    );
    let mut network = network(&text);
    network.flow[0].stop = Some(units::Duration::from_secs(15_000));
    let outcome = World::new(&network, 1).expect("it can be built").finish();
    assert_eq!((outcome.flows[0].sent_packets, outcome.flows[0].received_packets), (3, 3));
}

#[test]
fn packets_that_need_fragments_are_refused() {
    let text = |bytes: u32| {
        let traffic = format!("kind = \"cbr\", rate = \"1 Mb/s\", packet = \"{bytes} B\"");
        format!("duration = \"1 s\"\n{PAIR}{}", flow("f", &traffic))
    };
    // 2304 B of MSDU without 8 B of LLC and SNAP, 20 B of IP and 8 B of UDP.
    assert!(run(&text(2_268), 1).flows[0].received_packets > 0);
    refuses(&text(2_269), "flow.f.traffic.packet", "2268 B");
}

#[test]
fn hops_too_long_for_the_time_out_are_refused() {
    let text = |standard: &str, spacing: u32| {
        format!(
            "duration = \"1 s\"\n[radio]\nstandard = \"{standard}\"\nrange = \"100 km\"\n\
             [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"{spacing} m\"\n{}",
            flow("f", "kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\"")
        )
    };
    // A slot of 20 us lasts for 2998 m there and back, one of 9 us for 1349 m.
    for (standard, metres) in [("802.11b", 2_997), ("802.11a", 1_349), ("802.11g", 1_349)] {
        let outcome = run(&text(standard, metres), 1);
        assert_eq!(outcome.nodes[0].mac.collisions, 0, "{standard}: every ACK comes in time");
        assert!(outcome.flows[0].received_packets >= 9);
        refuses(&text(standard, metres + 3), "flow.f.to", "too far apart");
    }
    // The nodes are so far apart that packets would be given up before they arrive.
    refusal(&text("802.11a", 20_000));
}

#[test]
fn a_route_that_comes_by_a_node_twice_is_refused() {
    let text = "duration = \"1 s\"\n[radio]\nrange = \"30 m\"\n\
        [nodes]\ncount = 4\nplacement = \"chain\"\nspacing = \"15 m\"\n\
        [[routing.route]]\nfrom = \"n0\"\nto = \"n3\"\nvia = [\"n1\", \"n2\", \"n1\"]\n\
        [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n3\"\n\
        traffic = { kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\" }\n";
    refuses(text, "routing.route", "`n1` twice");
}

#[test]
fn paths_that_contradict_each_other_or_go_nowhere_are_refused() {
    let routes = |routes: &str| {
        format!(
            "duration = \"1 s\"\nrouting.route = {routes}\n[radio]\nrange = \"30 m\"\n\
             [nodes]\ncount = 3\nplacement = \"chain\"\nspacing = \"15 m\"\n\
             [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n2\"\n\
             traffic = {{ kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\" }}\n"
        )
    };
    let one = "{ from = \"n0\", to = \"n2\", via = [\"n1\"] }";
    refuses(&routes(&format!("[{one}, {{ from = \"n0\", to = \"n2\" }}]")), "routing.route.1.from", "");
    refuses(&routes(&format!("[{one}, {{ from = \"n1\", to = \"n1\" }}]")), "routing.route.1.to", "");
}

#[test]
fn a_ping_without_payload_is_answered_and_a_flow_without_payload_is_refused() {
    let text = |traffic: &str| format!("duration = \"1 s\"\n{PAIR}{}", flow("f", traffic));
    let outcome = run(&text("kind = \"ping\", packet = \"0 B\", every = \"100 ms\""), 1);
    assert_eq!((outcome.flows[0].sent_packets, outcome.flows[0].received_packets), (10, 10));
    for kind in ["saturated", "cbr", "poisson"] {
        let rate = if kind == "saturated" { "" } else { ", rate = \"1 Mb/s\"" };
        let empty = text(&format!("kind = \"{kind}\", packet = \"0 B\"{rate}"));
        refuses(&empty, "flow.f.traffic.packet", "at least 1 B of payload");
    }
}

#[test]
fn what_would_never_end_is_refused() {
    let text =
        format!("duration = \"1 s\"\n{PAIR}{}", flow("f", "kind = \"cbr\", rate = \"1 Mb/s\", packet = \"1000 B\""));
    let mut without_payload = network(&text);
    without_payload.flow[0].traffic.packet = Some(sim::config::Lengths::One(units::Bytes::new(0)));
    assert_eq!(World::new(&without_payload, 1).err().expect("refused").path(), Some("flow.f.traffic.packet"));
    let mut without_step = network(&text);
    without_step.record.series = Some(units::Duration::ZERO);
    assert_eq!(World::new(&without_step, 1).err().expect("refused").path(), Some("record.series"));
    let nobody = "duration = \"1 s\"\n[nodes]\ncount = 0\nplacement = \"chain\"\nspacing = \"1 m\"\n";
    assert!(refusal(nobody).1.contains("no node"));
}

#[test]
fn random_places_need_an_area_and_nothing_else() {
    let nodes = |keys: &str| format!("duration = \"1 s\"\n[nodes]\ncount = 2\n{keys}\n");
    let area = "area = [\"30 m\", \"20 m\"]";
    for (keys, key) in [
        ("placement = \"random\"".to_owned(), "nodes.placement"),
        (format!("placement = \"random\"\nspacing = \"5 m\"\n{area}"), "nodes.spacing"),
        (format!("placement = \"chain\"\nspacing = \"5 m\"\n{area}"), "nodes.area"),
        ("placement = \"random\"\narea = [\"30 m\", \"0 m\"]".to_owned(), "nodes.area"),
        (area.to_owned(), "nodes.area"),
        (format!("placement = \"random\"\n{area}\n[[node]]\nname = \"any\""), "node.any"),
    ] {
        assert_eq!(refusal(&nodes(&keys)).0, key, "{keys}");
    }
    assert!(World::new(&network(&nodes(&format!("placement = \"random\"\n{area}"))), 1).is_ok());
}

/// Nodes move under ns-2's rules: an RTS is not answered if the medium is busy SIFS later.
const UNANSWERED: &str = r#"
duration = "41 s"
[radio]
standard = "802.11b"
data_rate = "1 Mb/s"
basic_rate = "1 Mb/s"
frequency = "914 MHz"
range = "250 m"
carrier_sense_range = "550 m"
errors.model = "none"
capture = "any-signal"
[mac]
rts_threshold = "0 B"
eifs = "any-signal-kept"
timeout_deferral = "difs"
first_access = "back-off"
answer_rts = "unless-busy"
[nodes]
count = 20
[mobility]
model = "random-waypoint"
area = ["800 m", "1600 m"]
speed = { from = "5 m/s", to = "5 m/s" }
pause = "0 s"
start = "uniform"
[routing]
protocol = "aodv"
[routing.aodv]
message_failures = false
errors_to = "all"
routing_priority = "head-of-queue"
local_repair = true
repair_within = "nearer-half"
repair_by = "whole-search"
reply_wait = "measured"
search_hold = "10 s"
blacklist_timeout = "0 s"
rreq_ratelimit = 255
rerr_ratelimit = 255
active_route_timeout = "10 s"
my_route_timeout = "10 s"
node_traversal_time = "30 ms"
timeout_buffer = 0
net_diameter = 30
path_discovery_time = "6 s"
ttl_start = 5
rreq_retries = 4
[queue]
limit = 50
[tcp]
congestion = "reno"
recovery = "newreno"
segment = "512 B"
advertised_window = "4 MB"
delayed_ack = "0 s"
initial_window = 2
timestamps = false
limited_transmit = true
rto_min = "200 ms"
[[flow]]
name = "tcp"
from = "any"
to = "any"
count = 24
phase_jitter = "60 s"
transport = "tcp"
traffic = { kind = "greedy" }
"#;

/// After 40.7 s a station owes a CTS that its NAV forbids, while its own back-off continues.
#[test]
fn a_station_that_may_not_answer_sends_at_its_own_moment() {
    // If it does not answer, its deadline would pass unseen and time would run backwards, which the event queue refuses.
    let outcome = run(UNANSWERED, 1);
    assert!(outcome.totals.goodput_bps > 10e3, "{}", outcome.totals.goodput_bps);
}
