//! First steps of a new user: an own scenario, and the experiments that are built into the command.

use crate::command::{sluice, stderr, stdout};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Output;

fn run(folder: &Path, words: &str) -> Output {
    sluice(folder).args(words.split(' ')).output().unwrap()
}

#[test]
fn a_new_scenario_is_fine_and_its_claims_hold() {
    let folder = tempfile::tempdir().unwrap();
    let made = run(folder.path(), "new my.toml");
    assert_eq!((made.status.code(), stderr(&made).as_str()), (Some(0), ""));
    let checked = run(folder.path(), "check my.toml");
    assert_eq!(stdout(&checked), "my.toml: fine; 9 runs (3 cases, 3 seeds), 2 claims, 1 chart\n");
    let done = run(folder.path(), "reproduce my.toml");
    assert_eq!(done.status.code(), Some(0), "{}", stdout(&done));
    assert!(stdout(&done).contains("2 claims: 2 hold\n"), "{}", stdout(&done));
    // An existing file is not overwritten.
    fs::write(folder.path().join("my.toml"), "mine").unwrap();
    let again = run(folder.path(), "new my.toml");
    let said = "error: my.toml: already exists; name another file\n";
    assert_eq!((again.status.code(), stderr(&again).as_str()), (Some(2), said));
    assert_eq!(fs::read_to_string(folder.path().join("my.toml")).unwrap(), "mine");
    let nowhere = run(folder.path(), "new no/my.toml");
    assert_eq!(nowhere.status.code(), Some(2), "{}", stderr(&nowhere));
}

#[test]
fn a_check_says_what_802_11n_has_by_default() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "new my.toml");
    let path = folder.path().join("my.toml");
    let text = fs::read_to_string(&path).unwrap().replace("\"802.11g\"", "\"802.11n\"").replace("54 Mb/s", "65 Mb/s");
    fs::write(&path, &text).unwrap();
    let checked = stdout(&run(folder.path(), "check my.toml"));
    assert!(checked.contains("\n  by default 802.11n, ac and ax have EDCA (`mac.access`) with A-MPDUs"), "{checked}");
    for mac in ["access = \"dcf\"", "access = \"edca\"\naggregation.ampdu = \"off\""] {
        fs::write(&path, format!("{text}\n[mac]\n{mac}\n")).unwrap();
        let checked = stdout(&run(folder.path(), "check my.toml"));
        assert!(checked.starts_with("my.toml: fine; ") && checked.lines().count() == 1, "{checked}");
    }
}

#[test]
fn a_check_says_what_is_fine_and_what_is_wrong_with_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "new fine.toml");
    let text = fs::read_to_string(folder.path().join("fine.toml")).unwrap();
    fs::write(folder.path().join("slip.toml"), text.replace("drop-tail\"         ", "drop-tial\"         ")).unwrap();
    let checked = run(folder.path(), "check .");
    assert_eq!(checked.status.code(), Some(2));
    assert!(stdout(&checked).starts_with("./fine.toml: fine; "), "{}", stdout(&checked));
    let said = stderr(&checked);
    assert!(said.starts_with("error: ./slip.toml:") && said.contains("did you mean `drop-tail`?"), "{said}");
    let none = run(folder.path(), "check nothing.toml");
    assert_eq!(none.status.code(), Some(2), "{}", stderr(&none));
}

#[test]
fn ids_work_where_there_is_no_repository() {
    let folder = tempfile::tempdir().unwrap();
    let listed = stdout(&run(folder.path(), "list"));
    assert!(listed.contains("\nadth-s1a ") && listed.contains("\nbuf-intro "), "{listed}");
    let ran = sluice(folder.path()).args(["run", "adth-s1a", "--set", "duration=30 s", "--json"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let quick = "reproduce adth-s1a --seeds 1 --out one";
    let shorter = ["--set", "duration=30 s", "--json"];
    sluice(folder.path()).args(quick.split(' ')).args(shorter).output().unwrap();
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("one/manifest.json")).unwrap()).unwrap();
    let again = "sluice reproduce adth-s1a --seeds 1 --set 'duration=30 s'";
    assert_eq!((&manifest["command"], &manifest["file"]), (&json!(again), &json!("adth-s1a")));
    let said = stderr(&run(folder.path(), "run adth-s1x"));
    assert!(said.contains("among those built into the command has this id; did you mean `adth-s1a`?"), "{said}");
    // A scenario changed in the cache is restored before it is used.
    let version = folder.path().join(".cache/sluice").join(env!("CARGO_PKG_VERSION"));
    let kept = version.join("scenarios/adth/s1a.toml");
    let whole = fs::read(&kept).unwrap();
    fs::write(&kept, "title = \"another\"").unwrap();
    assert_eq!(stdout(&run(folder.path(), "list")), listed);
    assert_eq!(fs::read(&kept).unwrap(), whole);
}

#[test]
fn an_id_with_a_dot_is_an_id() {
    let folder = tempfile::tempdir().unwrap();
    let at_once =
        ["check bqm-fig5.1", "check bqm-fig6.1", "claims bqm-fig5.1", "claims bqm-fig5.1.4", "list bqm-fig5.1"];
    for words in at_once {
        let done = run(folder.path(), words);
        assert!(matches!(done.status.code(), Some(0 | 1)), "{words}: {}", stderr(&done));
        assert!(stdout(&done).contains(words.split_once(' ').unwrap().1.trim_start_matches("bqm-")), "{words}");
    }
    for command in ["run", "reproduce"] {
        let wrong = sluice(folder.path()).args([command, "bqm-fig5.1", "--set", "duratoin=1 s"]).output().unwrap();
        assert!(stderr(&wrong).contains("did you mean `duration`?"), "{command}: {}", stderr(&wrong));
    }
    assert!(stderr(&run(folder.path(), "run bqm-fig5.9")).contains("did you mean `bqm-fig5.1`?"));
}

#[test]
fn scenarios_that_lie_here_go_before_those_that_are_carried() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scenarios")).unwrap();
    run(folder.path(), "new scenarios/mine.toml");
    let listed = stdout(&run(folder.path(), "list"));
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(!folder.path().join(".cache").exists());
}

#[test]
fn scenarios_that_are_carried_need_no_home() {
    use std::os::unix::fs::{MetadataExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let listed = |home: Option<&str>| {
        let mut command = sluice(Path::new("/"));
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME").env("TMPDIR", folder.path());
        command.envs(home.map(|home| ("HOME", home))).arg("list").output().unwrap()
    };
    let own = folder.path().join(format!("sluice-{}", fs::metadata(folder.path()).unwrap().uid()));
    for home in [None, Some("/proc/none")] {
        let list = listed(home);
        assert!(stdout(&list).contains("adth-s1a") && list.status.success(), "{home:?}: {}", stderr(&list));
    }
    assert_eq!(fs::metadata(&own).unwrap().mode() & 0o777, 0o700);
    // Whoever made a link there before would have the files written elsewhere.
    fs::rename(&own, folder.path().join("elsewhere")).unwrap();
    symlink(folder.path().join("elsewhere"), &own).unwrap();
    let refused = listed(None);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("it is another user's"), "{}", stderr(&refused));
}
