//! T-MAC: the order of age among stations, compared with its model in `theory`, and where the model says nothing.

use crate::networks::{chain, goodputs, jain, network, one_packet, run, sent};
use sim::World;
use sim::results::Outcome;
use sim::trace::{Kind, TraceEventKind};
use std::fmt::Write as _;
use theory::tmac::{Hop, rate, tcp};
use units::{Duration, Instant};

const SATURATED: &str = "{ kind = \"saturated\", packet = \"1000 B\" }";
/// Keys are valid for longer than a round of all flows lasts.
const TABLE: &str = "turns = { variant = \"table\", expiry = \"100 ms\" }";
const REQUESTS: &str = "turns = { expiry = \"100 ms\" }";

/// A parking lot in one collision domain of 802.11a: `sources` nodes in a chain behind a gateway, all in range of each other.
/// Each has packets for the gateway, which every node between relays.
fn parking_lot(sources: usize, mac: &str) -> String {
    let mut text = format!(
        "duration = \"12 s\"\nwarmup = \"2 s\"\n[radio]\nstandard = \"802.11a\"\ndata_rate = \"54 Mb/s\"\nbasic_rate = \"6 Mb/s\"\nerrors.model = \"none\"\n\
         propagation = \"range\"\nrange = \"100 m\"\n[mac]\n{mac}\n[queue]\ndiscipline = \"oldest-first\"\n\
         [nodes]\ncount = {}\nplacement = \"chain\"\nspacing = \"5 m\"\n",
        sources + 1
    );
    for source in 1..=sources {
        let via: Vec<String> = (1..source).rev().map(|node| format!("\"n{node}\"")).collect();
        let via = via.join(", ");
        let _ = write!(
            text,
            "[[routing.route]]\nfrom = \"n{source}\"\nto = \"n0\"\nvia = [{via}]\n\
             [[flow]]\nname = \"f{source}\"\nfrom = \"n{source}\"\nto = \"n0\"\ntraffic = {SATURATED}\n"
        );
    }
    text
}

fn collisions(outcome: &Outcome) -> u64 {
    outcome.nodes.iter().map(|node| node.mac.collisions).sum()
}

/// Duration of `bytes` at 54 Mb/s or at 6 Mb/s: 216 or 24 bits in each 4 us after 20 us; 22 bits are no payload.
fn symbols(bytes: u32, bits: u32) -> f64 {
    f64::from(20 + 4 * (22 + 8 * bytes).div_ceil(bits)) * 1e-6
}

/// Rate of a flow of 1000 B in b/s, if a hop from node `n` (its hops from the gateway) takes `hop(n)`.
fn shared(sources: usize, hop: impl Fn(usize) -> f64) -> f64 {
    let hops: Vec<Hop> = (1..=sources).map(|node| Hop { data_s: hop(node), ack_s: 0.0 }).collect();
    let flows: Vec<&[Hop]> = (1..=sources).map(|source| &hops[..source]).collect();
    rate(&flows, 1.0).expect("flows with hops") * 8_000.0
}

/// DIFS 34 and 7.5 slots of 9 us on average, data of 1072 B (1000, UDP, IP, LLC, MAC header, key), SIFS 16, an ACK of 22 B.
fn exchange() -> f64 {
    exchange_of(1_072)
}

fn exchange_of(bytes: u32) -> f64 {
    (34.0 + 67.5 + 16.0) * 1e-6 + symbols(bytes, 216) + symbols(22, 24)
}

#[test]
fn in_one_domain_all_flows_have_the_rate_of_one_fifo() {
    for sources in 2..=6 {
        let outcome = run(&parking_lot(sources, TABLE), 1);
        let rates = goodputs(&outcome);
        let expected = shared(sources, |_| exchange());
        for rate in &rates {
            assert!((rate / expected - 1.0).abs() < 0.01, "{sources}: {rates:?}, {expected} by theory");
        }
        assert!(jain(&rates) > 0.9999 && collisions(&outcome) == 0, "{sources}: {rates:?}");
        let dropped: u64 = outcome.nodes.iter().flat_map(|node| &node.queues).map(|queue| queue.dropped_packets).sum();
        assert_eq!(dropped, 0);
        let plain = run(&parking_lot(sources, ""), 1);
        assert!(jain(&goodputs(&plain)) < 0.55 && collisions(&plain) > 1_000, "{sources}: {:?}", goodputs(&plain));
    }
}

/// Transfers to the gateway; each has a number of hops, and a window in segments of 1000 B.
fn transfers(flows: &[(usize, u32)], delayed: bool) -> String {
    let nodes = flows.len().max(flows.iter().map(|(hops, _)| *hops).max().unwrap_or_default());
    let mut text = parking_lot(0, TABLE).replace("count = 1", &format!("count = {}", nodes + 1))
        + "[tcp]\nsegment = \"1000 B\"\ntimestamps = false\ncongestion = \"reno\"\n"
        + if delayed { "" } else { "delayed_ack = \"0 s\"\n" };
    for (source, (hops, window)) in (1..).zip(flows) {
        let via: Vec<String> = (1..*hops).map(|node| format!("\"n{node}\"")).collect();
        let there: Vec<&str> = via.iter().rev().map(String::as_str).collect();
        let _ = write!(
            text,
            "[[routing.route]]\nfrom = \"n{source}\"\nto = \"n0\"\nvia = [{}]\n\
             [[routing.route]]\nfrom = \"n0\"\nto = \"n{source}\"\nvia = [{}]\n\
             [[flow]]\nname = \"f{source}\"\nfrom = \"n{source}\"\nto = \"n0\"\ntransport = \"tcp\"\n\
             tcp.advertised_window = \"{window}000 B\"\ntraffic = {{ kind = \"greedy\" }}\n",
            there.join(", "),
            via.join(", ")
        );
    }
    text
}

/// Frames of 1084 B with segments and of 84 B with acknowledgements. Over one hop rates are as windows, whether every packet is
/// acknowledged or every second one. Over more the domain is as full, but relays favour their own: where each has 8, `n1` sends
/// the segment that its MAC holds before an acknowledgement for its neighbour, two for each of the neighbour's segments.
#[test]
fn transfers_share_one_fifo_as_their_windows_do() {
    let hop = Hop { data_s: exchange_of(1_084), ack_s: exchange_of(84) };
    for (flows, delayed) in [
        (&[(1, 8), (1, 8)][..], false),
        (&[(1, 4), (1, 12), (1, 8)], false),
        (&[(1, 12), (1, 4), (1, 8)], true),
        (&[(1, 8), (2, 8)], false),
        (&[(1, 8), (2, 8), (3, 8)], false),
        (&[(1, 12), (2, 4), (3, 8)], true),
    ] {
        let rates: Vec<f64> = goodputs(&run(&transfers(flows, delayed), 1)).iter().map(|rate| rate / 8_000.0).collect();
        let hops = [hop; 3];
        let windows: Vec<(u32, &[Hop])> = flows.iter().map(|(far, window)| (*window, &hops[..*far])).collect();
        let expected = tcp(&windows, if delayed { 2.0 } else { 1.0 }).expect("flows with hops");
        let time = |rates: &[f64]| rates.iter().zip(flows).map(|(rate, (hops, _))| rate * *hops as f64).sum::<f64>();
        assert!((time(&rates) / time(&expected) - 1.0).abs() < 0.02, "{flows:?}: {rates:?}, {expected:?}");
        if flows.iter().all(|(hops, _)| *hops == 1) {
            let close = |(found, expected): (&f64, &f64)| (found / expected - 1.0).abs() < 0.02;
            assert!(rates.iter().zip(&expected).all(close), "{flows:?}: {rates:?}, {expected:?}");
        } else if flows.len() == 2 {
            assert!((rates[0] / rates[1] - 2.0).abs() < 0.02, "{rates:?}");
        }
    }
}

/// Every node except the gateway sends data, so a request from node `n` asks its receiver and all other sources. It has 31 B and
/// 6 B for each after the first; then each grant takes 60 us and SIFS.
#[test]
fn requests_cost_what_their_frames_last() {
    for sources in 2..=3 {
        let asked = |node: usize| if node == 1 { sources } else { sources - 1 };
        let expected = shared(sources, |node| {
            let asked = u32::try_from(asked(node)).expect("few");
            exchange() + symbols(31 + 6 * (asked - 1), 24) + f64::from(asked) * 60e-6 + 16e-6
        });
        let outcome = run(&parking_lot(sources, REQUESTS), 1);
        let rates = goodputs(&outcome);
        for rate in &rates {
            assert!((rate / expected - 1.0).abs() < 0.01, "{sources}: {rates:?}, {expected} by theory");
        }
    }
}

#[test]
fn a_request_its_grant_and_what_follows_by_the_microsecond() {
    let text = chain(2, "3 s", "[mac]\nturns = {}") + &one_packet(2);
    let first = Instant::ZERO + Duration::from_secs(1);
    let frames = sent(&text, &[0, 1]).into_iter().take(4);
    let sent = frames.map(|(at, frame)| (at.since(first).as_secs_f64() * 1e6, frame.kind)).collect::<Vec<_>>();
    // 802.11b, 30 m: 0.1 us each way. The request has 31 B (440 us at 1 Mb/s), the grant 14 B (304 us). Data begin SIFS after the
    // slot of the grant, and last 972 us.
    let request = 440.0;
    let grant = request + 10.0 + 0.1;
    let data = request + 10.0 + 304.0 + 10.0;
    let ack = data + 192.0 + 780.0 + 10.0 + 0.1;
    let expected = [(0.0, Kind::Request { asked: 1 }), (grant, Kind::Grant), (data, Kind::Data), (ack, Kind::Ack)];
    for ((at, kind), (expected_at, expected_kind)) in sent.iter().zip(&expected) {
        assert!(kind == expected_kind && (at - expected_at).abs() < 1.0, "{sent:?}, not {expected:?}");
    }
    assert_eq!(sent.len(), 4);
}

/// Two sources that do not hear each other, and their gateway.
fn hidden(mac: &str) -> String {
    let flow =
        |from: &str| format!("[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"n1\"\ntraffic = {SATURATED}\n");
    format!(
        "duration = \"12 s\"\nwarmup = \"2 s\"\n[radio]\nstandard = \"802.11a\"\ndata_rate = \"54 Mb/s\"\nbasic_rate = \"6 Mb/s\"\n\
             errors.model = \"none\"\npropagation = \"range\"\nrange = \"30 m\"\n[mac]\n{mac}\n\
             [queue]\ndiscipline = \"oldest-first\"\n[nodes]\ncount = 3\nplacement = \"chain\"\nspacing = \"25 m\"\n{}{}",
        flow("n0"),
        flow("n2")
    )
}

#[test]
fn grants_protect_hidden_senders_and_the_table_alone_does_not() {
    let [plain, table, requests] = ["", TABLE, REQUESTS].map(|mac| run(&hidden(mac), 1));
    let [plain, table, requests] = [plain, table, requests].map(|outcome| {
        assert!(jain(&goodputs(&outcome)) > 0.99, "{:?}", goodputs(&outcome));
        collisions(&outcome)
    });
    assert!(requests == 0 && plain > 1_000 && table > plain / 2, "{requests}, {plain}, {table} collisions");
}

/// A node leaves for good at 4 s. What others know of it expires after `T_exp`, 100 ms. It is asked for `T_act`, 100 ms, longer;
/// the quorum of the others suffices. So less than 0.3 s pass between two packets of another flow.
#[test]
fn a_node_that_dies_stops_nobody_for_long() {
    for mac in [TABLE, REQUESTS] {
        let mut text = format!(
            "duration = \"8 s\"\n[radio]\nstandard = \"802.11a\"\ndata_rate = \"54 Mb/s\"\nbasic_rate = \"6 Mb/s\"\nerrors.model = \"none\"\n\
             propagation = \"range\"\nrange = \"100 m\"\n[mac]\n{mac}\n[queue]\ndiscipline = \"oldest-first\"\n"
        );
        for node in 0..4 {
            let goes = "waypoints = [{ time = \"4 s\", position = [\"9000 m\", \"0 m\"], speed = \"9000 m/s\" }]\n";
            let goes = if node == 3 { goes } else { "" };
            let _ = write!(text, "[[node]]\nname = \"n{node}\"\nposition = [\"{} m\", \"0 m\"]\n{goes}", 5 * node);
        }
        for node in 1..4 {
            let _ =
                write!(text, "[[flow]]\nname = \"f{node}\"\nfrom = \"n{node}\"\nto = \"n0\"\ntraffic = {SATURATED}\n");
        }
        let mut world = World::new(&network(&text), 1).expect("a network that can be built");
        world.watch(&[0]);
        let (mut last, mut longest) = ([0.0_f64; 3], [0.0_f64; 3]);
        while !world.finished() {
            world.advance(Duration::from_secs(1));
            for event in world.take_events() {
                let TraceEventKind::Delivered(packet, _) = event.what else { continue };
                let sim::trace::Owner::Flow(flow) = packet.of else { continue };
                let flow = flow as usize;
                let at = event.at.as_secs_f64();
                longest[flow] = longest[flow].max(at - last[flow]);
                last[flow] = at;
            }
        }
        world.finish();
        assert!(longest[..2].iter().all(|gap| *gap < 0.3), "{mac}: {longest:?}");
        assert!(last[2] < 4.1 && last[..2].iter().all(|at| *at > 7.9), "{mac}: {last:?}");
    }
}

/// With aggregates a request serves all that an aggregate carries, so it costs a few per cent.
#[test]
fn a_request_for_an_aggregate_costs_little() {
    let with = |mac: &str| {
        let text = parking_lot(3, mac)
            .replace("802.11a\"\ndata_rate = \"54 Mb/s\"", "802.11n\"\nfrequency = \"5.18 GHz\"\nmcs = 7");
        text.replace(
            "[mac]\n",
            "[mac]\naccess = \"edca\"\naggregation.ampdu = \"65535 B\"\nedca.best_effort.txop_limit = \"0 s\"\n",
        )
        .replace(SATURATED, "{ kind = \"cbr\", rate = \"60 Mb/s\", packet = \"1400 B\" }")
    };
    let [plain, table, requests] = [with(""), with(TABLE), with(REQUESTS)].map(|text| run(&text, 1));
    let total = |outcome: &Outcome| goodputs(outcome).iter().sum::<f64>();
    assert!(jain(&goodputs(&table)) > 0.99 && jain(&goodputs(&requests)) > 0.99);
    assert!(jain(&goodputs(&plain)) < 0.6 && total(&requests) > total(&plain));
    assert!(total(&requests) > 0.9 * total(&table), "{} of {}", total(&requests), total(&table));
}
