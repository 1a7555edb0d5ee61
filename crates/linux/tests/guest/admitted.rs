//! Both controllers of SWAN on one interface, and a command that `sluice admit` runs.

use super::network::{CLIENT, Network};
use super::program::{PROGRAM, Program, nothing_is_left, queue, said, until};
use super::{HEADERS, now, pause_until, shell};
use rustix::net::sockopt::set_ip_tos;
use std::net::UdpSocket;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::spawn;
use units::Duration;

/// 2 Mb/s.
const LINK: u64 = 250_000;
const ROUTER: &str = r#"[interface.sl0]
backend = "bpf"
queue = { controller = "swan_rate", limit = 500 }

[interface.sl0.real_time]
controller = "swan_mark"
swan_mark = { admission_rate = "400 kb/s", threshold_rate = "500 kb/s", regulation = "source" }

[admission]
interfaces = ["lan", "sl0"]
"#;

/// Runs a command under `sluice admit`, which sends 180 kb/s for so many seconds.
fn admit(seconds: u64) -> Output {
    let flow = format!("iperf3 -c {CLIENT} -u -b 170k -l 500 -t {seconds}");
    let words = format!("admit --rate 200kb/s --to {CLIENT}:5201 --json -- {flow}");
    Command::new(PROGRAM).args(words.split(' ')).output().unwrap()
}

/// Real time that nobody has admitted, of so many bits per second, until it is told to end.
fn unasked(bits_per_second: u64, ends: &Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    const LEN: usize = 500;
    let ends = Arc::clone(ends);
    spawn(move || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.connect((CLIENT, 9)).unwrap();
        set_ip_tos(&socket, 46 << 2 | 2).unwrap();
        let every = Duration::from_nanos(LEN as u64 * 8 * 1_000_000_000 / bits_per_second);
        let mut next = now();
        while !ends.load(Ordering::Relaxed) {
            // Nobody listens there, which is told sometimes.
            let _ = socket.send(&[0; LEN - HEADERS]);
            next += every;
            pause_until(next);
        }
    })
}

#[test]
#[ignore = "needs the guest"]
fn both_controllers_govern_one_interface_and_too_much_real_time_ends_an_admitted_flow() {
    let network = Network::new(LINK, Duration::from_millis(10));
    let before = queue("sl0");
    std::fs::write("/tmp/router.toml", ROUTER).unwrap();
    std::fs::write("/tmp/client.toml", "[admission]\ninterfaces = [\"sl1\"]\n").unwrap();
    let agent = Program::attached("agent --config /tmp/router.toml", "sl0");
    let there = "netns exec client /tmp/sluice agent --config /tmp/client.toml --state /tmp/client";
    let mut client = Command::new("ip").args(there.split(' ')).spawn().unwrap();
    shell("ip netns exec client iperf3 -s -D");
    until("both agents answer", || {
        shell("ip netns exec client ss -lun").contains(":9478") && said().contains("probes are answered")
    });

    let admitted = admit(4);
    let log = String::from_utf8_lossy(&admitted.stderr).into_owned();
    assert_eq!(admitted.status.code(), Some(0), "{log}");
    assert!(log.contains("\"admit\""), "{log}");
    shell("/tmp/sluice status --json > /tmp/status");
    let status: serde_json::Value = serde_json::from_str(&std::fs::read_to_string("/tmp/status").unwrap()).unwrap();
    let status = &status[0];
    assert_eq!(status["controller"], "swan_rate and swan_mark", "{status}");
    assert!(status["rate_bps"].as_f64().unwrap() > 0.0, "{status}");
    // 4 s of 42 packets each second.
    let sent = status["real_time"]["totals"]["sent_packets"].as_u64().unwrap();
    assert!(sent > 150, "{status}");

    // More than the threshold: packets are marked, the flow is asked to regulate, and the path has no room.
    let ends = Arc::new(AtomicBool::new(false));
    let others = unasked(450_000, &ends);
    let began = now();
    // The average of 300 ms has not seen them yet.
    let ended = admit(30);
    ends.store(true, Ordering::Relaxed);
    others.join().unwrap();
    let log = String::from_utf8_lossy(&ended.stderr).into_owned();
    println!("after {:?}: {log}", now().since(began));
    assert_eq!(ended.status.code(), Some(10), "{log}");
    assert!(log.contains("\"regulate\"") && log.contains("\"refuse\""), "{log}");

    client.kill().unwrap();
    client.wait().unwrap();
    agent.stop();
    assert_eq!(queue("sl0"), before);
    nothing_is_left();
    shell("kill $(pidof iperf3)");
    network.end();
}
