//! Tests that a folder of results holds the scenario as one file, which is accepted like any other.

use experiment::scenario::Wishes;
use lab::files;
use lab::store::Store;
use lab::sweep::{self, Settings};
use std::fs;

/// Its queue has settings for two disciplines.
const BASE: &str = r#"
title = "t"
duration = "1 s"
[nodes]
count = 2
placement = "chain"
spacing = "30 m"
[queue]
codel.target = "9 ms"
red = { min_th = 1, max_th = 3 }
[[flow]]
name = "f"
from = "n0"
to = "n1"
traffic = { kind = "cbr", rate = "1 Mb/s", packet = "500 B" }
"#;

#[test]
fn the_scenario_of_a_folder_of_results_is_one_that_is_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("base.toml"), BASE).expect("it can be written");
    let own = folder.path().join("own.toml");
    fs::write(&own, "base = \"base.toml\"\nqueue.discipline = \"red\"\n").expect("it can be written");
    let scenario = files::load(&own, &Wishes::default()).expect("right");
    let settings = Settings { threads: 1, build: "test".to_owned(), command: String::new(), traces: None };
    let kept = folder.path().join("kept");
    let run = |scenario, folder: &str| {
        let store = Store::create(&kept.join(folder), "own").expect("a store");
        sweep::run(scenario, &store, &settings, &()).expect("a study")
    };
    let study = run(&scenario, "first");
    let again =
        files::load(&kept.join("first/scenario.toml"), &Wishes::default()).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(again.id, "own");
    assert!(again.text.contains("red") && !again.text.contains("codel"), "{}", again.text);
    assert_eq!(run(&again, "second").runs[0].outcome, study.runs[0].outcome);
    // The text compared with later versions of the scenario is the whole of what it inherits.
    let whole = Store::load(&kept.join("first")).expect("it was kept").text;
    assert!(whole == scenario.text && whole.contains("codel"), "{whole}");
}

#[test]
fn a_folder_of_an_earlier_version_has_the_text_in_the_scenario_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own.toml");
    fs::write(&own, BASE.replace("codel.target = \"9 ms\"", "discipline = \"red\"")).expect("it can be written");
    let scenario = files::load(&own, &Wishes::default()).expect("right");
    let store = Store::create(folder.path(), "own").expect("a store");
    let settings = Settings { threads: 1, build: "test".to_owned(), command: String::new(), traces: None };
    sweep::run(&scenario, &store, &settings, &()).expect("a study");
    let path = folder.path().join("manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
    assert!(manifest.as_object_mut().expect("a table").remove("text").is_some());
    fs::write(&path, manifest.to_string()).expect("it can be written");
    let text = Store::load(folder.path()).expect("it was kept").text;
    assert_eq!(text, format!("id = \"own\"\n{}", scenario.text));
}
