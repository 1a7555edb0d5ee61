//! The record of claims: it is shown from any working directory, and checked against scenarios and pages.

use crate::command::{sluice, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Runs the command in a folder without scenarios, where it has only the built-in record.
fn told(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("the test's folder and command work");
    sluice(folder.path()).arg("claims").args(args).output().expect("the test's folder and command work")
}

#[test]
fn the_record_fits_the_scenarios_and_the_pages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let checked = sluice(&root).args(["claims", "--check"]).output().expect("the test's folder and command work");
    assert!(checked.status.success(), "{}{}", stderr(&checked), stdout(&checked));
}

#[test]
fn documents_headlines_experiments_and_claims_are_shown_without_the_repository() {
    let documents = stdout(&told(&[]));
    for document in ["adth", "bqm", "buffer-sizing", "kaust", "reference", "swan"] {
        assert!(documents.lines().any(|line| line.starts_with(document)), "{document}: {documents}");
    }
    // The arena repeats no document's statements.
    assert!(!documents.contains("arena"), "{documents}");
    let open = stdout(&told(&["--unstated", "swan"]));
    assert!(
        open.contains("swan/channel.toml") && open.contains("radio.basic_rate") && !open.contains("adth/"),
        "{open}"
    );
    assert_eq!(told(&["--unstated", "arena"]).status.code(), Some(2));
    let headline = stdout(&told(&["adth"]));
    assert!(headline.contains("statements of the document: ") && headline.contains("with the conventions of ns-2: "));
    let all = stdout(&told(&["adth", "--all"]));
    assert!(all.lines().count() > headline.lines().count() && all.contains("adth-s1a.3 "));
    // A URL is one word.
    assert!(all.lines().all(|line| line.chars().count() <= 100 || line.contains("https://")), "{all}");
    assert!(stdout(&told(&["adth-s1a"])).contains("adth-s1a.3 "));
    let one = stdout(&told(&["adth-s1a.3"]));
    assert!(one.contains("document    above 7 s") && one.contains("sluice reproduce adth-s1a ("), "{one}");
    let wrong = told(&["adth-s1x"]);
    assert!(
        wrong.status.code() == Some(2) && stderr(&wrong).contains("did you mean `adth-s1a`?"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn programs_read_json_and_csv() {
    let rows: Vec<Value> =
        serde_json::from_str(&stdout(&told(&["adth-s1a.3", "--json"]))).expect("the test's folder and command work");
    assert_eq!((rows.len(), &rows[0]["unit"], &rows[0]["verdict"]), (2, &"s".into(), &"holds".into()));
    assert!(rows[0]["ours"].is_f64() && rows[0]["setting"].is_null());
    let csv = stdout(&told(&["adth-s1a.3", "--csv"]));
    assert!(csv.starts_with("id,setting,conventions,") && csv.lines().count() == 3, "{csv}");
}

/// Creates a folder with one scenario, the chain of the fixtures, and a page with a table of the record.
fn repository(claim: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("the test's folder and command work");
    for below in ["scenarios/paper", "evidence", "docs"] {
        fs::create_dir_all(folder.path().join(below)).expect("the test's folder and command work");
    }
    let text = include_str!("fixtures/chain.toml").replacen("[[claim]]", &format!("[[claim]]\n{claim}"), 1);
    fs::write(folder.path().join("scenarios/paper/chain.toml"), text).expect("the test's folder and command work");
    let page = "# P\n\n<!-- headline table: sluice claims paper --markdown -->\n<!-- end -->\n\nText.\n";
    fs::write(folder.path().join("docs/p.md"), page).expect("the test's folder and command work");
    folder
}

#[test]
fn full_runs_are_recorded_and_later_runs_compared_with_them() {
    let folder = repository("headline = true\nwhy = \"It rains.\"\ncause = \"open\"");
    let run = |args: &[&str]| sluice(folder.path()).args(args).output().expect("the test's folder and command work");
    let before = run(&["claims", "--check"]);
    assert!(
        before.status.code() == Some(1) && stderr(&before).contains("chain.1: not on record"),
        "{}",
        stderr(&before)
    );
    run(&["reproduce", "chain", "--out", "full"]);
    run(&["reproduce", "chain", "--seeds", "1", "--out", "short"]);
    let recorded = run(&["claims", "--record", "full", "short"]);
    assert!(recorded.status.success() && stderr(&recorded).contains("short: left out, because its runs"));
    let csv = fs::read_to_string(folder.path().join("evidence/paper.csv")).expect("the test's folder and command work");
    assert!(
        csv.lines().nth(1).expect("the test's folder and command work").starts_with("chain.1,,standard,yes,document,"),
        "{csv}"
    );
    let page = run(&["claims", "--check", "full", "short"]);
    assert!(page.status.code() == Some(1) && stderr(&page).contains("docs/p.md: a table differs from the record"));
    assert!(run(&["claims", "--pages", "docs"]).status.success());
    let page = fs::read_to_string(folder.path().join("docs/p.md")).expect("the test's folder and command work");
    assert!(
        page.contains("ADTH delays less than a plain queue (`chain.1`) |") && page.ends_with("<!-- end -->\n\nText.\n")
    );
    let done = run(&["claims", "--check", "full", "short"]);
    let reasons = stderr(&done);
    assert!(reasons.lines().all(|line| line.contains("the claim does not hold, and lacks `why`")), "{reasons}");
    // A value or a verdict on record that differs from the full runs is a contradiction.
    let file = folder.path().join("evidence/paper.csv");
    fs::write(&file, csv.replacen(",holds,", ",differs,", 1)).expect("the test's folder and command work");
    let said = stderr(&run(&["claims", "--check", "full"]));
    assert!(said.contains(", holds; recorded ") && said.contains(", differs"), "{said}");
}
