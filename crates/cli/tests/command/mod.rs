//! Runs the command as a person would.

#![allow(dead_code, reason = "every test file uses a part of these")]
#![allow(unreachable_pub, reason = "a module shared by test crates")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The scenario that most tests run or change.
pub const CHAIN: &str = include_str!("../fixtures/chain.toml");

/// Returns the command with `folder` as working directory, where it also caches the built-in scenarios.
pub fn sluice(folder: &Path) -> Command {
    set_up(Command::new(env!("CARGO_BIN_EXE_sluice")), folder)
}

/// As [`sluice`]; it is killed once it has computed for so many seconds, however many others compute.
pub fn sluice_within(folder: &Path, seconds: u32) -> Command {
    let mut command = Command::new("prlimit");
    command.args([&format!("--cpu={seconds}"), env!("CARGO_BIN_EXE_sluice")]);
    set_up(command, folder)
}

fn set_up(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder).env("XDG_CACHE_HOME", folder.join(".cache"));
    command
}

/// Kills a process once it has computed for so many seconds more.
pub fn limit(process: u32, seconds: u64) {
    let most = ticks(process).expect("it computes") / 100 + seconds;
    let arguments = [format!("--pid={process}"), format!("--cpu={most}")];
    assert!(Command::new("prlimit").args(arguments).status().expect("there is prlimit").success());
}

/// What a process has computed, in ticks of processor time: 100 per second.
pub fn ticks(process: u32) -> Option<u64> {
    // Fields 14 and 15 of `stat`; the second, in parentheses, may hold spaces.
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields = stat.rsplit(')').next()?.split_whitespace().skip(11).take(2);
    Some(fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum())
}

/// Returns the standard error of an output.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("errors are text")
}

/// Returns the standard output of an output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

/// Writes `text` as a scenario into `folder`.
pub fn scenario(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("chain.toml");
    std::fs::write(&path, text).expect("a temporary folder can be written to");
    path
}

/// Removes the times that a run took, which differ between any two runs.
pub fn without_times(text: &str) -> String {
    let fields = ["\"wall_s\":", "\"cpu_s\":"];
    fields.iter().fold(text.to_owned(), |text, field| {
        let mut parts = text.split(field);
        let first = parts.next().expect("a split gives at least one part").to_owned();
        parts.fold(first, |before, part| {
            before + field + part.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c))
        })
    })
}
