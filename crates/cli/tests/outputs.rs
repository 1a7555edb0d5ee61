//! Output that cannot be written, and input that does not end: a full disk, a closed pipe, a device.

use crate::command::{CHAIN, scenario, sluice, stderr, stdout};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sluice");

/// Makes a folder with the chain, finished results of it in `done` and a recording of a queue.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    for words in [
        "reproduce chain.toml --quick --out done",
        "run chain.toml --set queue.controller=ebdp --set duration=1s --node n0 --record-intervals q.jsonl",
    ] {
        let output = sluice(folder.path()).args(words.split(' ')).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words}: {}", stderr(&output));
    }
    folder
}

fn shell(folder: &Path, script: &str) -> Output {
    Command::new("sh").current_dir(folder).args(["-c", script, PROGRAM]).output().unwrap()
}

/// A limit on the size of files stands in for a full disk: both make a write fail half-way.
#[test]
fn a_full_disk_exits_3_and_leaves_no_half_file() {
    let folder = folder();
    for words in [
        "new fresh.toml",
        "run chain.toml --set duration=1s --out out",
        "run chain.toml --set duration=1s --trace trace.jsonl",
        "run chain.toml --set duration=1s --pcap captures",
        "run chain.toml --set queue.controller=ebdp --set duration=1s --node n0 --record-intervals again.jsonl",
        "reproduce chain.toml --quick --out reproduced",
        "report done --out report.html",
        "replay q.jsonl --controller ebdp --report replay.html",
        "scenario-from q.jsonl --out copy.toml",
        "man man",
    ] {
        let script = format!("trap '' XFSZ; ulimit -f 0; exec \"$0\" {words}");
        let output = shell(folder.path(), &script);
        assert_eq!(output.status.code(), Some(3), "{words}: {}", stderr(&output));
        assert!(stderr(&output).starts_with("error: cannot write "), "{words}: {}", stderr(&output));
    }
    for left in ["fresh.toml", "report.html", "replay.html", "copy.toml"] {
        assert!(!folder.path().join(left).exists(), "{left}");
    }
    let hidden = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(hidden.into_iter().all(|name| !name.to_string_lossy().starts_with('.')), "half-written files");
}

/// Commands whose output is printed from beginning to end.
const PRINTING: [&str; 12] = [
    "--help",
    "run --help",
    "--version",
    "run chain.toml --set duration=1s",
    "run chain.toml --set duration=1s --json",
    "run chain.toml --set duration=1s --trace /dev/stdout",
    "check chain.toml",
    "list chain.toml",
    "replay q.jsonl --controller ebdp",
    "scenario-from q.jsonl",
    "scenario-from q.jsonl --out /dev/stdout",
    "man",
];

#[test]
fn a_full_standard_output_exits_3() {
    let folder = folder();
    for words in PRINTING {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = sluice(folder.path()).args(words.split(' ')).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{words}: {}", stderr(&output));
    }
    assert!(!fs::metadata("/dev/full").unwrap().is_file(), "a file took the device's place");
}

#[test]
fn a_closed_pipe_exits_0_and_nothing_is_said() {
    let folder = folder();
    for words in PRINTING {
        let script = format!("{{ \"$0\" {words} 2> said; echo $? > code; }} | head -c 1");
        shell(folder.path(), &script);
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!((read("code").trim(), read("said").trim()), ("0", ""), "{words}");
    }
}

#[test]
fn an_input_without_end_is_refused() {
    let folder = folder();
    for words in [
        "replay /dev/zero",
        "scenario-from /dev/zero",
        "forecast /dev/zero",
        "run /dev/zero",
        "reproduce /dev/zero",
        "check /dev/zero",
        "check --expand /dev/zero",
        "list /dev/zero",
        "agent --config /dev/zero --state state",
    ] {
        // Kilobytes of memory: an input that is read to its end fails to allocate.
        let output = shell(folder.path(), &format!("ulimit -v 4000000; exec timeout 60 \"$0\" {words}"));
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains("error: /dev/zero"), "{words}: {}", stderr(&output));
    }
    // A file of results that is a link to a device.
    fs::remove_file(folder.path().join("done/claims.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("done/claims.json")).unwrap();
    let output = shell(folder.path(), "ulimit -v 6000000; exec timeout 60 \"$0\" report done");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("larger than 1024 MiB"), "{}", stderr(&output));
}

#[test]
fn intervals_out_of_order_are_refused_by_all_who_read_recordings() {
    let folder = folder();
    let recording = fs::read_to_string(folder.path().join("q.jsonl")).unwrap();
    let back: Vec<&str> = recording.lines().rev().collect();
    fs::write(folder.path().join("back.jsonl"), back.join("\n")).unwrap();
    for words in ["replay back.jsonl", "replay back.jsonl --report page.html", "scenario-from back.jsonl"] {
        let output = sluice(folder.path()).args(words.split(' ')).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}");
        let said = "back.jsonl: line 2 is an interval that does not end after the previous interval";
        assert!(stderr(&output).contains(said), "{words}: {}", stderr(&output));
    }
}

#[test]
fn results_are_no_scenarios() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    // Three times: the results of the first are in the folder when the second one begins.
    for _ in 0..3 {
        let output = sluice(folder.path()).args(["reproduce", ".", "--quick"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert!(folder.path().join("results/chain/scenario.toml").is_file());
    for (words, lines) in [("check .", 1), ("list .", 2)] {
        let output = sluice(folder.path()).args(words.split(' ')).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words}: {}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), lines, "{words}: {}", stdout(&output));
    }
    // Runs that were interrupted have no manifest yet.
    fs::remove_file(folder.path().join("results/chain/manifest.json")).unwrap();
    let output = sluice(folder.path()).args(["check", "."]).output().unwrap();
    assert_eq!(stdout(&output).lines().count(), 1, "{}", stdout(&output));
    // A file of results that is named explicitly is read.
    let output = sluice(folder.path()).args(["check", "results/chain/scenario.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn what_quick_sets_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    for (line, words) in [
        ("quick.queue.limt = 7", "unknown key `limt`"),
        ("quick.flow.back.deadline = \"1 s\"", "no `[[flow]]` is named `back`"),
        ("quick.vary.speed = [\"1\"]", "`[vary]` has no `speed`"),
        ("quick.duration = \"0 s\"", "zero"),
    ] {
        scenario(folder.path(), &format!("{line}\n{CHAIN}"));
        let output = sluice(folder.path()).args(["check", "chain.toml"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(stderr(&output).contains("chain.toml:1:") && stderr(&output).contains(words), "{}", stderr(&output));
    }
}
