//! A transfer over the chain under the real `sluice attach` at each node: WQM, and DNB with its notes.
//!
//! Bounds come from `scenarios/live/transfers.toml`, means of ten seeds, and were set before: segments per second may
//! differ by a tenth, round trips by a fifth. Round trips may be 24 ms longer in addition: by credit each of the three
//! queues that a segment and its acknowledgement pass may have up to 8 ms of packets below it, which the simulator's
//! MAC has not. Limits of two to four packets are coarse: with them round trips may be half of the shortest simulated
//! one, 9 ms.

use super::chain::{Chain, NODES, at, inside};
use super::medium::CELL;
use super::network::within;
use super::program::{PROGRAM, Program};
use super::{now, pause_until, shell};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::spawn;
use units::Duration;

const WARM_UP: Duration = Duration::from_secs(10);
const RUN: Duration = Duration::from_secs(20);
const BELOW: Duration = Duration::from_millis(3 * 8);
const SEGMENT: u64 = 1_000;
/// With headers of TCP, with timestamps, and IP.
const MTU: u64 = SEGMENT + 52;
const WINDOW: u64 = 252 * SEGMENT;
const PORT: u16 = 5_001;

/// Controller of every node, and the simulated transfer under it: segments per second, and the round trip.
struct Case {
    name: &'static str,
    words: &'static str,
    segments: u64,
    round_trip: Duration,
}

const CASES: [Case; 3] = [
    Case { name: "none", words: "--controller none", segments: 252, round_trip: Duration::from_millis(1_000) },
    Case {
        name: "wqm",
        words: "--controller wqm --set wqm.share=equal --set wqm.overhead=866us",
        segments: 241,
        round_trip: Duration::from_millis(21),
    },
    Case {
        name: "dnb",
        words: "--controller dnb --notes --set dnb.overhead=866us",
        segments: 233,
        // With three packets at the first node; 9 ms with two. The random number of the nodes decides which.
        round_trip: Duration::from_millis(21),
    },
];

/// Node of the sender: a machine of its own, because a node's own sender keeps its queue short (TCP small queues).
const SOURCE: &str = "source";

fn set_up(chain: &Chain) {
    for node in 0..NODES {
        // The rate of the medium, so that the reported link rate is the real one.
        at(node, &format!("iw dev wlan{node} set bitrates legacy-2.4 11; ip link set wlan{node} mtu {MTU}"));
    }
    // All hear each other, and the middle one forwards.
    at(0, "ip route add 10.8.0.3/32 via 10.8.0.2");
    at(2, "ip route add 10.8.0.1/32 via 10.8.0.2");
    shell(&format!("ip netns add {SOURCE}; ip link add lan type veth peer name eth0 netns {SOURCE}"));
    shell(&format!("ip addr add 10.8.9.1/24 dev lan; ip link set lan mtu {MTU} gso_max_segs 1 up"));
    shell(&format!("ip -n {SOURCE} addr add 10.8.9.2/24 dev eth0"));
    shell(&format!("ip -n {SOURCE} link set eth0 mtu {MTU} gso_max_segs 1 up"));
    shell(&format!("ip -n {SOURCE} route add default via 10.8.9.1"));
    // One more: the first node's hop is the first.
    shell(&format!("ip netns exec {SOURCE} sysctl -qw net.ipv4.ip_default_ttl=65"));
    at(1, "ip route add 10.8.9.0/24 via 10.8.0.1");
    at(2, &format!("ip route add 10.8.9.0/24 via 10.8.0.2 window {WINDOW}"));
    shell(&format!("until ip netns exec {SOURCE} ping -c 1 -W 1 10.8.0.3 > /dev/null; do true; done"));
    assert_eq!(chain.medium.counts.failed.load(Ordering::Relaxed), 0);
}

fn tear_down(chain: Chain) {
    shell(&format!("ip link del lan; ip netns del {SOURCE}"));
    chain.end();
}

fn recording(node: usize) -> String {
    format!("/tmp/transfer{node}.jsonl")
}

/// Returns segments per second after the warm-up, and the mean of the smoothed round trips.
fn transfer() -> (u64, Duration) {
    let (ends, came) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let listener = inside(2, || TcpListener::bind(("0.0.0.0", PORT)).unwrap());
    let counted = Arc::clone(&came);
    let sink = spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            counted.fetch_add(length as u64, Ordering::Relaxed);
        }
    });
    let told = Arc::clone(&ends);
    let source = within(SOURCE, move || {
        let mut stream = TcpStream::connect(("10.8.0.3", PORT)).unwrap();
        while !told.load(Ordering::Relaxed) {
            stream.write_all(&[0; 8_192]).unwrap();
        }
    });
    let warm_at = now() + WARM_UP;
    pause_until(warm_at);
    let (before, mut trips) = (came.load(Ordering::Relaxed), Vec::new());
    let from = now();
    for second in 1..=RUN.as_nanos() / 1_000_000_000 {
        pause_until(warm_at + Duration::from_secs(second));
        trips.push(round_trip());
    }
    let (bytes, took) = (came.load(Ordering::Relaxed) - before, now().since(from));
    ends.store(true, Ordering::Relaxed);
    source.join().unwrap();
    sink.join().unwrap();
    let nanos = u128::from(took.as_nanos());
    let segments = u128::from(bytes / SEGMENT) * 1_000_000_000 / nanos;
    (u64::try_from(segments).unwrap(), trips.iter().copied().sum::<Duration>() / trips.len() as u64)
}

/// Returns the kernel's smoothed round trip of the sender's connection.
fn round_trip() -> Duration {
    let shown = shell(&format!("ip netns exec {SOURCE} ss -tinH dport = :{PORT}"));
    let millis: f64 = shown.split(" rtt:").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
    Duration::from_secs_f64(millis / 1e3)
}

/// Checks that the recording of a node gives the same decisions when it is replayed.
fn is_replayed(case: &Case, node: usize) -> Vec<serde_json::Value> {
    let recorded = std::fs::read_to_string(recording(node)).unwrap();
    let words = case.words.replace(" --notes", "");
    let replayed = shell(&format!("{PROGRAM} replay {} {words} --json", recording(node)));
    assert!(recorded == replayed, "{}, node {node}", case.name);
    recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks what DNB learnt: each node of the two others, and that all three share one domain.
fn knows_the_others(node: usize, decisions: &[serde_json::Value]) {
    let last = decisions.last().unwrap();
    let heard = last["heard"].as_array().unwrap();
    assert_eq!(heard.len(), NODES - 1, "node {node}: {last}");
    assert_eq!(last["note"]["links"].as_array().unwrap().len(), NODES, "node {node}: {last}");
    // Data: the first node sends what has come one hop, the second two; acknowledgements have come one and two.
    let hops = [1, 2, 1][node];
    assert_eq!(last["radio"]["hops"], hops, "node {node}: {last}");
    let packets: Vec<u64> = decisions[5..].iter().map(|decision| decision["limit"].as_u64().unwrap()).collect();
    assert!(packets.iter().all(|limit| (2..=10).contains(limit)), "node {node}: {packets:?}");
}

#[test]
#[ignore = "needs the guest"]
fn wqm_and_dnb_shorten_the_round_trip_of_a_transfer_as_simulated() {
    let chain = Chain::of(NODES, CELL);
    set_up(&chain);
    let outcomes = CASES.map(|case| (run(&case), case));
    tear_down(chain);
    for ((segments, round_trip), case) in outcomes {
        assert!(segments.abs_diff(case.segments) * 10 <= case.segments, "{}: {segments}", case.name);
        let least = if case.name == "none" { case.round_trip / 5 * 4 } else { Duration::from_micros(4_500) };
        let bounds = least..=case.round_trip + case.round_trip / 5 + BELOW;
        assert!(bounds.contains(&round_trip), "{}: {round_trip:?}", case.name);
    }
}

/// Returns segments per second and the round trip, with the same controller at every node.
fn run(case: &Case) -> (u64, Duration) {
    let attach = |node: usize| {
        let words = format!("attach wlan{node} --backend bpf --record {} {}", recording(node), case.words);
        Program::attached_at(node, &words, &format!("wlan{node}"))
    };
    let agents: Vec<Program> = (0..NODES).map(attach).collect();
    let (segments, round_trip) = transfer();
    println!(
        "{:4} {segments} segments/s, round trip {:.1} ms; simulated {} and {:.0} ms",
        case.name,
        round_trip.as_secs_f64() * 1e3,
        case.segments,
        case.round_trip.as_secs_f64() * 1e3,
    );
    for agent in agents {
        agent.stop();
    }
    for node in 0..NODES {
        let decisions = is_replayed(case, node);
        let limits = decisions.iter().map(|decision| decision["limit"].as_u64().unwrap());
        println!("     node {node}: limits {:?}", limits.rev().take(10).collect::<Vec<u64>>());
        if case.name == "dnb" {
            knows_the_others(node, &decisions);
        }
    }
    (segments, round_trip)
}
