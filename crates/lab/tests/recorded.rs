//! A simulated link is recorded, turned into a scenario, and simulated again.

use experiment::scenario::{Scenario, Wishes};
use lab::capture::{self, Wanted};
use lab::recorded::{self, Decision};
use std::path::Path;
use units::Duration;

/// 10, then 1, then 5 Mb/s, 20 s each, offered 12 Mb/s in packets of 1000 bytes with the IP header.
const STEPS: &str = r#"
title = "A link that changes"
duration = "60 s"
[[node]]
name = "a"
role = "wired"
[[node]]
name = "b"
role = "wired"
[[wired]]
between = ["a", "b"]
rate = "10 Mb/s"
at = [{ time = "20 s", rate = "1 Mb/s" }, { time = "40 s", rate = "5 Mb/s" }]
[[flow]]
name = "load"
from = "a"
to = "b"
traffic = { kind = "cbr", rate = "12 Mb/s", packet = "972 B" }
"#;

const ADTH: [&str; 2] = ["wired.0.queue.controller=adth", "wired.0.queue.adth.target_delay=50 ms"];

/// Runs a scenario under ADTH and returns the intervals of the queue at `node`.
fn record(text: &str, node: &str, folder: &Path) -> Vec<Decision> {
    let wishes = Wishes { set: ADTH.map(str::to_owned).to_vec(), base_only: true, ..Wishes::default() };
    let scenario = Scenario::parse("test.toml", text.as_bytes(), &wishes).unwrap_or_else(|refusal| panic!("{refusal}"));
    let file = folder.join(node);
    let wanted = Wanted { nodes: vec![node.into()], intervals: Some(file.clone()), ..Wanted::default() };
    capture::record(&scenario.base, 1, &(), &wanted).expect("it can be written").expect("nobody stops it");
    let lines = std::fs::read_to_string(file).expect("it was written");
    lines.lines().map(|line| serde_json::from_str(line).expect("it is a decision")).collect()
}

/// Splits decisions into phases from 5 s after a step to the next step.
fn phases(decisions: &[Decision]) -> [Vec<&Decision>; 3] {
    [(5, 20), (25, 40), (45, 60)].map(|(from, to)| {
        let within =
            |decision: &&Decision| decision.at > Duration::from_secs(from) && decision.at <= Duration::from_secs(to);
        decisions.iter().filter(within).collect()
    })
}

/// The bounds were set before the first run. A rate is copied within 0.1 %. A queue of 50 ms holds six packets at 1
/// Mb/s, 8 ms each; one that arrives half a packet's time earlier or later changes the mean by 4 ms, so delays must
/// agree within a tenth of the target, 5 ms. The numbers of packets that leave must agree within 1 %.
#[test]
fn a_link_that_steps_is_simulated_again_from_its_recording() {
    let folder = tempfile::tempdir().expect("the machine plays along");
    let original = record(STEPS, "a", folder.path());
    let text = recorded::scenario(&original, "steps").expect("it tells enough");
    let copy = record(&text, "sender", folder.path());
    // No controller is called at the very end of a run, and the copy ends with the last interval.
    assert_eq!(original.len(), copy.len() + 1, "{text}");
    for ((was, is), time) in phases(&original).iter().zip(phases(&copy)).zip([0.8e-3, 8e-3, 1.6e-3]) {
        for decision in was.iter().chain(&is) {
            let gap = decision.seen.departure_gap;
            assert!(gap.n > 0 && (gap.mean.as_secs_f64() / time - 1.0).abs() <= 1e-3, "{decision:?}");
        }
        let delay = |decisions: &[&Decision]| {
            let of = |decision: &&Decision| decision.seen.sojourn.mean.as_secs_f64() * decision.seen.sojourn.n as f64;
            let packets: u64 = decisions.iter().map(|decision| decision.seen.sojourn.n).sum();
            decisions.iter().map(of).sum::<f64>() / packets as f64
        };
        let (was_delay, is_delay) = (delay(was), delay(&is));
        eprintln!("packet time {time} s: delay {was_delay:.5} s, of the copy {is_delay:.5} s");
        assert!((was_delay - is_delay).abs() <= 5e-3, "{was_delay} s became {is_delay} s");
        let sent = |decisions: &[&Decision]| decisions.iter().map(|decision| decision.seen.sent.packets).sum::<u64>();
        let (was_sent, is_sent) = (sent(was), sent(&is));
        assert!(was_sent.abs_diff(is_sent) * 100 <= was_sent, "{was_sent} packets became {is_sent}");
    }
}

#[test]
fn a_queue_without_a_controller_is_recorded_once_a_second_and_the_run_stays_the_same() {
    let folder = tempfile::tempdir().expect("the machine plays along");
    let scenario = Scenario::parse("test.toml", STEPS.as_bytes(), &Wishes::default())
        .unwrap_or_else(|refusal| panic!("{refusal}"));
    let file = folder.path().join("a");
    let wanted = Wanted { intervals: Some(file.clone()), queue: Some("wired-to-b".into()), ..Wanted::default() };
    let watched =
        capture::record(&scenario.base, 1, &(), &wanted).expect("it can be written").expect("nobody stops it");
    let plain = lab::run::run(&scenario.base, 1, &()).expect("it is a network").expect("nobody stops it");
    assert_eq!(watched.outcome.flows, plain.outcome.flows);
    assert_eq!(std::fs::read_to_string(file).expect("it was written").lines().count(), 59);
    let several = Wanted { queue: None, ..wanted };
    let refused = capture::record(&scenario.base, 1, &(), &several).expect_err("two queues are meant").to_string();
    assert!(refused.ends_with("choose one of a wired-to-b, b wired-to-a with --node and --queue"), "{refused}");
}
