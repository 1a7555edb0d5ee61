//! Controllers on a real link of this machine, in real time; in network namespaces, as in `live.rs`. The link is shaped by
//! the kernel, and offered more than it carries.

use crate::command::{sluice, stderr, stdout};
use crate::live::{attach, interface, queues, shape};
use crate::namespace::{end, machine_to_itself, ran_in_namespace};
use std::io::{BufRead as _, BufReader};
use std::net::UdpSocket;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Offers 16 Mb/s to a link of 5 Mb/s, in packets of 1000 bytes: 1.6 ms each, so that 50 ms are some 31 packets. The
/// wait of a packet is below the target by at most what the correction holds back, and above it by at most the packets
/// by which an interval (25 ms) can be late: half the target.
#[test]
#[ignore = "make nightly: the clock of a machine without other work"]
fn adth_holds_the_delay_of_an_overloaded_link_at_its_target_and_a_replay_decides_the_same() {
    let _machine = machine_to_itself();
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    shape();
    let before = queues();
    let enough = Arc::new(AtomicBool::new(false));
    let sender = std::thread::spawn({
        let enough = Arc::clone(&enough);
        move || send(&enough)
    });

    let settings = ["--set", "controller=adth", "--set", "adth.target_delay=50 ms"];
    let attached = [&["--parent", "1:10", "--record", "recording"], &settings[..]].concat();
    let mut lines: Vec<serde_json::Value> = Vec::new();
    for _ in 0..5 {
        let (mut child, told) = attach(folder.path(), &attached);
        lines = told.lines().take(120).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert_eq!(end(&mut child, "TERM"), Some(0));
        assert_eq!(queues(), before);
        if lines.iter().skip(1).all(was_on_time) {
            break;
        }
    }
    let late = lines.iter().skip(1).filter(|line| !was_on_time(line)).count();
    assert_eq!(
        late, 0,
        "the machine is too busy for a test in real time: so many intervals of the last of five runs were late"
    );
    enough.store(true, Ordering::Relaxed);
    sender.join().unwrap();

    let waits: Vec<f64> = lines[60..].iter().map(|line| milliseconds(&line["seen"]["sojourn"]["mean"])).collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((25.0..75.0).contains(&mean), "the delay was {mean} ms");
    let dropped: u64 = lines.iter().filter_map(|line| line["seen"]["dropped"]["packets"].as_u64()).sum();
    assert!(dropped > 0, "the link was not overloaded");

    let recorded = std::fs::read_to_string(folder.path().join("recording")).unwrap();
    let mut replay = sluice(folder.path());
    let replayed = replay.args(["replay", "recording", "--json"]).args(settings).output().unwrap();
    assert_eq!(stdout(&replayed), recorded);
    let foreign = ["replay", "recording", "--set", "controller=ebdp"];
    let refused = sluice(folder.path()).args(foreign).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("holds no service times"), "{}", stderr(&refused));
    simulated_again(folder.path(), &link(recorded.lines()));
}

/// Offers 16 Mb/s to a link of 5 Mb/s, in frames of 1014 bytes: the link sends at most 123.3 of them in 200 ms, and the
/// two of its burst. On a busy machine the link is slower, because tokens beyond the burst are lost while its timer is
/// late. The recording holds what it sent.
#[test]
fn a_controller_that_begins_with_the_largest_limit_begins_anew_from_what_the_link_sends() {
    let _machine = machine_to_itself();
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    shape();
    let enough = Arc::new(AtomicBool::new(false));
    let sender = std::thread::spawn({
        let enough = Arc::clone(&enough);
        move || send(&enough)
    });
    let mut command = sluice(folder.path());
    command.args("attach v0 --parent 1:10 --controller alt --state state --record recording".split(' '));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let start = "alt starts with a limit of 1000 packets; once packets wait, it restarts from the number that the link sends in 200 ms";
    assert!(said.any(|line| line.contains(start)));
    let measured = said.find(|line| line.contains(" measured: ")).unwrap();
    let words = "v0 measured: alt starts with a limit of ";
    let begins = measured.split(words).nth(1).unwrap_or_else(|| panic!("{measured}"));
    let begins: u64 = begins.strip_suffix(" packets, which the link sends in 200 ms").unwrap().parse().unwrap();
    // One or two more intervals, of a second each.
    #[expect(clippy::disallowed_methods, reason = "intervals of a real interface take real time")]
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert_eq!(end(&mut child, "TERM"), Some(0));
    enough.store(true, Ordering::Relaxed);
    sender.join().unwrap();

    let recorded = std::fs::read_to_string(folder.path().join("recording")).unwrap();
    let lines: Vec<serde_json::Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let begun = lines.iter().position(|line| line["begin_from"] == begins).unwrap();
    let waited = |lines: &[serde_json::Value]| {
        let gaps = lines.iter().map(|line| &line["seen"]["departure_gap"]);
        gaps.fold((0.0, 0.0), |(time, packets), gap| {
            let n = gap["n"].as_f64().unwrap();
            (time + milliseconds(&gap["mean"]) * n, packets + n)
        })
    };
    let (time, packets) = waited(&lines[..=begun]);
    assert!(waited(&lines[..begun]).0 < 200.0 && time > 199.9, "{begun}: not as soon as it could");
    let sent = 200.0 * packets / time;
    assert!((begins as f64 - sent).abs() <= 1.0 && (60..=126).contains(&begins), "{begins}, and {sent} in 200 ms");
    // From there on ALT's rule applies: one packet less after a second in which packets wait, else ten more.
    let mut before = begins;
    for line in &lines[begun..] {
        let limit = line["limit"].as_u64().unwrap();
        assert!((before - 2..=before + 11).contains(&limit), "{before}, then {line}");
        before = limit;
    }
    let mut replay = sluice(folder.path());
    let replayed = replay.args(["replay", "recording", "--controller", "alt", "--json"]).output().unwrap();
    assert_eq!(stdout(&replayed), recorded, "a replay begins from there, too");
}

/// Measurements of the link in a recording, from its sixtieth interval on.
#[derive(Debug)]
struct Link {
    /// Mean wait of packets, in milliseconds.
    wait: f64,
    /// The time between two departures from a queue that holds packets, in milliseconds.
    gap: f64,
    /// Packets that left per second.
    rate: f64,
}

fn link<'l>(lines: impl Iterator<Item = &'l str>) -> Link {
    let decisions: Vec<serde_json::Value> =
        lines.skip(59).map(|line| serde_json::from_str(line).expect("the machine plays along")).collect();
    let (first, seen) = decisions.split_first().expect("more than sixty intervals");
    let last = seen.last().expect("more than sixty intervals");
    let count = |value: &serde_json::Value| value.as_u64().expect("a count") as f64;
    let mean = |of: &str| {
        let stats = seen.iter().map(|decision| &decision["seen"][of]).filter(|stat| count(&stat["n"]) > 0.0);
        let (sum, n) = stats.fold((0.0, 0.0), |(sum, n), stat| {
            (sum + milliseconds(&stat["mean"]) * count(&stat["n"]), n + count(&stat["n"]))
        });
        assert!(n > 0.0, "no {of} in {last}");
        sum / n
    };
    let sent: f64 = seen.iter().map(|decision| count(&decision["seen"]["sent"]["packets"])).sum();
    let seconds = (milliseconds(&last["at"]) - milliseconds(&first["at"])) / 1e3;
    Link { wait: mean("sojourn"), gap: mean("departure_gap"), rate: sent / seconds }
}

/// Simulates the link of the recording under the same controller. The mean wait must agree within a fifth of the
/// target, 10 ms: six packets of 1.6 ms, by which the estimates of the live queue and of the copy's load may be off.
/// The gaps and the rate of departures must agree within 5 %: a rate may be off by a packet in an interval of 25 ms, 6
/// %, of which the mean over sixty intervals leaves little.
fn simulated_again(folder: &Path, live: &Link) {
    let made = sluice(folder)
        .args(["scenario-from", "recording", "-o", "copy.toml"])
        .output()
        .expect("the machine plays along");
    assert!(made.status.success(), "{}", stderr(&made));
    let set = ["--set", "wired.0.queue.controller=adth", "--set", "wired.0.queue.adth.target_delay=50 ms"];
    let record = ["run", "copy.toml", "--node", "sender", "--record-intervals", "copy"];
    let simulated = sluice(folder).args(record).args(set).output().expect("the machine plays along");
    assert!(simulated.status.success(), "{}", stderr(&simulated));
    let intervals = std::fs::read_to_string(folder.join("copy")).expect("the machine plays along");
    let copy = link(intervals.lines());
    eprintln!("the live link and its copy: {live:?}, {copy:?}");
    assert!((copy.wait - live.wait).abs() <= 10.0, "{live:?} became {copy:?}");
    for (was, is) in [(live.gap, copy.gap), (live.rate, copy.rate)] {
        assert!((is / was - 1.0).abs() <= 0.05, "{live:?} became {copy:?}");
    }
}

/// True if the agent decided in time and the sender sent no larger burst than the test is made for. A busy machine
/// delays both by more than an interval; the packets with which they then catch up say nothing about it.
fn was_on_time(line: &serde_json::Value) -> bool {
    let length = milliseconds(&line["seen"]["length"]);
    let sent_at_two_a_millisecond = line["seen"]["arrived"]["packets"].as_f64().expect("a count") / 2.0;
    (20.0..=35.0).contains(&length) && (15.0..=40.0).contains(&sent_at_two_a_millisecond)
}

fn milliseconds(value: &serde_json::Value) -> f64 {
    let text: &str = value.as_str().expect("the machine plays along");
    text.parse::<units::Duration>().expect("the machine plays along").as_secs_f64() * 1e3
}

/// Sends two packets per millisecond, and catches up after it has slept too long.
#[expect(clippy::disallowed_methods, reason = "traffic on a real interface takes real time")]
fn send(enough: &AtomicBool) {
    let socket = UdpSocket::bind("10.9.0.1:0").expect("the machine plays along");
    let (begun, mut sent) = (linux::kernel::now(), 0);
    while !enough.load(Ordering::Relaxed) {
        let due = linux::kernel::now().since(begun).as_nanos() / 500_000;
        while sent < due {
            socket.send_to(&[0; 972], "10.9.0.2:9").expect("the machine plays along");
            sent += 1;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
