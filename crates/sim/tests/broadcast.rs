//! Receptions of broadcast flows: how many nodes in range receive a packet, at which distances, and how busy the medium is.

use crate::networks::run;
use sim::World;

/// `a` and `b` do not hear each other. `m` hears both, `l` only `a`, and `r` only `b`.
const HIDDEN: &str = "[radio]\npropagation = \"range\"\nrange = \"100 m\"\ncarrier_sense_range = \"100 m\"\n\
    node_places\n[record]\nseries = \"1 s\"\nreception = \"50 m\"\n";

fn hidden(duration: &str, flows: &[(&str, &str)]) -> String {
    let place = |(name, x): (&str, i32)| format!("[[node]]\nname = \"{name}\"\nposition = [\"{x} m\", \"0 m\"]\n");
    let places: String = [("l", -90), ("a", 0), ("m", 90), ("b", 180), ("r", 270)].map(place).concat();
    let flow = |(from, more): &(&str, &str)| {
        format!("[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"broadcast\"\n{more}\n")
    };
    let flows: String = flows.iter().map(flow).collect();
    format!("duration = \"{duration}\"\n{}{flows}", HIDDEN.replace("node_places\n", &places))
}

/// 1000 B ten times a second. Each frame takes 192 us of preamble and 1064 B at 1 Mb/s.
const CBR: &str = "traffic = { kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\" }";
const FRAME_S: f64 = 192e-6 + 1064.0 * 8e-6;

#[test]
fn a_broadcast_is_lost_at_each_node_in_range_that_does_not_receive_it() {
    // Frames that overlap collide only at `m`. Frames that do not overlap reach both neighbours.
    for (start, ratio) in [("0 s", 0.5), ("20 ms", 1.0)] {
        let outcome = run(&hidden("4 s", &[("a", CBR), ("b", &format!("start = \"{start}\"\n{CBR}"))]), 1);
        for flow in &outcome.flows {
            assert_eq!(flow.reception_ratio, Some(ratio), "{}", flow.name);
            assert!((flow.loss_ratio - (1.0 - ratio)).abs() < 1e-12 && (flow.data_yield - ratio).abs() < 1e-12);
            assert!((flow.received_packets as f64 - ratio * 2.0 * flow.sent_packets as f64).abs() < 1e-9);
            let classes = flow.by_distance.iter().map(|class| {
                (class.name.as_str(), class.expected_receptions / flow.sent_packets, class.reception_ratio)
            });
            // Two nodes are 90 m away; one each is 180 m and 270 m away, out of range.
            let expected = [
                ("50 m", 0, 0.0),
                ("100 m", 2, ratio),
                ("150 m", 0, 0.0),
                ("200 m", 1, 0.0),
                ("250 m", 0, 0.0),
                ("300 m", 1, 0.0),
            ];
            assert_eq!(classes.collect::<Vec<_>>(), expected);
        }
        assert!((outcome.totals.loss_ratio - (1.0 - ratio)).abs() < 1e-12);
        assert!((outcome.totals.data_yield - ratio).abs() < 1e-12);
        // `l` hears ten frames a second. `m` hears twice as many, or two at the same time.
        let series = &outcome.series.expect("it was asked for").nodes;
        let busy = |name: &str| series.iter().find(|node| node.name == name).expect("a node").busy_ratio.clone();
        for (node, frames) in [("l", 10.0), ("m", 20.0 * ratio), ("r", 10.0)] {
            assert!(busy(node).len() == 4 && busy(node).iter().all(|&busy| (busy - frames * FRAME_S).abs() < 1e-6));
        }
    }
}

#[test]
fn hidden_broadcasts_at_random_collide_as_often_as_two_queues_that_know_nothing_of_each_other() {
    // A frame reaches `m` if `b` is idle when the frame begins and sends nothing until it ends. `b` is an M/D/1 queue.
    let poisson = "traffic = { kind = \"poisson\", rate = \"400 kb/s\", packet = \"1000 B\" }";
    let outcome = run(&hidden("400 s", &[("a", poisson), ("b", poisson)]), 1);
    let load = 50.0 * FRAME_S;
    let expected = f64::midpoint(1.0, (1.0 - load) * (-load).exp());
    for flow in &outcome.flows {
        let ratio = flow.reception_ratio.expect("a broadcast");
        assert!((ratio / expected - 1.0).abs() < 0.02, "{ratio} for {expected}");
        // The few packets that still wait at the end are not lost.
        assert!((flow.loss_ratio - (1.0 - ratio)).abs() < 1e-3);
    }
}

#[test]
fn packets_that_a_queue_drops_are_lost_at_all_nodes_in_range() {
    // A frame takes 8.7 ms, so with a packet every ms about every ninth is sent.
    let much = "traffic = { kind = \"cbr\", rate = \"8 Mb/s\", packet = \"1000 B\" }";
    let flow = &run(&hidden("2 s", &[("a", much)]), 1).flows[0];
    assert_eq!(flow.reception_ratio, Some(1.0));
    let on_air = flow.received_packets as f64 / 2.0 / flow.sent_packets as f64;
    let waiting = flow.in_flight_packets as f64 / flow.sent_packets as f64;
    assert!((flow.loss_ratio - (1.0 - on_air - waiting)).abs() < 1e-9 && on_air < 0.13, "{} {on_air}", flow.loss_ratio);
}

#[test]
fn who_receives_by_fading_beyond_the_range_counts_by_distance_alone() {
    let fading = hidden("100 s", &[("a", CBR)])
        .replace("propagation = \"range\"", "propagation = \"free-space\"\nfading.model = \"rayleigh\"");
    let flow = &run(&fading, 1).flows[0];
    let class = |name: &str| flow.by_distance.iter().find(|class| class.name == name).expect("a class");
    let (near, far) = (class("100 m"), class("200 m"));
    assert!(far.receptions > 0 && far.reception_ratio < near.reception_ratio);
    let ratio = near.receptions as f64 / near.expected_receptions as f64;
    assert_eq!(flow.reception_ratio, Some(ratio));
    assert!(flow.received_packets > near.receptions);
}

#[test]
fn distance_classes_are_neither_too_many_nor_of_no_width() {
    let text = hidden("1 s", &[("a", CBR)]).replace("\"50 m\"", "\"1 cm\"");
    let network = toml::from_str(&text).expect("a description");
    let Err(error) = World::new(&network, 1) else { panic!("it was built") };
    assert_eq!(error.path(), Some("record.reception"));
    assert!(toml::from_str::<sim::config::Network>(&text.replace("\"1 cm\"", "\"0 m\"")).is_err());
}

#[test]
fn flows_of_which_nothing_arrives_are_named() {
    let text = hidden("1 s", &[("l", CBR)]);
    assert!(run(&text, 1).warnings.is_empty());
    assert_eq!(run(&text.replace("\"100 m\"", "\"10 m\""), 1).warnings, ["flow: no packet of l arrived"]);
}
