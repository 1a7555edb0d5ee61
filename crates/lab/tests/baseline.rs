//! Tests that controllers from outside Sluice run beside a scenario's own, and leave those unchanged.

use control::{Limit, Period};
use experiment::scenario::{Scenario, Wishes};
use experiment::watch::{Fault, Outside, Timed, Watch};
use lab::run;
use lab::store::Store;
use lab::sweep::{self, Settings};
use sim::config::Network;
use sim::{Governed, World};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::Duration;

const TEXT: &str = r#"
title = "t"
duration = "2 s"
[radio]
range = "30 m"
[nodes]
count = 3
placement = "chain"
spacing = "30 m"
[queue]
limit = 100
[[flow]]
name = "f"
from = "n0"
to = "n2"
traffic = { kind = "cbr", rate = "4 Mb/s", packet = "1000 B" }
[vary]
seeds = 2
scheme = [
  { label = "FIFO", set = {} },
  { label = "ADTH", set = { "queue.controller" = "adth" } },
]
"queue.discipline" = ["drop-head", "drop-tail"]
[[claim]]
id = "a"
says = "s"
source = "s"
measure = "totals.loss_ratio"
holds = "<= 1"
"#;

fn scenario() -> Scenario {
    Scenario::read("a.toml", "a", TEXT.as_bytes(), &(), &Wishes::default()).expect("right")
}

/// A limit of three packets.
#[derive(Debug)]
struct Three;

impl Outside for Three {
    fn run(
        &self,
        network: &Network,
        seed: u64,
        _case: &BTreeMap<String, String>,
        places: &[Governed],
        watch: &dyn Watch,
    ) -> Result<Option<Timed>, Fault> {
        let every = Period::new(Duration::from_millis(100)).expect("long enough");
        let steered = |_: &World| Ok(places.iter().map(|governed| (governed.place, every)).collect());
        run::steered(network, seed, steered, watch, |_, _| Ok::<_, sim::BuildError>(Limit::Packets(3).into()))
            .map_err(Into::into)
    }
}

fn three() -> Arc<dyn Outside> {
    Arc::new(Three)
}

fn refused(like: Option<&str>, label: &str) -> String {
    scenario().with_baseline(label, like, &three()).expect_err("wrong").to_string()
}

#[test]
fn what_it_stands_for_is_told_or_found() {
    let chosen = scenario().with_baseline("x", Some("queue.discipline=drop-tail"), &three());
    assert!(chosen.expect_err("FIFO").to_string().contains("no queue has a controller where queue.discipline"));
    assert!(refused(Some("scheme=ADHT"), "x").contains("did you mean `ADTH`?"));
    assert!(refused(Some("shceme=ADTH"), "x").contains("did you mean `scheme`?"));
    assert!(refused(Some("ADTH"), "x").contains("expected AXIS=LABEL"));
    assert!(refused(None, "ADTH").contains("give the baseline another"));
    let none = Scenario::read(
        "a.toml",
        "a",
        b"title = 't'\nduration = '1 s'\n[nodes]\ncount = 2\nplacement = 'chain'\nspacing = '9 m'\n",
        &(),
        &Wishes::default(),
    );
    let none = none.expect("right").with_baseline("x", None, &three()).expect_err("nothing varies");
    assert!(none.to_string().starts_with("a.toml: no label of `[vary]` sets a controller"), "{none}");
}

#[test]
fn its_cases_come_after_the_others_and_leave_them_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |scenario: &Scenario, folder: &str, path: &tempfile::TempDir| {
        let store = Store::create(&path.path().join(folder), "a").expect("a store");
        let settings = Settings { threads: 1, build: "test".to_owned(), command: String::new(), traces: None };
        sweep::run(scenario, &store, &settings, &()).expect("a study")
    };
    let plain = run(&scenario(), "plain", &folder);
    let baseline = scenario().with_baseline("3", None, &three()).expect("right");
    let both = run(&baseline, "both", &folder);
    assert_eq!(both.axes[0].labels, ["FIFO", "ADTH", "3"]);
    assert_eq!((plain.runs.len(), both.runs.len()), (8, 12));
    for (one, other) in plain.runs.iter().zip(&both.runs) {
        assert_eq!((&one.case, one.seed, &one.outcome), (&other.case, other.seed, &other.outcome));
    }
    assert_eq!(plain.claims, both.claims);
    for run in &both.runs[8..] {
        assert_eq!(run.case["scheme"], "3");
        let limit = |node: usize| run.outcome.nodes[node].queues[0].limit_packets.expect("in packets").last;
        assert!((0..3).all(|node| (limit(node) - 3.0).abs() < 1e-9));
    }
    // The outside code may have changed since: only the other runs are taken from the store.
    let again = run(&baseline, "both", &folder);
    let kept: Vec<bool> =
        both.runs.iter().zip(&again.runs).map(|(one, two)| one.wall_s.to_bits() == two.wall_s.to_bits()).collect();
    assert_eq!(kept, [[true; 8].as_slice(), &[false; 4]].concat());
}
