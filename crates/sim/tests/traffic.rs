//! Kinds of traffic in a running network, and descriptions of traffic that are certainly mistakes.

use crate::networks::{network, refusal, refuses, run};
use sim::World;
use sim::results::Outcome;

/// Two nodes of 802.11a, and flows from `n0` to `n1`.
const PAIR: &str = "[radio]\nstandard = \"802.11a\"\n[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"5 m\"\n";

const REPLAY: &[u8] = include_bytes!("../../../scenarios/reference/replay.pcap");

fn text(duration: &str, extra: &str, traffic: &str) -> String {
    format!(
        "duration = \"{duration}\"\n{PAIR}[queue]\nlimit = 20000\n\
         [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\n{extra}\ntraffic = {{ {traffic} }}\n"
    )
}

/// Checks that a flow is refused at this key of it, in these words.
fn refuses_flow(extra: &str, traffic: &str, path: &str, words: &str) {
    refuses(&text("1 s", extra, traffic), &format!("flow.f.{path}"), words);
}

/// Runs a network that replays this recording.
fn replay(recording: &[u8]) -> Result<Outcome, String> {
    let mut network = network(&text("10 s", "start = \"1 s\"", "kind = \"replay\", file = \"some.pcap\""));
    for (key, file) in network.attachments() {
        assert_eq!((key.as_str(), file.path()), ("flow.f.traffic.file", "some.pcap"));
        file.attach(recording.into());
    }
    World::new(&network, 1).map(World::finish).map_err(|error| error.to_string())
}

#[test]
fn speech_without_pauses_is_160_bytes_each_20_ms() {
    let flow = &run(&text("10.01 s", "", "kind = \"voice\""), 1).flows[0];
    assert_eq!((flow.sent_packets, flow.received_packets, flow.kind.as_str()), (501, 501, "voice"));
    assert!((flow.goodput_bps - 501.0 * 1280.0 / 10.01).abs() < 1e-6);
    let flow = &run(&text("10.01 s", "", "kind = \"voice\", packetisation = \"30 ms\""), 1).flows[0];
    assert!((flow.goodput_bps - 334.0 * 1920.0 / 10.01).abs() < 1e-6);
}

#[test]
fn a_player_stalls_once_for_what_a_burst_delays_beyond_its_buffer() {
    let stream = "kind = \"cbr\", rate = \"80 kb/s\", packet = \"100 B\"";
    let alone = text("20 s", "player_buffer = \"50 ms\"", stream);
    let stream_of = |text: &str| {
        let flow = &run(text, 1).flows[0];
        (flow.player.expect("it has a player"), flow.delay_s.max)
    };
    let (quiet, _) = stream_of(&alone);
    assert_eq!((quiet.stalls, quiet.stalled_s.to_bits()), (0, 0.0_f64.to_bits()));
    let burst = "[[flow]]\nname = \"burst\"\nfrom = \"n0\"\nto = \"n1\"\nstart = \"5 s\"\nstop = \"5.01 s\"\n\
                 traffic = { kind = \"cbr\", rate = \"800 Mb/s\", packet = \"1000 B\" }\n";
    let (played, longest) = stream_of(&format!("{alone}{burst}"));
    assert!(longest > 0.2, "1 MB at 28 Mb/s take 0.29 s, not {longest}");
    // All packets behind the burst come at once. One packet more or less is 10 ms.
    assert_eq!(played.stalls, 1);
    assert!((played.stalled_s - (longest - 0.05)).abs() < 0.011, "{} of {longest}", played.stalled_s);
    // Stalls count from the start, whatever the warm-up is.
    let (warm, _) = stream_of(&format!("warmup = \"19 s\"\n{alone}{burst}"));
    assert_eq!(warm, played);
}

#[test]
fn a_player_is_one_receivers_and_of_what_comes_over_udp() {
    for (extra, traffic, says) in
        [("transport = \"tcp\"", "kind = \"greedy\"", "over UDP"), ("", "kind = \"ping\"", "one-way flow")]
    {
        refuses_flow(&format!("player_buffer = \"50 ms\"\n{extra}"), traffic, "player_buffer", says);
    }
    let to_all =
        text("1 s", "player_buffer = \"50 ms\"", "kind = \"voice\"").replace("to = \"n1\"", "to = \"broadcast\"");
    let (_, why) = refusal(&to_all);
    assert!(why.contains("is broadcast"), "{why}");
}

#[test]
fn speech_with_pauses_is_active_for_as_long_as_p59_says() {
    let seconds = 40_000.0;
    let flow = &run(&text("40000 s", "", "kind = \"voice\", silence = true"), 1).flows[0];
    let (on, off): (f64, f64) = (1.004, 1.587);
    let found = flow.sent_packets as f64 * 0.02 / seconds;
    // The on-time within T of an alternating process of exponential times has variance 2 (on off)^2 / (on + off)^3 T.
    let deviation = (2.0 * (on * off).powi(2) / (on + off).powi(3) / seconds).sqrt();
    assert!((found - on / (on + off)).abs() < 4.0 * deviation, "active for {found}, deviation {deviation}");
}

#[test]
fn ten_thousand_packets_at_one_time_are_queued_or_discarded_and_all_accounted_for() {
    let burst = "kind = \"web\", size = \"10 MB\", size_shape = 1e9, reading = \"10 s\"";
    let whole = run(&text("100 s", "", burst), 1);
    assert!(whole.flows[0].sent_packets >= 10_000, "{}", whole.flows[0].sent_packets);
    assert!(whole.nodes[0].queues[0].backlog_packets.max >= 9_999.0);
    let short = run(&text("100 s", "", burst).replace("20000", "10"), 1);
    assert_eq!(short.flows[0].sent_packets, whole.flows[0].sent_packets);
    assert!(short.nodes[0].queues[0].dropped_packets > 9_000);
}

#[test]
fn packets_of_one_byte_are_carried() {
    for traffic in
        ["kind = \"web\", size = \"1 B\", reading = \"10 ms\"", "kind = \"cbr\", rate = \"8 kb/s\", packet = \"1 B\""]
    {
        let flow = &run(&text("2 s", "", traffic), 1).flows[0];
        assert!(flow.received_packets > 100 && flow.received_packets == flow.sent_packets, "{traffic}");
    }
}

#[test]
fn a_saturated_flow_starts_and_stops_when_it_is_told() {
    let text = text("10 s", "start = \"2 s\"\nstop = \"4 s\"", "kind = \"saturated\", packet = \"1000 B\"")
        + "[record]\nseries = \"1 s\"\n";
    let outcome = run(&text, 1);
    let series = outcome.series.expect("it was asked for");
    let goodput = &series.flows[0].goodput_bps;
    for (second, bps) in goodput.iter().enumerate() {
        // At the end, the packet at the MAC and the two that wait are still sent.
        let expected = if second == 2 || second == 3 { 1e6..=60e6 } else { 0.0..=3.0 * 8000.0 };
        assert!(expected.contains(bps), "{bps} in second {second}");
    }
    assert_eq!(outcome.flows[0].sent_packets, outcome.flows[0].received_packets);
    let never = text.replace("\"4 s\"", "\"1 s\"");
    assert_eq!(run(&never, 1).flows[0].sent_packets, 0);
}

#[test]
fn a_saturated_flow_that_stops_leaves_the_medium_to_the_other() {
    let other =
        "[[flow]]\nname = \"g\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
    let outcome = run(&(text("4 s", "stop = \"2 s\"", "kind = \"saturated\", packet = \"1000 B\"") + other), 1);
    // Half of the first half of the time, compared with that and the second half.
    let ratio = outcome.flows[1].received_packets as f64 / outcome.flows[0].received_packets as f64;
    assert!((ratio - 3.0).abs() < 0.05, "{ratio}");
}

#[test]
fn a_recording_is_sent_as_it_was_recorded() {
    // These numbers are from another tool: `tshark -r replay.pcap -T fields -e ip.len`.
    let flow = &replay(REPLAY).expect("it is a good recording").flows[0];
    assert_eq!((flow.sent_packets, flow.received_packets), (PACKETS, PACKETS));
    assert!((flow.goodput_bps - (IP_BYTES - 28 * PACKETS) as f64 * 8.0 / 10.0).abs() < 1e-6, "{}", flow.goodput_bps);
}

#[test]
fn a_bad_recording_is_refused_with_its_name_and_the_reason() {
    for (recording, reason) in [
        (REPLAY[..40].to_vec(), "`some.pcap` cannot be replayed: the file ends within packet 1"),
        (b"[radio]".to_vec(), "`some.pcap` cannot be replayed: the file is not a pcap or pcapng recording"),
        (Vec::new(), "`some.pcap` cannot be replayed: it is empty"),
    ] {
        let message = replay(&recording).expect_err("it cannot be replayed");
        assert!(message.starts_with(reason), "{message}");
    }
}

/// A flow of the testbed's generator: Ethernet frames of random lengths at a random load.
const DRAWN: &str = "kind = \"cbr\", overhead = \"46 B\", packet = { from = \"128 B\", to = \"1518 B\" }, \
     rate = { from = \"1 Mb/s\", to = \"1.8 Mb/s\", draw = \"load\" }";

#[test]
fn flows_that_share_a_draw_have_the_same_load_in_a_run_and_another_in_the_next() {
    let text = text("20 s", "count = 2", DRAWN)
        + &format!("[[flow]]\nname = \"g\"\nfrom = \"n1\"\nto = \"n0\"\ntraffic = {{ {DRAWN} }}\n");
    let mut seen = Vec::new();
    for seed in 1..=20 {
        let flows = run(&text, seed).flows;
        assert_eq!(flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(), ["f-1", "f-2", "g"]);
        // The rate also counts what is no payload: 46 B of each frame.
        let loads: Vec<f64> = flows
            .iter()
            .map(|flow| flow.offered_bps.expect("its load is drawn") + flow.sent_packets as f64 * 368.0 / 20.0)
            .collect();
        for load in &loads {
            // A run ends within a frame of at most 1518 B.
            assert!((0.0..=1518.0 * 8.0 / 20.0 + 1.0).contains(&(load - loads[0]).abs()), "{loads:?}");
            assert!((1e6..=1.8e6 + 1518.0 * 8.0 / 20.0).contains(load), "{loads:?}");
        }
        assert_ne!(flows[0].offered_bps, flows[1].offered_bps, "lengths are the flow's own");
        seen.push(loads[0]);
    }
    // Uniform on 1.0 to 1.8 Mb/s: the standard deviation is 231 kb/s, that of a mean of 20 values 52 kb/s.
    let mean = seen.iter().sum::<f64>() / 20.0;
    assert!((mean - 1.4e6).abs() < 4.0 * 52e3, "{mean}");
    let own = text.replace(", draw = \"load\"", "");
    let flows = run(&own, 1).flows;
    assert!((flows[0].offered_bps.unwrap() - flows[1].offered_bps.unwrap()).abs() > 1e3, "draws of their own");
}

#[test]
fn lengths_and_loads_do_not_depend_on_the_queue_or_on_other_flows() {
    let alone = text("5 s", "", DRAWN);
    let short = alone.replace("limit = 20000", "limit = 1");
    let other = alone.clone() + "[[flow]]\nname = \"g\"\nfrom = \"n1\"\nto = \"n0\"\ntraffic = { kind = \"voice\" }\n";
    let offered = |text: &str| run(text, 3).flows[0].offered_bps;
    assert_eq!(offered(&alone), offered(&short));
    assert_eq!(offered(&alone), offered(&other));
    assert_eq!(run(&text("5 s", "", "kind = \"voice\""), 3).flows[0].offered_bps, None, "nothing of it is drawn");
}

#[test]
fn draws_that_cannot_be_made_are_refused() {
    let cbr = |keys: &str| format!("kind = \"cbr\", {keys}");
    for (extra, traffic, path, words) in [
        ("", cbr("rate = \"1 Mb/s\", packet = []"), "traffic.packet", "list of lengths is empty"),
        ("", cbr("rate = \"1 Mb/s\", packet = [\"1 kB\", \"0 B\"]"), "traffic.packet", "at least 1 B of payload"),
        ("", cbr("rate = \"1 Mb/s\", packet = [\"1 kB\", \"3 kB\"]"), "traffic.packet", "at most 2268 B"),
        (
            "",
            cbr("rate = \"1 Mb/s\", packet = { from = \"2 kB\", to = \"1 kB\" }"),
            "traffic.packet",
            "is above `to` (1000 B)",
        ),
        ("", cbr("rate = \"1 Mb/s\", packet = \"46 B\", overhead = \"46 B\""), "traffic.packet", "room for payload"),
        (
            "",
            cbr("rate = { from = \"2 Mb/s\", to = \"1 Mb/s\" }, packet = \"1 kB\""),
            "traffic.rate",
            "is above `to` (1 Mb/s)",
        ),
        ("", cbr("rate = { from = \"0 b/s\", to = \"0 b/s\" }, packet = \"1 kB\""), "traffic.rate", "above zero"),
        (
            "",
            cbr("rate = { from = \"0 b/s\", to = \"1 Mb/s\", every = \"1 us\" }, packet = \"1 kB\""),
            "traffic.rate.every",
            "`every` must be at least 1 ms",
        ),
        (
            "at = [{ time = \"500 ms\", scale = 2 }]",
            cbr("rate = { from = \"0 b/s\", to = \"1 Mb/s\", every = \"1 s\" }, packet = \"1 kB\""),
            "at",
            "cannot have steps",
        ),
        ("", "kind = \"saturated\", packet = [\"1 kB\"]".to_owned(), "traffic.packet", "`cbr` and `poisson`"),
        (
            "",
            "kind = \"web\", size = \"1 kB\", reading = \"1 s\", rate = { from = \"1 b/s\", to = \"2 b/s\" }"
                .to_owned(),
            "traffic.rate",
            "`cbr` and `poisson`",
        ),
    ] {
        refuses_flow(extra, &traffic, path, words);
    }
    let stations = text("1 s", "count = 2", "kind = \"voice\"").replace("from = \"n0\"", "from = \"*\"");
    assert_eq!(refusal(&stations).0, "flow.f.count");
}

#[test]
fn a_count_of_zero_is_no_flow() {
    let text = text("1 s", "count = 0", "kind = \"voice\"");
    assert!(run(&text, 1).flows.is_empty());
}

#[test]
fn keys_of_another_kind_are_refused() {
    for (extra, traffic, path, words) in [
        (
            "",
            "kind = \"voice\", rate = \"64 kb/s\"",
            "traffic.rate",
            "voice traffic has no `rate`, only `packetisation`, `silence`, `on`, `off`",
        ),
        (
            "",
            "kind = \"saturated\", rate = \"1 Mb/s\", packet = \"1 kB\"",
            "traffic.rate",
            "saturated traffic has no `rate`, only `packet`",
        ),
        (
            "",
            "kind = \"cbr\", rate = \"1 Mb/s\", packet = \"1 kB\", on = \"1 s\"",
            "traffic.on",
            "has no `on`, only `rate`, `packet`, `overhead`",
        ),
        ("", "kind = \"cbr\", rate = \"1 Mb/s\"", "traffic", "needs a `packet`"),
        ("", "kind = \"web\", size = \"1 kB\"", "traffic", "needs a `reading`"),
        ("", "kind = \"replay\"", "traffic", "needs a `file`"),
        ("", "kind = \"replay\", file = \"a.pcap\"", "traffic.file", "not attached"),
        ("", "kind = \"voice\", on = \"1 s\"", "traffic.on", "silence = true"),
        ("", "kind = \"voice\", packetisation = \"20.1 ms\"", "traffic.packetisation", "whole samples of 125 us"),
        ("", "kind = \"voice\", packetisation = \"10 s\"", "traffic.packetisation", "at most 283.5 ms"),
        ("at = [{ time = \"1 s\", scale = 2 }]", "kind = \"voice\"", "at", "`cbr` and `poisson`"),
        ("at = [{ time = \"1 s\", scale = 2 }]", "kind = \"saturated\", packet = \"1 kB\"", "at", "several flows"),
    ] {
        refuses_flow(extra, traffic, path, words);
    }
}

#[test]
fn distributions_without_a_mean_or_without_time_are_refused() {
    let on_off = |more: &str| format!("kind = \"on-off\", rate = \"1 Mb/s\", packet = \"1 kB\", {more}");
    let web = |more: &str| format!("kind = \"web\", size = \"1 kB\", reading = \"1 s\", {more}");
    for (traffic, path, words) in [
        (on_off("on = \"1 s\", off = \"1 s\", times = \"pareto\", times_shape = 1"), "times_shape", "above 1"),
        (on_off("on = \"1 s\", off = \"1 s\", times_shape = 1.5"), "times_shape", "times = \"pareto\""),
        (on_off("on = \"1 us\", off = \"1 s\""), "on", "at least 10 us"),
        (on_off("on = \"1 s\", off = \"1 s\"").replace("1 Mb/s", "0 b/s"), "rate", "while on must be above zero"),
        (web("size_shape = nan"), "size_shape", "above 1"),
        (web("rate = \"0 b/s\""), "rate", "no burst ends"),
        (web("packet = \"3 kB\""), "packet", "at most 2268 B"),
    ] {
        refuses_flow("", &traffic, &format!("traffic.{path}"), words);
    }
}

/// Number of packets in `scenarios/reference/replay.pcap`.
const PACKETS: u64 = 42;
const IP_BYTES: u64 = 52_655;
