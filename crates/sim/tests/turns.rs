//! The scheduler `turns` in networks: for what a thin flow (one that sends little) waits, and what bulk traffic pays.

use crate::networks::{goodputs, jain, of, refuses, run};
use sim::results::Outcome;

/// An access point at MCS 7 with these queues, `busy` stations and an idle one, and a server on a wire of 5 ms.
fn cell(queues: &str, busy: u32) -> String {
    format!(
        "duration = \"12 s\"\nwarmup = \"4 s\"\n[radio]\nstandard = \"802.11n\"\nmcs = 7\nbasic_rate = \"6 Mb/s\"\n\
         [mac.aggregation]\nampdu = \"65535 B\"\n[mac.edca.best_effort]\ntxop_limit = \"0 s\"\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\nqueues = \"{queues}\"\n\
         [[node]]\nname = \"busy\"\ncount = {busy}\nposition = [\"10 m\", \"0 m\"]\n\
         [[node]]\nname = \"idle\"\nposition = [\"0 m\", \"10 m\"]\n\
         [[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"1 Gb/s\"\ndelay = \"5 ms\"\n"
    )
}

fn flow(name: &str, to: &str, traffic: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\nfrom = \"server\"\nto = \"{to}\"\ntraffic = {{ {traffic} }}\n")
}

fn downloads() -> String {
    flow("bulk", "busy*", "kind = \"greedy\"") + "transport = \"tcp\"\n"
}

const UPLOAD: &str =
    "[[flow]]\nname = \"up\"\nfrom = \"idle\"\nto = \"server\"\ntransport = \"tcp\"\ntraffic = { kind = \"greedy\" }\n";

fn ping(to: &str) -> String {
    flow("ping", to, "kind = \"ping\", packet = \"64 B\", every = \"50 ms\"")
}

/// An aggregate takes 4 ms and its overhead. A packet meets one on the air, one that waits, and collisions of either. It has an
/// access of its own; on the way back it competes with the access point's next aggregate.
#[test]
fn a_ping_waits_for_two_aggregates_however_many_stations_download() {
    let limits = [("0 s", 1, "idle"), ("0 s", 10, "idle"), ("0 s", 40, "idle"), ("0 s", 40, "busy7")];
    for (txop, busy, to) in limits.into_iter().chain([("2.528 ms", 2, "idle"), ("2.528 ms", 3, "busy1")]) {
        let text =
            |queues: &str| cell(queues, busy).replace("\"0 s\"", &format!("\"{txop}\"")) + &downloads() + &ping(to);
        let outcome = run(&text("turns"), 1);
        let found = of(&outcome, "ping");
        assert!(found.delay_s.p99 < 0.005 + 3.5 * 0.0045, "{busy}, {to}: {:?}", found.delay_s);
        assert!(found.loss_ratio == 0.0);
        let linux = run(&text("mac80211"), 1);
        assert!(outcome.totals.goodput_bps > 0.97 * linux.totals.goodput_bps, "{busy}, {to}");
    }
}

/// A turn is an aggregate, whatever limits its length: time at 65 Mb/s, or 64 or 256 MPDUs if these are short or fast.
#[test]
fn aggregates_are_whole_where_the_number_of_mpdus_bounds_them() {
    let wide =
        |standard: &str, mcs: u8| format!("\"{standard}\"\nmcs = {mcs}\nstreams = 2\nchannel_width = \"80 MHz\"");
    for (radio, ampdu, rate, bytes, frames) in [
        ("\"802.11n\"\nmcs = 15".into(), "65535", 12, 300, 64.0),
        (wide("802.11ac", 7), "1048575", 50, 1_400, 64.0),
        (wide("802.11ax", 9), "4194303", 100, 1_400, 256.0),
    ] {
        let traffic = format!("kind = \"poisson\", rate = \"{rate} Mb/s\", packet = \"{bytes} B\"");
        let text = cell("turns", 10).replace("\"802.11n\"\nmcs = 7", &radio).replace("65535", ampdu);
        let outcome = run(&(text + &flow("bulk", "busy*", &traffic)), 1);
        let mac = &outcome.nodes[0].mac;
        let mean = mac.mpdus.unwrap_or(0) as f64 / mac.attempts as f64;
        assert!(mean > 0.97 * frames, "{mean} of {frames} MPDUs");
    }
}

#[test]
fn what_does_not_back_off_waits_no_longer_than_the_target() {
    for (target, limit) in [(20, 0.045), (100, 0.125)] {
        let text = cell("turns", 3)
            .replace("\"turns\"\n", &format!("\"turns\"\nturns.target_delay = \"{target} ms\"\n"))
            + &flow("bulk", "busy*", "kind = \"poisson\", rate = \"40 Mb/s\", packet = \"1400 B\"");
        let outcome = run(&text, 1);
        for flow in outcome.flows.iter().filter(|flow| flow.name.starts_with("bulk")) {
            // The delay is that of the wire, the target, and the aggregates that were released before.
            assert!(flow.delay_s.p99 < limit && flow.delay_s.p50 > 0.2 * limit, "{target} ms: {:?}", flow.delay_s);
        }
        assert!(outcome.totals.goodput_bps > 55e6, "{}", outcome.totals.goodput_bps);
    }
}

/// A round of 40 aggregates takes 180 ms.
#[test]
fn bulk_may_be_promised_a_shorter_round_than_whole_aggregates_take() {
    let with = |setting: &str| {
        let text =
            cell("turns", 40).replace("\"turns\"\n", &format!("\"turns\"\n{setting}")) + &downloads() + &ping("idle");
        let outcome = run(&text, 1);
        let waits = outcome.flows.iter().filter(|flow| flow.name.starts_with("bulk")).map(|flow| flow.delay_s.mean);
        (waits.sum::<f64>() / 40.0 - 0.005, of(&outcome, "ping").delay_s.p99, outcome.totals.goodput_bps)
    };
    let [whole, short] = ["", "turns.bulk_delay = \"100 ms\"\n"].map(with);
    assert!(whole.0 > 0.2 && short.0 < 0.1, "{whole:?} {short:?}");
    assert!(short.1 < whole.1 && short.2 > 0.6 * whole.2, "{whole:?} {short:?}");
    assert_eq!(with("turns.bulk_delay = \"9 s\"\n"), whole);
}

#[test]
fn many_thin_flows_of_one_station_get_no_more_airtime_than_one_download() {
    let calls = "kind = \"cbr\", rate = \"96 kb/s\", packet = \"300 B\"";
    let text = cell("turns", 5)
        .replace("name = \"busy\"", "name = \"many\"\nposition = [\"10 m\", \"1 m\"]\n[[node]]\nname = \"busy\"")
        + &downloads()
        + &flow("call", "many", calls)
        + "count = 300\nphase_jitter = \"20 ms\"\n"
        + &ping("idle");
    let outcome = run(&text, 1);
    let ap = outcome.nodes.iter().find(|node| node.name == "ap").expect("an access point");
    let airtime = |name: &str| ap.hops.iter().find(|hop| hop.name == name).expect("a hop").airtime_s;
    let (many, one) = (airtime("many"), airtime("busy1"));
    // Credit is counted with an estimate of what a frame costs.
    assert!(many < 1.1 * one && many > 0.5 * one, "{many} and {one}");
    assert!(of(&outcome, "ping").delay_s.p99 < 0.025, "{:?}", of(&outcome, "ping").delay_s);
}

/// The stations have one queue each. Its ACKs slow down what a station sends.
#[test]
fn an_upload_does_not_take_the_medium_from_downloads() {
    let text = |queues: &str| cell(queues, 3) + &downloads() + UPLOAD + &ping("busy2");
    let [fifo, linux, turns] = ["one", "mac80211", "turns"].map(|queues| run(&text(queues), 1));
    let down = |outcome: &Outcome| outcome.totals.goodput_bps - of(outcome, "up").goodput_bps;
    let shown = [&fifo, &linux, &turns]
        .map(|outcome| (down(outcome), of(outcome, "up").goodput_bps, of(outcome, "ping").delay_s.p99));
    println!("{shown:?}");
    assert!(down(&turns) > 1.1 * down(&fifo) && down(&turns) > 0.8 * down(&linux), "{shown:?}");
    assert!(turns.totals.goodput_bps > 0.95 * linux.totals.goodput_bps, "{shown:?}");
    assert!(of(&turns, "ping").delay_s.p99 < of(&linux, "ping").delay_s.p99, "{shown:?}");
}

/// The access point has few accesses then. Stations collide less, and the idle one has its share of the cell's air.
#[test]
fn next_to_uploads_of_any_number_a_ping_is_short_and_the_goodput_above_linux() {
    for busy in [10, 40] {
        let text = |queues: &str| cell(queues, busy) + &UPLOAD.replace("idle", "busy*") + &ping("idle");
        let [linux, turns] = ["mac80211", "turns"].map(|queues| run(&text(queues), 1));
        let shown = [&linux, &turns].map(|outcome| (outcome.totals.goodput_bps, &of(outcome, "ping").delay_s));
        // Half of a round in which 40 stations send an aggregate each, and a round.
        assert!(shown[1].0 > 1.05 * shown[0].0 && shown[1].1.p50 < 0.08 && shown[1].1.p99 < 0.17, "{shown:?}");
    }
}

/// Stations that play films want no more airtime than they have.
#[test]
fn an_upload_has_the_air_that_films_leave() {
    let text = |queues: &str| {
        let films = flow("film", "busy*", "kind = \"cbr\", rate = \"2 Mb/s\", packet = \"1400 B\"");
        cell(queues, 9) + &films + UPLOAD
    };
    let [linux, turns] = ["mac80211", "turns"].map(|queues| run(&text(queues), 1));
    let shown = [&linux, &turns].map(|outcome| (of(outcome, "up").goodput_bps, outcome.totals.goodput_bps));
    assert!(of(&turns, "up").goodput_bps > 0.9 * of(&linux, "up").goodput_bps, "{shown:?}");
    let films = turns.flows.iter().filter(|flow| flow.name != "up");
    assert!(films.map(|flow| flow.goodput_bps).fold(f64::INFINITY, f64::min) > 1.95e6, "{shown:?}");
}

#[test]
fn stations_and_nodes_of_a_chain_have_it_too() {
    let uploads = "[[flow]]\nname = \"up\"\nfrom = \"busy*\"\nto = \"server\"\ntransport = \"tcp\"\ntraffic = { kind = \"greedy\" }\n\
                   [[flow]]\nname = \"hello\"\nfrom = \"busy*\"\nto = \"broadcast\"\ntraffic = { kind = \"cbr\", rate = \"9 kb/s\", packet = \"90 B\" }\n";
    let text =
        cell("turns", 3).replace("name = \"busy\"", "name = \"busy\"\nqueues = \"turns\"") + uploads + &ping("idle");
    let outcome = run(&text, 1);
    assert!(outcome.totals.goodput_bps > 40e6, "{}", outcome.totals.goodput_bps);
    assert!(of(&outcome, "ping").delay_s.p99 < 0.1, "{:?}", of(&outcome, "ping").delay_s);
    let chain = |queues: &str, protocol: &str| {
        let nodes = ["n0", "n1", "n2", "n3"].map(|name| format!("[[node]]\nname = \"{name}\"\n{queues}")).concat();
        let flows = flow("bulk", "n3", "kind = \"greedy\"") + "transport = \"tcp\"\n" + &ping("n3");
        let text = "duration = \"20 s\"\nwarmup = \"2 s\"\n[radio]\nstandard = \"802.11g\"\npropagation = \"range\"\n\
                    range = \"120 m\"\ncarrier_sense_range = \"250 m\"\n[nodes]\ncount = 4\nplacement = \"chain\"\n\
                    spacing = \"100 m\"\n[queue]\nlimit = 400\n[routing]\nprotocol = \"";
        run(&(text.to_owned() + protocol + "\"\n" + &nodes + &flows.replace("server", "n0")), 1)
    };
    let [fifo, turns] = ["", "queues = \"turns\"\n"].map(|queues| chain(queues, "static"));
    let delay = |outcome: &Outcome| of(outcome, "ping").delay_s.p99;
    assert!(delay(&turns) < 0.5 * delay(&fifo));
    assert!(turns.totals.goodput_bps > 0.9 * fifo.totals.goodput_bps);
    // Requests for routes go to all nodes.
    for protocol in ["aodv", "dsr"] {
        assert!(of(&chain("queues = \"turns\"\n", protocol), "ping").received_packets > 300, "{protocol}");
    }
}

/// A station that waits only for room is next when there is room. No other station's debt is forgotten meanwhile.
#[test]
fn where_the_hardware_holds_one_packet_all_have_turns() {
    let flood = flow("flood", "busy*", "kind = \"cbr\", rate = \"60 Mb/s\", packet = \"1400 B\"");
    for depth in ["1 packets", "100 us", "2 packets"] {
        let text = cell("turns", 3) + &format!("[mac]\nhardware_queue = \"{depth}\"\n") + &flood;
        let goodput = goodputs(&run(&text, 1));
        assert!(goodput.iter().all(|&it| it > 0.97 * goodput[0] && it < 1.03 * goodput[0]), "{depth}: {goodput:?}");
    }
}

#[test]
fn broadcasts_have_turns_of_their_own() {
    let loud = "[[flow]]\nname = \"loud\"\nfrom = \"ap\"\nto = \"broadcast\"\n\
                traffic = { kind = \"cbr\", rate = \"3 Mb/s\", packet = \"1000 B\" }\n";
    let outcome = run(&(cell("turns", 2) + &downloads() + loud + &ping("idle")), 1);
    assert!(of(&outcome, "ping").delay_s.p99 < 0.03, "{:?}", of(&outcome, "ping").delay_s);
    assert!(of(&outcome, "loud").received_packets > 0 && of(&outcome, "bulk-busy1").goodput_bps > 5e6);
}

/// Multicast has as much of the air as all stations together, even if the access point gets few accesses for it.
#[test]
fn multicast_at_the_basic_rate_loses_no_more_than_with_linux() {
    let loud = |rate: &str| {
        format!(
            "[[flow]]\nname = \"loud\"\nfrom = \"ap\"\nto = \"broadcast\"\n\
             traffic = {{ kind = \"cbr\", rate = \"{rate}\", packet = \"1316 B\" }}\n"
        )
    };
    let with = |queues: &str, rate: &str, more: &str| {
        let outcome = run(&(cell(queues, 9) + &downloads() + &loud(rate) + more), 1);
        (of(&outcome, "loud").loss_ratio, outcome.totals.goodput_bps, of(&outcome, "ping").delay_s.p99)
    };
    let [linux, turns] = ["mac80211", "turns"].map(|queues| with(queues, "1 Mb/s", &ping("idle")));
    assert!(turns.0 < linux.0 + 0.02 && turns.1 > 0.97 * linux.1 && turns.2 < 0.025, "{linux:?} {turns:?}");
    let uploads = UPLOAD.replace("idle", "busy*") + &ping("idle");
    let [linux, turns] = ["mac80211", "turns"].map(|queues| with(queues, "2 Mb/s", &uploads));
    assert!(turns.0 < linux.0 + 0.1 && turns.1 > 0.97 * linux.1, "{linux:?} {turns:?}");
}

/// A gap makes a packet thin according to the flow's part of its station's share: of a link too slow for 20 equal flows, and behind
/// an access point at MCS 7. On the wire no two flows share a bucket, which would halve their part.
#[test]
fn equal_streams_of_one_station_get_equal_parts() {
    let streams = |rate: &str, to: &str| {
        flow("stream", to, &format!("kind = \"cbr\", rate = \"{rate}\", packet = \"1000 B\""))
            + "count = 20\nphase_jitter = \"200 ms\"\n"
    };
    let wire = "duration = \"5 s\"\nwarmup = \"1 s\"\n[[node]]\nname = \"server\"\nrole = \"wired\"\n[[node]]\nname = \"b\"\n\
                role = \"wired\"\n[[wired]]\nbetween = [\"server\", \"b\"]\nrate = \"100 Mb/s\"\ndelay = \"1 ms\"\n\
                queue = { discipline = \"turns\", turns = { flows = 65536 } }\n";
    for text in [wire.to_owned() + &streams("10 Mb/s", "b"), cell("turns", 1) + &streams("7 Mb/s", "busy1")] {
        let goodput = goodputs(&run(&text, 1));
        assert!(goodput.len() == 20 && jain(&goodput) > 0.98, "{goodput:?}");
    }
}

/// Two senders of a neighbour always send beside it: many frames collide, but no station counts as absent or becomes late.
#[test]
fn a_game_and_downloads_keep_what_linux_gives_them_beside_saturated_senders() {
    let theirs = "[[node]]\nname = \"other\"\nrole = \"access-point\"\nposition = [\"5 m\", \"20 m\"]\n\
                  [[node]]\nname = \"theirs\"\ncount = 2\nposition = [\"5 m\", \"25 m\"]\naccess_point = \"other\"\n\
                  [[flow]]\nname = \"foreign\"\nfrom = \"theirs*\"\nto = \"other\"\n\
                  traffic = { kind = \"saturated\", packet = \"1400 B\" }\n";
    let with = |queues: &str| {
        let own = cell(queues, 5)
            .replace("position = [\"10 m\", \"0 m\"]", "position = [\"10 m\", \"0 m\"]\naccess_point = \"ap\"")
            .replace("position = [\"0 m\", \"10 m\"]", "position = [\"0 m\", \"10 m\"]\naccess_point = \"ap\"");
        let game = flow("game", "idle", "kind = \"cbr\", rate = \"76.8 kb/s\", packet = \"160 B\"");
        let text = own + theirs + &downloads() + &game;
        let (mut late, mut carried) = (0.0, 0.0);
        // A few collisions decide about a seed's 99th percentile.
        for outcome in (1..=6).map(|seed| run(&text, seed)) {
            late += of(&outcome, "game").delay_s.p99 / 6.0;
            let bulk = outcome.flows.iter().filter(|flow| flow.name.starts_with("bulk"));
            carried += bulk.map(|flow| flow.goodput_bps).sum::<f64>();
        }
        (late, carried)
    };
    let [linux, turns] = ["mac80211", "turns"].map(with);
    assert!(turns.0 < linux.0 && turns.1 > 0.95 * linux.1, "{linux:?} {turns:?}");
}

/// Thirty pictures a second in each direction, with the packets of a picture at once: 9 % of the air. A share is 11 %.
#[test]
fn the_pictures_of_a_video_call_below_its_share_wait_for_no_round() {
    let pictures = "kind = \"web\", size = \"8334 B\", size_shape = 3.0, reading = \"33 ms\", times = \"pareto\", \
                    times_shape = 8.0, packet = \"1200 B\"";
    let camera = flow("camera", "server", pictures).replace("from = \"server\"", "from = \"idle\"");
    let with = |queues: &str| {
        let outcome = run(&(cell(queues, 7) + &downloads() + &flow("video", "idle", pictures) + &camera), 1);
        (of(&outcome, "video").delay_s.p99, outcome.totals.goodput_bps)
    };
    let [linux, turns] = ["mac80211", "turns"].map(with);
    assert!(turns.0 < 0.75 * linux.0 && turns.1 > linux.1, "{linux:?} {turns:?}");
}

/// Ten stations with thin flows are gone. In its turns each is tried with one packet.
#[test]
fn stations_that_are_gone_cost_the_others_less_than_with_linux() {
    let with = |queues: &str| {
        let away = "[[node]]\nname = \"gone\"\ncount = 10\nposition = [\"10 m\", \"0 m\"]\n\
                    waypoints = [{ time = \"2 s\", position = [\"10000 m\", \"0 m\"], speed = \"100000 m/s\" }]\n\
                    [[node]]\nname = \"server\"";
        let text = cell(queues, 9).replace("[[node]]\nname = \"server\"", away) + &downloads();
        run(&(text + &flow("call", "gone*", "kind = \"voice\"")), 1).totals.goodput_bps
    };
    let [linux, turns] = ["mac80211", "turns"].map(with);
    assert!(turns > linux, "{linux} {turns}");
}

#[test]
fn where_it_cannot_be_is_refused() {
    for (from, to, path, says) in [
        (
            "queues = \"turns\"",
            "queues = \"turns\"\nturns.bulk_delay = \"90 ms\"",
            "node.ap.turns.bulk_delay",
            "at least `target_delay`, which is 100 ms",
        ),
        ("role = \"wired\"", "role = \"wired\"\nqueues = \"turns\"", "node.server.queues", "no radio"),
        (
            "duration = \"12 s\"",
            "duration = \"12 s\"\nclass_queue = {}\nmac.access = \"dcf\"",
            "node.ap.queues",
            "categories",
        ),
    ] {
        let mut text = cell("turns", 1).replacen(from, to, 1) + &ping("idle");
        if path == "node.ap.queues" {
            text = text
                .replace("[mac.aggregation]\nampdu = \"65535 B\"\n[mac.edca.best_effort]\ntxop_limit = \"0 s\"\n", "");
        }
        refuses(&text, path, says);
    }
}
