//! TCP flows and pings in a network.

use crate::networks::{flow, of, refuses, run};
use sim::results::Outcome;

/// A server at 100 Mb/s and `delay` from an access point, and two stations next to the access point.
fn access_point(delay: &str, more: &str) -> String {
    format!(
        "duration = \"10 s\"\n[radio]\nstandard = \"802.11g\"\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nname = \"s1\"\nposition = [\"5 m\", \"0 m\"]\n\
         [[node]]\nname = \"s2\"\nposition = [\"0 m\", \"5 m\"]\n\
         [[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"{delay}\"\n{more}"
    )
}

fn tcp(name: &str, ends: [&str; 2], traffic: &str) -> String {
    flow(name, ends, traffic) + "transport = \"tcp\"\n"
}

/// A download over 802.11b through a buffer that eBDP makes short while the first slow start still grows.
fn download(rate: &str, loss_detection: &str) -> String {
    format!(
        "duration = \"40 s\"\n[radio]\nstandard = \"802.11b\"\ndata_rate = \"{rate}\"\nbasic_rate = \"1 Mb/s\"\n\
         [mac]\nshort_retry_limit = 11\n[record]\nseries = \"250 ms\"\n\
         [tcp]\nloss_detection = \"{loss_detection}\"\ndelayed_ack = \"0 s\"\ninitial_window = 2\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
         [node.queue]\nlimit = 400\npurge = \"none\"\ncontroller = \"ebdp\"\n\
         [[node]]\nname = \"s1\"\nposition = [\"10 m\", \"0 m\"]\n\
         [[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"100 ms\"\nqueue = {{ limit = 10000 }}\n"
    ) + &tcp("down", ["server", "s1"], "kind = \"greedy\"")
}

#[test]
fn after_a_timeout_the_window_grows_by_a_segment_an_acknowledgement() {
    // An acknowledgement that covered a window of SACKed segments once raised the window from 1 to 44 segments.
    let text = "duration = \"60 s\"\n[tcp]\nloss_detection = \"duplicate-acks\"\n[record]\nseries = \"10 ms\"\n\
                [[node]]\nname = \"a\"\nrole = \"wired\"\n[[node]]\nname = \"b\"\nrole = \"wired\"\n\
                [[wired]]\nbetween = [\"a\", \"b\"]\nrate = \"20 Mb/s\"\ndelay = \"20 ms\"\nloss = 0.05\n\
                queue = { limit = 10000 }\n";
    for (congestion, recovery_end) in [("reno", "threshold"), ("reno", "counted"), ("cubic", "threshold")] {
        let rules = format!("[tcp]\ncongestion = \"{congestion}\"\nrecovery_end = \"{recovery_end}\"\n");
        let text = text.replace("[tcp]\n", &rules) + &tcp("down", ["a", "b"], "kind = \"greedy\"");
        for seed in 1..=3 {
            let outcome = run(&text, seed);
            let series = outcome.series.as_ref().expect("recorded");
            let windows = &series.flows[0].cwnd_packets;
            let after = || windows.windows(2).filter(|step| step[0].to_bits() == 1_f64.to_bits());
            let most = after().map(|step| step[1]).fold(1.0, f64::max);
            assert!(after().count() > 0 && most <= 3.0, "{congestion}, {recovery_end}, seed {seed}: {most}");
        }
    }
}

#[test]
fn a_download_whose_repetitions_are_lost_stands_still_for_a_timeout_at_most() {
    // Once every repetition restarted the timer and lost repetitions went unnoticed. Then nothing came in order for 42 s at 1
    // Mb/s, and for 8 to 10 s at 11 Mb/s, while the air was full.
    for (rate, air) in [("1 Mb/s", 0.65e6), ("11 Mb/s", 3e6)] {
        for loss_detection in ["rack-tlp", "duplicate-acks"] {
            for seed in 1..=3 {
                let outcome = run(&download(rate, loss_detection), seed);
                let (flow, series) = (of(&outcome, "down"), outcome.series.as_ref().expect("recorded"));
                let down = &series.flows[0];
                let still = down.goodput_bps[8..].split(|&bps| bps > 0.0).map(<[f64]>::len).max().unwrap_or(0);
                // The timeout is SRTT + 4 RTTVAR, at least 1 s; RTTVAR begins with half a round trip. Before it, one round trip
                // passes until the loss is noticed; after it, the repetition arrives.
                let (rtt, expired) = (flow.srtt_max_s.expect("of TCP"), flow.timeouts.expect("of TCP"));
                let timeout = (3.0 * rtt).max(1.0);
                let still = still as f64 * series.step_s;
                assert!(
                    still <= timeout + 2.0 * rtt + series.step_s,
                    "{rate}, {loss_detection}, seed {seed}: {still} s"
                );
                assert!(expired <= 1, "{rate}, {loss_detection}, seed {seed}: {expired} timeouts");
                let carried = flow.carried_bps.expect("of TCP");
                assert!(carried > air && carried >= flow.goodput_bps, "{rate}, {loss_detection}: {carried}");
                let idle = down.carried_bps[8..].iter().filter(|&&bps| bps < air / 2.0).count() as f64;
                let waits = expired as f64 * timeout + 2.0 * series.step_s;
                assert!(idle * series.step_s <= waits, "{rate}, {loss_detection}, seed {seed}: {idle} steps");
            }
        }
    }
}

#[test]
fn a_transfer_arrives_whole_and_once() {
    for ends in [["server", "s1"], ["s1", "server"], ["s1", "s2"], ["server", "ap"]] {
        let text = access_point("10 ms", "") + &tcp("f", ends, "kind = \"transfer\", size = \"123457 B\"");
        let outcome = run(&text, 1);
        let flow = of(&outcome, "f");
        assert_eq!((flow.transfers, flow.transfers_completed), (Some(1), Some(1)), "{ends:?}");
        assert!((flow.goodput_bps * 10.0 / 8.0 - 123_457.0).abs() < 1e-6, "{ends:?}: {}", flow.goodput_bps);
        assert_eq!(flow.carried_bps, Some(flow.goodput_bps), "{ends:?}");
        assert!(flow.sent_packets >= 124 && flow.received_packets >= 124, "{ends:?}");
        assert_eq!(flow.in_flight_packets, 0, "{ends:?}");
    }
}

#[test]
fn a_ping_measures_there_and_back() {
    let text = access_point("10 ms", "[mac]\ncw_min = 0\n")
        + &flow("p", ["server", "ap"], "kind = \"ping\", packet = \"64 B\", every = \"300 ms\"");
    let outcome = run(&text, 1);
    let ping = of(&outcome, "p");
    // Pings are sent at 0 s, 0.3 s, ..., 9.9 s.
    assert_eq!((ping.sent_packets, ping.received_packets, ping.replies), (34, 34, Some(34)));
    // 64 B of payload, 8 B of ICMP and 20 B of IP at 100 Mb/s: 7.36 us each way.
    let rtt = ping.rtt_s.expect("of a ping");
    assert!((rtt.max - 0.020_014_72).abs() < 1e-12 && (rtt.mean - rtt.max).abs() < 1e-12, "{rtt:?}");
    assert!((ping.delay_s.max - 0.010_007_36).abs() < 1e-12);
}

/// Converts to whole nanoseconds.
fn nanos(seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "some seconds")]
    let nanos = (seconds * 1e9).round() as i64;
    nanos
}

/// Two wired nodes, 10 Mb/s and 7 ms apart.
fn wire(more: &str) -> String {
    format!(
        "duration = \"10 s\"\n[[node]]\nname = \"a\"\nrole = \"wired\"\n[[node]]\nname = \"b\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mb/s\"\ndelay = \"7 ms\"\n{more}"
    )
}

#[test]
fn a_transfer_over_a_wire_takes_what_its_segments_take() {
    // A SYN has 40 B of TCP (MSS, SACK permitted, time stamps, window scale), a segment 32 B, and IP 20 B more.
    let (way, syn, data, ack) = (7_000_000, 48_000, 841_600, 41_600);
    let established = 2 * (syn + way);
    for (size, completion) in [
        // One segment: data go over the wire three times.
        ("1 kB", established + data + way),
        // Ten fit into the initial window.
        ("10 kB", established + 10 * data + way),
        // The others follow the first acknowledgement, that of two segments, without a gap: each acknowledgement of two segments
        // allows three.
        ("20 kB", established + 2 * data + way + ack + way + 10 * data + way),
    ] {
        let traffic = format!("kind = \"transfer\", size = \"{size}\"");
        let outcome = run(&wire(&tcp("f", ["a", "b"], &traffic)), 1);
        let flow = of(&outcome, "f");
        assert_eq!(nanos(flow.completion_s.expect("of a transfer").max), completion, "{size}");
        // The samples are of data and their end, which are acknowledged at once.
        let rtt = flow.rtt_s.expect("of TCP");
        if size == "1 kB" {
            assert_eq!(nanos(rtt.max), data + way + ack + way);
            assert_eq!(nanos(rtt.mean * 2.0), established + data + way + ack + way, "of the SYN and of the data");
        }
    }
}

/// A server 10 ms from an access point of 802.11b, a station 30 m from the access point, and no back-off.
fn air(flow: &str) -> String {
    format!(
        "duration = \"10 s\"\n[mac]\ncw_min = 0\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nname = \"s\"\nposition = [\"30 m\", \"0 m\"]\n[[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"10 ms\"\n{flow}start = \"1 s\"\n"
    )
}

/// Time of a packet of this many bytes, IP header included, over that wire and over the air: 36 B of MAC and LLC more at 11 Mb/s,
/// in whole microseconds, after the long preamble, and 30 m at the speed of light.
fn hops(bytes: i64) -> i64 {
    let over_wire = bytes * 80 + 10_000_000;
    let over_air = (192 + ((bytes + 36) * 8 + 10) / 11) * 1_000 + 100;
    over_wire + over_air
}

/// Time before an answer is sent: SIFS, the ACK at 1 Mb/s for the packet that it answers, and DIFS.
const TURN: i64 = 364_000;

#[test]
fn a_transfer_over_wire_and_air_takes_what_its_hops_take() {
    for (ends, turn_before_data) in [(["server", "s"], 0), (["s", "server"], TURN)] {
        let outcome = run(&air(&tcp("f", ends, "kind = \"transfer\", size = \"1 kB\"")), 1);
        let flow = of(&outcome, "f");
        // The station answers what comes over the air when the medium is free again; the server answers at once.
        let established = hops(60) + (TURN - turn_before_data) + hops(60);
        let arrived = established + turn_before_data + hops(1_052);
        assert_eq!(nanos(flow.completion_s.expect("of a transfer").max), arrived, "{ends:?}");
        let rtt = flow.rtt_s.expect("of TCP");
        let last = hops(1_052) + (TURN - turn_before_data) + hops(52);
        assert_eq!(nanos(rtt.max), last + turn_before_data, "{ends:?}");
        assert_eq!(nanos(rtt.mean * 2.0), established + last + turn_before_data, "{ends:?}");
    }
}

#[test]
fn a_ping_over_wire_and_air_takes_what_its_hops_take() {
    // 56 B of payload, 8 of ICMP, 20 of IP.
    let outcome = run(&air(&flow("p", ["server", "s"], "kind = \"ping\"")), 1);
    let rtt = of(&outcome, "p").rtt_s.expect("of a ping");
    assert_eq!((nanos(rtt.max), nanos(rtt.mean)), (2 * hops(84) + TURN, 2 * hops(84) + TURN));
}

#[test]
fn random_pings_come_at_their_mean_rate() {
    let text = access_point("1 ms", "").replace("10 s", "1000 s")
        + &flow("p", ["s1", "server"], "kind = \"ping\", every = \"100 ms\", times = \"exponential\"");
    let outcome = run(&text, 1);
    // The number is Poisson-distributed: 10 000 with a standard deviation of 100.
    assert!(of(&outcome, "p").sent_packets.abs_diff(10_000) < 400);
}

#[test]
fn what_goes_back_is_not_in_the_results() {
    let text = access_point("10 ms", "[record]\nseries = \"1 s\"\n")
        + &tcp("down", ["server", "s1"], "kind = \"greedy\"")
        + &flow("p", ["s2", "server"], "kind = \"ping\"");
    let outcome = run(&text, 1);
    assert_eq!(outcome.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(), ["down", "p"]);
    let series = outcome.series.expect("it was asked for");
    assert_eq!(series.flows.len(), 2);
    assert_eq!((series.flows[0].cwnd_packets.len(), series.flows[0].srtt_s.len()), (10, 10));
    assert!(series.flows[0].srtt_s.iter().all(|srtt| srtt.is_some_and(|srtt| srtt > 0.02)));
    assert!(series.flows[1].cwnd_packets.is_empty());
}

#[test]
fn a_stream_that_stops_still_carries_what_it_has_sent() {
    let text = access_point("10 ms", "") + &tcp("f", ["server", "s1"], "kind = \"greedy\"") + "stop = \"4 s\"\n";
    let outcome = run(&text, 1);
    let stopped = of(&outcome, "f");
    assert!(stopped.goodput_bps > 1e6 && stopped.in_flight_packets == 0);
    let sent = stopped.sent_packets - stopped.retransmits.expect("of TCP");
    assert!((stopped.goodput_bps * 10.0 / 8000.0 - sent as f64).abs() < 1e-6, "{stopped:?}");
}

#[test]
fn small_windows_and_none_are_what_they_say() {
    let with = |window: &str| {
        // Delayed acknowledgements are off: they would wait for segments that the window holds back.
        let own = format!("[flow.tcp]\nadvertised_window = \"{window}\"\ndelayed_ack = \"0 s\"\n");
        let text = access_point("10 ms", "") + &tcp("f", ["server", "ap"], "kind = \"greedy\"") + &own;
        of(&run(&text, 1), "f").clone()
    };
    // The rate is a window in each round trip of 20 ms and a little more.
    for (window, bytes) in [("5 kB", 5000.0), ("400 B", 400.0)] {
        let goodput = with(window).goodput_bps;
        assert!(goodput < bytes * 8.0 / 0.02 && goodput > 0.95 * bytes * 8.0 / 0.021, "{window}: {goodput}");
    }
    let closed = with("0 B");
    assert!(closed.goodput_bps.abs() < 1e-9 && closed.sent_packets > 0, "a closed window is probed: {closed:?}");
}

#[test]
fn transfers_of_nothing_open_and_close() {
    let text =
        access_point("10 ms", "") + &tcp("f", ["server", "ap"], "kind = \"transfer\", size = \"0 B\", every = \"1 s\"");
    let flow = of(&run(&text, 1), "f").clone();
    assert_eq!((flow.transfers, flow.transfers_completed, flow.sent_packets), (Some(10), Some(10), 0));
    // SYN there, SYN back, FIN there.
    let completion = flow.completion_s.expect("of transfers");
    assert!(completion.max > 0.03 && completion.max < 0.0301, "{completion:?}");
}

#[test]
fn transfers_overlap_where_the_next_is_due_before_the_last_has_ended() {
    // 200 kB in 10 round trips of 100 ms or more, one each 250 ms.
    let traffic = "kind = \"transfer\", size = \"200 kB\", every = \"250 ms\"";
    let text = access_point("50 ms", "") + &tcp("f", ["server", "s1"], traffic) + "stop = \"5 s\"\n";
    let outcome = run(&text, 1);
    let flow = of(&outcome, "f");
    assert_eq!((flow.transfers, flow.transfers_completed), (Some(20), Some(20)));
    assert!(flow.completion_s.expect("of transfers").p50 > 0.25);
    assert!((flow.goodput_bps * 10.0 / 8.0 - 4e6).abs() < 1e-3);
}

#[test]
fn a_flow_after_the_end_opens_nothing() {
    for kind in [
        "kind = \"greedy\"",
        "kind = \"transfer\", size = \"1 kB\"",
        "kind = \"web\", size = \"1 kB\", reading = \"1 s\"",
    ] {
        let text = access_point("10 ms", "") + &tcp("f", ["server", "s1"], kind) + "start = \"11 s\"\n";
        let outcome = run(&text, 1);
        assert_eq!((of(&outcome, "f").sent_packets, of(&outcome, "f").in_flight_packets), (0, 0), "{kind}");
        assert_eq!(outcome.totals.goodput_bps.to_bits(), 0.0_f64.to_bits());
    }
}

#[test]
fn a_buffer_of_one_packet_lets_a_transfer_through() {
    let text = access_point("10 ms", "[queue]\nlimit = 1\n").replace("delay =", "queue = { limit = 1 }\ndelay =")
        + &tcp("f", ["server", "s1"], "kind = \"transfer\", size = \"50 kB\"");
    let outcome = run(&text.replace("10 s", "100 s"), 1);
    let flow = of(&outcome, "f");
    assert_eq!(flow.transfers_completed, Some(1), "{flow:?}");
    assert!(flow.retransmits.is_some_and(|again| again > 0));
}

#[test]
fn a_round_trip_of_almost_nothing_runs() {
    // The fastest wire that a scenario can have, over no distance: some nanoseconds.
    let text =
        "duration = \"1 ms\"\n[[node]]\nname = \"a\"\nrole = \"wired\"\n[[node]]\nname = \"b\"\nrole = \"wired\"\n\
        [[wired]]\nbetween = [\"a\", \"b\"]\nrate = \"800 Gb/s\"\n"
            .to_owned()
            + &tcp("f", ["a", "b"], "kind = \"greedy\"");
    let outcome = run(&text, 1);
    assert!(of(&outcome, "f").goodput_bps > 1e9 && of(&outcome, "f").rtt_s.expect("of TCP").mean < 1e-5, "{outcome:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let there = ["server", "s1"];
    let greedy = "kind = \"greedy\"";
    let settings = |keys: &str| access_point("1 ms", &format!("[tcp]\n{keys}\n")) + &tcp("f", there, greedy);
    let own = |keys: &str| access_point("1 ms", "") + &tcp("f", there, greedy) + &format!("[flow.tcp]\n{keys}\n");
    let with = |flow: &str| access_point("1 ms", "") + flow;
    for (text, path, words) in [
        (with(&flow("f", there, greedy)), "flow.f.traffic.kind", "transport = \"tcp\""),
        (with(&flow("f", there, "kind = \"transfer\", size = \"1 kB\"")), "flow.f.traffic.kind", "transport = \"tcp\""),
        (with(&tcp("f", there, "kind = \"voice\"")), "flow.f.transport", "`greedy`"),
        (with(&tcp("f", there, "kind = \"ping\"")), "flow.f.transport", "ICMP"),
        (with(&tcp("f", there, "kind = \"transfer\"")), "flow.f.traffic", "needs a `size`"),
        (with(&tcp("f", there, "kind = \"greedy\", size = \"1 kB\"")), "flow.f.traffic.size", "no `size`"),
        (
            with(&tcp("f", there, "kind = \"web\", size = \"1 kB\", reading = \"1 s\", packet = \"1 kB\"")),
            "flow.f.traffic.packet",
            "`segment`",
        ),
        (
            with(&tcp("f", there, "kind = \"web\", size = \"1 kB\", reading = \"1 s\", rate = \"1 Mb/s\"")),
            "flow.f.traffic.rate",
            "pace",
        ),
        (
            with(&tcp("f", there, "kind = \"web\", size = \"0 B\", reading = \"1 s\"")),
            "flow.f.traffic.size",
            "above zero",
        ),
        (with(&tcp("f", ["s1", "broadcast"], greedy)), "flow.f.to", "cannot broadcast"),
        (with(&flow("f", ["s1", "broadcast"], "kind = \"ping\"")), "flow.f.to", "all nodes would answer"),
        (with(&flow("f", there, "kind = \"ping\", times = \"pareto\"")), "flow.f.traffic.times", "exponentially"),
        (with(&(flow("f", there, "kind = \"ping\"") + "[flow.tcp]\necn = true\n")), "flow.f.tcp", "no TCP"),
        (settings("segment = \"2245 B\""), "tcp.segment", "2244 B"),
        (own("segment = \"2257 B\"\ntimestamps = false"), "flow.f.tcp.segment", "2256 B"),
        (settings("initial_window = 0"), "tcp.initial_window", "at least 1"),
        (settings("initial_window = 10001"), "tcp.initial_window", "10000"),
        (settings("advertised_window = \"2000 MB\""), "tcp.advertised_window", "1024 MiB"),
        (settings("ack_category = \"voice\""), "tcp.ack_category", "edca"),
        (settings("recovery = \"newreno\"\nloss_detection = \"rack-tlp\""), "tcp.loss_detection", "selective"),
        (own("recovery = \"reno\"\nloss_detection = \"rack-tlp\""), "flow.f.tcp.loss_detection", "selective"),
        (own("ack_category = \"voice\""), "flow.f.tcp.ack_category", "edca"),
    ] {
        refuses(&text, path, words);
    }
}

#[test]
fn a_small_queue_is_shorter_and_costs_nothing() {
    let text = access_point("10 ms", "[tcp]\n") + &tcp("up", ["s1", "server"], "kind = \"greedy\"");
    let [free, small] =
        ["", "small_queue = \"8 ms\"\n"].map(|key| run(&text.replace("[tcp]\n", &format!("[tcp]\n{key}")), 1));
    let queued = |outcome: &Outcome| {
        let station = outcome.nodes.iter().find(|node| node.name == "s1").expect("the sender");
        station.queues[0].backlog_packets.mean
    };
    assert!(queued(&small) < 0.6 * queued(&free), "{} {}", queued(&small), queued(&free));
    let goodput = |outcome: &Outcome| of(outcome, "up").goodput_bps;
    assert!(goodput(&small) > 0.97 * goodput(&free), "{} {}", goodput(&small), goodput(&free));
}
