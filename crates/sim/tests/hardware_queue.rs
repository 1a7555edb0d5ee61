//! Hardware queues: what they hold, in which statistic their time counts, and that nothing is lost or served twice in them.

use crate::networks::{cut, drawn_flows, network, of, run};
use proptest::prelude::*;
use sim::World;
use sim::results::{Outcome, QueueResult};
use std::fmt::Write as _;
use units::Duration;

/// A sender that always has packets for one receiver, with this hardware queue.
fn sender(radio: &str, mac: &str, hardware: &str) -> String {
    let hardware = if hardware.is_empty() { String::new() } else { format!("hardware_queue = \"{hardware}\"\n") };
    format!(
        "duration = \"12 s\"\nwarmup = \"2 s\"\n[radio]\n{radio}\n[mac]\n{hardware}{mac}\n[queue]\nlimit = 50\n\
         [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"5 m\"\n\
         [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = {{ kind = \"saturated\", packet = \"1464 B\" }}\n"
    )
}

fn queue(outcome: &Outcome) -> &QueueResult {
    outcome.nodes[0].queues.iter().find(|queue| queue.sent_packets > 0).expect("the queue of the flow")
}

/// Returns the mean time of a packet with the MAC and in the hardware queue.
fn service(outcome: &Outcome) -> f64 {
    outcome.nodes[0].mac.service_s.mean
}

#[test]
fn a_full_hardware_queue_of_n_packets_takes_n_services() {
    let radio = "standard = \"802.11g\"";
    let bare = run(&sender(radio, "", ""), 1);
    for packets in [2, 8, 40] {
        let found = run(&sender(radio, "", &format!("{packets} packets")), 1);
        let grown = service(&found) / service(&bare);
        // The frame that is being sent counts. Without a queue, the post-backoff of the frame before does not.
        let exchange = 1464.0 * 8.0 / found.totals.goodput_bps;
        let expected = f64::from(packets) * exchange / service(&bare);
        println!("{packets} packets: {grown} services, {expected} expected");
        assert!((grown / expected - 1.0).abs() < 0.03, "{packets}: {grown} and {expected}");
        assert!((found.totals.goodput_bps / bare.totals.goodput_bps - 1.0).abs() < 0.005);
        // The queue above it is as full as before.
        let backlog = |outcome| queue(outcome).backlog_packets.mean;
        assert!((backlog(&found) - backlog(&bare)).abs() < 0.1, "{} and {}", backlog(&found), backlog(&bare));
    }
}

#[test]
fn two_aggregates_are_as_many_packets_as_two_full_frames() {
    let radio = "standard = \"802.11n\"\nmcs = 7";
    let mac = "[mac.aggregation]\nampdu = \"65535 B\"\nampdu_frames = 16\n[mac.edca.best_effort]\ntxop_limit = \"0 s\"";
    let mean = |hardware: &str| service(&run(&sender(radio, mac, hardware), 1));
    // Frames of 16 packets: 32 packets.
    let [aggregates, packets] = ["2 aggregates", "32 packets"].map(mean);
    assert!((aggregates / packets - 1.0).abs() < 1e-9, "{aggregates} and {packets}");
    // A frame of 1530 B takes 188.5 us at 65 Mb/s. 21 of them reach 4 ms, as the last one begins below it.
    let [airtime, packets] = ["4 ms", "22 packets"].map(mean);
    assert!((airtime / packets - 1.0).abs() < 0.05, "{airtime} and {packets}");
    // At 1201 Mb/s a frame takes 10.2 us of an aggregate; alone it would fill a symbol of 13.6 us. 99 of them reach 1 ms.
    let radio = "standard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nstreams = 2\nmcs = 11";
    let mac = "[mac.edca.best_effort]\ntxop_limit = \"0 s\"";
    let [airtime, packets] = ["1 ms", "99 packets"].map(|hardware| service(&run(&sender(radio, mac, hardware), 1)));
    assert!((airtime / packets - 1.0).abs() < 0.05, "{airtime} and {packets}");
    // Without aggregates, a frame is one packet.
    let dcf = |hardware: &str| service(&run(&sender("standard = \"802.11g\"", "", hardware), 1));
    assert!((dcf("3 aggregates") / dcf("3 packets") - 1.0).abs() < 1e-9);
}

#[test]
fn aggregates_are_whole_where_the_hardware_holds_one_and_shorter_where_it_holds_less() {
    let radio = "standard = \"802.11n\"\nmcs = 7";
    let mac = "[mac.aggregation]\nampdu = \"65535 B\"\nampdu_frames = 16\n[mac.edca.best_effort]\ntxop_limit = \"0 s\"";
    let goodput = |hardware: &str| run(&sender(radio, mac, hardware), 1).totals.goodput_bps;
    let [bare, one, two, half] = ["", "1 aggregate", "2 aggregates", "8 packets"].map(goodput);
    println!("{bare}, {one}, {two}, {half}");
    assert!((two / bare - 1.0).abs() < 0.005 && (one / bare - 1.0).abs() < 0.005, "{bare}, {one} and {two}");
    // The frames have 8 packets instead of 16.
    assert!(half < 0.95 * bare, "{half} and {bare}");
}

/// Sends other traffic through a queue of five packets for a second.
fn briefly(hardware: &str, traffic: &str) -> String {
    sender("standard = \"802.11g\"", "", hardware)
        .replace("limit = 50", "limit = 5")
        .replace("12 s", "1 s")
        .replace("warmup = \"2 s\"", "warmup = \"0 s\"")
        .replace("traffic = { kind = \"saturated\", packet = \"1464 B\" }", traffic)
}

#[test]
fn packets_in_the_hardware_are_out_of_reach_of_the_discipline() {
    // 60 packets come at once into a queue of 5. With a hardware queue of 20, 25 or 26 survive instead of 5 or 6.
    let text = |hardware: &str| {
        let burst = "traffic = { kind = \"cbr\", rate = \"1 Gb/s\", packet = \"1000 B\" }\nstop = \"480 us\"";
        briefly(hardware, burst)
    };
    let delivered = |hardware: &str| run(&text(hardware), 1).flows[0].received_packets;
    let (bare, with) = (delivered(""), delivered("20 packets"));
    println!("{bare} and {with}");
    assert_eq!(with, bare + 19, "the frame that is being sent counts");
}

#[test]
fn packets_that_arrive_together_pass_one_by_one() {
    // Twelve flows send a packet each at the same instant into a queue of five.
    let text = |hardware: &str| {
        let each = "count = 12\nstop = \"1 ms\"\ntraffic = { kind = \"cbr\", rate = \"8 kb/s\", packet = \"1000 B\" }";
        briefly(hardware, each)
    };
    let lost = |hardware: &str| {
        let outcome = run(&text(hardware), 1);
        outcome.flows.iter().map(|flow| flow.sent_packets - flow.received_packets).sum::<u64>()
    };
    assert_eq!([lost("4 packets"), lost("7 packets"), lost("20 packets")], [3, 0, 0]);
}

#[test]
fn hardware_queues_are_per_category() {
    let text = |hardware: &str| {
        sender("standard = \"802.11n\"\nmcs = 7", "", hardware)
            + "[[flow]]\nname = \"call\"\nfrom = \"n0\"\nto = \"n1\"\ncategory = \"voice\"\n\
               traffic = { kind = \"poisson\", rate = \"100 kb/s\", packet = \"200 B\" }\n"
    };
    let delay = |hardware: &str| {
        let outcome = run(&text(hardware), 1);
        of(&outcome, "call").delay_s.mean
    };
    let (bare, with) = (delay(""), delay("200 packets"));
    assert!((with / bare - 1.0).abs() < 0.1, "{bare} and {with}");
}

#[test]
fn a_queue_for_each_station_shields_from_one_that_does_not_answer() {
    let text = |per: &str| {
        let mut text = format!(
            "duration = \"6 s\"\nwarmup = \"2 s\"\n[radio]\nstandard = \"802.11g\"\npropagation = \"range\"\nrange = \"50 m\"\n\
             [mac]\nhardware_queue = \"64 packets\"\nhardware_queue_per = \"{per}\"\n\
             [[node]]\nname = \"ap\"\nrole = \"access-point\"\nqueues = \"per-station\"\nposition = [\"0 m\", \"0 m\"]\n\
             [[node]]\nname = \"near\"\nposition = [\"5 m\", \"0 m\"]\n\
             [[node]]\nname = \"far\"\nposition = [\"6 m\", \"0 m\"]\n\
             waypoints = [{{ time = \"1 s\", position = [\"150 m\", \"0 m\"], speed = \"1000 m/s\" }}]\n"
        );
        for (to, rate) in [("near", "2 Mb/s"), ("far", "5 Mb/s")] {
            let _ = write!(
                text,
                "[[flow]]\nname = \"{to}\"\nfrom = \"ap\"\nto = \"{to}\"\n\
                 traffic = {{ kind = \"poisson\", rate = \"{rate}\", packet = \"1000 B\" }}\n"
            );
        }
        text
    };
    let near = |per: &str| {
        let flow = of(&run(&text(per), 1), "near").clone();
        (flow.goodput_bps, flow.delay_s.mean)
    };
    let (shared, own) = (near("category"), near("station"));
    println!("shared {shared:?}, own {own:?}");
    // In one FIFO each packet waits behind those for the dead station, each sent seven times. In a queue of its own it waits
    // behind one attempt at one of them.
    assert!(shared.1 > 5.0 * own.1, "{shared:?} and {own:?}");
    assert!(shared.0 > 0.0 && own.0 > 1.9e6, "{own:?}");
}

#[test]
fn depths_are_read_and_refused() {
    let read = |depth: &str| World::new(&network(&sender("standard = \"802.11g\"", "", depth)), 1).map(drop);
    for good in ["64 packets", "1 packet", "2 aggregates", "1 aggregate", "4 ms", "off"] {
        assert!(read(good).is_ok(), "{good}");
    }
    for bad in ["0 packets", "-3 packets", "two packets", "64 pakets", "64", "0 ms", "4 MB", ""] {
        let text = sender("standard = \"802.11g\"", "", "1 packet").replace("\"1 packet\"", &format!("\"{bad}\""));
        let error = std::panic::catch_unwind(|| network(&text)).err();
        assert!(error.is_some(), "{bad} is refused");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// In every debug run, the simulator checks at the end that packets, airtime and loads balance.
    #[test]
    fn accounts_balance_and_time_can_be_cut_anywhere(
        (depth, station, queues) in (0_usize..4, any::<bool>(), 0_usize..4),
        (edca, ampdu, amsdu, rts, rate) in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        flows in prop::collection::vec((0_usize..4, 0_usize..5, 50_u32..8000, 0_u32..3, any::<bool>()), 1..6),
        micros in 100_u64..100_000,
    ) {
        let depth = ["1 packet", "40 packets", "2 aggregates", "3 ms"][depth];
        let per = if station { "station" } else { "category" };
        let queues = ["one", "per-station", "mac80211", "turns"][queues];
        let mut mac = format!("[mac]\nhardware_queue = \"{depth}\"\nhardware_queue_per = \"{per}\"\n");
        mac += if edca { "access = \"edca\"\n" } else { "access = \"dcf\"\n" };
        mac += if rts { "rts_threshold = \"500 B\"\n" } else { "" };
        mac += if rate { "[mac.rate_control]\nalgorithm = \"minstrel-ht\"\n" } else { "" };
        if edca && (ampdu || amsdu) {
            mac += "[mac.aggregation]\n";
            mac += if ampdu { "ampdu = \"20000 B\"\n" } else { "" };
            mac += if amsdu { "amsdu = \"3000 B\"\n" } else { "" };
        }
        let controlled = if matches!(queues, "mac80211" | "turns") { "" } else { "[queue]\nlimit = 30\ncontroller = \"wqm\"\n" };
        let mut text = format!(
            "duration = \"2 s\"\nwarmup = \"300 ms\"\n[radio]\nstandard = \"802.11n\"\n\
             errors = {{ model = \"fixed\", packet_error_ratio = 0.1 }}\n{mac}{controlled}\
             [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\nqueues = \"{queues}\"\n\
             [[node]]\nname = \"near\"\nposition = [\"10 m\", \"0 m\"]\n\
             [[node]]\nname = \"far\"\nposition = [\"20 m\", \"0 m\"]\n\
             [[node]]\nname = \"server\"\nrole = \"wired\"\n[[wired]]\nbetween = [\"server\", \"ap\"]\n\
             rate = \"100 Mb/s\"\ndelay = \"3 ms\"\n"
        );
        let flows = drawn_flows(&flows, edca);
        prop_assume!(!flows.is_empty());
        text += &flows;
        prop_assert_eq!(Some(run(&text, 7)), cut(&network(&text), Duration::from_micros(micros)));
    }
}
