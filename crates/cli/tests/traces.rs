//! Traces of events: those chosen, of one run or of every run of a sweep; and time series as tables.

use crate::command::{CHAIN, scenario, sluice, stderr, stdout};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the values of a key in the lines of a file that have it.
fn values(file: &Path, key: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(file).expect("the file was written");
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("each line is JSON"));
    lines.filter_map(|line| Some(line.get(key)?.as_str()?.to_owned())).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder was made").map(|entry| entry.expect("it can be read"));
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

const BACK: &str = "\n[[flow]]\nname = \"back\"\nfrom = \"n2\"\nto = \"n0\"\n\
    traffic = { kind = \"cbr\", rate = \"0.1 Mb/s\", packet = \"500 B\" }\n";

#[test]
fn a_trace_has_the_flows_and_events_that_were_chosen() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), &CHAIN.replace("[record]", &format!("{BACK}\n[record]")));
    let file = folder.path().join("events.jsonl");
    let trace = |more: &[&str]| {
        let arguments = [&["run", "chain.toml", "--trace", "events.jsonl"], more].concat();
        let output = sluice(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{more:?}: {}", stderr(&output));
        (values(&file, "event"), values(&file, "flow"))
    };
    let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    let (events, flows) = trace(&[]);
    assert!(events.is_superset(&set(&["sends", "hears", "queued", "delivered"])) && flows == set(&["forward", "back"]));
    assert_eq!(trace(&["--event", "delivered"]), (set(&["delivered"]), set(&["forward", "back"])));
    let both = trace(&["--event", "delivered", "--event", "queued", "--flow", "back"]);
    assert_eq!(both, (set(&["delivered", "queued"]), set(&["back"])));
    // A frame belongs to the flows of its packets; a frame without packets belongs to none.
    trace(&["--flow", "ba*", "--event", "sends"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"flow\":\"back\"") && !text.contains("\"flow\":\"forward\""), "{text}");
    assert_eq!(values(&file, "frame"), set(&["data"]));
}

#[test]
fn what_cannot_be_chosen_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    for (arguments, words) in [
        (
            &["--trace", "e", "--event", "deliverd"] as &[&str],
            "there is no event `deliverd`; did you mean `delivered`?",
        ),
        (&["--trace", "e", "--flow", "forwrd"], "there is no flow `forwrd`; did you mean `forward`?"),
        (&["--trace", "e", "--node", "zebra"], "there is no node `zebra`; expected one of: `n0`, "),
        (&["--flow", "forward"], "--trace"),
        (&["--case", "scheme=ADTH"], "2 cases have these labels; choose one by flow.*.traffic.rate"),
        (&["--case", "shceme=ADTH"], "this scenario varies no `shceme`; expected one of: `scheme`"),
        (&["--case", "scheme=ADHT"], "the axis has no such label; expected one of: `FIFO`, `ADTH`"),
        (&["--case", "scheme=ADTH", "--case", "scheme=FIFO"], "no case has all of these labels"),
    ] {
        let output = sluice(folder.path()).args(["run", "chain.toml"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn one_case_is_run_as_the_sweep_runs_it() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let case = ["--case", "scheme=ADTH", "--case", "flow.*.traffic.rate=2.5Mb/s", "--seed", "2", "--json"];
    let output = sluice(folder.path()).args(["run", "chain.toml"]).args(case).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let alone: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(alone["case"]["scheme"], "ADTH");
    let output = sluice(folder.path()).args(["reproduce", "chain.toml", "--out", "out"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = fs::read_to_string(folder.path().join("out/results.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!((&last["seed"], &last["flows"]), (&alone["seed"], &alone["flows"]));
}

#[test]
fn a_sweep_writes_a_trace_a_run_and_a_series_a_case() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let reproduce = |more: &[&str]| {
        let arguments = [&["reproduce", "chain.toml", "--quick", "--out", "out"], more].concat();
        let output = sluice(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        fs::read_to_string(folder.path().join("out/flows.csv")).unwrap()
    };
    let plain = reproduce(&[]);
    // Stored runs have no events, so they are simulated again, with the same results.
    assert_eq!(reproduce(&["--trace", "events", "--event", "delivered", "--node", "n2"]), plain);
    let cases = ["scheme-ADTH_rate-0.5-Mb-s", "scheme-ADTH_rate-2.5-Mb-s"];
    let cases = cases.map(str::to_owned).into_iter().chain(cases.map(|case| case.replace("ADTH", "FIFO")));
    let cases: Vec<String> = cases.collect();
    let of_seeds = |case: &String| [format!("{case}_seed-1.jsonl"), format!("{case}_seed-2.jsonl")];
    let traces = folder.path().join("events/chain");
    assert_eq!(names(&traces), cases.iter().flat_map(of_seeds).collect::<Vec<_>>());
    assert_eq!(values(&traces.join(&names(&traces)[0]), "event"), BTreeSet::from(["delivered".to_owned()]));

    let series = folder.path().join("out/series");
    assert_eq!(names(&series), cases.iter().map(|case| format!("{case}_seed-1.csv")).collect::<Vec<_>>());
    let text = fs::read_to_string(series.join(&names(&series)[0])).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("time_s,flows.forward."), "{text}");
    assert_eq!(lines.len(), 1 + 6);
    assert!(lines[1].starts_with("0.5,") && lines[6].starts_with("3,"), "{text}");
}

#[test]
fn a_capture_of_dsr_has_its_header() {
    let folder = tempfile::tempdir().unwrap();
    let chain = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/chain.toml");
    let words = ["run", chain, "--set", "routing.protocol=dsr", "--set", "duration=2 s"];
    let done =
        sluice(folder.path()).args(words).args(["--pcap", "frames", "--trace", "events.jsonl"]).output().unwrap();
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(fs::read_to_string(folder.path().join("events.jsonl")).unwrap().contains("\"flow\":\"routing\""));
    // IP with protocol 48 to everybody; no next header; a request for n2 by n0 with its first number.
    let frames = fs::read(folder.path().join("frames/n0.pcap")).unwrap();
    let request = [48, 0, 0, 10, 0, 0, 1, 255, 255, 255, 255, 59, 0, 0, 8, 1, 6, 0, 1, 10, 0, 0, 3];
    let holds = |window: &[u8]| {
        window.iter().zip(request).enumerate().all(|(at, (&byte, wanted))| byte == wanted || matches!(at, 1 | 2))
    };
    assert!(frames.windows(request.len()).any(holds));
}
