//! Network namespaces that need no privilege, for tests that change interfaces.

#![allow(dead_code, reason = "every test file uses a part of these")]
#![allow(unreachable_pub, reason = "a module shared by test crates")]

use crate::command::{stderr, stdout};
use std::process::{Child, Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Returns the lock of tests that must run alone: those that keep all cores busy, and those whose figures need a core.
pub fn machine_to_itself() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the calling test again, in a network namespace of its own, and returns true; there it returns false. The type's
/// name of a closure in the test has the test's.
pub fn ran_in_namespace<Here: Fn()>(_: Here) -> bool {
    const INSIDE: &str = "SLUICE_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        is_own();
        return false;
    }
    let allowed = Command::new("unshare").args(["-rn", "true"]).output().is_ok_and(|output| output.status.success());
    if !allowed {
        eprintln!("skipped: this machine allows no user and network namespaces (unshare -rn)");
        return true;
    }
    let path = std::any::type_name::<Here>().trim_end_matches("::{{closure}}");
    let (_, name) = path.split_once("::").expect("a crate has modules");
    let own = std::env::current_exe().expect("the machine plays along");
    let mut command = Command::new("unshare");
    // A shell starts what runs in its background with SIGINT ignored, and every child would inherit that.
    command.args(["-rn", "env", "--default-signal"]).arg(format!("{INSIDE}=1")).arg(own);
    let output = command.args(["--include-ignored", "--exact", "--nocapture", name]).output();
    let output = output.expect("the machine plays along");
    let ran = stdout(&output).contains("test result: ok. 1 passed");
    assert!(output.status.success() && ran, "{}{}", stdout(&output), stderr(&output));
    eprint!("{}", stderr(&output));
    true
}

/// Asserts that this process is in a namespace of its own.
pub fn is_own() {
    let map = std::fs::read_to_string("/proc/self/uid_map").expect("the machine plays along");
    assert!(!map.contains("4294967295"), "this test changes interfaces: it only runs in a namespace");
}

/// Runs a command, which must succeed.
pub fn run(line: &str) {
    let output = shell(line);
    assert!(output.status.success(), "{line}: {}", stderr(&output));
}

/// Runs a command whose words contain no spaces.
pub fn shell(line: &str) -> Output {
    let mut words = line.split(' ');
    Command::new(words.next().expect("the machine plays along")).args(words).output().expect("the machine plays along")
}

/// Ends a child by a signal and returns its exit status.
pub fn end(child: &mut Child, signal: &str) -> Option<i32> {
    run(&format!("kill -{signal} {}", child.id()));
    child.wait().expect("the machine plays along").code()
}
