//! Stations that sleep: what a packet for one waits for, by hand and in closed form, and that none is lost or stuck.

use crate::networks::{cut, network, refusal, refuses, run};
use proptest::prelude::*;
use sim::World;
use sim::results::Outcome;
use sim::trace::{Kind, TraceEvent, TraceEventKind};
use units::{Duration, Instant};

/// The interval of beacons. By default a station wakes for each.
const BEACON_US: f64 = 102_400.0;
/// 1000 B of payload are 1064 B at 11 Mb/s behind the long preamble; 30 m at the speed of light in whole nanoseconds.
const DATA_US: f64 = 966.0 + 0.1;
/// A null frame is a MAC header and a checksum: 28 B, 20.4 us, in whole microseconds.
const NULL_US: f64 = 192.0 + 21.0 + 0.1;
/// Time between two frames without back-off: SIFS, an ACK at 1 Mb/s, and DIFS.
const TURN_US: f64 = 10.0 + 304.0 + 50.0;

const ONCE: &str = "kind = \"cbr\", rate = \"8 b/s\", packet = \"1000 B\"";

/// An access point with these keys, a station that sleeps, one that does not, and a server 10 ms away.
fn cell(access_point: &str, power_save: &str, more: &str) -> String {
    format!(
        "duration = \"4 s\"\n[mac]\ncw_min = 0\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n{access_point}\n\
         [[node]]\nname = \"phone\"\nposition = [\"30 m\", \"0 m\"]\n{power_save}\n\
         [[node]]\nname = \"desk\"\nposition = [\"-30 m\", \"0 m\"]\n\
         [[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"10 ms\"\n{more}"
    )
}

fn flow(from: &str, to: &str, traffic: &str, start: &str) -> String {
    format!(
        "[[flow]]\nname = \"f\"\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"{start}\"\ntraffic = {{ {traffic} }}\n"
    )
}

const SLEEPS: &str = "power_save = {}";
const QUEUES: [&str; 4] = ["one", "per-station", "mac80211", "turns"];

/// A frame of 1064 B lasts 8.7 ms at 1 Mb/s. A station with a timeout of 5 ms looks after 5 ms and finds that its MAC still has
/// the frame. It announces its sleep after 10 ms, not as soon as the frame is acknowledged.
#[test]
fn a_station_that_has_a_frame_is_not_idle() {
    let save = "data_rate = \"1 Mb/s\"\npower_save.idle_timeout = \"5 ms\"";
    let text = cell("", save, &flow("phone", "ap", ONCE, "1 s"));
    let mut world = World::new(&network(&text), 1).expect("a network that can be built");
    world.watch(&[1]);
    world.advance(Duration::from_millis(1_500));
    let sends = |event: TraceEvent| match event.what {
        TraceEventKind::Sends(frame) if frame.kind == Kind::Data => Some(event.at.since(Instant::ZERO).as_secs_f64()),
        _ => None,
    };
    let sent: Vec<f64> = world.take_events().into_iter().filter_map(sends).collect();
    world.advance(Duration::MAX);
    world.finish();
    // These are: when it first sleeps, the packet, and when it sleeps again.
    let [_, data, null] = sent[..] else { panic!("{sent:?}") };
    assert!(data - 1.0 < 1e-3 && (0.010..0.011).contains(&(null - 1.0)), "{sent:?}");
}

#[test]
fn a_packet_for_a_station_that_sleeps_waits_for_the_next_beacon_and_a_null_frame() {
    for (queues, power_save, every) in [
        ("one", SLEEPS, 1.0),
        ("per-station", SLEEPS, 1.0),
        ("mac80211", SLEEPS, 1.0),
        ("turns", SLEEPS, 1.0),
        ("turns", "power_save.listen_interval = \"307.2 ms\"", 3.0),
    ] {
        let ap = format!("queues = \"{queues}\"");
        let outcome = run(&cell(&ap, power_save, &flow("ap", "phone", ONCE, "1.05 s")), 1);
        let beacon = (1_050_000.0 / (every * BEACON_US)).ceil() * every * BEACON_US - 1_050_000.0;
        let expected = beacon + NULL_US + TURN_US + DATA_US;
        let found = outcome.flows[0].delay_s.max * 1e6;
        assert_eq!(outcome.flows[0].received_packets, 1);
        assert!((found - expected).abs() < 1e-3, "{queues}: {found} us, {expected} by hand");
        // It sends a null frame when it falls asleep, before the packet and after it, and one when it wakes.
        assert_eq!(outcome.nodes[1].mac.delivered, 3, "{queues}");
    }
}

#[test]
fn a_station_that_is_awake_gets_its_packets_at_once() {
    // The packet comes 80 ms after the other, when the station has been awake for as long.
    let traffic = "kind = \"cbr\", rate = \"100 kb/s\", packet = \"1000 B\"";
    let keeps_awake = flow("ap", "phone", traffic, "50 ms");
    let outcome = run(&cell("", SLEEPS, &keeps_awake), 1);
    let flow = &outcome.flows[0];
    assert!(flow.received_packets >= 49, "{}", flow.received_packets);
    assert!((flow.delay_s.max * 1e6 - DATA_US).abs() < 1e-3, "{:?}", flow.delay_s);
    // The station never sleeps: the access point has sent all, and the station nothing.
    assert_eq!(outcome.nodes[1].mac.delivered, 0);
}

#[test]
fn a_station_that_sends_is_answered_at_once_while_it_is_awake() {
    let ping = "kind = \"ping\", packet = \"64 B\", every = \"3 s\"";
    let rtt = |power_save: &str| {
        let outcome = run(&cell("", power_save, &flow("phone", "server", ping, "1.05 s")), 1);
        assert_eq!(outcome.flows[0].received_packets, 1);
        outcome.flows[0].rtt_s.expect("of a ping").max
    };
    assert!((rtt(SLEEPS) - rtt("")).abs() < 1e-9);
    // If it sleeps before the answer comes, the answer waits for the beacon at 1.1264 s.
    let late = rtt("power_save.idle_timeout = \"5 ms\"") - rtt("");
    assert!((0.045..0.06).contains(&late), "{late}");
}

/// Packets that come at random while a station sleeps come anywhere between two beacons: they wait for half of the interval on
/// average. Packets that find it awake do not wait. From one packet to the next it stays awake with probability
/// `1 - exp(-rate * timeout)`. So a time awake has `exp(rate * timeout) - 1` packets besides those that wait for its beacon. Of
/// the latter there is one more than come in half an interval.
#[test]
fn poisson_packets_wait_for_half_a_listen_interval_if_the_station_sleeps() {
    for (rate, every) in [(0.5, 0.1024), (0.5, 0.3072), (4.0, 0.1024)] {
        let traffic = format!("kind = \"poisson\", rate = \"{} b/s\", packet = \"1000 B\"", rate * 8_000.0);
        let power_save = format!("power_save.listen_interval = \"{} ms\"", every * 1e3);
        let text = cell("queues = \"turns\"", &power_save, &flow("ap", "phone", &traffic, "0 s"));
        let outcome = run(&text.replace("4 s", "4000 s"), 1);
        let asleep = 1.0 + rate * every / 2.0;
        let awake = (rate * 0.1_f64).exp_m1();
        let waits = (every / 2.0) * asleep / (asleep + awake);
        let wakes = (NULL_US + TURN_US) * 1e-6 * asleep / (asleep + awake);
        let found = outcome.flows[0].delay_s.mean - DATA_US * 1e-6;
        // There are 2000 packets or more with a uniform wait. Its deviation is 0.58 of the mean, and that of the mean 1.3 %.
        let expected = waits + wakes;
        println!("{rate} a second, {every} s: {found}, {expected} by closed form");
        assert!((found / expected - 1.0).abs() < 0.05, "{rate}, {every}: {found}, {expected}");
    }
}

#[test]
fn an_access_point_keeps_64_packets_and_drops_the_oldest() {
    // A hundred packets come within 10 ms, and none of them can be sent. The station wakes at 1.1264 s.
    let burst = "kind = \"cbr\", rate = \"80 Mb/s\", packet = \"1000 B\"";
    for queues in QUEUES {
        let burst = flow("server", "phone", burst, "1.05 s") + "stop = \"1.06 s\"\n";
        let room = match queues {
            "mac80211" => "",
            "turns" => "turns.target_delay = \"1 s\"",
            _ => "queue.limit = 200",
        };
        let outcome = run(&cell(&format!("queues = \"{queues}\"\n{room}"), SLEEPS, &burst), 1);
        let flow = &outcome.flows[0];
        assert_eq!((flow.sent_packets, flow.received_packets), (100, 64), "{queues}");
    }
}

/// A station that sleeps must not hold back others, nor may others hold back for longer than a round what came for it.
#[test]
fn a_busy_station_is_not_delayed_by_one_that_sleeps() {
    let bulk = "kind = \"saturated\", packet = \"1000 B\"";
    for queues in QUEUES {
        let text = |power_save: &str, to: &str| {
            let ping = flow("ap", to, "kind = \"cbr\", rate = \"20 kb/s\", packet = \"1000 B\"", "0 s");
            let bulk = flow("ap", "desk", bulk, "0 s").replace("\"f\"", "\"bulk\"");
            cell(&format!("queues = \"{queues}\""), power_save, &(bulk + &ping))
        };
        let sleeping = run(&text(SLEEPS, "phone"), 1);
        let awake = run(&text("", "phone"), 1);
        let ratio = sleeping.flows[0].goodput_bps / awake.flows[0].goodput_bps;
        assert!((0.97..1.03).contains(&ratio), "{queues}: {ratio}");
        assert_eq!(sleeping.flows[1].sent_packets, 10);
        // The last one comes at 3.6 s and arrives before the end.
        assert_eq!(sleeping.flows[1].received_packets, 10, "{queues}");
    }
}

#[test]
fn who_cannot_sleep_is_refused() {
    refuses(&cell(SLEEPS, "", ""), "node.ap.power_save", "only stations can sleep");
    let wired = cell("", "", "").replace("name = \"server\"\n", "name = \"server\"\npower_save = {}\n");
    assert_eq!(refusal(&wired).0, "node.server.power_save");
    let ad_hoc = "duration = \"1 s\"\n[[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\npower_save = {}\n\
                  [[node]]\nname = \"b\"\nposition = [\"9 m\", \"0 m\"]\n";
    refuses(ad_hoc, "node.a.power_save", "no access point");
    let shared = cell("", SLEEPS, "[radio]\nstandard = \"802.11ax\"\nbasic_rate = \"6 Mb/s\"\n").replace(
        "[mac]\ncw_min = 0\n",
        "[mac]\naccess = \"edca\"\nofdma = \"downlink\"\naggregation.ampdu = \"65535 B\"\n",
    );
    refuses(&shared, "node.phone.power_save", "ofdma");
    for (key, value) in [("listen_interval", "0 s"), ("idle_timeout", "0 ms")] {
        let text = cell("", &format!("power_save.{key} = \"{value}\""), "");
        let error = toml::from_str::<sim::config::Network>(&text).expect_err("it is refused").to_string();
        assert!(error.contains("above zero"), "{error}");
    }
}

fn outcome(text: &str, slice: Duration) -> Outcome {
    cut(&network(text), slice).expect("it can be built")
}

/// A flow: its ends and its kind, as numbers, rate in kb/s and bytes of a packet.
type Mixed = (usize, usize, u32, u32);

/// A cell with these queues and hardware queues. Its phone sleeps after `idle` ms, and wakes every `listen` ms.
fn mixed(queues: usize, n: bool, hardware: Option<(u8, bool)>, (idle, listen): (u32, u32), flows: &[Mixed]) -> String {
    let depth = match hardware {
        Some((depth, true)) => format!("hardware_queue = \"{depth} packets\"\nhardware_queue_per = \"station\"\n"),
        Some((depth, false)) => format!("hardware_queue = \"{depth} packets\"\n"),
        None => String::new(),
    };
    let power_save = format!("power_save = {{ idle_timeout = \"{idle} ms\", listen_interval = \"{listen} ms\" }}");
    let ends = [("server", "phone"), ("ap", "phone"), ("phone", "server"), ("server", "desk"), ("desk", "phone")];
    let kinds = ["cbr", "poisson", "ping", "greedy"];
    let mut text = cell(&format!("queues = \"{}\"", QUEUES[queues]), &power_save, "");
    for (index, &(between, kind, rate, packet)) in flows.iter().enumerate() {
        let (from, to) = ends[between];
        let (kind, more) = match kinds[kind] {
            "ping" => (format!("kind = \"ping\", packet = \"{packet} B\", every = \"{} ms\"", 3000 / rate + 10), ""),
            "greedy" => ("kind = \"greedy\"".to_owned(), "transport = \"tcp\"\n"),
            kind => (format!("kind = \"{kind}\", rate = \"{rate} kb/s\", packet = \"{packet} B\""), ""),
        };
        let own = flow(from, to, &kind, "0 s").replace("\"f\"", &format!("\"f{index}\"")) + "stop = \"2 s\"\n" + more;
        text += &own;
    }
    let mac = if n { "access = \"edca\"\naggregation.ampdu = \"30000 B\"\n" } else { "cw_min = 15\n" };
    // What the queues hold at 2 s, 1000 packets each, is sent before the end.
    text = text.replace("cw_min = 0\n", &format!("{mac}{depth}")).replace("4 s", "30 s");
    if n {
        text += "[radio]\nstandard = \"802.11n\"\nmcs = 3\nbasic_rate = \"6 Mb/s\"\n";
    }
    text
}

/// With a hardware queue for each station, a null frame that is sent again gets its turn, although its receiver has no queue. If
/// a packet is kept instead, frames that are sent again go before newer ones to the same receiver.
#[test]
fn frames_that_are_sent_again_have_their_turn_beside_a_hardware_queue_for_each_station() {
    let stuck = mixed(0, false, Some((19, true)), (3, 86), &[(4, 0, 52, 1_024), (3, 3, 5, 40)]);
    let flows = [(2, 2, 1_501, 1_041), (3, 2, 201, 496), (3, 0, 407, 911), (4, 3, 5, 40)];
    let twice = mixed(2, false, Some((2, true)), (6, 7), &flows);
    for text in [stuck, twice] {
        for flow in outcome(&text, Duration::MAX).flows {
            assert_eq!(flow.in_flight_packets, 0, "{}: {text}", flow.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever queues, hardware and traffic are: nothing is lost except what a queue drops, and nothing is stuck. The counts of
    /// packets, airtime and hardware queues balance, as debug runs check.
    #[test]
    fn no_packet_is_lost_or_stuck(
        queues in 0_usize..4,
        n in any::<bool>(),
        hardware in prop::option::of((1_u8..40, any::<bool>())),
        idle in 1_u32..150,
        listen in 1_u32..250,
        flows in prop::collection::vec((0_usize..5, 0_usize..4, 5_u32..3000, 40_u32..1400), 1..5),
        micros in 500_u64..90_000,
    ) {
        let text = mixed(queues, n, hardware, (idle, listen), &flows);
        let whole = outcome(&text, Duration::MAX);
        prop_assert_eq!(&whole, &outcome(&text, Duration::from_micros(micros)));
        for flow in &whole.flows {
            prop_assert_eq!(flow.in_flight_packets, 0, "{}: {}", flow.name, text);
        }
    }
}

/// A frame of the desk is on the air when the phone has been idle for 50 ms and then gets a packet. Its null frame and the packet
/// share a frame, which says both. It is awake, and its access point takes it to be awake.
#[test]
fn a_packet_in_the_frame_of_a_null_frame_keeps_its_station_awake() {
    let text = "duration = \"1100 ms\"\nradio = { standard = \"802.11n\", mcs = 0 }\n\
         mac = { access = \"edca\", aggregation.ampdu = \"65535 B\" }\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nname = \"phone\"\nposition = [\"5 m\", \"0 m\"]\npower_save.idle_timeout = \"50 ms\"\n\
         [[node]]\nname = \"desk\"\nposition = [\"-5 m\", \"0 m\"]\n\
         [[flow]]\nname = \"up\"\nfrom = \"phone\"\nto = \"ap\"\nstart = \"1 s\"\ncategory = \"voice\"\n\
         traffic = { kind = \"cbr\", rate = \"16 kb/s\", packet = \"102 B\" }\n\
         [[flow]]\nname = \"beside\"\nfrom = \"desk\"\nto = \"ap\"\nstart = \"1049.7 ms\"\n\
         traffic = { kind = \"cbr\", rate = \"8 kb/s\", packet = \"1400 B\" }\n\
         [[flow]]\nname = \"down\"\nfrom = \"ap\"\nto = \"phone\"\nstart = \"1060 ms\"\n\
         traffic = { kind = \"cbr\", rate = \"8 kb/s\", packet = \"100 B\" }\n";
    let outcome = run(text, 1);
    assert_eq!(outcome.flows[0].received_packets, 2);
    assert!(outcome.flows[2].received_packets == 1 && outcome.flows[2].delay_s.max < 1e-3, "{:?}", outcome.flows[2]);
}
