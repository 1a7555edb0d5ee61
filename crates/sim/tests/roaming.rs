//! Stations that roam between access points on a wired switch.

use crate::networks::{network, run};
use sim::World;
use sim::results::Outcome;

/// Two access points 60 m apart, on their own channels, and a phone that walks from one to the other at 10 m/s.
fn walk(keys: &str, roaming: &str, flows: &str) -> String {
    format!(
        "duration = \"6 s\"\n[radio]\nstandard = \"802.11ac\"\nmcs = 2\n\
         propagation = \"log-distance\"\nfrequency = \"5.18 GHz\"\ntx_power = \"20 dBm\"\nreceive_threshold = \"-90 dBm\"\n{keys}\n\
         [[node]]\nname = \"ap1\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\nchannel = 36\nqueues = \"mac80211\"\n\
         [[node]]\nname = \"ap2\"\nrole = \"access-point\"\nposition = [\"60 m\", \"0 m\"]\nchannel = 149\nqueues = \"turns\"\n\
         [[node]]\nname = \"phone\"\nposition = [\"5 m\", \"0 m\"]\n\
         waypoints = [{{ time = \"0 s\", position = [\"55 m\", \"0 m\"], speed = \"10 m/s\" }}]\nroaming = {{ {roaming} }}\n\
         [[node]]\nname = \"tv\"\naccess_point = \"ap2\"\nposition = [\"62 m\", \"3 m\"]\n\
         [[node]]\nname = \"switch\"\nrole = \"wired\"\n[[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"ap*\", \"switch\"]\nrate = \"1 Gb/s\"\n\
         [[wired]]\nbetween = [\"switch\", \"server\"]\nrate = \"1 Gb/s\"\n{flows}"
    )
}

/// A hundred packets a second from one node to another.
fn stream(from: &str, to: &str) -> String {
    format!(
        "[[flow]]\nname = \"{from}-{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
         traffic = {{ kind = \"cbr\", rate = \"800 kb/s\", packet = \"1000 B\" }}\n"
    )
}

fn roams(outcome: &Outcome, name: &str) -> Vec<(f64, f64, String)> {
    let node = outcome.nodes.iter().find(|node| node.name == name).expect("a node");
    node.roams.iter().map(|roam| (roam.left_s, roam.joined_s, roam.access_point.clone())).collect()
}

/// Downwards, what is sent to the old access point while the station moves is lost: 20 packets, as 100 a second come for 200 ms.
/// Upwards, packets wait at the station, the first one for all of this time.
#[test]
fn an_outage_costs_what_it_lasts() {
    let moves = "outage = \"200 ms\", moves = [{ time = \"2500 ms\", access_point = \"ap2\" }]";
    let outcome = run(&walk("", moves, &(stream("server", "phone") + &stream("phone", "server"))), 1);
    assert_eq!(roams(&outcome, "phone"), [(2.5, 2.7, "ap2".to_owned())]);
    let [down, up] = &outcome.flows[..] else { panic!("two flows") };
    let lost = down.sent_packets - down.received_packets - down.in_flight_packets;
    assert!((19..=21).contains(&lost), "{lost} of 100 a second in 200 ms");
    assert_eq!(up.sent_packets - up.received_packets - up.in_flight_packets, 0, "{up:?}");
    assert!((0.19..0.22).contains(&up.delay_s.max), "{} s", up.delay_s.max);
}

/// At -65 dBm the station searches at once, then once in each interval, and goes where it is 5 dB better. By hand, with 46.7 dB
/// over the first metre and an exponent of 3: it has -65 dBm at 18.9 m, after 1.39 s; the other one has -75 dBm there. The other
/// one is 5 dB better from 35.7 m on, after 3.07 s. Searches are at beacons; the third is after 3.48 s.
#[test]
fn a_station_goes_where_the_signal_is_better() {
    let to_phone = stream("server", "phone");
    let patient = run(&walk("", "", &to_phone), 1);
    assert_eq!(roams(&patient, "phone"), [], "the next search would be after 31 s");
    let eager = run(&walk("", "scan_interval = \"1 s\"", &to_phone), 1);
    assert_eq!(roams(&eager, "phone"), [(3.4816, 3.5816, "ap2".to_owned())]);
    let flow = &eager.flows[0];
    assert!(flow.received_packets + 12 >= flow.sent_packets, "{flow:?}");
    let proud = run(&walk("", "scan_interval = \"1 s\", hysteresis = \"12 dB\"", &to_phone), 1);
    // 12 dB: at 42.9 m of 60 m, after 3.79 s; found 4.5 s after the start.
    assert_eq!(roams(&proud, "phone"), [(4.5056, 4.6056, "ap2".to_owned())]);
}

/// Packets that waited at the station before it left are not sent when it comes back. TCP continues at both.
#[test]
fn a_station_that_returns_brings_nothing_old() {
    let moves = "moves = [{ time = \"2 s\", access_point = \"ap2\" }, { time = \"4 s\", access_point = \"ap1\" }]";
    let upload = "[[flow]]\nname = \"upload\"\nfrom = \"phone\"\nto = \"server\"\ntransport = \"tcp\"\n\
                  traffic = { kind = \"greedy\" }\n";
    let still = walk("", moves, &(upload.to_owned() + &stream("phone", "tv") + &stream("tv", "phone")));
    let still = still.replace("speed = \"10 m/s\"", "speed = \"1 m/s\"").replace("mcs = 2", "mcs = 0");
    let outcome = run(&still, 1);
    assert_eq!(roams(&outcome, "phone").len(), 2);
    let [upload, to_tv, from_tv] = &outcome.flows[..] else { panic!("three flows") };
    assert!(upload.goodput_bps > 1e6, "{upload:?}");
    for flow in [to_tv, from_tv] {
        // What was left behind after two seconds would be 2.1 s old when it is back. Packets behind the upload wait up to 1.4 s.
        assert!(flow.delay_s.max < 2.0, "{}: {} s", flow.name, flow.delay_s.max);
        assert!(flow.received_packets > 300, "{flow:?}");
    }
}

/// An access point that asks its stations for packets (802.11ax) continues with the others when one has left.
#[test]
fn others_are_asked_when_a_station_with_backlog_leaves() {
    let keys = "[mac]\nofdma = \"both\"\naccess = \"edca\"\naggregation = { ampdu = \"65535 B\" }\n";
    let moves = "moves = [{ time = \"3 s\", access_point = \"ap1\" }]";
    let fast = |from: &str| stream(from, "server").replace("800 kb/s", "4 Mb/s");
    let text = walk(keys, moves, &(fast("phone") + &fast("tv"))).replace("802.11ac", "802.11ax");
    let text = text
        .replace("[\"5 m\", \"0 m\"]", "[\"50 m\", \"0 m\"]")
        .replace("roaming = {", "access_point = \"ap2\"\nroaming = {");
    let outcome = run(&text.replace("queues = \"turns\"", "queues = \"per-station\""), 1);
    assert_eq!(roams(&outcome, "phone"), [(3.0, 3.1, "ap1".to_owned())]);
    let tv = &outcome.flows[1];
    assert!(tv.delay_s.max < 0.1 && tv.goodput_bps > 3.9e6, "{tv:?}");
}

#[test]
fn what_roams_cannot_have_is_refused_at_its_key() {
    let plain = walk("", "", &stream("server", "phone"));
    let move_to = |time: &str, to: &str| format!("moves = [{{ time = \"{time}\", access_point = \"{to}\" }}]");
    let cases = [
        (plain.replace("role = \"access-point\"\nposition = [\"60 m\"", "position = [\"60 m\""), "node.phone.roaming"),
        (plain.replace("roaming = {", "power_save = {}\nroaming = {"), "node.phone.power_save"),
        (plain.replace("kind = \"cbr\", rate = \"800 kb/s\"", "kind = \"saturated\""), "flow.server-phone.traffic"),
        (plain.replace("[\"ap*\", \"switch\"]", "[\"ap1\", \"switch\"]"), "flow.server-phone.to"),
        (plain.replace("to = \"phone\"", "to = \"phone@ap2\""), "flow.server-phone.to"),
        (plain.replace("\"log-distance\"", "\"range\"").replace("channel = ", "mcs = 2 #"), "node.phone.roaming"),
        (walk("rooms.size = [\"9 m\", \"9 m\", \"3 m\"]", "", "").replace("waypoints =", "#"), "node.phone.roaming"),
        (walk("", &move_to("1 s", "ap3"), ""), "node.phone.roaming.moves.0.access_point"),
        (walk("", &move_to("1 s", "ap1"), ""), "node.phone.roaming.moves.0.access_point"),
        (walk("", &move_to("0 s", "ap2"), ""), "node.phone.roaming.moves.0.time"),
    ];
    for (text, key) in cases {
        let text = text.replace("name = \"tv\"\naccess_point = \"ap2\"", "name = \"tv\"\naccess_point = \"ap1\"");
        let error = World::new(&network(&text), 1).err().unwrap_or_else(|| panic!("{key} is refused"));
        assert_eq!(error.path(), Some(key), "{error}");
    }
}

/// `*` stands for each station once, wherever the station is.
#[test]
fn a_star_counts_a_station_that_roams_once() {
    let flow = "[[flow]]\nname = \"f\"\nfrom = \"*\"\nto = \"server\"\n\
                traffic = { kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\" }\n";
    let names: Vec<String> = run(&walk("", "", flow), 1).flows.into_iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["f-phone", "f-tv"]);
}
