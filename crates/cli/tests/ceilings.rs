//! Scenarios that would run for ever or fill the memory are refused at once, at the key and with the reason.

use crate::command::{CHAIN, scenario, sluice, sluice_within, stderr, stdout};
use std::path::Path;
use std::process::Output;

/// Seconds of processor time until a refusal.
const AT_ONCE: u32 = 5;

const TRAFFIC: &str = "{ kind = \"cbr\", rate = \"2.5 Mb/s\", packet = \"1000 B\" }";

fn run(folder: &Path, text: &str) -> Output {
    scenario(folder, text);
    sluice(folder).args(["run", "chain.toml"]).output().expect("the command starts")
}

fn refused(text: &str, words: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    scenario(folder.path(), text);
    let mut command = sluice_within(folder.path(), AT_ONCE);
    let output = command.args(["check", "chain.toml"]).output().expect("the command starts");
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
    for words in words {
        assert!(error.contains(words), "expected {words} in\n{error}");
    }
    assert!(error.len() < 20_000, "{words:?}: {} bytes", error.len());
}

fn replaced(from: &str, to: &str) -> String {
    assert!(CHAIN.contains(from), "{from}");
    CHAIN.replace(from, to)
}

fn traffic(other: &str) -> String {
    replaced(TRAFFIC, other)
}

#[test]
fn powers_that_no_radio_has() {
    let radio =
        |keys: &str| replaced("propagation = \"range\"\nrange = \"30 m\"\ncarrier_sense_range = \"60 m\"", keys);
    for power in ["4000 dBm", "-4000 dBm", "61 dBm", "2 kW"] {
        refused(&radio(&format!("tx_power = \"{power}\"")), &["chain.toml:9:12: "]);
    }
    refused(&radio("receive_threshold = \"-4000 dBm\""), &["chain.toml:9:21: ", "far below noise"]);
    refused(&radio("fading = { shadowing = \"4000 dB\" }"), &["chain.toml:9:24: ", "at most 200 dB"]);
}

#[test]
fn more_packets_than_any_link_carries() {
    const MOST: &str = "rate = \"18446744073709551615 b/s\", packet = \"1000 B\"";
    for (kind, more) in [("cbr", ""), ("poisson", ""), ("on-off", ", on = \"1 s\", off = \"1 s\"")] {
        let other = format!("{{ kind = \"{kind}\", {MOST}{more} }}");
        refused(&traffic(&other), &["chain.toml:38:", "limit of 20 million per second"]);
    }
    let small = "{ kind = \"cbr\", rate = \"10 Gb/s\", packet = \"1 B\" }";
    refused(&traffic(small), &["chain.toml:38:34: packets of 1 B at 10 Gb/s exceed the limit of 20 million"]);
    let steps = |step: &str| replaced("deadline = \"200 ms\"", &format!("at = [{{ time = \"1 s\", {step} }}]"));
    refused(&steps("scale = 1e300"), &["chain.toml:39:31: ", "2.5 Mb/s times 1e300"]);
    refused(&steps("rate = \"900000 Gb/s\""), &["chain.toml:39:30: ", "limit of 20 million per second"]);
    let burst = "{ kind = \"web\", size = \"1100000 GiB\", reading = \"1 s\" }";
    refused(&traffic(burst), &["chain.toml:38:34: ", "bursts have more than 1000000 packets"]);
}

#[test]
fn controllers_that_never_rest() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    for (controller, key) in [
        ("adth", "interval"),
        ("ebdp", "interval"),
        ("alt", "interval"),
        ("astar", "ebdp.interval"),
        ("astar", "alt.interval"),
        ("swan_rate", "interval"),
        ("swan_mark", "interval"),
    ] {
        let key = format!("queue.{controller}.{key}=1 ns");
        let sets = ["--set", &format!("queue.controller={controller}"), "--set", &key];
        let output = sluice(folder.path()).args(["run", "chain.toml"]).args(sets).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{key}");
        let error = stderr(&output);
        assert!(error.contains(&format!("--set '{key}'")) && error.contains("must be at least 100 us"), "{error}");
    }
    let target = replaced("target_delay = \"100 ms\"\ninterval = \"50 ms\"", "target_delay = \"1 ns\"");
    refused(&target, &["chain.toml:31:16: `adth.target_delay` must be at least 200 us"]);
}

#[test]
fn wires_that_hold_everything() {
    let wire = |rate: &str, delay: &str| {
        format!(
            "title = \"w\"\nduration = \"1 s\"\n[[node]]\nname = \"a\"\nrole = \"wired\"\n[[node]]\nname = \"b\"\n\
             role = \"wired\"\n[[wired]]\nbetween = [\"a\", \"b\"]\nrate = \"{rate}\"\ndelay = \"{delay}\"\n[[flow]]\n\
             name = \"f\"\nfrom = \"a\"\nto = \"b\"\ntraffic = {{ kind = \"cbr\", rate = \"1 Mb/s\", packet = \"100 B\" }}\n"
        )
    };
    refused(&wire("801 Gb/s", "0 s"), &["chain.toml:11:8: no wired link carries more than 800 Gb/s"]);
    refused(&wire("1 Gb/s", "3 s"), &["chain.toml:12:9: ", "in flight"]);
    let folder = tempfile::tempdir().unwrap();
    // A delay of three seconds would be that to the moon and back.
    assert_eq!(run(folder.path(), &wire("100 Mb/s", "3 s")).status.code(), Some(0));
}

#[test]
fn sweeps_and_networks_that_were_hardly_meant() {
    let limits: Vec<String> = (1..=1000).map(|limit| limit.to_string()).collect();
    let axis = format!("\"queue.limit\" = [{}]", limits.join(", "));
    let sweep = replaced("\"flow.*.traffic.rate\" = [\"0.5 Mb/s\", \"2.5 Mb/s\"]", &axis);
    let sweep = sweep.replace("seeds = 2", "seeds = 5000");
    refused(&sweep, &["chain.toml:44:2: 2000 cases with 5000 seeds each exceed the maximum of 100000 runs"]);
    let flow =
        |number: u32| format!("[[flow]]\nname = \"f{number}\"\nfrom = \"n0\"\nto = \"n2\"\ntraffic = {TRAFFIC}\n");
    let flows: String = (0..20_000).map(flow).collect();
    refused(&(CHAIN.to_owned() + &flows), &["more than 10000 tables `[[flow]]`"]);
    let nodes = "[nodes]\ncount = 9999\nplacement = \"chain\"\nspacing = \"25 m\"\n";
    let nodes = format!("title = \"n\"\nduration = \"1 s\"\nradio.range = \"30 m\"\n{nodes}");
    let star = |name: &str| format!("[[flow]]\nname = \"{name}\"\nfrom = \"*\"\nto = \"n0\"\ntraffic = {TRAFFIC}\n");
    refused(&format!("{nodes}{}{}", star("a"), star("b")), &["flow", "more than 10000 flows"]);
    let series = nodes.replace("radio", "record.series = \"100 us\"\nradio");
    refused(&series, &["chain.toml:3:17: ", "above the limit of 20000000 values"]);
}

#[test]
fn names_that_fit_nowhere() {
    let long = "x".repeat(70_000);
    refused(&replaced("name = \"forward\"", &format!("name = \"{long}\"")), &["chain.toml:35:8: a name has 200 bytes"]);
    refused(&replaced("id = \"chain\"", &format!("id = \"{long}\"")), &["chain.toml:3:6: ", "at most 100 letters"]);
    let longer = "x".repeat(1_000_000);
    refused(&replaced("limit = 200", &format!("{longer} = 200")), &["chain.toml:28:1: unknown key `xxx"]);
    refused(&replaced("\"drop-head\"", &format!("\"{longer}\"")), &["chain.toml:27:14: unknown value `xxx"]);
    // A title and a label may be long: they are only shown.
    let folder = tempfile::tempdir().unwrap();
    let text = CHAIN.replace("Two hops", &long).replace("FIFO", &long);
    scenario(folder.path(), &text);
    let output = sluice(folder.path()).args(["reproduce", "chain.toml", "--quick", "--out", "out"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn nothing_from_a_file_commands_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let text = CHAIN
        .replace("Two hops", "\\u001b[2J\\u009b31mTwo")
        .replace("\"forward\"", "\"for\\u001b[31mward\"")
        .replace("flows.forward", "flows.*")
        .replace("says = \"", "says = \"\\u001b]0;x\\u0007");
    scenario(folder.path(), &text);
    for arguments in [
        &["run", "chain.toml"] as &[&str],
        &["run", "chain.toml", "--json"],
        &["list", "chain.toml"],
        &["reproduce", "chain.toml", "--quick", "--out", "out"],
    ] {
        let output = sluice(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        let shown = stdout(&output) + &stderr(&output);
        assert!(shown.contains("for") || shown.contains("Two"), "{arguments:?}: {shown}");
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{arguments:?}: {shown:?}");
    }
}
