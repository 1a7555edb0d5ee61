//! Stations that are alike get the same goodput from an access point with a queue for each, whatever the load, the packets and
//! the TXOP are.

use crate::networks::{goodputs, jain, run};
use proptest::prelude::*;

/// Returns the goodputs of `stations` alike stations at MCS 15, behind an access point with such queues.
fn shares(queues: &str, stations: u32, mac: &str, traffic: &str, seconds: u32) -> Vec<f64> {
    let mut text = format!(
        "duration = \"{seconds} s\"\nwarmup = \"500 ms\"\n[radio]\nstandard = \"802.11n\"\nmcs = 15\n{mac}\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\nqueues = \"{queues}\"\n"
    );
    for station in 0..stations {
        let node = format!(
            "[[node]]\nname = \"s{station}\"\nposition = [\"5 m\", \"{station} m\"]\n\
             [[flow]]\nname = \"f{station}\"\nfrom = \"ap\"\nto = \"s{station}\"\ntraffic = {{ {traffic} }}\n"
        );
        text += &node;
    }
    goodputs(&run(&text, 1))
}

#[test]
fn two_stations_share_the_txops_equally() {
    for load in [40, 60, 100] {
        let mac = "[mac]\naccess = \"edca\"\naggregation = { ampdu = \"65535 B\" }";
        let found =
            shares("per-station", 2, mac, &format!("kind = \"cbr\", rate = \"{load} Mb/s\", packet = \"1000 B\""), 3);
        // 111 Mb/s is the sum for both.
        let each = 1e6 * f64::from(load.min(55));
        assert!(found.iter().all(|&goodput| goodput > 0.97 * each), "{load} Mb/s each: {found:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn like_stations_get_like_goodput(
        (stations, load, packet) in (2_u32..6, 1_u32..80, 100_u32..1_500),
        txop in prop::sample::select(vec!["0 s", "1.504 ms", "2.528 ms", "4.096 ms", "8 ms"]),
        aggregation in prop::sample::select(vec![
            "", "ampdu = \"65535 B\"", "ampdu = \"20000 B\"", "amsdu = \"7935 B\"", "ampdu = \"65535 B\", amsdu = \"3839 B\"",
        ]),
        queues in prop::sample::select(vec!["per-station", "turns"]),
        kind in prop::sample::select(vec!["cbr", "poisson", "saturated"]),
        (rts, loss) in any::<(bool, bool)>(),
    ) {
        let rate = if kind == "saturated" { String::new() } else { format!(", rate = \"{load} Mb/s\"") };
        let mac = format!(
            "{}[mac]\naccess = \"edca\"\nrts_threshold = \"{}\"\nedca.best_effort.txop_limit = \"{txop}\"\n\
             aggregation = {{ {aggregation} }}",
            if loss { "[radio.errors]\nmodel = \"fixed\"\npacket_error_ratio = 0.1\n" } else { "" },
            if rts { "500 B" } else { "off" },
        );
        let found = shares(queues, stations, &mac, &format!("kind = \"{kind}\"{rate}, packet = \"{packet} B\""), 3);
        prop_assert!(jain(&found) > 0.99, "{found:?}");
    }
}
