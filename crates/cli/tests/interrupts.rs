//! Ctrl-C ends any command within a second, whatever the simulation does.

use crate::command::{CHAIN, limit, scenario, sluice, stderr, ticks};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Seconds of processor time until the end: one, and two more since a limit counts whole ones.
const SOON: u64 = 3;
/// Ticks of processor time after which a command simulates: 100 per second.
const BEGUN: u64 = 50;

#[expect(clippy::disallowed_methods, reason = "the test waits for another program")]
fn wait(span: Duration) {
    std::thread::sleep(span);
}

/// Interrupts a command that would not end by itself and returns its standard error.
fn interrupted(text: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    scenario(folder.path(), text);
    let mut child = sluice(folder.path())
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    while !is_simulating(child.id()) {
        assert!(child.try_wait().expect("it is ours").is_none(), "{arguments:?} ended by itself");
        wait(Duration::from_millis(20));
    }
    limit(child.id(), SOON);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is kill").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{arguments:?}: {}", stderr(&output));
    stderr(&output)
}

/// Tells whether a process catches SIGINT and has computed for a while, however many others compute.
fn is_simulating(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
    caught.unwrap_or_default() & 1 << 1 != 0 && ticks(process).is_some_and(|ticks| ticks >= BEGUN)
}

const RUN: [&str; 2] = ["run", "chain.toml"];
const SWEEP: [&str; 6] = ["reproduce", "chain.toml", "--out", "out", "--threads", "3"];

/// Makes a scenario with endless packets at one instant, so that simulated time stands still.
fn flood() -> String {
    let burst = "{ kind = \"web\", size = \"900 MB\", size_shape = 1.0001, reading = \"10 us\" }";
    CHAIN
        .replace("{ kind = \"cbr\", rate = \"2.5 Mb/s\", packet = \"1000 B\" }", burst)
        .replace(
            "\"flow.*.traffic.rate\" = [\"0.5 Mb/s\", \"2.5 Mb/s\"]",
            "\"flow.*.traffic.packet\" = [\"1 kB\", \"2 kB\"]",
        )
        .replace("\"flow.*.traffic.rate\" = \"0.5 Mb/s\"", "\"flow.*.traffic.packet\" = \"1 kB\"")
        .replace("\"flow.*.traffic.rate\" = \"2.5 Mb/s\"", "\"flow.*.traffic.packet\" = \"1 kB\"")
}

#[test]
fn in_a_flood_of_events_at_one_moment() {
    assert!(interrupted(&flood(), &RUN).contains("nothing is kept"));
    assert!(interrupted(&flood(), &SWEEP).contains("repeat this command for the remaining runs"));
    let traced = [&RUN as &[&str], &["--trace", "events.jsonl", "--node", "n2"]].concat();
    assert!(interrupted(&flood(), &traced).contains("the files are incomplete"));
}

#[test]
fn in_a_long_run_of_slow_events() {
    let slow = CHAIN.replace("duration = \"3 s\"", "duration = \"100000000 s\"").replace("series = \"500 ms\"", "");
    let slow = slow.split("[[chart]]").next().unwrap().to_owned();
    assert!(interrupted(&slow, &RUN).contains("nothing is kept"));
    assert!(interrupted(&slow, &SWEEP).contains("repeat this command for the remaining runs"));
}

/// Nodes that changed direction a thousand times a second since the last packet, months ago: one event takes minutes.
#[test]
fn in_an_event_that_does_not_end() {
    let text = "title = \"Moths\"\nduration = \"1000000000 s\"\n\
        mobility = { model = \"random-waypoint\", area = [\"1 m\", \"1 m\"], speed = { from = \"1000 m/s\", to = \"1000 m/s\" } }\n\
        nodes.count = 2\n[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\nstart = \"900000000 s\"\n\
        traffic = { kind = \"saturated\", packet = \"100 B\" }\n";
    assert!(interrupted(text, &RUN).contains("what was finished is kept"));
    assert!(interrupted(text, &SWEEP).contains("what was finished is kept"));
}
