//! Access points, their stations, and wired links.

use crate::networks::{cut, network, refusal, refuses, run};
use proptest::prelude::*;
use sim::World;
use sim::results::{Outcome, QueueResult};
use theory::queueing::Mg1;
use units::{Duration, Rate};

/// A server at 100 Mb/s and 10 ms from an access point, and stations 30 m from the access point.
fn access_point(stations: u32, keys: &str, more: &str) -> String {
    let mut text = format!(
        "duration = \"10 s\"\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n{keys}\n\
         [[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"10 ms\"\n"
    );
    for station in 1..=stations {
        let x = if station % 2 == 0 { -30 } else { 30 };
        let node = format!("[[node]]\nname = \"s{station}\"\nposition = [\"{x} m\", \"0 m\"]\n");
        text += &node;
    }
    text + more
}

fn flow(name: &str, from: &str, to: &str, traffic: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntraffic = {{ {traffic} }}\n")
}

fn queue<'o>(outcome: &'o Outcome, node: &str, queue: &str) -> &'o QueueResult {
    let node = outcome.nodes.iter().find(|found| found.name == node).expect("such a node");
    node.queues.iter().find(|found| found.name == queue).expect("such a queue")
}

/// 1000 B of payload are 1028 B with UDP and IP: 82.24 us at 100 Mb/s. On the air they are 1064 B at 11 Mb/s after the long
/// preamble, and 30 m at the speed of light, in whole nanoseconds.
const WIRE_US: f64 = 82.24 + 10_000.0;
const AIR_US: f64 = 966.0 + 0.1;
/// Time between two frames without back-off: SIFS, an ACK at 1 Mb/s, and DIFS.
const TURN_US: f64 = 10.0 + 304.0 + 50.0;

/// The flow starts when the medium has been idle for long.
const LATER: &str = "start = \"1 s\"\n";

#[test]
fn the_delay_of_a_single_packet_is_the_sum_of_its_hops() {
    let once = "kind = \"cbr\", rate = \"8 b/s\", packet = \"1000 B\"";
    for (from, to, expected_us) in [
        ("server", "s1", WIRE_US + AIR_US),
        ("s1", "server", AIR_US + WIRE_US),
        ("server", "ap", WIRE_US),
        ("ap", "s2", AIR_US),
        ("s1", "s2", 2.0 * AIR_US + TURN_US),
    ] {
        let text = access_point(2, "", "[mac]\ncw_min = 0\n") + &flow("f", from, to, once) + LATER;
        let outcome = run(&text, 1);
        let flow = &outcome.flows[0];
        assert_eq!((flow.sent_packets, flow.received_packets), (1, 1), "{from} to {to}");
        let found = flow.delay_s.max * 1e6;
        assert!((found - expected_us).abs() < 1e-3, "{from} to {to}: {found} us, {expected_us} expected");
    }
}

/// Two wired nodes alone.
fn wire(rate: &str, more: &str) -> String {
    format!(
        "duration = \"2000 s\"\n[[node]]\nname = \"a\"\nrole = \"wired\"\n[[node]]\nname = \"b\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"a\", \"b\"]\nrate = \"{rate}\"\ndelay = \"7 ms\"\nqueue = {{ limit = 100000 }}\n{more}"
    )
}

#[test]
fn poisson_packets_wait_for_a_wire_as_in_md1() {
    // This is 1028 B at 10 Mb/s.
    let service = 822.4e-6;
    for load in [0.3, 0.6, 0.9] {
        let rate = Rate::bps(8_000_000).scaled(load / service / 1000.0);
        let traffic = format!("kind = \"poisson\", rate = \"{rate}\", packet = \"1000 B\"");
        let outcome = run(&wire("10 Mb/s", &flow("f", "a", "b", &traffic)), 1);
        let queue = queue(&outcome, "a", "wired-to-b");
        let expected = Mg1::new(rate.as_bps() as f64 / 8000.0, service, 0.0).expect("a stable queue");
        let error = queue.sojourn_s.mean / expected.mean_wait_s() - 1.0;
        println!("load {load}: {} against {} ({error:+.4})", queue.sojourn_s.mean, expected.mean_wait_s());
        // The tolerance is that for the same queue above a radio (tests/queueing.rs).
        assert!(error.abs() < 0.02, "load {load}: {error}");
        // The delay is 7 ms on the wire, a transmission, and the wait.
        assert!((outcome.flows[0].delay_s.mean - queue.sojourn_s.mean - service - 7e-3).abs() < 1e-6);
        // There are some 10^6 Poisson packets or more, so the standard deviation is at most 0.1 %.
        assert!((queue.utilisation_ratio.expect("of a wired link") - load).abs() < 0.004);
    }
}

#[test]
fn a_wire_carries_its_rate_both_ways_at_once() {
    let full = "kind = \"saturated\", packet = \"1000 B\"";
    let text = wire("1 Mb/s", &(flow("there", "a", "b", full) + &flow("back", "b", "a", full)));
    let outcome = run(&text.replace("2000 s", "100 s\"\nwarmup = \"1 s"), 1);
    for flow in &outcome.flows {
        // The tolerance is a packet in 99 s.
        assert!((flow.goodput_bps - 1e6 * 1000.0 / 1028.0).abs() < 8000.0 / 99.0 + 1.0, "{}", flow.goodput_bps);
    }
    for (node, name) in [("a", "wired-to-b"), ("b", "wired-to-a")] {
        assert!((queue(&outcome, node, name).utilisation_ratio.expect("of a wired link") - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_controller_moves_the_limit_of_a_wired_queue() {
    let text = wire("1 Mb/s", &flow("f", "a", "b", "kind = \"cbr\", rate = \"2 Mb/s\", packet = \"1000 B\""))
        .replace(
            "{ limit = 100000 }",
            "{ discipline = \"drop-head\", controller = \"adth\", adth = { target_delay = \"100 ms\" } }",
        )
        .replace("2000 s", "100 s");
    let outcome = run(&text, 1);
    let queue = queue(&outcome, "a", "wired-to-b");
    assert_eq!(queue.controller, "adth");
    // 100 ms are 12 packets of 8.224 ms each.
    let limit = queue.limit_packets.expect("a limit in packets");
    assert!((5.0..=15.0).contains(&limit.mean), "{limit:?}");
    assert!(outcome.flows[0].delay_s.p99 < 0.12, "{:?}", outcome.flows[0].delay_s);
}

#[test]
fn stations_send_to_each_other_by_way_of_the_access_point() {
    // They are in range of each other, but may not send to each other.
    let text =
        access_point(3, "", "") + &flow("f", "s1", "s3", "kind = \"cbr\", rate = \"100 kb/s\", packet = \"500 B\"");
    let outcome = run(&text, 1);
    let ap = &outcome.nodes[0];
    assert_eq!(ap.name, "ap");
    assert_eq!(ap.mac.delivered, outcome.flows[0].received_packets);
}

#[test]
fn stars_stand_for_stations() {
    let light = "kind = \"poisson\", rate = \"50 kb/s\", packet = \"500 B\"";
    let text = access_point(3, "", "") + &flow("up", "*", "server", light) + &flow("down", "server", "*", light);
    let names: Vec<String> = run(&text, 1).flows.into_iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["up-s1", "up-s2", "up-s3", "down-s1", "down-s2", "down-s3"]);
}

#[test]
fn a_table_can_describe_many_nodes_and_a_beginning_of_a_name_stands_for_them() {
    let light = "kind = \"poisson\", rate = \"50 kb/s\", packet = \"500 B\"";
    let group = |count: u32| format!("[[node]]\nname = \"up\"\ncount = {count}\nposition = [\"10 m\", \"0 m\"]\n");
    let flows = flow("send", "up*", "server", light) + &flow("down", "server", "s*", light);
    let names = |count: u32| -> Vec<String> {
        let outcome = run(&(access_point(1, "", "") + &group(count) + &flows), 1);
        assert!(outcome.flows.iter().all(|flow| flow.received_packets > 50), "{outcome:?}");
        outcome.flows.into_iter().map(|flow| flow.name).collect()
    };
    assert_eq!(names(2), ["send-up1", "send-up2", "down-s1"]);
    assert_eq!(names(0), ["down-s1"]);
}

#[test]
fn in_a_ring_each_node_sends_to_the_next_and_the_last_to_the_first() {
    let ring = |count: u32| {
        format!("duration = \"5 s\"\n[[node]]\nname = \"up\"\ncount = {count}\nposition = [\"0 m\", \"0 m\"]\n")
            + "[[node]]\nname = \"other\"\nposition = [\"10 m\", \"0 m\"]\n"
            + &flow("to", "up*", "next", "kind = \"poisson\", rate = \"50 kb/s\", packet = \"500 B\"")
    };
    let ends = |count: u32| -> Vec<[String; 3]> {
        run(&ring(count), 1).flows.into_iter().map(|flow| [flow.name, flow.from, flow.to]).collect()
    };
    assert_eq!(ends(2), [["to-up1", "up1", "up2"], ["to-up2", "up2", "up1"]]);
    assert_eq!(ends(3), [["to-up1", "up1", "up2"], ["to-up2", "up2", "up3"], ["to-up3", "up3", "up1"]]);
    assert!(ends(0).is_empty());
    for (text, words) in [
        (ring(1), "`up1` has no next"),
        (ring(3).replace("up*", "other"), "stands for several nodes"),
        (ring(3).replace("\"next\"", "\"next\"\ncount = 2"), "without `count`"),
    ] {
        let (path, message) = refusal(&text);
        assert_eq!(path, "flow.to.to", "{message}");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn series_tell_in_which_steps_packets_were_dropped() {
    let much = "kind = \"cbr\", rate = \"20 Mb/s\", packet = \"1000 B\"";
    let much = flow("much", "server", "s1", much) + "start = \"4 s\"\n";
    let text = access_point(1, "queue = { limit = 50 }", &much) + "[record]\nseries = \"1 s\"\n";
    for warmup in ["0 s", "2500 ms"] {
        let outcome = run(&format!("warmup = \"{warmup}\"\n{text}"), 1);
        let series = outcome.series.as_ref().expect("series were asked for");
        let ap = series
            .nodes
            .iter()
            .find(|node| node.name.starts_with("ap") && !node.name.contains("wired"))
            .expect("the radio's queue");
        assert!(ap.dropped_packets[..4].iter().all(|dropped| *dropped == 0), "{:?}", ap.dropped_packets);
        assert!(ap.dropped_packets[4..].iter().all(|dropped| *dropped > 0), "{:?}", ap.dropped_packets);
        assert_eq!(ap.dropped_packets.iter().sum::<u64>(), queue(&outcome, "ap", "be").dropped_packets);
    }
}

#[test]
fn a_queue_for_each_station_keeps_an_overloaded_one_from_holding_up_the_others() {
    let more = flow("too much", "server", "s1", "kind = \"cbr\", rate = \"9 Mb/s\", packet = \"1000 B\"")
        + &flow("light", "server", "s2", "kind = \"poisson\", rate = \"400 kb/s\", packet = \"1000 B\"");
    let loss_and_delay = |queues: &str| {
        let outcome = run(&access_point(2, &format!("queues = \"{queues}\"\nqueue = {{ limit = 100 }}"), &more), 1);
        let light = &outcome.flows[1];
        (light.loss_ratio, light.delay_s.mean, outcome)
    };
    let (loss, delay, outcome) = loss_and_delay("one");
    // Of 1175 packets per second some 610 leave a queue of 100. Half of them are lost, and the others wait 160 ms.
    assert!(loss > 0.3 && delay > 0.1, "{loss} and {delay} s");
    assert_eq!(
        outcome.nodes[0].queues.iter().map(|queue| queue.name.as_str()).collect::<Vec<_>>(),
        ["be", "wired-to-server"]
    );
    let (loss, delay, outcome) = loss_and_delay("per-station");
    // If queues are served in turn, a packet waits for at most two others, and for those of its own flow: 3 times 1.64 ms.
    assert!(loss < 0.01 && delay < 0.01 + 0.001 + 0.005, "{loss} and {delay} s");
    assert_eq!(
        outcome.nodes[0].queues.iter().map(|queue| queue.name.as_str()).collect::<Vec<_>>(),
        ["s1", "s2", "wired-to-server"]
    );
    assert!(queue(&outcome, "ap", "s1").dropped_packets > 0 && queue(&outcome, "ap", "s2").dropped_packets == 0);
}

#[test]
fn queues_of_stations_are_served_in_turn() {
    let full = "kind = \"cbr\", rate = \"5 Mb/s\", packet = \"1000 B\"";
    let more = (1..=3).fold(String::new(), |text, n| text + &flow(&format!("f{n}"), "server", &format!("s{n}"), full));
    let outcome = run(&access_point(3, "queues = \"per-station\"", &more), 1);
    let received: Vec<u64> = outcome.flows.iter().map(|flow| flow.received_packets).collect();
    let (min, max) = (received.iter().min().expect("three"), received.iter().max().expect("three"));
    assert!(*min > 1000 && max - min <= 2, "{received:?}");
}

#[test]
fn one_slow_station_slows_all_down() {
    // Heusse et al. (INFOCOM 2003): all get equal numbers of turns, so the same goodput, which the slow one's frames determine.
    let full = "kind = \"saturated\", packet = \"1000 B\"";
    let text = |rate: &str| {
        access_point(2, "", "").replace("name = \"s2\"", &format!("name = \"s2\"\ndata_rate = \"{rate}\""))
            + &flow("fast", "s1", "server", full)
            + &flow("slow", "s2", "server", full)
    };
    let [alike, mixed] = ["11 Mb/s", "1 Mb/s"].map(|rate| run(&text(rate).replace("10 s", "60 s"), 1));
    let goodput = |outcome: &Outcome| [0, 1].map(|flow| outcome.flows[flow].goodput_bps);
    let ([fast, slow], [before, _]) = (goodput(&mixed), goodput(&alike));
    // At 11 Mb/s an exchange takes 966 + 10 + 304 + 50 us and some 150 us of back-off; at 1 Mb/s it takes 7738 us more. Each
    // sends some 93 packets a second; the random part of the fast one's share is below 2 %.
    assert!((fast / slow - 1.0).abs() < 0.08, "{fast} and {slow}");
    assert!((60e4..90e4).contains(&fast), "{fast}");
    assert!(before > 3.0 * fast, "{before} without the slow one, {fast} with it");
}

#[test]
fn categories_and_stations_have_queues_of_their_own() {
    let voice = "kind = \"voice\"";
    let data = "kind = \"cbr\", rate = \"6 Mb/s\", packet = \"1000 B\"";
    let text = access_point(2, "queues = \"per-station\"\nqueue = { limit = 50 }", "[mac]\naccess = \"edca\"\n")
        + &flow("call", "server", "s1", voice).replace("to =", "category = \"voice\"\nto =")
        + &flow("data", "server", "s1", data)
        + &flow("more", "server", "s2", data);
    let outcome = run(&text, 1);
    let names: Vec<&str> = outcome.nodes[0].queues.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(names, ["s1-vo", "s1-vi", "s1-be", "s1-bk", "s2-vo", "s2-vi", "s2-be", "s2-bk", "wired-to-server"]);
    assert!(queue(&outcome, "ap", "s1-vo").arrived_packets + 1 >= outcome.flows[0].sent_packets);
    assert!(outcome.flows[0].loss_ratio < 0.01 && outcome.flows[1].loss_ratio > 0.2);
}

#[test]
fn what_cannot_be_joined_is_refused() {
    let base = access_point(2, "", "");
    let node = |keys: &str| format!("{base}[[node]]\nname = \"x\"\nposition = [\"1 m\", \"0 m\"]\n{keys}\n");
    let wired = |ends: &str| format!("{base}[[wired]]\nbetween = [{ends}]\nrate = \"1 Mb/s\"\n");
    let light = "kind = \"cbr\", rate = \"8 kb/s\", packet = \"1000 B\"";
    for (text, path, words) in [
        (node("role = \"wired\""), "node.x.role", "no radio and no link"),
        (node("access_point = \"house\""), "node.x.access_point", "no node `house`"),
        (node("access_point = \"s1\""), "node.x.access_point", "`s1` is not an access point"),
        (node("role = \"wired\"\naccess_point = \"ap\""), "node.x.access_point", "only stations"),
        (node("role = \"access-point\""), "node.s1.access_point", "several access points"),
        (node("queues = \"per-station\""), "node.x.queues", "not an access point"),
        (base.replace("role = \"wired\"", "role = \"wired\"\nmcs = 7"), "node.server.mcs", "has no radio"),
        (
            base.replace("role = \"wired\"", "role = \"wired\"\nqueue = { limit = 3 }"),
            "node.server.queue",
            "[wired.queue]",
        ),
        (wired("\"server\", \"nobody\""), "wired.1.between", "no node `nobody`"),
        (wired("\"s1\", \"server\""), "wired.1.between", "`s1` is a station"),
        (wired("\"ap\", \"server\""), "wired.1.between", "already"),
        (wired("\"ap\", \"ap\""), "wired.1.between", "where it starts"),
        (
            base.replace("[\"30 m\", \"0 m\"]", "[\"3000 m\", \"0 m\"]"),
            "node.s1",
            "out of range of its access point `ap`",
        ),
        (access_point(2, "tx_power = \"-60 dBm\"", ""), "node.s1", "of `ap`"),
        (
            format!(
                "duration = \"1 s\"\nnodes = {{ count = 2, placement = \"chain\", spacing = \"20 m\" }}\nnode = [{{ name = \"n1\", tx_power = \"-60 dBm\" }}]\n{}",
                flow("f", "n0", "n1", light)
            ),
            "flow.f.to",
            "out of range of the answers of `n1`",
        ),
        (base.clone() + &flow("f", "server", "broadcast", light), "flow.f.to", "no radio"),
        (base.clone() + &flow("f", "*", "*", light), "flow.f.to", "not both"),
    ] {
        refuses(&text, path, words);
    }
    let mut network = network(&base);
    network.wired[0].queue.limit = toml::from_str::<Limited>("limit = 0").expect("a number").limit;
    let error = World::new(&network, 1).err().expect("refused");
    assert!(error.path() == Some("wired.0.queue.limit") && error.to_string().contains("above zero"), "{error}");
}

#[test]
fn stations_of_different_access_points_talk_over_the_wire() {
    let text = "duration = \"10 s\"\n[mac]\ncw_min = 0\n\
        [[node]]\nname = \"ap1\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
        [[node]]\nname = \"ap2\"\nrole = \"access-point\"\nposition = [\"60 m\", \"0 m\"]\n\
        [[node]]\nname = \"a\"\naccess_point = \"ap1\"\nposition = [\"30 m\", \"0 m\"]\n\
        [[node]]\nname = \"b\"\naccess_point = \"ap2\"\nposition = [\"30 m\", \"0 m\"]\n\
        [[wired]]\nbetween = [\"ap1\", \"ap2\"]\nrate = \"100 Mb/s\"\ndelay = \"10 ms\"\n"
        .to_owned()
        + &flow("f", "a", "b", "kind = \"cbr\", rate = \"8 b/s\", packet = \"1000 B\"")
        + LATER;
    let found = run(&text, 1).flows[0].delay_s.max * 1e6;
    assert!((found - 2.0 * AIR_US - WIRE_US).abs() < 1e-3, "{found} us");
    let wire = "[[wired]]\nbetween = [\"ap1\", \"ap2\"]\nrate = \"100 Mb/s\"\ndelay = \"10 ms\"\n";
    refuses(&text.replace(wire, ""), "flow.f.to", "no route from `a` to `b`");
}

#[test]
fn a_mesh_reaches_a_server_through_its_gateway() {
    let text = "duration = \"10 s\"\n[radio]\nrange = \"30 m\"\n\
        [nodes]\ncount = 3\nplacement = \"chain\"\nspacing = \"30 m\"\n\
        [[node]]\nname = \"server\"\nrole = \"wired\"\n\
        [[wired]]\nbetween = [\"n0\", \"server\"]\nrate = \"10 Mb/s\"\n"
        .to_owned()
        + &flow("f", "n2", "server", "kind = \"cbr\", rate = \"400 kb/s\", packet = \"1000 B\"");
    let outcome = run(&text, 1);
    assert!(outcome.flows[0].loss_ratio < 0.01);
    assert_eq!(queue(&outcome, "n0", "wired-to-server").sent_packets, outcome.flows[0].received_packets);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// In every debug run, the simulator checks at the end that packets and airtime balance.
    #[test]
    fn accounts_balance_and_time_can_be_cut_anywhere(
        (stations, per_station, edca) in (1_u32..5, any::<bool>(), any::<bool>()),
        wire in 1_u32..20,
        flows in prop::collection::vec((0_usize..6, 0_usize..6, 50_u32..4000, any::<bool>()), 1..6),
        micros in 100_u64..100_000,
    ) {
        let names = ["server", "ap", "s1", "s2", "s3", "s4"];
        let queues = if per_station { "per-station" } else { "one" };
        let keys = format!("queues = \"{queues}\"\nqueue = {{ limit = 10 }}");
        let mut text = access_point(stations, &keys, if edca { "[mac]\naccess = \"edca\"\n" } else { "" });
        text = text.replace("10 s", "2 s\"\nwarmup = \"300 ms").replace("100 Mb/s", &format!("{wire} Mb/s"));
        for (index, &(from, to, rate, saturated)) in flows.iter().enumerate() {
            let known = stations as usize + 2;
            let (from, to) = (names[from % known], names[to % known]);
            let traffic = if saturated {
                "kind = \"saturated\", packet = \"700 B\"".to_owned()
            } else {
                format!("kind = \"poisson\", rate = \"{rate} kb/s\", packet = \"700 B\"")
            };
            if from != to {
                text += &flow(&format!("f{index}"), from, to, &traffic);
            }
        }
        let whole = run(&text, 7);
        prop_assert_eq!(Some(whole.clone()), cut(&network(&text), Duration::from_micros(micros)));
        for queue in whole.nodes.iter().flat_map(|node| &node.queues) {
            prop_assert!(queue.utilisation_ratio.is_none_or(|ratio| (0.0..=1.0).contains(&ratio)));
        }
    }
}

#[derive(serde::Deserialize)]
struct Limited {
    limit: control::Limit,
}

#[test]
fn a_wire_damages_the_stated_share_of_packets_by_itself() {
    let traffic = "kind = \"cbr\", rate = \"400 kb/s\", packet = \"1000 B\"";
    let text = wire("1 Mb/s", &(flow("there", "a", "b", traffic) + &flow("back", "b", "a", traffic)));
    let lossy = |loss: &str| run(&text.replace("delay = \"7 ms\"", &format!("delay = \"7 ms\"\nloss = {loss}")), 1);
    let outcome = lossy("0.03");
    for flow in &outcome.flows {
        let damage = flow.lost_packets.expect("a link has losses").damage.expect("by damage");
        assert_eq!(flow.sent_packets, flow.received_packets + damage + flow.in_flight_packets, "{}", flow.name);
        // Of 100000 packets 3000 should be lost, with a standard deviation of 54.
        assert_eq!(flow.sent_packets, 100_000);
        assert!((2_800..=3_200).contains(&damage), "{damage}");
    }
    let of = |outcome: &Outcome, flow: usize| outcome.flows[flow].lost_packets.expect("a link has losses").damage;
    assert_ne!(of(&outcome, 0), of(&outcome, 1), "each direction has random numbers of its own");
    // Without losses all is as without the key, except for the count.
    let (plain, none) = (run(&text, 1), lossy("0.0"));
    assert_eq!((plain.flows[0].lost_packets, of(&none, 0)), (None, Some(0)));
    assert_eq!((plain.events, plain.flows[0].delay_s), (none.events, none.flows[0].delay_s));
}

/// A SYN, a FIN or an acknowledgement is in none of the counts of segments.
#[test]
fn segments_that_a_wire_damages_are_among_those_sent() {
    let tcp = |more: &str| flow("f", "a", "b", more).replace("traffic =", "transport = \"tcp\"\ntraffic =");
    let damaged = |traffic: &str, loss: &str| {
        let text =
            wire("1 Mb/s", &tcp(traffic)).replace("delay = \"7 ms\"", &format!("delay = \"7 ms\"\nloss = {loss}"));
        let outcome = run(&text, 1);
        let flow = &outcome.flows[0];
        let damage = flow.lost_packets.expect("a link has losses").damage.expect("by damage");
        assert_eq!(flow.sent_packets, flow.received_packets + damage + flow.in_flight_packets);
        (flow.sent_packets, damage)
    };
    // No SYN ever arrives.
    assert_eq!(damaged("kind = \"greedy\"", "1.0"), (0, 0));
    let (sent, lost) = damaged("kind = \"transfer\", size = \"3 kB\", every = \"5 s\"", "0.3");
    assert!(sent > 1_200 && (200..sent / 2).contains(&lost), "{sent} sent, {lost} lost");
}

#[test]
fn overflows_of_a_wired_queue_are_those_of_its_packets() {
    // On a full link of 1 Mb/s a flow of the same rate loses nothing. Of two such flows with a queue for ten packets, every
    // second packet is dropped, all in one overflow if that lasts as long as the run.
    let traffic = "kind = \"cbr\", rate = \"900 kb/s\", packet = \"1000 B\"";
    let flows = flow("one", "a", "b", traffic) + &flow("two", "a", "b", traffic);
    let text = wire("1 Mb/s", &flows).replace("100000", "10").replace("2000 s", "10 s");
    for (within, most) in [("10 s", 1), ("1 s", 10)] {
        let outcome = run(&format!("{text}[record]\noverflows = \"{within}\"\n"), 1);
        let node = outcome.nodes.iter().find(|node| node.name == "a").expect("such a node");
        let found = node.overflows.expect("it was asked for");
        let dropped = queue(&outcome, "a", "wired-to-b").dropped_packets;
        assert!(dropped > 900, "{dropped}");
        assert_eq!((found.dropped_packets, found.half_windows), (dropped, 0));
        assert!((most - 1..=most).contains(&found.count) && found.flows_hit <= 2 * found.count, "{found:?}");
    }
}

#[test]
fn a_star_joins_and_starts_flows_at_all_nodes_whose_names_begin_so() {
    let text = "duration = \"10 s\"\n[[node]]\nname = \"s\"\ncount = 3\nrole = \"wired\"\n\
        [[node]]\nname = \"sink\"\nrole = \"wired\"\n[[node]]\nname = \"router\"\nrole = \"wired\"\n\
        [[wired]]\nbetween = [\"s*\", \"router\"]\nrate = \"1 Mb/s\"\ndelay = \"1 ms\"\n\
        [[flow]]\nname = \"f\"\nfrom = \"s*\"\nto = \"sink\"\ntransport = \"tcp\"\nphase_jitter = \"5 s\"\n\
        tcp = { segment = \"500 B\" }\ntraffic = { kind = \"transfer\", size = \"500 B\" }\n";
    let outcome = run(text, 1);
    let names: Vec<&str> = outcome.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["f-s1", "f-s2", "f-s3"]);
    let router = outcome.nodes.iter().find(|node| node.name == "router").expect("such a node");
    assert_eq!(router.queues.len(), 4, "a link to each of the three and to the sink");
    let mut starts: Vec<f64> = outcome.flows.iter().map(|flow| flow.started_s.expect("it is drawn")).collect();
    starts.sort_by(f64::total_cmp);
    starts.dedup();
    assert!(starts.len() == 3 && starts.iter().all(|&start| start < 5.0), "{starts:?}");
    assert!(outcome.flows.iter().all(|flow| flow.transfers_completed == Some(1)));
    let refused = |text: &str| refusal(text).1;
    assert!(refused(&text.replace("\"router\"]", "\"r*\"]")).contains("not at both"));
    assert!(refused(&text.replace("\"router\"]", "\"router2\"]")).contains("router2"));
}

/// A sum over both cells would not show which of them has lost.
#[test]
fn each_of_several_access_points_has_the_totals_of_the_flows_that_pass_it() {
    let cbr = |rate: &str| format!("kind = \"cbr\", rate = \"{rate}\", packet = \"1000 B\"");
    let station = |name: &str, of: &str| {
        format!("[[node]]\nname = \"{name}\"\naccess_point = \"{of}\"\nposition = [\"20 m\", \"0 m\"]\n")
    };
    let own = station("s1", "ap")
        + &station("s2", "ap")
        + &flow("down", "server", "s1", &cbr("800 kb/s"))
        + &flow("up", "s2", "server", &cbr("400 kb/s"))
        + &flow("across", "s1", "s2", &cbr("200 kb/s"));
    let other = "[[node]]\nname = \"other\"\nrole = \"access-point\"\nposition = [\"0 m\", \"5 m\"]\n".to_owned()
        + &station("guest", "other")
        + &flow("foreign", "other", "guest", &cbr("1600 kb/s"));
    let alone = run(&access_point(0, "", &own), 1);
    assert!(alone.totals.cells.is_empty(), "one cell is the network");
    let both = run(&access_point(0, "", &(own + &other)), 1);
    let sum = |names: &[&str]| -> f64 {
        both.flows.iter().filter(|flow| names.contains(&&*flow.name)).map(|flow| flow.goodput_bps).sum()
    };
    let cells: Vec<(&str, f64)> = both.totals.cells.iter().map(|cell| (&*cell.name, cell.goodput_bps)).collect();
    assert_eq!(cells, [("ap", sum(&["down", "up", "across"])), ("other", sum(&["foreign"]))]);
    assert!(cells[0].1 > 1e6 && cells[1].1 > 1e6, "{cells:?}");
}
