//! Movement files in a network: which node is which, when each is on the air, and heights.

use crate::networks::network;
use sim::World;
use sim::results::Outcome;

/// Nodes `n0`, `n1`, ..., which a file moves. `n0` broadcasts ten packets a second.
fn scenario(model: &str, nodes: u32, radio: &str, more: &str) -> String {
    format!(
        "duration = \"10 s\"\n[radio]\n{radio}\n[mobility]\nmodel = \"{model}\"\nfile = \"file\"\n[nodes]\ncount = {nodes}\n\
         [[flow]]\nname = \"hello\"\nfrom = \"n0\"\nto = \"broadcast\"\n\
         traffic = {{ kind = \"cbr\", rate = \"8 kb/s\", packet = \"100 B\" }}\n{more}"
    )
}

const RANGE: &str = "propagation = \"range\"\nrange = \"100 m\"";

fn run(text: &str, file: &str) -> Result<Outcome, String> {
    let mut network = network(text);
    for (_, attachment) in network.attachments() {
        attachment.attach(file.as_bytes().into());
    }
    World::new(&network, 1).map(World::finish).map_err(|error| error.to_string())
}

fn start(node: u32, x: i32) -> String {
    format!("$node_({node}) set X_ {x}\n$node_({node}) set Y_ 0\n$node_({node}) set Z_ 0\n")
}

#[test]
fn numbers_with_gaps_are_the_nodes_without_a_position_one_by_one() {
    // Node 5 is in range of node 0, node 9 is not.
    let file = start(9, 300) + &start(0, 0) + &start(5, 90);
    let outcome = run(&scenario("setdest", 3, RANGE, ""), &file).expect("it can be built");
    assert_eq!((outcome.flows[0].sent_packets, outcome.flows[0].received_packets), (100, 100));
    // A node of the scenario that has a position is none of the file's.
    let fixed = "[[node]]\nname = \"n1\"\nposition = [\"-90 m\", \"0 m\"]\n";
    let outcome = run(&scenario("setdest", 4, RANGE, fixed), &file).expect("it can be built");
    assert_eq!(outcome.flows[0].received_packets, 200);
    let refusal = run(&scenario("setdest", 2, RANGE, ""), &file).expect_err("too few nodes");
    assert_eq!(refusal, "`file` moves 3 nodes, but the scenario has only 2 without a position");
    let refusal = run(&scenario("setdest", 4, RANGE, ""), &file).expect_err("too many nodes");
    assert_eq!(refusal, "the movement file has no start for node `n3`");
}

#[test]
fn a_node_is_off_the_air_before_it_comes_and_after_it_has_gone() {
    let places = start(0, 0) + &start(1, 90) + &start(2, -90);
    let at = |node: u32, times: &[(u32, &str)]| -> String {
        let line = |(time, what): &(u32, &str)| format!("$ns_ at {time}.05 \"$g({node}) {what}\"\n");
        times.iter().map(line).collect()
    };
    // One listener is there for three of ten seconds, another one always.
    let outcome = run(&scenario("setdest", 3, RANGE, ""), &(places.clone() + &at(1, &[(2, "start"), (5, "stop")])));
    let outcome = outcome.expect("it can be built");
    assert_eq!(outcome.flows[0].received_packets, 100 + 30);
    assert_eq!(outcome.flows[0].reception_ratio, Some(1.0));
    // A sender that is there for three of ten seconds makes and sends nothing before and after.
    let outcome = run(&scenario("setdest", 3, RANGE, ""), &(places.clone() + &at(0, &[(2, "start"), (5, "stop")])));
    let outcome = outcome.expect("it can be built");
    assert_eq!((outcome.flows[0].sent_packets, outcome.flows[0].received_packets), (30, 60));
    // 192 us of preamble and 164 B at 1 Mb/s.
    assert!((outcome.nodes[0].mac.airtime_s - 30.0 * 1504e-6).abs() < 1e-9);
    // A saturated sender sends for half of the time.
    let saturated = |file: &str| {
        let text =
            scenario("setdest", 3, RANGE, "").replace("kind = \"cbr\", rate = \"8 kb/s\"", "kind = \"saturated\"");
        run(&text, file).expect("it can be built").flows[0].goodput_bps
    };
    let half = saturated(&(places.clone() + &at(0, &[(5, "start")]))) / saturated(&places);
    assert!((half - 0.495).abs() < 0.005, "{half}");
}

#[test]
fn a_leap_takes_effect_at_its_time() {
    let file =
        start(0, 0) + &start(1, 90) + "$ns_ at 3.05 \"$node_(1) set X_ 9000\"\n$ns_ at 7.05 \"$node_(1) set X_ 80\"\n";
    let outcome = run(&scenario("setdest", 2, RANGE, ""), &file).expect("it can be built");
    assert_eq!(outcome.flows[0].received_packets, 31 + 29);
}

#[test]
fn vehicles_of_sumo_come_and_go() {
    let step = |time: u32| {
        let vehicle = |id: &str, x: u32| format!("<vehicle id=\"{id}\" x=\"{x}.00\" y=\"0.00\"/>\n");
        let mut here = vehicle("first", 0);
        if (2..6).contains(&time) {
            // It is 90 m away in the first two seconds, then out of range.
            here += &vehicle("second", if time < 4 { 90 } else { 500 });
        }
        format!("<timestep time=\"{time}.00\">\n{here}</timestep>\n")
    };
    let file = format!("<fcd-export>\n{}</fcd-export>\n", (0..10).map(step).collect::<String>());
    let outcome = run(&scenario("fcd", 2, RANGE, ""), &file).expect("it can be built");
    // In the second before it is at 500 m, it is within 100 m for 10/410 of the time, at the beginning.
    let received = outcome.flows[0].received_packets;
    assert_eq!((outcome.flows[0].sent_packets, received), (100, 10 + 1));
}

#[test]
fn heights_add_to_distances_and_to_antennas() {
    let file =
        |z: [f64; 2]| start(0, 0) + &start(1, 80) + &format!("$node_(0) set Z_ {}\n$node_(1) set Z_ {}\n", z[0], z[1]);
    let reached = |radio: &str, z: [f64; 2]| {
        run(&scenario("setdest", 2, radio, ""), &file(z)).expect("it can be built").flows[0].received_packets == 100
    };
    // With 80 m on the ground and 60 m of height the distance is exactly 100 m; with 61 m of height it is more.
    for propagation in ["range", "free-space", "log-distance"] {
        let radio = format!("propagation = \"{propagation}\"\nrange = \"100 m\"\nerrors.model = \"none\"");
        assert!(reached(&radio, [7.0, 7.0]) && reached(&radio, [0.0, 60.0]), "{propagation}");
        assert!(!reached(&radio, [61.0, 0.0]), "{propagation}");
    }
    // Two-ray: beyond the crossover the power goes with the squares of both antennas' heights. With 1.5 m and 1.5 m it reaches 1
    // km; with one four times as high, 2 km. The ground is at the lowest position.
    let two_ray = |x: u32, z: [f64; 2]| {
        let radio = "propagation = \"two-ray\"\nrange = \"1 km\"\nerrors.model = \"none\"";
        let file = file(z).replace("X_ 80", &format!("X_ {x}"));
        run(&scenario("setdest", 2, radio, ""), &file).expect("it can be built").flows[0].received_packets == 100
    };
    assert!(two_ray(1000, [1.5, 1.5]) && !two_ray(1001, [1.5, 1.5]));
    assert!(two_ray(1999, [0.0, 4.5]) && !two_ray(2001, [0.0, 4.5]));
}

#[test]
fn a_position_and_a_waypoint_may_have_a_height() {
    let received = |height: &str, waypoint: &str| {
        let nodes = "[[node]]\nname = \"n0\"\nposition = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"n1\"\n";
        let place = format!("position = [\"80 m\", \"0 m\"{height}]\nwaypoints = [{waypoint}]\n");
        let text = scenario("static", 2, RANGE, &format!("{nodes}{place}")).replace("file = \"file\"\n", "");
        run(&text, "").expect("it can be built").flows[0].received_packets
    };
    assert_eq!([received(", \"60 m\"", ""), received(", \"61 m\"", "")], [100, 0]);
    // It climbs at 61 m/s from the fifth second on. A waypoint without a height keeps the present one.
    let climbs = "{ time = \"5 s\", position = [\"80 m\", \"0 m\", \"61 m\"], speed = \"61 m/s\" }";
    assert_eq!(received("", climbs), 60);
    let stays = "{ time = \"5 s\", position = [\"80 m\", \"10 m\"], speed = \"10 m/s\" }";
    // At 5 s it has not moved yet.
    assert_eq!([received(", \"59 m\"", stays), received(", \"60 m\"", stays)], [100, 51]);
}
