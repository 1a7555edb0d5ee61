//! What governs a queue is said, and a scheme can be named wherever one is.

use crate::command::{sluice, stderr, stdout, without_times};
use std::process::Command;

/// Standard output and error of a run of `new`'s example.
fn ran(folder: &std::path::Path, set: &[&str]) -> (String, String) {
    let mut run = sluice(folder);
    run.args(["run", "new.toml", "--json", "--set", "duration=11 s"]);
    for set in set {
        run.args(["--set", set]);
    }
    let output = run.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = without_times(&stdout(&output));
    // Without the settings themselves.
    let (_, results) = text.split_once("\"flows\"").unwrap();
    (results.to_owned(), stderr(&output))
}

#[test]
fn a_key_of_a_queue_that_misses_the_access_point_is_told_and_turns_by_its_name_is_no_miss() {
    let folder = tempfile::tempdir().unwrap();
    assert!(sluice(folder.path()).args(["new", "new.toml"]).output().unwrap().status.success());
    let plain = ran(folder.path(), &[]);
    assert_eq!(plain.1, "");
    for key in ["queue.discipline=fq-codel", "queue.controller=ebdp", "queue.limit=900"] {
        let told = ran(folder.path(), &[key]).1;
        let name = key.split_once('=').unwrap().0;
        assert!(told.contains(&format!("{name}: has no effect on packets that `ap` sends by radio")), "{key}: {told}");
    }
    let named = ran(folder.path(), &["queue.controller=turns"]);
    assert_eq!(named, plain);
    let both = ran(folder.path(), &["queue.controller=turns", "queue.limit=900"]).1;
    assert!(both.contains("warning: queue.limit: has no effect on packets"), "{both}");
}

#[test]
fn a_replay_into_turns_is_refused_with_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = sluice(folder.path()).args(["replay", "a.jsonl", "--controller", "turns"]).output().unwrap();
    assert!(stderr(&output).contains("`turns` decides for each packet"), "{}", stderr(&output));
    let help = stdout(&sluice(folder.path()).args(["replay", "--help"]).output().unwrap());
    assert!(help.contains("adth") && !help.contains("turns"), "{help}");
}

#[test]
fn shells_complete_ids_of_built_in_scenarios() {
    let folder = tempfile::tempdir().unwrap();
    let script = |shell: &str| stdout(&sluice(folder.path()).args(["completions", shell]).output().unwrap());
    let completed = |words: &str, word: &str| {
        let ask = format!(
            "{}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()\n\
             _sluice_or_ids sluice '{word}' x; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script("bash")
        );
        let output = Command::new("bash").args(["-c", &ask]).output().unwrap();
        stdout(&output).lines().map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(completed("sluice run hom", "hom"), ["home", "home-busy"]);
    assert!(completed("sluice emulate em", "em").contains(&"emulate-home".to_owned()));
    assert!(!completed("sluice run --s", "--s").iter().any(|word| word.contains("home")));
    assert!(!completed("sluice status hom", "hom").contains(&"home".to_owned()));
    assert!(script("zsh").contains("_sluice_ids() {") && script("zsh").contains("its id:_sluice_ids'"));
    assert!(script("fish").contains("using_subcommand emulate\" -a \"") && script("fish").contains(" home-busy "));
}
