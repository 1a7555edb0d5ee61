//! Tests that each key of an experiment outside its network changes the report, and is refused if it would not.

use super::html;
use crate::scenario::schema::Tables;
use crate::scenario::{Beside, Refusal, Scenario, Wishes};
use crate::study::{Run, Study};
use crate::watch::Timed;
use crate::{jobs, tables};
use rayon::prelude::*;
use sim::World;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// For each key a change that alters the report, and a change that is refused.
const KEYS: &str = include_str!("keys.txt");
/// Experiments whose keys are changed: the word for each in `keys.txt`, its text, and true for a run with `--quick`.
const FILES: [(&str, &str, bool); 4] = [
    ("", include_str!("cell.toml"), false),
    ("quick: ", include_str!("cell.toml"), true),
    ("hops: ", include_str!("hops.toml"), false),
    ("devices: ", include_str!("devices.toml"), false),
];
/// The keys of the top level that are not the network's; `vary` and `quick` have no table in the schema.
const EXPERIMENT: [&str; 10] =
    ["title", "id", "about", "base", "answer", "model", "rulings", "claim", "chart", "table"];

/// A change of one key: the key, the index of the file, and its text with the change.
struct Change {
    key: &'static str,
    file: usize,
    acts: String,
    refused: Option<String>,
}

/// Reads `key | text | its replacement | text | a replacement that is refused`.
fn change(line: &'static str) -> Change {
    let columns: Vec<&str> = line.split('|').map(str::trim).collect();
    let [key, text, instead, ref idle @ ..] = columns[..] else { panic!("at least four columns: {line}") };
    let file = (1..FILES.len()).find(|&file| text.starts_with(FILES[file].0)).unwrap_or_default();
    let acts = replaced(FILES[file].1, &text[FILES[file].0.len()..], instead);
    let refused = match idle {
        ["always"] => None,
        [text, instead] => Some(replaced(FILES[0].1, text, instead)),
        _ => panic!("four or five columns: {line}"),
    };
    Change { key, file, acts, refused }
}

fn replaced(file: &str, text: &str, instead: &str) -> String {
    let [text, instead] = [text, instead].map(|text| text.replace(';', "\n"));
    assert_eq!(file.matches(&text).count(), 1, "once in the file: {text}");
    file.replace(&text, &instead)
}

fn changes() -> Vec<Change> {
    KEYS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(change).collect()
}

fn read(text: &str, quick: bool) -> Result<Scenario, Refusal> {
    let files = Beside(&[("base.toml", include_bytes!("base.toml"))]);
    Scenario::read("cell.toml", "cell", text.as_bytes(), &files, &Wishes { quick, ..Wishes::default() })
}

/// Runs already made, under the name that a store would give each: most keys change no run.
type Kept = Mutex<BTreeMap<String, Run>>;

/// Runs the sweep. Returns its report, its verdicts and the text for the terminal.
fn reported(scenario: &Scenario, kept: &Kept) -> String {
    let one = |number| {
        let job = jobs::job(scenario, number, "");
        let former = kept.lock().expect("nobody panics with it").get(&job.key).cloned();
        former.unwrap_or_else(|| {
            let outcome = World::new(&job.network, job.seed).expect("it can be built").finish();
            let timed = Timed { outcome, wall_s: 0.0, cpu_s: 0.0 };
            let run = jobs::record(scenario, job.case, job.seed, timed);
            kept.lock().expect("nobody panics with it").insert(job.key, run.clone());
            run
        })
    };
    let runs = (0..scenario.cases.len() * scenario.seeds.len()).map(one).collect();
    // The text is left out, because the report quotes it and so would show every change.
    let study = Study { alone: String::new(), ..jobs::study(scenario, runs, "") };
    let report = html(std::slice::from_ref(&study), "library", None);
    let verdicts = serde_json::to_string(&study.claims).expect("verdicts are JSON");
    [report, verdicts, tables::study(&study, 200, true)].concat()
}

#[test]
fn every_key_of_an_experiment_moves_its_report_or_is_refused() {
    let kept = Kept::default();
    let unchanged = FILES.map(|(_, text, quick)| {
        let scenario = read(text, quick).unwrap_or_else(|refusal| panic!("{refusal}"));
        reported(&scenario, &kept)
    });
    let fault = |change: &Change| {
        let moved = match read(&change.acts, FILES[change.file].2) {
            Ok(scenario) if reported(&scenario, &kept) == unchanged[change.file] => {
                Some("the report is the same".to_owned())
            }
            Ok(_) => None,
            Err(refusal) => Some(refusal.to_string()),
        };
        let refused = change.refused.as_ref().filter(|text| read(text, false).is_ok());
        let refused = refused.map(|_| "nothing is said where it has no effect".to_owned());
        moved.into_iter().chain(refused).map(|why| format!("{}: {why}", change.key)).collect::<Vec<_>>()
    };
    let faults: Vec<String> = changes().par_iter().flat_map_iter(fault).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_key_of_an_experiment_is_tried() {
    let tried: Vec<&str> = changes().iter().map(|change| change.key).collect();
    let missing: Vec<String> = Tables::get()
        .iter()
        .flat_map(|table| {
            // A table is only the sum of its keys.
            let keys = table.keys.iter().filter(|key| !key.is_table);
            keys.map(
                |key| if table.path.is_empty() { key.name.clone() } else { format!("{}.{}", table.path, key.name) },
            )
        })
        .filter(|key| EXPERIMENT.iter().any(|first| key.split('.').next() == Some(first)))
        .filter(|key| !tried.contains(&key.as_str()))
        .collect();
    assert!(missing.is_empty(), "no line for:\n{}", missing.join("\n"));
}
