//! Figures of one run, one line of JSON per row; `tests/live/measure.py` makes several runs and prints tables.

use super::chain::{Chain, Sink, at, send};
use super::downloads::{self, Times, alt, download};
use super::holder::Kind;
use super::rivals::{adth, percentile, udp};
use super::{mesh, now, pause_until};
use control::{Name, Parameters, astar, ebdp};
use serde_json::json;
use std::sync::atomic::Ordering;
use units::Duration;

/// Time for which the mesh is overloaded, with five seconds of warm-up.
const MESH: Duration = Duration::from_secs(30);
const RIVALS: [&str; 2] = ["fq_codel", "cake"];

fn row(table: &str, row: &str, figures: &serde_json::Value) {
    println!("\nFIGURES {}", json!({ "table": table, "row": row, "figures": figures }));
}

#[test]
#[ignore = "for a table"]
fn udp_of_8_into_5() {
    let ours = [("adth 50 ms", adth(50)), ("adth 100 ms", adth(100))];
    let kernels = [("pfifo 1000", Kind::Kernel("pfifo limit 1000"))];
    let rivals = RIVALS.map(|name| (name, Kind::Kernel(name)));
    for (name, kind) in ours.into_iter().chain(kernels).chain(rivals) {
        let udp = udp(&kind, Duration::from_secs(20));
        let [mean, p99] = [udp.mean(), udp.p99()].map(Duration::as_secs_f64);
        row("udp", name, &json!({ "mean_s": mean, "p99_s": p99, "goodput_ratio": udp.goodput }));
    }
}

#[test]
#[ignore = "for a table"]
fn a_download_with_a_ping() {
    let times = Times { warm_up: downloads::WARM_UP, run: downloads::RUN };
    let a = astar::Params { ebdp: ebdp::Params::default(), alt: alt() };
    let ours = [
        ("FIFO 1000", Name::None, Parameters::default()),
        ("ebdp", Name::Ebdp, Parameters { ebdp: Some(ebdp::Params::default()), ..Parameters::default() }),
        ("alt", Name::Alt, Parameters { alt: Some(alt()), ..Parameters::default() }),
        ("astar", Name::Astar, Parameters { astar: Some(a), ..Parameters::default() }),
    ];
    let ours = ours.map(|(row, name, parameters)| (row, Kind::ours(name, parameters)));
    for (name, kind) in ours.into_iter().chain(RIVALS.map(|name| (name, Kind::Kernel(name)))) {
        let outcome = download(&kind, times);
        let mut pings = outcome.pings.clone();
        pings.sort_unstable();
        let figures = json!({
            "goodput_ratio": outcome.goodput,
            "ping_mean_s": outcome.ping() / 1e3,
            "ping_p99_s": percentile(&pings, 99).as_secs_f64(),
            "tcp_rtt_s": outcome.tcp() / 1e3,
        });
        row("download", name, &figures);
    }
}

/// Measures the mesh with a kernel's discipline at the root: mac80211 takes every packet from it at once.
fn over_the_mesh(chain: &Chain, kind: &str) -> (Vec<Duration>, String) {
    for node in 0..mesh::SENDERS {
        at(node, &format!("modprobe -a sch_fq_codel sch_cake; tc qdisc replace dev wlan{node} root {kind}"));
    }
    let sink = Sink::new();
    send(mesh::OFFERED_EVERY * 4, now() + Duration::from_millis(500), || ());
    pause_until(now() + Duration::from_millis(500));
    let start = now();
    send(mesh::OFFERED_EVERY, start + MESH, || ());
    let shown = at(0, "tc -s qdisc show dev wlan0");
    // The radio holds what the air has not carried: the next run begins when all of it is gone.
    let delivered = || chain.medium.counts.delivered.load(Ordering::Relaxed);
    let mut before = delivered();
    loop {
        pause_until(now() + Duration::from_secs(2));
        let after = delivered();
        if after - before < 20 {
            break;
        }
        before = after;
    }
    let measured = start + mesh::WARM_UP..start + MESH;
    let came = sink.end().into_iter().filter(|(sent, delay)| measured.contains(&(*sent + *delay)));
    let mut delays: Vec<Duration> = came.map(|(_, delay)| delay).collect();
    delays.sort_unstable();
    for node in 0..mesh::SENDERS {
        at(node, &format!("tc qdisc del dev wlan{node} root"));
    }
    (delays, shown)
}

#[test]
#[ignore = "for a table"]
fn the_mesh() {
    let chain = Chain::new();
    let figures = |name: &str, delays: &[Duration]| {
        let mean = delays.iter().copied().sum::<Duration>() / delays.len() as u64;
        let [mean, p99] = [mean, percentile(delays, 99)].map(Duration::as_secs_f64);
        let seconds = (MESH - mesh::WARM_UP).as_secs_f64();
        let rate = delays.len() as f64 * super::chain::PAYLOAD as f64 * 8.0 / seconds;
        row("mesh", name, &json!({ "mean_s": mean, "p99_s": p99, "goodput_bps": rate }));
    };
    for (name, kind) in [
        ("FIFO 1000, by credit", Kind::ours(Name::None, Parameters::default())),
        ("adth 50 ms", adth(50)),
        ("adth 100 ms", adth(100)),
    ] {
        let Kind::Ours(controller, parameters) = kind else { unreachable!("these are ours") };
        let mut delays = mesh::overload(&chain, controller, &parameters, MESH).delays;
        delays.sort_unstable();
        figures(name, &delays);
    }
    for name in RIVALS {
        let (delays, shown) = over_the_mesh(&chain, name);
        println!("{shown}");
        // It held none: so it dropped none.
        assert!(shown.contains("dropped 0") && shown.contains("backlog 0b 0p"), "{shown}");
        figures(name, &delays);
    }
    chain.end();
}
