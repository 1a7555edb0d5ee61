//! The results of a few networks, to the last bit. A change of the model shows here first.
//!
//! `fingerprints.csv` has, for a network and a seed, the number of events and the FNV-1a hash of the outcome as JSON. A
//! commit that changes a line says why. All arithmetic is in integers, or in IEEE doubles with `libm`'s functions, so
//! that the lines hold on every machine.

use crate::networks::run;
use std::fmt::Write as _;

const RECORDED: &str = include_str!("fingerprints.csv");

const UP: &str = "[[flow]]\nname = \"up\"\nfrom = \"*\"\nto = \"n0\"\n";

fn cell(standard: &str, stations: u32, extra: &str, traffic: &str) -> String {
    format!(
        "duration = \"4 s\"\nwarmup = \"500 ms\"\n[radio]\nstandard = \"{standard}\"\n{extra}\n\
         [nodes]\ncount = {}\nplacement = \"circle\"\nspacing = \"9 m\"\n{UP}traffic = {{ {traffic} }}\n",
        stations + 1
    )
}

fn chain(nodes: u32, extra: &str, rate: &str) -> String {
    let mut text = format!(
        "duration = \"10 s\"\n[radio]\nrange = \"30 m\"\n{extra}\n\
         [nodes]\ncount = {nodes}\nplacement = \"chain\"\nspacing = \"30 m\"\n"
    );
    for (name, from, to) in [("forward", 0, nodes - 1), ("backward", nodes - 1, 0)] {
        let flow = format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\ndeadline = \"400 ms\"\n\
             traffic = {{ kind = \"cbr\", rate = \"{rate}\", packet = \"1000 B\" }}\n\
             at = [{{ time = \"6 s\", scale = 0.5 }}]\n"
        );
        text += &flow;
    }
    text
}

fn networks() -> Vec<(&'static str, String)> {
    let saturated = "kind = \"saturated\", packet = \"1000 B\"";
    let poisson = "kind = \"poisson\", rate = \"6 Mb/s\", packet = \"1000 B\"";
    let small = "kind = \"poisson\", rate = \"500 kb/s\", packet = \"500 B\"";
    let rts = "[mac]\nrts_threshold = \"500 B\"";
    let adth = "[queue]\ndiscipline = \"drop-head\"\ncontroller = \"adth\"\n[queue.adth]\ntarget_delay = \"200 ms\"\n\
        [record]\nseries = \"500 ms\"";
    let ns2 = "[mac]\neifs = \"any-signal-kept\"\nrts_threshold = \"0 B\"\ntimeout_deferral = \"difs\"";
    let log_distance = "propagation = \"log-distance\"\npreamble = \"short\"\nbasic_rate = \"2 Mb/s\"";
    let broadcast = "[[flow]]\nname = \"hello\"\nfrom = \"n1\"\nto = \"broadcast\"\nphase_jitter = \"100 ms\"\n\
        traffic = { kind = \"poisson\", rate = \"200 kb/s\", packet = \"150 B\" }\n";
    let edca = "frequency = \"5.18 GHz\"\nmcs = 7\n[radio.errors]\nmodel = \"nist\"\n[radio.fading]\nmodel = \"rayleigh\"\n\
        [mac]\naccess = \"edca\"\naggregation = { ampdu = \"30 kB\" }";
    let edca_difs = "[mac]\naccess = \"edca\"\nfirst_access = \"difs\"";
    let voice = "[[flow]]\nname = \"call\"\nfrom = \"n1\"\nto = \"n2\"\ncategory = \"voice\"\n\
        traffic = { kind = \"poisson\", rate = \"300 kb/s\", packet = \"200 B\" }\n";
    let mobile = "duration = \"20 s\"\n[radio]\nrange = \"250 m\"\n[routing]\nprotocol = \"aodv\"\n\
        [mobility]\nmodel = \"random-waypoint\"\narea = [\"900 m\", \"300 m\"]\n\
        speed = { from = \"5 m/s\", to = \"20 m/s\" }\n[nodes]\ncount = 15\n\
        [[flow]]\nname = \"far\"\nfrom = \"n0\"\nto = \"n14\"\n\
        traffic = { kind = \"voice\", silence = true }\n";
    let access_point = "duration = \"4 s\"\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\nqueues = \"per-station\"\n\
        position = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"s\"\nposition = [\"9 m\", \"0 m\"]\n\
        [[node]]\nname = \"server\"\nrole = \"wired\"\n\
        [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"20 Mb/s\"\ndelay = \"5 ms\"\n\
        [[flow]]\nname = \"down\"\nfrom = \"server\"\nto = \"s\"\n\
        traffic = { kind = \"poisson\", rate = \"4 Mb/s\", packet = \"1000 B\" }\n";
    let tcp_cell = "duration = \"6 s\"\nwarmup = \"500 ms\"\n[radio]\nstandard = \"802.11g\"\n[mac]\naccess = \"edca\"\n\
        [queue]\nlimit = 60\n[tcp]\nack_category = \"voice\"\n[record]\nseries = \"500 ms\"\n\
        [nodes]\ncount = 4\nplacement = \"circle\"\nspacing = \"9 m\"\n\
        [[node]]\nname = \"n0\"\nrole = \"access-point\"\n[[node]]\nname = \"server\"\nrole = \"wired\"\n\
        [[wired]]\nbetween = [\"server\", \"n0\"]\nrate = \"100 Mb/s\"\ndelay = \"10 ms\"\n\
        [[flow]]\nname = \"down\"\nfrom = \"server\"\nto = \"n1\"\ntransport = \"tcp\"\ntraffic = { kind = \"greedy\" }\n\
        [[flow]]\nname = \"up\"\nfrom = \"*\"\nto = \"server\"\ntransport = \"tcp\"\n\
        tcp = { congestion = \"cubic\", ecn = true }\ntraffic = { kind = \"greedy\" }\nstop = \"5 s\"\n\
        [[flow]]\nname = \"pages\"\nfrom = \"server\"\nto = \"n2\"\ntransport = \"tcp\"\n\
        traffic = { kind = \"web\", size = \"9 kB\", reading = \"100 ms\" }\n\
        [[flow]]\nname = \"ping\"\nfrom = \"n3\"\nto = \"server\"\ntraffic = { kind = \"ping\", every = \"100 ms\" }\n";
    let tcp_mesh = "duration = \"20 s\"\n[radio]\nrange = \"30 m\"\n[routing]\nprotocol = \"aodv\"\n[queue]\nlimit = 10\n\
        [nodes]\ncount = 4\nplacement = \"chain\"\nspacing = \"30 m\"\n\
        [[flow]]\nname = \"files\"\nfrom = \"n0\"\nto = \"n3\"\ntransport = \"tcp\"\n\
        tcp = { recovery = \"newreno\", timestamps = false, delayed_ack = \"0 s\" }\n\
        traffic = { kind = \"transfer\", size = \"100 kB\", every = \"3 s\" }\n\
        [[flow]]\nname = \"back\"\nfrom = \"n3\"\nto = \"n0\"\ntransport = \"tcp\"\n\
        tcp = { recovery = \"reno\", segment = \"500 B\" }\ntraffic = { kind = \"greedy\" }\n";
    let bqm = |mesh: &str| {
        let marked = "congestion = \"bqm\", recovery = \"newreno\", bqm = { single_duplicate = true }";
        mesh.replace("[queue]\n", "[queue]\ndiscipline = \"biased\"\n").replace("recovery = \"newreno\"", marked)
    };
    // The error model of these is the threshold; of those whose names end so, the default.
    let by_threshold = |text: String| -> String {
        let model = "[radio]\nerrors.model = \"none\"\n";
        if text.contains("[radio]\n") {
            text.replacen("[radio]\n", model, 1)
        } else {
            text.replacen("[[node]]", &format!("{model}[[node]]"), 1)
        }
    };
    vec![
        ("n-edca-aggregates-fading", cell("802.11n", 4, edca, saturated)),
        ("b-aodv-mobile", by_threshold(mobile.to_owned())),
        ("b-access-point", by_threshold(access_point.to_owned())),
        ("b-saturated-10", by_threshold(cell("802.11b", 10, "", saturated))),
        ("a-rts-poisson-5", by_threshold(cell("802.11a", 5, rts, poisson))),
        ("g-saturated-20", by_threshold(cell("802.11g", 20, "", saturated))),
        ("b-chain-fifo", by_threshold(chain(4, "", "900 kb/s"))),
        ("b-chain-adth", by_threshold(chain(3, adth, "1.8 Mb/s"))),
        // A look into an empty queue is not without effect there: it ends the turn of a flow.
        ("b-chain-fq-codel", by_threshold(chain(4, "[queue]\ndiscipline = \"fq-codel\"", "500 kb/s"))),
        ("b-chain-eifs-kept-rts", by_threshold(chain(5, ns2, "500 kb/s"))),
        ("b-broadcast-log-distance", by_threshold(cell("802.11b", 6, log_distance, small) + broadcast)),
        ("g-tcp-access-point", by_threshold(tcp_cell.to_owned())),
        ("b-tcp-aodv", by_threshold(tcp_mesh.to_owned())),
        ("g-edca-difs-two-categories", cell("802.11g", 3, edca_difs, small) + voice),
        ("g-saturated-10-nist", cell("802.11g", 10, "", saturated)),
        ("b-chain-adth-nist", chain(5, adth, "500 kb/s")),
        ("b-tcp-aodv-nist", tcp_mesh.to_owned()),
        ("b-tcp-bqm-nist", bqm(tcp_mesh)),
    ]
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn results_are_what_they_were() {
    let mut found = "network,seed,events,fnv1a\n".to_owned();
    for (name, text) in networks() {
        for seed in [1, 2] {
            let outcome = run(&text, seed);
            assert!(outcome.totals.goodput_bps > 0.0, "{name} carries nothing");
            let json = serde_json::to_vec(&outcome).expect("an outcome has a JSON form");
            writeln!(found, "{name},{seed},{},{:016x}", outcome.events, fnv(&json)).expect("a string takes all");
        }
    }
    if found != RECORDED {
        let changed: Vec<&str> = found.lines().filter(|line| !RECORDED.lines().any(|old| old == *line)).collect();
        panic!(
            "these results changed; if they were meant to, record them in fingerprints.csv:\n{}",
            changed.join("\n")
        );
    }
}
