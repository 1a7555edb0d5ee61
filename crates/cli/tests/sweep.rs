//! Sweeps: results do not depend on the number of threads, interrupts lose nothing, claims decide the exit status.

use crate::command::{CHAIN, scenario, sluice, stderr, stdout, without_times};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn results(folder: &Path, out: &str) -> String {
    without_times(&fs::read_to_string(folder.join(out).join("results.jsonl")).expect("the sweep wrote results"))
}

fn runs(folder: &Path, out: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder.join(out).join("runs")) else { return Vec::new() };
    let whole = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut runs: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).filter(whole).collect();
    runs.sort();
    runs
}

#[test]
fn one_run_gives_the_same_bytes_twice() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let run = |seed: &str| {
        let output = sluice(folder.path()).args(["run", "chain.toml", "--seed", seed, "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        without_times(&stdout(&output))
    };
    let first = run("3");
    assert_eq!(first, run("3"));
    assert_ne!(first, run("4"));
    for key in
        ["scenario", "seed", "set", "simulated_s", "wall_s", "cpu_s", "events", "version", "flows", "totals", "claims"]
    {
        assert!(first.contains(&format!("\"{key}\":")), "no {key} in {first}");
    }
}

/// The same property as that of the fixture, for an experiment of the project.
#[test]
fn a_real_experiment_has_the_same_results_on_any_threads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let outputs = ["1", "2"].map(|threads| {
        let out = folder.path().join(threads);
        let mut command = sluice(&root);
        command.args(["reproduce", "scenarios/adth/s1b.toml", "--quick", "--set", "duration=30 s"]);
        let output = command.args(["--threads", threads, "--out"]).arg(&out).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
        without_times(&fs::read_to_string(out.join("results.jsonl")).unwrap())
    });
    assert_eq!(outputs[0].lines().count(), 6, "two cases with three seeds");
    assert_eq!(outputs[0], outputs[1]);
}

#[test]
fn random_homes_are_judged_alike_on_any_threads_and_can_be_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let judged = |threads: &str| {
        let arms =
            ["arena", "--homes", "2", "--first", "18", "--arms", "turns,null", "--threads", threads, "--out", threads];
        let output = sluice(folder.path()).args(arms).arg("--json").output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
        let object: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        (results(folder.path(), threads), object["spreads"].clone(), object["claims"].clone())
    };
    let (results, spreads, claims) = judged("1");
    assert_eq!((results.clone(), spreads.clone(), claims.clone()), judged("2"));
    assert_eq!(results.lines().count(), 6, "two homes with mac80211, turns and the null control");
    assert_eq!(spreads[0]["title"], "own goodput");
    let of_arms: Vec<_> =
        spreads[0]["lines"].as_array().unwrap().iter().map(|line| line[1].as_array().unwrap().len()).collect();
    assert_eq!(of_arms, [2, 0, 2], "turns, knobs that were not run, null");
    assert_eq!(claims[0]["id"], "arena-homes.own-goodput");
    assert!(fs::read_to_string(folder.path().join("1/report.html")).unwrap().contains("Ratios of all cases"));
    // A kept run is not made again, and the home is a scenario like any other.
    let told =
        sluice(folder.path()).args(["arena", "--homes", "1", "--first", "18", "--write", "homes"]).output().unwrap();
    assert_eq!(stdout(&told), format!("{}\n", Path::new("homes").join("home-18.toml").display()));
    let checked = sluice(folder.path()).args(["check", "homes"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
    let refused = sluice(folder.path()).args(["arena", "--first", "4"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "a number of a home without homes");
}

#[test]
fn threads_do_not_change_results() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    for threads in ["1", "2"] {
        let out = format!("out{threads}");
        let arguments = ["reproduce", "chain.toml", "--threads", threads, "--out", &out];
        let output = sluice(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert_eq!(results(folder.path(), "out1"), results(folder.path(), "out2"));
    assert_eq!(results(folder.path(), "out1").lines().count(), 8);
    for table in ["flows.csv", "nodes.csv", "claims.json"] {
        let read = |out: &str| fs::read_to_string(folder.path().join(out).join(table)).unwrap();
        assert_eq!(read("out1"), read("out2"), "{table}");
    }
}

#[test]
fn an_interrupted_sweep_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let arguments = |out| ["reproduce", "chain.toml", "--threads", "1", "--set", "duration=200 s", "--out", out];
    let child = sluice(folder.path()).args(arguments("out")).stderr(std::process::Stdio::piped()).spawn().unwrap();
    while runs(folder.path(), "out").is_empty() {
        pause();
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("of 8 runs are finished and stored in out; repeat this command"),
        "{}",
        stderr(&output)
    );
    let kept = runs(folder.path(), "out");
    assert!(!kept.is_empty() && kept.len() < 8, "{kept:?}");
    assert!(!folder.path().join("out/manifest.json").exists());

    let before: Vec<_> = kept.iter().map(|path| fs::read(path).unwrap()).collect();
    let output = sluice(folder.path()).args(arguments("out")).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    // The recorded run times are still those of the first run.
    assert_eq!(kept.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>(), before);
    let output = sluice(folder.path()).args(arguments("fresh")).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    assert_eq!(results(folder.path(), "out"), results(folder.path(), "fresh"));
    let claims = |out: &str| fs::read_to_string(folder.path().join(out).join("claims.json")).unwrap();
    assert_eq!(claims("out"), claims("fresh"));
}

#[expect(clippy::disallowed_methods, reason = "the test waits for another program")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}

#[test]
fn a_damaged_run_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let arguments = ["reproduce", "chain.toml", "--quick", "--out", "out"];
    assert_eq!(sluice(folder.path()).args(arguments).output().unwrap().status.code(), Some(0));
    let before = results(folder.path(), "out");
    fs::write(&runs(folder.path(), "out")[0], b"{\"scenario\":").unwrap();
    assert_eq!(sluice(folder.path()).args(arguments).output().unwrap().status.code(), Some(0));
    assert_eq!(results(folder.path(), "out"), before);
}

#[test]
fn a_claim_that_differs_decides_the_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), &CHAIN.replace("holds = \"<= 0.05\"", "holds = \"> 0.5\""));
    let output = sluice(folder.path()).args(["reproduce", "chain.toml", "--quick", "--out", "out"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("\ndiffers: ") && stdout(&output).contains("2 claims: 1 holds, 1 differs"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_table_shows_the_units_of_its_titles_and_a_line_says_how_claims_came_out() {
    let folder = tempfile::tempdir().unwrap();
    let table = "[[table]]\ntitle = \"Figures\"\nrows = \"scheme\"\nwhere = { \"flow.*.traffic.rate\" = \"0.5 Mb/s\" }\ncell = [\
        { title = \"mean (ms)\", measure = \"flows.*.delay_s.mean\" }, { title = \"goodput (kb/s)\", measure = \"totals.goodput_bps\" }]\n";
    scenario(folder.path(), &CHAIN.replace("[[chart]]", &format!("{table}[[chart]]")).replace("<= 0.05", "> 0.5"));
    let output = sluice(folder.path()).args(["reproduce", "chain.toml", "--all", "--out", "out"]).output().unwrap();
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(text.contains("\n2 claims: 1 holds, 1 differs\n"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("claim") && line.contains("holds if")), "{text}");
    assert!(text.contains("> 50 %"), "{text}");
    // Half a megabit a second, and some milliseconds.
    let row: Vec<f64> = text
        .lines()
        .find(|line| line.starts_with("FIFO"))
        .unwrap()
        .split(['/', ' '])
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(row[0] > 0.5 && row[0] < 50.0 && (row[1] - 500.0).abs() < 10.0, "{text}");
    let page = fs::read_to_string(folder.path().join("out/report.html"));
    // A build without the charting library writes no report.
    assert!(page.is_err() || page.unwrap().contains("<p class=\"tally\">2 claims: "), "no outcome in the report");
}

#[test]
fn experiments_are_found_by_id_and_have_their_own_folders() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("scenarios/some")).unwrap();
    scenario(&folder.path().join("scenarios/some"), CHAIN);
    let output = sluice(folder.path()).arg("list").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let line = stdout(&output).lines().find(|line| line.starts_with("chain")).unwrap().to_owned();
    assert_eq!(line.split_whitespace().take(3).collect::<Vec<_>>(), ["chain", "8", "2"]);
    let output = sluice(folder.path()).args(["reproduce", "chain", "--quick", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(folder.path().join("results/chain/manifest.json").is_file());
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("\"scenario\":\"chain\"") && text.contains("\"verdict\":\"holds\""), "{text}");
    // A folder of `scenarios`, by its name.
    let output = sluice(folder.path()).args(["reproduce", "some", "--quick", "--json"]).output().unwrap();
    assert_eq!(stdout(&output).lines().count(), 1, "{}", stderr(&output));
}

#[test]
fn every_scenario_of_the_project_is_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let checked = sluice(&root).args(["check", "scenarios"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
    // The network of a document does not depend on the defaults of devices.
    assert!(!stdout(&checked).contains("by default"), "{}", stdout(&checked));
    let output = sluice(&root).arg("list").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let ids: Vec<_> =
        stdout(&output).lines().skip(1).filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect();
    let mut once = ids.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), ids.len(), "an id is used twice: {ids:?}");
    assert!(ids.iter().any(|id| id == "adth-s1a"), "{ids:?}");
}

#[test]
fn keys_set_from_outside_are_told_in_the_results() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let set = [
        "run",
        "chain.toml",
        "--json",
        "--set",
        "duration=1 s",
        "--set",
        "flow.*.deadline=300 ms",
        "--set",
        "queue.limit=7",
    ];
    let output = sluice(folder.path()).args(set).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("\"set\":{\"duration\":\"1 s\",\"flow.*.deadline\":\"300 ms\",\"queue.limit\":\"7\"}"),
        "{text}"
    );
    assert!(text.contains("\"simulated_s\":1.0") && text.contains("\"deadline_s\":0.3"), "{text}");
}

#[test]
fn a_closed_pipe_is_no_fault() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let script = "\"$0\" run chain.toml --json | true; \"$0\" list chain.toml | true; \"$0\" schema | head -n 1";
    let program = env!("CARGO_BIN_EXE_sluice");
    let output =
        std::process::Command::new("sh").current_dir(folder.path()).args(["-c", script, program]).output().unwrap();
    assert_eq!(stderr(&output), "");
}

#[test]
fn the_command_documents_itself() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (vec!["--help"], "Exit status"),
        (vec!["run", "--help"], "sluice run scenarios/adth/s1a.toml --seed 3 --json"),
        (vec!["reproduce", "--help"], "sluice reproduce adth-s1a --quick"),
        (vec!["arena", "--help"], "sluice arena --quick"),
        (vec!["completions", "bash"], "complete -F"),
        (vec!["man"], ".SH EXIT STATUS"),
        (vec!["schema"], "\"$schema\""),
    ] {
        let output = sluice(folder.path()).args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(stdout(&output).contains(words), "{arguments:?}: {}", stdout(&output));
    }
    let output = sluice(folder.path()).args(["man", "pages"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = fs::read_to_string(folder.path().join("pages/sluice-reproduce.1")).unwrap();
    assert!(
        page.contains(".nf\nsluice reproduce adth\\-s1a ") && page.contains("\nResults are written to results/ID"),
        "{page}"
    );
}

/// If this fails, `sluice docs` writes the reference again.
#[test]
fn the_committed_reference_is_up_to_date() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folder = tempfile::tempdir().unwrap();
    let output = sluice(folder.path()).args(["docs", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let files = |folder: &Path| {
        let pages = fs::read_dir(folder.join("scenario")).unwrap().map(|entry| entry.unwrap().path());
        let files = pages.chain([folder.join("scenario.schema.json")]);
        let text = |file: PathBuf| (file.strip_prefix(folder).unwrap().to_owned(), fs::read_to_string(&file).unwrap());
        files.map(text).collect::<BTreeMap<_, _>>()
    };
    let (committed, fresh) = (files(&docs), files(folder.path()));
    let advice = "run `cargo run -p sluice-cli -- docs`";
    for (file, text) in &fresh {
        assert!(committed.get(file) == Some(text), "docs/{} is out of date: {advice}", file.display());
    }
    let stale: Vec<_> = committed.keys().filter(|file| !fresh.contains_key(*file)).collect();
    assert!(stale.is_empty(), "no table has these pages any more: {stale:?}");
}
