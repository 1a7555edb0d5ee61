//! Service classes in whole networks: a queue for each class, which class goes first, and what is refused.

use crate::networks::{refuses, run, watched};
use sim::config::Class;
use sim::trace::TraceEventKind;

/// A node that always has a best-effort packet of 1500 B for its neighbour, and a call.
const PAIR: &str = "duration = \"10 s\"\n[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"5 m\"\n\
    [[flow]]\nname = \"call\"\nfrom = \"n0\"\nto = \"n1\"\nclass = \"real-time\"\nphase_jitter = \"20 ms\"\n\
    traffic = { kind = \"cbr\", rate = \"32 kb/s\", packet = \"80 B\" }\n\
    [[flow]]\nname = \"bulk\"\nfrom = \"n0\"\nto = \"n1\"\n\
    traffic = { kind = \"cbr\", rate = \"20 Mb/s\", packet = \"1500 B\" }\n";

/// Longest time of a packet of 1500 B and its ACK at 11 Mb/s with the most slots of a first back-off: DIFS 50 us, 31 slots of 20
/// us, 192 us and 1528 + 36 B at 11 Mb/s, SIFS 10 us, and at most 248 us for an ACK at 2 Mb/s.
const BULK_S: f64 = (50.0 + 620.0 + 192.0 + 1564.0 * 8.0 / 11.0 + 10.0 + 304.0) * 1e-6;

#[test]
fn with_a_queue_for_each_class_real_time_waits_for_one_packet_at_most() {
    let shared = run(PAIR, 1);
    let apart = run(&(PAIR.to_owned() + "[class_queue]\n"), 1);
    // If there is one queue, fifty packets of 1500 B are before it.
    assert!(shared.flows[0].delay_s.mean > 20.0 * BULK_S, "{:?}", shared.flows[0].delay_s);
    assert!(apart.flows[0].delay_s.max < 2.0 * BULK_S, "{:?}", apart.flows[0].delay_s);
    assert!(apart.flows[0].received_packets > 495 && apart.flows[1].goodput_bps > 0.9 * shared.flows[1].goodput_bps);
    let names = |node: usize| apart.nodes[node].queues.iter().map(|queue| queue.name.as_str()).collect::<Vec<_>>();
    assert_eq!((names(0), names(1)), (vec!["rt", "be"], vec!["rt", "be"]));
    assert_eq!(shared.nodes[0].queues[0].name, "be");
    assert_eq!(apart.nodes[0].queues[0].arrived_packets, apart.flows[0].sent_packets);
    assert_eq!((apart.flows[0].class, apart.flows[1].class), (Class::RealTime, Class::BestEffort));
}

#[test]
fn queues_of_classes_are_described_as_other_queues_are() {
    let queues = "[queue]\nlimit = 10\n[class_queue.real_time]\nlimit = 3\n";
    let own = "[[node]]\nname = \"n1\"\nclass_queue = { best_effort = { limit = 7 } }\n";
    let outcome = run(&(PAIR.to_owned() + queues + own), 1);
    let limits = |node: usize| {
        let queues = &outcome.nodes[node].queues;
        queues.iter().map(|queue| queue.limit_packets.expect("in packets").last).collect::<Vec<_>>()
    };
    assert_eq!((limits(0), limits(1)), (vec![3.0, 10.0], vec![3.0, 7.0]));
}

#[test]
fn at_an_access_point_each_station_has_a_queue_of_each_class_and_calls_of_all_go_first() {
    let mut text = "duration = \"5 s\"\n[class_queue]\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\n\
                    queues = \"per-station\"\nposition = [\"0 m\", \"0 m\"]\n"
        .to_owned();
    for (station, place) in [("a", 5), ("b", 6)] {
        let node = format!("[[node]]\nname = \"{station}\"\nposition = [\"{place} m\", \"0 m\"]\n");
        text += &node;
    }
    for (name, class, kind) in [
        ("call", "real-time", "kind = \"cbr\", rate = \"64 kb/s\", packet = \"160 B\""),
        ("bulk", "best-effort", "kind = \"saturated\", packet = \"1500 B\""),
    ] {
        let flow = format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"ap\"\nto = \"*\"\nclass = \"{class}\"\ntraffic = {{ {kind} }}\n"
        );
        text += &flow;
    }
    let outcome = run(&text, 1);
    let names: Vec<_> = outcome.nodes[0].queues.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(names, ["a-rt", "a-be", "b-rt", "b-be"]);
    // If two calls come at once, one waits for the other and for a packet of 1500 B.
    for flow in outcome.flows.iter().filter(|flow| flow.class == Class::RealTime) {
        assert!(flow.delay_s.max < 3.0 * BULK_S && flow.received_packets == 250, "{}: {:?}", flow.name, flow.delay_s);
    }
    let bulk: Vec<_> = outcome.flows.iter().filter(|flow| flow.class == Class::BestEffort).collect();
    assert!((bulk[0].goodput_bps / bulk[1].goodput_bps - 1.0).abs() < 0.01, "by turns");
}

#[test]
fn under_edca_real_time_goes_with_voice_unless_the_flow_says_otherwise() {
    let text = PAIR.to_owned() + "category = \"video\"\n[mac]\naccess = \"edca\"\n";
    let outcome = run(&text.replace("category", "class = \"real-time\"\ncategory"), 1);
    let arrived: Vec<_> = outcome.nodes[0].queues.iter().map(|queue| queue.arrived_packets).collect();
    assert_eq!(arrived, [outcome.flows[0].sent_packets, outcome.flows[1].sent_packets, 0, 0]);
}

#[test]
fn answers_have_the_class_of_what_they_answer() {
    let text = "duration = \"5 s\"\n[class_queue]\n[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"5 m\"\n\
                [[flow]]\nname = \"ping\"\nfrom = \"n0\"\nto = \"n1\"\nclass = \"real-time\"\ntraffic = { kind = \"ping\" }\n\
                [[flow]]\nname = \"file\"\nfrom = \"n0\"\nto = \"n1\"\ntransport = \"tcp\"\ntraffic = { kind = \"greedy\" }\n";
    let outcome = run(text, 1);
    let back = &outcome.nodes[1].queues;
    assert_eq!(back[0].arrived_packets, 5, "replies");
    assert!(back[1].arrived_packets > 100, "acknowledgements");
}

#[test]
fn packets_carry_their_class_and_routing_messages_go_with_real_time() {
    let text = PAIR.to_owned() + "[routing]\nprotocol = \"aodv\"\n[class_queue]\n";
    let (events, outcome) = watched(&text, &[0]);
    let mut seen = [0, 0];
    for event in events {
        if let TraceEventKind::Delivered(packet, _) | TraceEventKind::Queued(packet) = event.what
            && let sim::trace::Owner::Flow(flow) = packet.of
        {
            assert_eq!(packet.dscp.number(), [46, 0][flow as usize]);
            seen[flow as usize] += 1;
        }
    }
    assert!(seen.iter().all(|&packets| packets > 400), "{seen:?}");
    let messages = outcome.nodes[0].routing.expect("AODV").packets;
    assert_eq!(outcome.nodes[0].queues[0].arrived_packets, outcome.flows[0].sent_packets + messages);
}

#[test]
fn what_cannot_be_told_apart_is_refused() {
    let access_point = "[[node]]\nname = \"n0\"\nrole = \"access-point\"\nqueues = \"mac80211\"\n";
    for (more, path, says) in [
        ("[mac]\naccess = \"edca\"\n[class_queue]\n", "class_queue", "[category_queue]"),
        ("[[node]]\nname = \"n1\"\nclass_queue = { real_time = { limit = 3 } }\n", "node.n1.class_queue", "for all"),
        (&format!("{access_point}[class_queue]\n"), "node.n0.queues", "access = \"edca\""),
        (
            "[class_queue.best_effort]\ncontroller = \"adth\"\nadth = { phi_min = 2.0 }\n",
            "class_queue.best_effort.adth.phi_min",
            "phi_min",
        ),
    ] {
        refuses(&(PAIR.to_owned() + more), path, says);
    }
}

#[test]
fn a_series_has_the_shapers_rate_and_what_left_by_it() {
    let more = "[class_queue.best_effort]\ncontroller = \"swan_rate\"\n[record]\nseries = \"500 ms\"\n";
    let outcome = run(&(PAIR.to_owned() + more), 1);
    let series = outcome.series.expect("recorded");
    let [real_time, best_effort] = [&series.nodes[0], &series.nodes[1]];
    assert!(real_time.rate_bps.is_empty() && real_time.sent_bps.is_empty() && best_effort.marked_packets.is_empty());
    let sent = best_effort.sent_bps.iter().sum::<f64>() * 0.5 / (1528.0 * 8.0);
    assert!((sent - best_effort.sent_packets.iter().sum::<u64>() as f64).abs() < 1e-6, "{sent}");
    assert_eq!(best_effort.rate_bps[0], None, "nothing is shaped in the first second");
    // In the second half of a controller's interval: at most a burst and a packet more than its rate.
    let held = best_effort.rate_bps.iter().zip(&best_effort.sent_bps).skip(2).step_by(2);
    for (rate, sent) in held.clone() {
        let most = rate.expect("shaped from then on") + 2.0 * (2_304.0 + 1_528.0) * 8.0;
        assert!(*sent <= most, "{sent} of {most} bit/s");
    }
    assert_eq!(held.count(), 9);
}
